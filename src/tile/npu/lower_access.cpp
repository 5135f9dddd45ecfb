#include "tile/npu/lower_access.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "loop/walk.h"
#include "tile/axes.h"

namespace jumar::tile::npu {

using ir::DType;
using loop::Inst;

namespace {

constexpr AxisSet kNoAxes = 0;

std::vector<Expr> summands_of(Expr e) {
  if (e.op() != sym::Op::kAdd) return {e};
  return {e.operands().begin(), e.operands().end()};
}

// A size that the arguments of a kernel make up, by its hints.
int64_t plausible(const loop::Program& program, const BlockKernel& kernel, Expr e) {
  const Expr sizes = program.cx().substituted(e, [&](Expr symbol) {
    for (const IntArgument& argument : kernel.ints)
      if (argument.symbol == symbol) return argument.value;
    return Expr();
  });
  return tile::estimated(program, sizes);
}

loop::ReduceKind reduction_of(loop::StoreMode mode) {
  if (mode == loop::StoreMode::kAdd) return loop::ReduceKind::kSum;
  return mode == loop::StoreMode::kMax ? loop::ReduceKind::kMax : loop::ReduceKind::kMin;
}

}  // namespace

// Scalar values by their symbols; axes and sizes stay. Empty where a value is a block.
Expr AccessLowering::resolved(Expr e, const Values& values) {
  bool ok = true;
  const Expr result = cx_.substituted(e, [&](Expr symbol) {
    if (!symbol.is_symbol(sym::SymbolKind::kValue)) return Expr();
    const BlockId value = values.at(loop::value_of_symbol(symbol)).value;
    if (b_.type(value).axes != kNoAxes) {
      ok = false;
      return Expr();
    }
    kernel_.facts.set_range(scalar_symbol(cx_, value), scalars_.range_of(value));
    return scalar_symbol(cx_, value);
  });
  return ok ? result : Expr();
}

Expr AccessLowering::from_first(Expr e) const { return at_first(cx_, b_.nest(), e); }

// With axes that stay at their last point in what blocks have beyond the extents.
Expr AccessLowering::kept_inside(Expr e) const {
  return cx_.substituted(e, [&](Expr symbol) {
    for (const BlockAxis& axis : b_.nest().axes)
      if (axis.symbol == symbol && !axis.is_exact) return cx_.min(symbol, cx_.sub(axis.extent, 1));
    return Expr();
  });
}

// An expression of axes, arguments and scalar values, in 32 bits where it fits.
BlockId AccessLowering::places(Expr plain) {
  sym::Facts facts = kernel_.facts;
  for (const BlockAxis& axis : b_.nest().axes) facts.set_extent(axis.symbol, axis.extent);
  const sym::Range range = sym::bounds(plain, facts);
  const bool fits = range.lo >= INT32_MIN && range.hi <= INT32_MAX;
  const BlockId value = b_.index(plain, fits ? DType::kI32 : DType::kI64);
  scalars_.set_range(value, range);
  return value;
}

BlockId AccessLowering::index(Expr e, DType dtype, const Values& values) {
  if (ir::is_bool(dtype)) return mask_of(arguments_.lifted(narrowed(e)), values);
  Access access;
  access.offset = cx_.constant(0);
  const Expr lifted = arguments_.lifted(e);
  const Expr plain = resolved(lifted, values);
  if (plain) return places(plain);
  for (Expr term : summands_of(lifted))
    if (!add_index(term, values, access)) return {};
  return access.index;
}

// A size is compared with points of axes, which fit 32 bits: beyond them it may as well be the greatest
// number.
Expr AccessLowering::narrowed(Expr predicate) const {
  const sym::Op op = predicate.op();
  std::vector<Expr> operands(predicate.operands().begin(), predicate.operands().end());
  if (op == sym::Op::kAnd || op == sym::Op::kOr || op == sym::Op::kNot) {
    for (Expr& operand : operands) operand = narrowed(operand);
    return cx_.make(op, operands);
  }
  if (operands.size() != 2) return predicate;
  sym::Facts facts = arguments_.size_facts();
  for (const BlockAxis& axis : b_.nest().axes) facts.set_range(axis.symbol, kernel_.facts.range(axis.symbol));
  for (size_t k = 0; k < 2; ++k) {
    const std::vector<Expr> symbols = sym::symbols_of(operands[k]);
    const bool is_size =
        std::ranges::all_of(symbols, [](Expr s) { return s.is_symbol(sym::SymbolKind::kSize); });
    const sym::Range other = sym::bounds(operands[1 - k], facts);
    const sym::Range range = sym::bounds(operands[k], facts);
    const bool fits = range.lo >= INT32_MIN && range.hi <= INT32_MAX;
    if (fits || !is_size || other.lo <= INT32_MIN || other.hi >= INT32_MAX) continue;
    operands[k] = cx_.min(cx_.max(operands[k], cx_.constant(INT32_MIN)), cx_.constant(INT32_MAX));
  }
  return cx_.make(op, operands);
}

// A bound on a multiple of one axis as a bound on the axis, which the toolchain takes as the part of a block:
// 0 < 2*i + r as -r//2 < i.
Expr AccessLowering::undivided(Expr predicate) const {
  const bool is_strict = predicate.op() == sym::Op::kLt;
  if (!is_strict && predicate.op() != sym::Op::kLe) return predicate;
  const Expr low = predicate.operands()[0];
  const Expr high = predicate.operands()[1];
  const AxisSet axes = b_.axes_of(low) | b_.axes_of(high);
  if (axes == kNoAxes || (axes & (axes - 1)) != kNoAxes) return predicate;
  uint32_t axis = 0;
  while ((axes >> axis & 1) == 0) ++axis;
  const Expr symbol = b_.nest().axes[axis].symbol;
  // 0 < multiple * axis + rest
  const Expr distance = is_strict ? cx_.sub(high, low) : cx_.add(cx_.sub(high, low), 1);
  const std::optional<sym::Linear> linear = sym::linear_in(cx_, distance, symbol);
  const int64_t multiple = linear ? linear->coefficient.as_const().value_or(0) : 0;
  if (std::abs(multiple) <= 1) return predicate;
  const Expr size = cx_.constant(std::abs(multiple));
  if (multiple > 0) return cx_.lt(cx_.floordiv(cx_.neg(linear->rest), size), symbol);
  return cx_.lt(symbol, cx_.ceildiv(linear->rest, size));
}

// With the first point of axes of which blocks have no other: a bound on such an axis holds for all of a
// block or for nothing, and the toolchain takes none along a dimension of one element.
Expr AccessLowering::at_only_points(Expr e) const {
  return cx_.substituted(e, [&](Expr symbol) {
    for (const BlockAxis& axis : b_.nest().axes)
      if (axis.symbol == symbol && axis.size == 1) return axis.first;
    return Expr();
  });
}

BlockId AccessLowering::mask_of(Expr predicate, const Values& values) {
  if (const std::optional<int64_t> known = predicate.as_const()) return b_.boolean(*known != 0);
  const sym::Op op = predicate.op();
  if (op == sym::Op::kNot) {
    const BlockId inner = mask_of(predicate.operands()[0], values);
    return inner ? b_.op(BlockOp::kXorI, inner, b_.boolean(true)) : inner;
  }
  if (op == sym::Op::kAnd || op == sym::Op::kOr) {
    BlockId all;
    for (Expr operand : predicate.operands()) {
      const BlockId one = mask_of(operand, values);
      if (!one) return {};
      all = all ? b_.op(op == sym::Op::kAnd ? BlockOp::kAndI : BlockOp::kOrI, all, one) : one;
    }
    return all;
  }
  const Expr plain = resolved(at_only_points(undivided(predicate)), values);
  if (!plain) {
    refuse("a predicate of loaded integers");
    return {};
  }
  return b_.index(plain, DType::kBool);
}

// One summand whose elements do not lie in equal steps.
bool AccessLowering::add_index(Expr term, const Values& values, Access& out) {
  BlockId block;
  Expr factor = cx_.constant(1);
  const Expr plain = resolved(term, values);
  if (plain) {
    block = places(plain);
  } else {
    for (Expr symbol : sym::symbols_of(term)) {
      if (!symbol.is_symbol(sym::SymbolKind::kValue)) continue;
      const BlockId value = values.at(loop::value_of_symbol(symbol)).value;
      if (b_.type(value).axes == kNoAxes) continue;
      const std::optional<sym::Linear> linear = sym::linear_in(cx_, term, symbol);
      if (!linear || !linear->rest.is_const(0))
        return refuse("an address that is not linear in a loaded integer");
      factor = resolved(linear->coefficient, values);
      if (!factor || b_.axes_of(factor) != kNoAxes) return refuse("a product of loaded integers and axes");
      block = value;
    }
  }
  CHECK(block.valid(), "nothing to index by in {}", sym::text(term));
  if (!factor.is_const(1)) {
    factor = from_first(factor);
    const sym::Range range = scalars_.range_of(block);
    const sym::Range by = sym::bounds(factor, kernel_.facts);
    const bool fits = range.lo >= 0 && by.lo >= 0 && by.hi <= INT32_MAX && range.hi <= INT32_MAX &&
                      range.hi * by.hi <= INT32_MAX;
    if (!fits) block = scalars_.wide(block);
    const DType dtype = b_.type(block).dtype;
    const BlockId product = b_.op(BlockOp::kMulI, block, b_.index(factor, dtype));
    if (fits) scalars_.set_range(product, {range.lo * by.lo, range.hi * by.hi});
    block = product;
  }
  if (out.index) {
    BlockId other = out.index;
    if (b_.type(other).dtype != b_.type(block).dtype) {
      other = scalars_.wide(other);
      block = scalars_.wide(block);
    }
    block = b_.op(BlockOp::kAddI, other, block);
  }
  out.index = block;
  return true;
}

bool AccessLowering::split(Expr address, const Values& values, Access& out) {
  out.offset = cx_.constant(0);
  const std::vector<BlockAxis>& axes = b_.nest().axes;
  for (Expr term : summands_of(arguments_.lifted(address))) {
    const Expr plain = resolved(term, values);
    if (!plain) {
      if (!add_index(term, values, out)) return false;
      continue;
    }
    const AxisSet moved = b_.axes_of(plain);
    if (moved == kNoAxes) {
      out.offset = cx_.add(out.offset, from_first(plain));
      continue;
    }
    uint32_t axis = 0;
    while ((moved >> axis & 1) == 0) ++axis;
    const std::optional<sym::Linear> linear = sym::linear_in(cx_, plain, axes[axis].symbol);
    if (moved != AxisSet{1} << axis || !linear || b_.axes_of(linear->coefficient) != kNoAxes ||
        !linear->rest.is_const(0)) {
      if (!add_index(kept_inside(term), values, out)) return false;
      continue;
    }
    const Expr stride = from_first(linear->coefficient);
    out.offset = cx_.add(out.offset, cx_.mul(stride, axes[axis].first));
    const auto known = std::ranges::find(out.dims, axis, &Access::Dim::axis);
    if (known != out.dims.end())
      known->stride = cx_.add(known->stride, stride);
    else
      out.dims.push_back({axis, stride});
  }
  std::erase_if(out.dims, [](const Access::Dim& dim) { return dim.stride.is_const(0); });
  std::ranges::stable_sort(out.dims, [&](const Access::Dim& a, const Access::Dim& b) {
    const int64_t left = std::abs(plausible(program_, kernel_, a.stride));
    const int64_t right = std::abs(plausible(program_, kernel_, b.stride));
    return left != right ? left > right : a.axis < b.axis;
  });
  return true;
}

// What runs backwards along its densest dimension is taken as it lies. With a guard along that axis it stays
// as it is: such a mask would have to be turned as well.
void AccessLowering::turn_round(Expr guard, Access& out) const {
  if (out.index) return;
  for (Access::Dim& dim : out.dims) {
    const BlockAxis& axis = b_.nest().axes[dim.axis];
    const int64_t stride = dim.stride.as_const().value_or(0);
    if (stride >= 0) continue;
    if (axis.size > 1) {
      if (&dim != &out.dims.back() || (guard && sym::mentions(guard, axis.symbol))) continue;
      out.offset = cx_.add(out.offset, stride * (axis.size - 1));
      out.is_backward = true;
    }
    dim.stride = cx_.neg(dim.stride);
  }
}

std::optional<uint32_t> AccessLowering::axis_of(Expr symbol) const {
  for (uint32_t k = 0; k < b_.nest().axes.size(); ++k)
    if (b_.nest().axes[k].symbol == symbol) return k;
  return std::nullopt;
}

// Null where there are none, or a kept axis of theirs is no dimension of blocks.
const WindowedLoad* AccessLowering::windowed(const Inst& inst) const {
  const WindowedLoad* load = windowed_load(prepared_, inst);
  const auto is_axis = [&](const Window& window) { return axis_of(window.symbol).has_value(); };
  return load && std::ranges::all_of(load->windows, is_axis) ? load : nullptr;
}

AxisSet AccessLowering::axes_of(const Access& access) const {
  AxisSet axes = access.index ? b_.type(access.index).axes : kNoAxes;
  for (const Access::Dim& dim : access.dims) axes |= AxisSet{1} << dim.axis;
  return axes;
}

BlockId AccessLowering::inside(AxisSet axes) {
  BlockId all;
  for (uint32_t k = 0; k < b_.nest().axes.size(); ++k) {
    const BlockAxis& axis = b_.nest().axes[k];
    if ((axes >> k & 1) == 0 || axis.is_exact) continue;
    const BlockId one = b_.index(cx_.lt(axis.symbol, axis.extent), DType::kBool);
    all = all ? b_.op(BlockOp::kAndI, all, one) : one;
  }
  return all;
}

// The points of the access that are in range and for which the guard holds.
bool AccessLowering::add_masks(Expr guard, const Values& values, Access& out) {
  const AxisSet axes = axes_of(out);
  std::vector<BlockId> masks;
  for (uint32_t k = 0; k < b_.nest().axes.size(); ++k) {
    const BlockAxis& axis = b_.nest().axes[k];
    if ((axes >> k & 1) == 0 || axis.is_exact) continue;
    // Of a block that is turned round, the points beyond the extent come first.
    const bool is_backward = out.is_backward && out.dims.back().axis == k;
    const Expr first_inside = cx_.sub(cx_.add(axis.first, axis.size), axis.extent);
    const Expr inside = is_backward ? cx_.le(first_inside, cx_.sub(axis.symbol, axis.first))
                                    : cx_.lt(axis.symbol, axis.extent);
    masks.push_back(b_.index(inside, DType::kBool));
  }
  if (guard) {
    const BlockId mask = mask_of(arguments_.lifted(narrowed(guard)), values);
    if (!mask) return false;
    masks.push_back(mask);
  }
  for (BlockId mask : masks) out.mask = out.mask ? b_.op(BlockOp::kAndI, out.mask, mask) : mask;
  if (out.mask && (b_.type(out.mask).axes & ~axes & ~b_.unit()) != kNoAxes)
    return refuse("a guard along an axis that the address does not move with");
  return true;
}

// A load through indices, or of one element, and an accumulating store through indices go to memory for the
// whole block, whatever the mask says. So no element may have an address outside: along an axis that the last
// block reaches beyond it stays at the last point, and where a guard is false the address is that of the
// first element.
bool AccessLowering::keep_inside(bool has_guard, const Values& values, Access& out) {
  if (!out.mask) return true;
  if (!out.index) {
    if (has_guard && out.dims.empty()) out.offset = guarded(out.offset, out.mask);
    return true;
  }
  const std::vector<Access::Dim> dims = std::move(out.dims);
  out.dims.clear();
  for (const Access::Dim& dim : dims) {
    const BlockAxis& axis = b_.nest().axes[dim.axis];
    if (axis.is_exact && !has_guard) {
      out.dims.push_back(dim);
      continue;
    }
    const Expr last = cx_.sub(axis.extent, 1);
    const Expr point = axis.is_exact ? axis.symbol : cx_.min(axis.symbol, last);
    if (!add_index(cx_.mul(cx_.sub(point, axis.first), dim.stride), values, out)) return false;
  }
  if (!has_guard) return true;
  if (!out.offset.is_const(0) && !add_index(out.offset, values, out)) return false;
  out.offset = cx_.constant(0);
  out.index = b_.op(BlockOp::kSelect, out.mask, out.index, b_.integer(0, b_.type(out.index).dtype));
  return true;
}

// The offset of one element, or 0 where the mask is false.
Expr AccessLowering::guarded(Expr offset, BlockId mask) {
  const sym::Range range = sym::bounds(offset, kernel_.facts);
  const DType dtype = range.lo >= INT32_MIN && range.hi <= INT32_MAX ? DType::kI32 : DType::kI64;
  const BlockId value = b_.op(BlockOp::kSelect, mask, b_.index(offset, dtype), b_.integer(0, dtype));
  const Expr symbol = scalar_symbol(cx_, value);
  kernel_.facts.set_range(symbol, {std::min<int64_t>(range.lo, 0), std::max<int64_t>(range.hi, 0)});
  return symbol;
}

BlockId AccessLowering::load(const Inst& inst, const Values& values, bool pinned) {
  DType dtype = program_.buffers[inst.buffer].type.dtype;
  const WindowedLoad* by_window = pinned ? nullptr : windowed(inst);
  Expr guard = by_window ? by_window->windowed_guard : inst.guard;
  if (guard) {
    sym::Facts facts = arguments_.size_facts();
    for (const BlockAxis& axis : b_.nest().axes) {
      if (axis.extent.is_const())
        facts.set_extent(axis.symbol, axis.extent);
      else
        facts.set_range(axis.symbol, {0, INT32_MAX});
    }
    const std::optional<bool> known = sym::proves(cx_, guard, facts);
    if (known && *known) guard = Expr();
    if (known && !*known) return scalars_.constant(inst.type, inst.constant);
  }
  Access access;
  access.buffer = arguments_.buffer(inst.buffer);
  if (!split(by_window ? by_window->windowed_address : inst.address, values, access)) return {};
  turn_round(guard, access);
  if (!add_masks(guard, values, access) || !keep_inside(static_cast<bool>(guard), values, access)) return {};
  std::optional<loop::Constant> other;
  // An integer may become an address, or a divisor.
  if (guard || (access.mask && ir::is_integer(dtype))) other = guard ? inst.constant : loop::Constant{0};
  // What a window holds beyond an extent of the kept axis may still be within its own.
  const bool zero_beyond = ir::is_integer(dtype) && !by_window && (!access.mask || other->integer == 0);
  BlockId raw = b_.load(ir::is_bool(dtype) ? DType::kI8 : dtype, std::move(access), other, pinned);
  if (by_window)
    for (const Window& window : by_window->windows)
      raw = b_.slice(raw, *axis_of(window.symbol), *axis_of(window.kept), from_first(window.inner),
                     window.step);
  if (zero_beyond) zero_beyond_.insert(raw);
  if (ir::is_bool(dtype)) return b_.op(BlockOp::kNeI, raw, b_.integer(0, DType::kI8));
  if (dtype == DType::kI64 || dtype == DType::kI32 || ir::is_float(dtype)) return raw;
  const BlockId held =
      b_.convert(ir::is_unsigned(dtype) ? BlockOp::kExtUI : BlockOp::kExtSI, raw, DType::kI32);
  scalars_.set_range(held, range_of_type(dtype));
  if (zero_beyond) zero_beyond_.insert(held);
  return held;
}

bool AccessLowering::store(const Inst& inst, const ScalarLowering::Typed& typed, const Values& values) {
  BlockId value = typed.value;
  if (!value) return refuse("a store of nothing");
  const DType dtype = program_.buffers[inst.buffer].type.dtype;
  Access access;
  access.buffer = arguments_.buffer(inst.buffer);
  if (!split(inst.address, values, access)) return false;
  turn_round(inst.guard, access);
  if (access.dims.empty() && !access.index) {
    uint32_t unit = 0;
    while (b_.unit() >> unit != 1) ++unit;
    access.dims.push_back({unit, cx_.constant(1)});
  }
  if (!add_masks(inst.guard, values, access)) return false;
  const AxisSet axes = axes_of(access);
  if ((b_.type(value).axes & ~b_.unit() & ~axes) != kNoAxes)
    return refuse("a store to one element of a whole block");
  const bool is_indexed_atomic = inst.mode != loop::StoreMode::kSet && access.index;
  if (is_indexed_atomic && !keep_inside(static_cast<bool>(inst.guard), values, access)) return false;
  if (ir::is_bool(dtype)) {
    value = b_.convert(BlockOp::kExtUI, value, DType::kI8);
  } else if (dtype == DType::kI64) {
    value = scalars_.wide(value);
  } else if (ir::is_integer(dtype) && ir::dtype_bytes(dtype) < 4) {
    value = b_.convert(BlockOp::kTruncI, value, dtype);
  }
  value = b_.broadcast(value, axes);
  if (access.mask) access.mask = b_.broadcast(access.mask, axes);
  if (inst.mode != loop::StoreMode::kSet) {
    if (inst.mode == loop::StoreMode::kMul) return refuse("an atomic product");
    kernel_.has_atomics = true;
    // Indexed atomics go through the whole block, whatever the mask says: there they must change nothing.
    if (access.index && access.mask)
      value = b_.op(BlockOp::kSelect, access.mask, value, scalars_.identity(reduction_of(inst.mode), dtype));
  }
  b_.store(std::move(access), value, inst.mode);
  return true;
}

}  // namespace jumar::tile::npu
