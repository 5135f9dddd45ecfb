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
    if (symbol.is_symbol(sym::SymbolKind::kValue)) out.push_back(value_of_scalar(symbol));
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

namespace {

class DataValues {
 public:
  explicit DataValues(const BlockNest& nest) : nest_(nest) {
    note_loops(nest.body, roots_, operands_);
    for_each_inst(nest.body, [&](const BlockInst& inst) { note(inst); });
  }

  std::set<BlockId> found() {
    for (BlockId id : roots_) follow(id);
    // Masks of accesses that are data's: what in them is neither a place nor a combination of places is data.
    for (size_t before = SIZE_MAX; before != data_.size();) {
      before = data_.size();
      for_each_inst(nest_.body, [&](const BlockInst& inst) {
        const bool used = !inst.result || data_.count(inst.result) != 0;
        if (used && inst.access.mask) follow_mask(inst.access.mask);
      });
    }
    return std::move(data_);
  }

 private:
  void note(const BlockInst& inst) {
    std::vector<BlockId> uses;
    for (BlockId operand : inst.operands)
      if (operand) uses.push_back(operand);
    if (inst.access.index) uses.push_back(inst.access.index);
    add_scalars(inst.access.offset, uses);
    for (const Access::Dim& dim : inst.access.dims) add_scalars(dim.stride, uses);
    add_scalars(inst.expr, uses);
    if (inst.kind == BlockKind::kStore) roots_.insert(roots_.end(), uses.begin(), uses.end());
    if (!inst.result) return;
    operands_[inst.result] = std::move(uses);
    defined_[inst.result] = &inst;
  }

  void follow(BlockId id) {
    if (!data_.insert(id).second) return;
    const auto found = operands_.find(id);
    if (found == operands_.end()) return;
    for (BlockId operand : found->second) follow(operand);
  }

  void follow_mask(BlockId id) {
    if (!masks_.insert(id).second) return;
    const auto found = defined_.find(id);
    if (found == defined_.end()) return follow(id);
    const BlockInst& inst = *found->second;
    const bool combines =
        inst.kind == BlockKind::kBroadcast ||
        (inst.kind == BlockKind::kOp &&
         (inst.op == BlockOp::kAndI || inst.op == BlockOp::kOrI || inst.op == BlockOp::kXorI));
    if (inst.kind == BlockKind::kIndex || inst.kind == BlockKind::kConst) {
      std::vector<BlockId> scalars;
      add_scalars(inst.expr, scalars);
      for (BlockId scalar : scalars) follow(scalar);
    } else if (combines) {
      for (BlockId operand : inst.operands)
        if (operand) follow_mask(operand);
    } else {
      follow(id);
    }
  }

  const BlockNest& nest_;
  std::vector<BlockId> roots_;
  std::unordered_map<BlockId, std::vector<BlockId>> operands_;
  std::unordered_map<BlockId, const BlockInst*> defined_;
  std::set<BlockId> data_;
  std::set<BlockId> masks_;
};

}  // namespace

std::set<BlockId> data_values(const BlockNest& nest) { return DataValues(nest).found(); }

}  // namespace jumar::tile::npu
