#include "tile/npu/pieces.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "fuse/access.h"
#include "loop/walk.h"
#include "tile/axes.h"
#include "tile/guards.h"

namespace jumar::tile::npu {

using loop::Inst;
using loop::InstKind;
using loop::Nest;
using loop::Stage;
using loop::ValueId;
using sym::Expr;

namespace {

constexpr size_t kMostPieces = 16;
constexpr int64_t kMostTogether = 4;

// Where guards and predicates change along the axis, inside it; nothing where that is not known in numbers.
std::optional<std::set<int64_t>> flips_along(sym::Context& cx, const Nest& nest, const loop::Axis& axis) {
  std::set<int64_t> out;
  if (!axis.extent.is_const()) return std::nullopt;
  for (const Stage& stage : nest.stages) {
    for (const Stage::Line& line : stage.body) {
      const Inst& inst = line.inst;
      const bool is_predicate = inst.kind == InstKind::kIndex && ir::is_bool(inst.type);
      for (Expr e : {inst.guard, is_predicate ? inst.address : Expr()}) {
        if (!e || !sym::mentions(e, axis.symbol)) continue;
        const std::optional<std::vector<Expr>> flips = guard_flips(cx, e, axis.symbol);
        if (!flips) return std::nullopt;
        for (Expr flip : *flips) {
          const std::optional<int64_t> at = flip.as_const();
          if (!at) return std::nullopt;
          if (*at > 0 && *at < axis.extent.const_value()) out.insert(*at);
        }
      }
    }
  }
  return out;
}

// The part of the nest with the axis in [begin, begin + length).
Nest part_of(const loop::Program& program, const Nest& nest, size_t k, int64_t begin, int64_t length) {
  sym::Context& cx = program.cx();
  Nest part = nest;
  const Expr axis = part.kept[k].symbol;
  part.kept[k].extent = cx.constant(length);
  const sym::Facts facts = fuse::nest_facts(program, part);
  sym::Simplifier simplify(cx, facts);
  for_each_body_expr(part, [&](Expr& e) {
    if (begin != 0 && sym::mentions(e, axis))
      e = cx.substituted(e, [&](Expr symbol) { return symbol == axis ? cx.add(axis, begin) : Expr(); });
    e = simplify(e);
  });
  for (Stage& stage : part.stages) {
    for (Stage::Line& line : stage.body) {
      Inst& inst = line.inst;
      if (inst.guard && inst.guard.is_const(1)) inst.guard = Expr();
      const bool is_predicate = inst.kind == InstKind::kIndex && ir::is_bool(inst.type);
      if (is_predicate && inst.address.is_const()) {
        inst.constant.integer = inst.address.const_value();
        inst.kind = InstKind::kConst;
        inst.address = Expr();
      }
      if (inst.kind == InstKind::kLoad && inst.guard && inst.guard.is_const(0)) {
        const loop::Constant value = inst.constant;
        const ir::DType type = inst.type;
        inst = Inst();
        inst.kind = InstKind::kConst;
        inst.type = type;
        inst.constant = value;
      }
    }
    std::erase_if(stage.body, [](const Stage::Line& line) {
      return line.inst.kind == InstKind::kStore && line.inst.guard && line.inst.guard.is_const(0);
    });
  }
  return part;
}

// Uses of a select between known sides become uses of the side.
void fold_selects(loop::Program& program, Nest& nest) {
  std::map<ValueId, int64_t> known;
  std::map<ValueId, ValueId> replaced;
  for (Stage& stage : nest.stages) {
    for (Stage::Line& line : stage.body) {
      for (ValueId& operand : line.inst.operands) {
        const auto found = replaced.find(operand);
        if (found != replaced.end()) operand = found->second;
      }
      if (line.inst.kind == InstKind::kConst && ir::is_bool(line.inst.type))
        known[line.result] = line.inst.constant.integer;
      if (line.inst.kind != InstKind::kOp || line.inst.op != loop::ScalarOp::kSelect) continue;
      const auto condition = known.find(line.inst.operands[0]);
      if (condition != known.end())
        replaced[line.result] = line.inst.operands[condition->second != 0 ? 1 : 2];
    }
  }
  loop::tidy(program, nest);
}

// The parts of the axis that end at the given points.
std::vector<Nest> parts_of(loop::Program& program, const Nest& nest, size_t k,
                           const std::vector<int64_t>& ends) {
  std::vector<Nest> parts;
  int64_t begin = 0;
  for (int64_t end : ends) {
    parts.push_back(part_of(program, nest, k, begin, end - begin));
    fold_selects(program, parts.back());
    begin = end;
  }
  return parts;
}

bool is_pointwise(const Nest& nest) { return nest.stages.size() == 1 && nest.stages[0].inner.empty(); }

// Whether two parts load the same elements of a buffer.
bool share_loads(const std::vector<Nest>& parts) {
  std::set<std::pair<uint32_t, std::string>> seen;
  for (const Nest& part : parts) {
    std::set<std::pair<uint32_t, std::string>> mine;
    for (const Stage::Line& line : part.stages[0].body)
      if (line.inst.kind == InstKind::kLoad)
        mine.emplace(line.inst.buffer.index(), sym::text(line.inst.address));
    for (const auto& load : mine)
      if (!seen.insert(load).second) return true;
  }
  return false;
}

// Parts over the same points, one after the other in one body.
Nest together(sym::Context& cx, const std::vector<Nest>& parts) {
  Nest all = parts[0];
  for (size_t p = 1; p < parts.size(); ++p) {
    const uint32_t offset = all.value_count;
    const auto moved = [&](Expr e) {
      return e ? cx.substituted(e,
                                [&](Expr symbol) {
                                  if (!symbol.is_symbol(sym::SymbolKind::kValue)) return Expr();
                                  return cx.value(loop::value_of_symbol(symbol).index() + offset);
                                })
               : e;
    };
    for (Stage::Line line : parts[p].stages[0].body) {
      if (line.result) line.result = ValueId(line.result.index() + offset);
      for (ValueId& operand : line.inst.operands)
        if (operand) operand = ValueId(operand.index() + offset);
      line.inst.address = moved(line.inst.address);
      line.inst.guard = moved(line.inst.guard);
      all.stages[0].body.push_back(std::move(line));
    }
    all.value_count += parts[p].value_count;
  }
  return all;
}

}  // namespace

std::vector<Nest> pieces_of(loop::Program& program, const Nest& nest) {
  sym::Context& cx = program.cx();
  for (size_t k = 0; k < nest.kept.size(); ++k) {
    const std::optional<std::set<int64_t>> flips = flips_along(cx, nest, nest.kept[k]);
    if (!flips || flips->empty() || flips->size() >= kMostPieces) continue;
    const int64_t extent = nest.kept[k].extent.const_value();
    std::vector<int64_t> ends(flips->begin(), flips->end());
    int64_t piece = extent;
    for (int64_t end : ends) piece = std::gcd(piece, end);
    if (is_pointwise(nest) && extent / piece <= kMostTogether) {
      std::vector<int64_t> even;
      for (int64_t end = piece; end <= extent; end += piece) even.push_back(end);
      const std::vector<Nest> parts = parts_of(program, nest, k, even);
      if (share_loads(parts)) return pieces_of(program, together(cx, parts));
    }
    ends.push_back(extent);
    const std::vector<Nest> parts = parts_of(program, nest, k, ends);
    std::vector<Nest> out;
    for (const Nest& part : parts)
      for (Nest& finer : pieces_of(program, part)) out.push_back(std::move(finer));
    return out;
  }
  return {nest};
}

}  // namespace jumar::tile::npu
