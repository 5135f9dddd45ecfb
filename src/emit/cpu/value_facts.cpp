#include "emit/cpu/value_facts.h"

#include <algorithm>

#include "loop/walk.h"

namespace jumar::emit::cpu {

using loop::Inst;
using loop::InstKind;
using loop::Stage;
using loop::ValueId;

namespace {

// Deeper recomputations than this are not compared; softmax inputs are shallower.
constexpr int kMaxDepth = 64;

// e with the axes of `from` named as those of `to`, compared with `other` structurally, without building it.
bool equal_renamed(sym::Expr e, sym::Expr other, const Stage& from, const Stage& to) {
  if (e.op() != other.op()) return false;
  if (e.is_const()) return e == other;
  if (e.is_symbol()) {
    for (size_t k = 0; k < from.inner.size(); ++k) {
      if (from.inner[k].symbol == e) return to.inner[k].symbol == other;
    }
    return e == other && !e.is_symbol(sym::SymbolKind::kValue);
  }
  const auto a = e.operands();
  const auto b = other.operands();
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (!equal_renamed(a[k], b[k], from, to)) return false;
  }
  return true;
}

}  // namespace

ValueFacts::ValueFacts(const loop::Nest& nest)
    : nest_(nest), definitions_(nest.value_count), nonpositive_(nest.value_count) {
  for (const Stage& stage : nest.stages) {
    for (const Stage::Line& line : stage.body) {
      if (line.inst.defines_value()) definitions_[line.result.index()] = {&line.inst, &stage};
    }
  }
  for (uint32_t k = 0; k < nest.value_count; ++k) nonpositive_[k] = is_difference_to_maximum(ValueId(k));
}

bool ValueFacts::is_difference_to_maximum(ValueId id) const {
  const Definition& difference = definitions_[id.index()];
  if (!difference.inst || difference.inst->kind != InstKind::kOp) return false;
  if (difference.inst->op != loop::ScalarOp::kSub || !ir::is_float(difference.inst->type)) return false;
  const Definition& maximum = definitions_[difference.inst->operands[1].index()];
  if (!maximum.inst || maximum.inst->kind != InstKind::kReduce) return false;
  if (maximum.inst->reduce != loop::ReduceKind::kMax || maximum.stage == difference.stage) return false;
  // Points of the subtraction must be points of the maximum: the same extents, axis by axis.
  const std::vector<loop::Axis>& a = difference.stage->inner;
  const std::vector<loop::Axis>& b = maximum.stage->inner;
  if (a.size() != b.size()) return false;
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].extent != b[k].extent) return false;
  }
  return same(difference.inst->operands[0], maximum.inst->operands[0], 0);
}

bool ValueFacts::never_stored(loop::BufferId buffer) const {
  for (const Stage& stage : nest_.stages) {
    for (const Stage::Line& line : stage.body) {
      if (line.inst.kind == InstKind::kStore && line.inst.buffer == buffer) return false;
    }
  }
  return true;
}

ValueId ValueFacts::stored_local(ValueId id) const {
  const Definition& load = definitions_[id.index()];
  if (!load.inst || load.inst->kind != InstKind::kLoadLocal) return ValueId();
  ValueId found;
  for (const Stage& stage : nest_.stages) {
    for (const Stage::Line& line : stage.body) {
      if (line.inst.kind != InstKind::kStoreLocal || line.inst.local != load.inst->local) continue;
      if (found || &stage >= load.stage || stage.inner.size() != load.stage->inner.size()) return ValueId();
      if (!equal_renamed(line.inst.address, load.inst->address, stage, *load.stage)) return ValueId();
      found = line.inst.operands[0];
    }
  }
  return found;
}

bool ValueFacts::same(ValueId a, ValueId b, int depth) const {
  if (a == b) return true;
  if (depth > kMaxDepth) return false;
  if (ValueId stored = stored_local(a)) return same(stored, b, depth + 1);
  if (ValueId stored = stored_local(b)) return same(a, stored, depth + 1);
  const Definition& x = definitions_[a.index()];
  const Definition& y = definitions_[b.index()];
  if (!x.inst || !y.inst || x.inst->kind != y.inst->kind || x.inst->type != y.inst->type) return false;
  if (x.stage->inner.size() != y.stage->inner.size()) return false;
  const auto same_expr = [&](sym::Expr e, sym::Expr f) {
    if (!e || !f) return !e && !f;
    return equal_renamed(e, f, *x.stage, *y.stage);
  };
  switch (x.inst->kind) {
    case InstKind::kConst:
      return x.inst->constant.integer == y.inst->constant.integer;
    case InstKind::kParam:
      return x.inst->number == y.inst->number;
    case InstKind::kIndex:
      return same_expr(x.inst->address, y.inst->address);
    case InstKind::kLoad:
      return x.inst->buffer == y.inst->buffer && never_stored(x.inst->buffer) &&
             x.inst->constant.integer == y.inst->constant.integer &&
             same_expr(x.inst->address, y.inst->address) && same_expr(x.inst->guard, y.inst->guard);
    case InstKind::kOp:
      break;
    default:
      return false;
  }
  if (x.inst->op != y.inst->op) return false;
  for (int k = 0; k < loop::operand_count(*x.inst); ++k) {
    if (!same(x.inst->operands[k], y.inst->operands[k], depth + 1)) return false;
  }
  return true;
}

}  // namespace jumar::emit::cpu
