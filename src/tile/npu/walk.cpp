#include "tile/npu/walk.h"

#include <string>
#include <unordered_map>

namespace jumar::tile::npu {
namespace {

void note_loops(const Region& region, std::vector<BlockId>& roots,
                std::unordered_map<BlockId, std::vector<BlockId>>& operands) {
  for (const BlockNode& node : region) {
    const auto* held = std::get_if<std::unique_ptr<BlockLoop>>(&node);
    if (!held) continue;
    for (const BlockLoop::Carried& carried : (*held)->carried) {
      roots.push_back(carried.init);
      roots.push_back(carried.next);
      operands[carried.result] = {carried.next};
    }
    note_loops((*held)->body, roots, operands);
  }
}

void add_scalars(Expr e, std::vector<BlockId>& out) {
  if (!e) return;
  for (Expr symbol : sym::symbols_of(e))
    if (symbol.is_symbol(sym::SymbolKind::kValue))
      out.push_back(BlockId(static_cast<uint32_t>(std::stoul(symbol.symbol_name().substr(1)))));
}

}  // namespace

void for_each_inst(const Region& region, const std::function<void(const BlockInst&)>& visit) {
  for (const BlockNode& node : region) {
    if (const auto* inst = std::get_if<BlockInst>(&node))
      visit(*inst);
    else
      for_each_inst(std::get<std::unique_ptr<BlockLoop>>(node)->body, visit);
  }
}

std::set<BlockId> data_values(const BlockNest& nest) {
  std::vector<BlockId> todo;
  std::unordered_map<BlockId, std::vector<BlockId>> operands;
  note_loops(nest.body, todo, operands);
  std::unordered_map<BlockId, const BlockInst*> defined;
  for_each_inst(nest.body, [&](const BlockInst& inst) {
    std::vector<BlockId> uses;
    for (BlockId operand : inst.operands)
      if (operand) uses.push_back(operand);
    if (inst.access.index) uses.push_back(inst.access.index);
    add_scalars(inst.access.offset, uses);
    for (const Access::Dim& dim : inst.access.dims) add_scalars(dim.stride, uses);
    add_scalars(inst.expr, uses);
    if (inst.kind == BlockKind::kStore) todo.insert(todo.end(), uses.begin(), uses.end());
    if (inst.result) {
      operands[inst.result] = uses;
      defined[inst.result] = &inst;
    }
  });
  std::set<BlockId> data;
  const auto follow = [&](auto&& self, BlockId id) -> void {
    if (!data.insert(id).second) return;
    const auto found = operands.find(id);
    if (found != operands.end())
      for (BlockId operand : found->second) self(self, operand);
  };
  for (BlockId id : todo) follow(follow, id);
  // Masks: what in them is neither a place nor a combination of places is data.
  std::set<BlockId> seen;
  const auto follow_mask = [&](auto&& self, BlockId id) -> void {
    if (!seen.insert(id).second) return;
    const auto found = defined.find(id);
    if (found == defined.end()) {
      follow(follow, id);
      return;
    }
    const BlockInst& inst = *found->second;
    const bool places = inst.kind == BlockKind::kIndex || inst.kind == BlockKind::kConst;
    const bool combines =
        inst.kind == BlockKind::kBroadcast ||
        (inst.kind == BlockKind::kOp &&
         (inst.op == BlockOp::kAndI || inst.op == BlockOp::kOrI || inst.op == BlockOp::kXorI));
    if (places) {
      std::vector<BlockId> scalars;
      add_scalars(inst.expr, scalars);
      for (BlockId scalar : scalars) follow(follow, scalar);
    } else if (combines) {
      for (BlockId operand : inst.operands)
        if (operand) self(self, operand);
    } else {
      follow(follow, id);
    }
  };
  bool grows = true;
  while (grows) {
    const size_t before = data.size();
    for_each_inst(nest.body, [&](const BlockInst& inst) {
      const bool used = !inst.result || data.count(inst.result);
      if (used && inst.access.mask) follow_mask(follow_mask, inst.access.mask);
    });
    grows = data.size() != before;
  }
  return data;
}

}  // namespace jumar::tile::npu
