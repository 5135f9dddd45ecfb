#include "emit/cpu/nest_emitter.h"

#include <algorithm>

#include "loop/walk.h"
#include "support/check.h"
#include "tile/guards.h"

namespace jumar::emit::cpu {

using ir::DType;
using loop::Inst;
using loop::InstKind;
using loop::Stage;
using loop::Tail;
using loop::ValueId;
using sym::Expr;

NestEmitter::NestEmitter(FunctionContext& function, const loop::Nest& nest, const EmitOptions& options)
    : function_(function),
      b_(function.b()),
      cx_(function.cx()),
      nest_(nest),
      tiling_(*nest.tiling),
      facts_(function.program().facts()),
      value_facts_(nest),
      index_(b_, cx_, facts_, scope_),
      scalars_(b_, options),
      memory_(b_, cx_, index_, scalars_, scope_),
      values_(nest.value_count),
      types_(nest.value_count, DType::kF32),
      unrounded_(nest.value_count),
      is_index_(nest.value_count) {
  scope_.bindings = function.sizes();
  scope_.low = b_.i64(0);
  for (const loop::Axis& axis : nest.kept) facts_.set_extent(axis.symbol, axis.extent);
  for (const Stage& stage : nest.stages) {
    for (const loop::Axis& axis : stage.inner) facts_.set_extent(axis.symbol, axis.extent);
    for (const Stage::Line& line : stage.body) {
      if (line.inst.defines_value()) types_[line.result.index()] = line.inst.type;
      if (line.inst.kind == InstKind::kWrapIndex || line.inst.kind == InstKind::kCheckIndex)
        facts_.set_extent(cx_.value(line.result.index()), line.inst.address);
      loop::for_each_expr(line.inst, [&](Expr e) {
        for (Expr symbol : sym::symbols_of(e)) {
          if (symbol.is_symbol(sym::SymbolKind::kValue))
            is_index_[loop::value_of_symbol(symbol).index()] = true;
        }
      });
    }
  }
}

void NestEmitter::run_units(Value* begin, Value* end) {
  b_.loop(begin, end, 1, {}, [&](Value* unit, Values&) { run_unit(unit); });
}

void NestEmitter::run_unit(Value* unit) {
  Value* rest = unit;
  Value* block = nullptr;
  const uint32_t parallel = tiling_.parallel;
  if (tiling_.block_elems > 0) {
    block = rest;
    const Expr blocks = cx_.ceildiv(nest_.kept[parallel].extent, cx_.constant(tiling_.block_elems));
    if (parallel > 0) {
      Value* count = index_.value(blocks);
      block = b_.CreateURem(rest, count);
      rest = b_.CreateUDiv(rest, count);
    }
  }
  for (uint32_t k = parallel; k-- > 0;) {
    const loop::Axis& axis = nest_.kept[k];
    Value* at = rest;
    if (k > 0) {
      Value* extent = index_.value(axis.extent);
      at = b_.CreateURem(rest, extent);
      rest = b_.CreateUDiv(rest, extent);
    }
    scope_.bindings[axis.symbol] = {at, b_.depth()};
  }
  run_kept(parallel, block);
}

void NestEmitter::run_kept(size_t k, Value* block) {
  if (k == nest_.kept.size()) {
    run_point();
    return;
  }
  const loop::Axis& axis = nest_.kept[k];
  Value* lo = b_.i64(0);
  Value* hi = index_.value(axis.extent);
  const bool blocked = block && k == tiling_.parallel;
  if (blocked) {
    lo = b_.CreateMul(block, b_.i64(tiling_.block_elems));
    Value* end = b_.CreateAdd(lo, b_.i64(tiling_.block_elems));
    const bool even = sym::proves_divisible(cx_, axis.extent, cx_.constant(tiling_.block_elems), facts_);
    hi = even ? end : b_.smin(end, hi);
  }
  if (tiling_.transpose_axis && axis.symbol == tiling_.transpose_axis) {
    run_transposed(lo, hi);
    return;
  }
  if (axis.symbol == tiling_.vector_axis) {
    CHECK(k + 1 == nest_.kept.size(), "the kept vector axis {} is not the last", axis.symbol.symbol_name());
    VectorAxis walk = walk_of(axis, tiling_.lanes, tiling_.registers, tiling_.tail, tiling_.cuts, !blocked);
    walk.aligned = !blocked || tiling_.block_elems % (int64_t{tiling_.lanes} * tiling_.registers) == 0;
    run_vector_axis(walk, lo, hi, {}, [&](Values&) { run_point(); });
    return;
  }
  b_.loop(lo, hi, 1, {}, [&](Value* index, Values&) {
    scope_.bindings[axis.symbol] = {index, b_.depth()};
    run_kept(k + 1, block);
  });
}

void NestEmitter::run_point() {
  for (size_t s = 0; s < nest_.stages.size(); ++s) run_stage(s);
}

// `whole`: the walk covers the axis from 0 to its extent. A constant extent then tells which loops never run.
NestEmitter::VectorAxis NestEmitter::walk_of(const loop::Axis& axis, unsigned lanes, unsigned multiple,
                                             Tail tail, const std::vector<Expr>& cuts, bool whole) const {
  VectorAxis walk{axis, {}, lanes, tail, cuts};
  const unsigned wide = lanes * multiple;
  const std::optional<int64_t> points = whole && cuts.empty() ? axis.extent.as_const() : std::nullopt;
  if (!points || *points >= wide) walk.widths.push_back(wide);
  const int64_t rest = points ? *points % wide : wide - 1;
  const bool masked_rest = tail == Tail::kMasked && !walk.widths.empty();
  if (multiple > 1 && !masked_rest && rest >= lanes) walk.widths.push_back(lanes);
  const bool narrow = walk.widths.empty() || walk.widths.back() == lanes;
  if (points && (narrow || tail != Tail::kMasked ? *points % lanes : *points % wide) == 0)
    walk.tail = Tail::kNone;
  return walk;
}

void NestEmitter::set_lanes(Expr axis, Value* base, unsigned width, Value* mask, bool aligned) {
  scope_.lanes = {axis, width, base, mask, aligned};
}

Values NestEmitter::run_vector_axis(const VectorAxis& walk, Value* lo, Value* hi, Values carried,
                                    const AxisBody& body) {
  walk_ = &walk;
  Value* from = lo;
  Value* low = b_.i64(0);
  for (Expr cut : walk.cuts) {
    Value* at = index_.value(cut);
    Value* to = b_.smin(b_.smax(from, at), hi);
    scope_.low = low;
    carried = run_range(walk, from, to, carried, body);
    from = to;
    low = b_.smax(at, b_.i64(0));
  }
  scope_.low = low;
  carried = run_range(walk, from, hi, carried, body);
  walk_ = nullptr;
  scope_.lanes = {};
  return carried;
}

Values NestEmitter::run_range(const VectorAxis& walk, Value* lo, Value* hi, Values carried,
                              const AxisBody& body) {
  Value* from = lo;
  bool aligned = walk.aligned && walk.cuts.empty();
  if (const auto* start = llvm::dyn_cast<llvm::ConstantInt>(lo))
    aligned = start->getSExtValue() % (walk.widths.empty() ? walk.lanes : walk.widths[0]) == 0;
  for (size_t k = 0; k < walk.widths.size(); ++k) {
    const unsigned width = walk.widths[k];
    Value* to = hi;
    const bool last = k + 1 == walk.widths.size() && walk.tail == Tail::kNone;
    if (!last) {
      Value* span = b_.CreateSub(hi, from);
      to = b_.CreateAdd(from, b_.CreateAnd(span, b_.i64(-static_cast<int64_t>(width))));
    }
    carried = b_.loop(from, to, width, carried, [&](Value* index, Values& inner) {
      set_lanes(walk.axis.symbol, index, width, nullptr, aligned);
      body(inner);
    });
    from = to;
  }
  if (walk.tail == Tail::kScalar) {
    return b_.loop(from, hi, 1, carried, [&](Value* index, Values& inner) {
      set_lanes(walk.axis.symbol, index, 1, nullptr, true);
      body(inner);
    });
  }
  if (walk.tail == Tail::kMasked) {
    return b_.loop(from, hi, walk.lanes, carried, [&](Value* index, Values& inner) {
      Value* left = b_.spread(b_.CreateSub(hi, index), walk.lanes);
      Value* mask = b_.CreateICmpSLT(b_.lane_numbers(b_.getInt64Ty(), walk.lanes), left);
      set_lanes(walk.axis.symbol, index, walk.lanes, mask, aligned);
      body(inner);
    });
  }
  return carried;
}

const Memory& NestEmitter::local(uint32_t index) {
  const unsigned interleave = tiling_.vector_axis ? width() : 1;
  const auto key = std::pair(index, interleave);
  const auto found = locals_.find(key);
  if (found != locals_.end()) return found->second;
  const loop::Local& local = nest_.locals[index];
  Memory memory;
  memory.type = local.type;
  memory.interleave = interleave;
  memory.base =
      b_.stack(memory_type(b_.getContext(), local.type), static_cast<uint64_t>(local.elems) * interleave);
  return locals_.emplace(key, memory).first->second;
}

}  // namespace jumar::emit::cpu
