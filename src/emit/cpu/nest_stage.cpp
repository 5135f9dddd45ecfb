#include <algorithm>

#include "emit/cpu/nest_emitter.h"
#include "loop/walk.h"
#include "support/check.h"

namespace jumar::emit::cpu {

using loop::Inst;
using loop::InstKind;
using loop::Stage;
using loop::Tail;

namespace {

// The position of the stage's first point, if the value is an index that rises by the same amount from each
// point to the next; otherwise nothing.
sym::Expr first_position(sym::Context& cx, const Stage& stage, loop::ValueId position) {
  const auto line = std::ranges::find(stage.body, position, &Stage::Line::result);
  if (line == stage.body.end() || line->inst.kind != InstKind::kIndex) return {};
  sym::Expr rest = line->inst.address;
  sym::Expr step;
  for (size_t k = stage.inner.size(); k-- > 0;) {
    const loop::Axis& axis = stage.inner[k];
    const std::optional<sym::Linear> linear = sym::linear_in(cx, rest, axis.symbol);
    if (!linear) return {};
    if (!step && !(linear->coefficient.is_const() && linear->coefficient.const_value() > 0)) return {};
    if (step && linear->coefficient != step) return {};
    step = cx.mul(linear->coefficient, axis.extent);
    rest = linear->rest;
  }
  return sym::mentions_kind(rest, sym::SymbolKind::kValue) ? sym::Expr() : rest;
}

}  // namespace

NestEmitter::VectorAxis NestEmitter::stage_walk(size_t s) const {
  const loop::StageTiling& t = tiling_.stages[s];
  return walk_of(nest_.stages[s].inner.back(), t.lanes, t.accumulators, t.tail, t.cuts, true);
}

// The widths with a state of their own.
std::vector<unsigned> NestEmitter::width_classes(size_t s) const {
  if (!tiling_.stages[s].vector_axis) return {width()};
  const VectorAxis walk = stage_walk(s);
  std::vector<unsigned> classes = walk.widths;
  if (walk.tail == Tail::kScalar) classes.push_back(1);
  if (walk.tail == Tail::kMasked && (classes.empty() || classes.back() != walk.lanes))
    classes.push_back(walk.lanes);
  if (classes.empty()) classes.push_back(1);
  return classes;
}

void NestEmitter::collect_foldings(size_t s) {
  foldings_.clear();
  classes_ = width_classes(s);
  size_t offset = 0;
  const Stage& stage = nest_.stages[s];
  const auto add = [&](const Stage::Line& line, loop::ReduceKind kind) {
    const bool is_arg = line.inst.kind == InstKind::kReduce && loop::is_arg_reduce(kind);
    const sym::Expr first = is_arg ? first_position(cx_, stage, line.inst.operands[1]) : sym::Expr();
    Fold fold(b_, scalars_, kind, type(line.inst.operands[0]), first ? index_.value(first) : nullptr);
    Folding folding{&line.inst, line.result, fold, {}};
    for (size_t c = 0; c < classes_.size(); ++c) {
      folding.state.push_back(offset);
      offset += folding.fold.state_size();
    }
    foldings_.push_back(std::move(folding));
  };
  // States of scans come last, because they are carried by the innermost loop alone.
  for (const Stage::Line& line : stage.body) {
    if (line.inst.kind == InstKind::kReduce) add(line, line.inst.reduce);
  }
  for (const Stage::Line& line : stage.body) {
    if (line.inst.kind != InstKind::kScan) continue;
    CHECK(line.inst.axis == stage.inner.back().symbol && !tiling_.stages[s].vector_axis,
          "the scanned axis {} is not the innermost, or is a vector axis", line.inst.axis.symbol_name());
    add(line, Fold::kind_of(line.inst.scan));
  }
}

void NestEmitter::run_stage(size_t s) {
  const Stage& stage = nest_.stages[s];
  if (stage.inner.empty()) {
    foldings_.clear();
    Values none;
    run_body(s, none);
    return;
  }
  collect_foldings(s);
  Values carried;
  for (Folding& folding : foldings_) {
    if (folding.inst->kind != InstKind::kReduce) continue;
    for (unsigned width : classes_) llvm::append_range(carried, folding.fold.identity(width));
  }
  finish_foldings(run_inner(s, 0, carried));
}

Values NestEmitter::run_inner(size_t s, size_t k, Values carried) {
  const Stage& stage = nest_.stages[s];
  const loop::Axis& axis = stage.inner[k];
  const bool last = k + 1 == stage.inner.size();
  Value* extent = index_.value(axis.extent);
  if (tiling_.stages[s].vector_axis == axis.symbol) {
    CHECK(last, "the vector axis {} is not the innermost", axis.symbol.symbol_name());
    const VectorAxis walk = stage_walk(s);
    return run_vector_axis(walk, b_.i64(0), extent, carried, [&](Values& inner) { run_body(s, inner); });
  }
  const size_t outer = carried.size();
  if (last) {
    for (Folding& folding : foldings_) {
      if (folding.inst->kind == InstKind::kScan) llvm::append_range(carried, folding.fold.identity(width()));
    }
  }
  carried = b_.loop(b_.i64(0), extent, 1, carried, [&](Value* index, Values& inner) {
    scope_.bindings[axis.symbol] = {index, b_.depth()};
    if (last) {
      run_body(s, inner);
    } else {
      inner = run_inner(s, k + 1, inner);
    }
  });
  carried.truncate(outer);
  return carried;
}

void NestEmitter::finish_foldings(const Values& carried) {
  for (Folding& folding : foldings_) {
    if (folding.inst->kind != InstKind::kReduce) continue;
    const auto state = [&](size_t c) {
      const auto first = carried.begin() + folding.state[c];
      return Values(first, first + folding.fold.state_size());
    };
    Values total = state(0);
    for (size_t c = 1; c < classes_.size(); ++c)
      total = folding.fold.merged(folding.fold.narrowed(total, classes_[c]), state(c));
    total = folding.fold.narrowed(total, width());
    define(folding.result, folding.fold.result(total));
  }
}

}  // namespace jumar::emit::cpu
