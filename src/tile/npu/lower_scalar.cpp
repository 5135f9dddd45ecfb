#include "tile/npu/lower_scalar.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace jumar::tile::npu {

using ir::DType;
using loop::ScalarOp;
using sym::Range;

namespace {

constexpr Range kI32 = {INT32_MIN, INT32_MAX};

bool fits(Range inner, Range outer) { return outer.lo <= inner.lo && inner.hi <= outer.hi; }

bool is_narrow(DType dtype) { return ir::is_integer(dtype) && ir::dtype_bytes(dtype) < 4; }
bool is_held(DType dtype) {
  return ir::is_bool(dtype) || (ir::is_float(dtype) && dtype != DType::kF64) || is_narrow(dtype) ||
         dtype == DType::kI32 || dtype == DType::kI64;
}

int64_t clamped(__int128 value) {
  if (value <= std::numeric_limits<int64_t>::min()) return Range::kMin;
  if (value >= std::numeric_limits<int64_t>::max()) return Range::kMax;
  return static_cast<int64_t>(value);
}

Range product(Range a, Range b) {
  const __int128 corners[] = {static_cast<__int128>(a.lo) * b.lo, static_cast<__int128>(a.lo) * b.hi,
                              static_cast<__int128>(a.hi) * b.lo, static_cast<__int128>(a.hi) * b.hi};
  return {clamped(*std::ranges::min_element(corners)), clamped(*std::ranges::max_element(corners))};
}

// The result without wrapping; everything where nothing useful is known.
Range range_after(ScalarOp op, Range a, Range b) {
  switch (op) {
    case ScalarOp::kAdd:
      return {clamped(static_cast<__int128>(a.lo) + b.lo), clamped(static_cast<__int128>(a.hi) + b.hi)};
    case ScalarOp::kSub:
      return {clamped(static_cast<__int128>(a.lo) - b.hi), clamped(static_cast<__int128>(a.hi) - b.lo)};
    case ScalarOp::kMul:
      return product(a, b);
    case ScalarOp::kNeg:
      return {clamped(-static_cast<__int128>(a.hi)), clamped(-static_cast<__int128>(a.lo))};
    case ScalarOp::kAbs:
      return {0, std::max(clamped(-static_cast<__int128>(a.lo)), a.hi)};
    case ScalarOp::kSign:
      return {-1, 1};
    case ScalarOp::kMax:
    case ScalarOp::kFmax:
      return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
    case ScalarOp::kMin:
    case ScalarOp::kFmin:
      return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
    case ScalarOp::kRemainder:
      return b.lo > 0 ? Range{0, b.hi - 1} : Range{};
    case ScalarOp::kFloorDiv:
    case ScalarOp::kTruncDiv:
      return a.lo >= 0 && b.lo > 0 ? Range{0, a.hi} : Range{};
    case ScalarOp::kAnd:
      return a.lo >= 0 || b.lo >= 0 ? Range{0, std::max(a.hi, b.hi)} : Range{};
    default:
      return Range{};
  }
}

}  // namespace

Range range_of_type(DType dtype) {
  if (dtype == DType::kI64 || !ir::is_integer(dtype)) return Range{};
  const int64_t bits = 8 * ir::dtype_bytes(dtype);
  if (ir::is_unsigned(dtype)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

BlockId ScalarLowering::refuse(std::string why) {
  refusal_ = std::move(why);
  return {};
}

Range ScalarLowering::range_of(BlockId value) const {
  const auto found = ranges_.find(value);
  if (found != ranges_.end()) return found->second;
  return b_.type(value).dtype == DType::kI32 ? kI32 : Range{};
}

BlockId ScalarLowering::wide(BlockId value) {
  if (b_.type(value).dtype != DType::kI32) return value;
  const BlockId result = b_.convert(BlockOp::kExtSI, value, DType::kI64);
  set_range(result, range_of(value));
  return result;
}

BlockId ScalarLowering::constant(DType dtype, loop::Constant value) {
  if (ir::is_bool(dtype)) return b_.constant(dtype, value);
  if (ir::is_float(dtype)) return b_.real(value.real, dtype == DType::kF64 ? DType::kF32 : dtype);
  const bool small = fits({value.integer, value.integer}, kI32);
  const BlockId result = b_.integer(value.integer, small ? DType::kI32 : DType::kI64);
  set_range(result, {value.integer, value.integer});
  return result;
}

BlockId ScalarLowering::identity(loop::ReduceKind kind, DType dtype) {
  const bool is_real = ir::is_float(dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  const Range all = dtype == DType::kI64 ? Range{INT64_MIN, INT64_MAX} : range_of_type(dtype);
  switch (kind) {
    case loop::ReduceKind::kProd:
      return is_real ? b_.real(1.0, dtype) : b_.integer(1, dtype);
    case loop::ReduceKind::kMax:
    case loop::ReduceKind::kArgMax:
      if (is_real) return b_.real(-infinity, dtype);
      return b_.integer(all.lo, dtype);
    case loop::ReduceKind::kMin:
    case loop::ReduceKind::kArgMin:
      if (is_real) return b_.real(infinity, dtype);
      return b_.integer(all.hi, dtype);
    case loop::ReduceKind::kAll:
      return b_.integer(1, dtype);
    default:
      return is_real ? b_.real(0.0, dtype) : b_.integer(0, dtype);
  }
}

BlockId ScalarLowering::combined(loop::ReduceKind kind, BlockId a, BlockId b) {
  const bool is_real = ir::is_float(b_.type(a).dtype);
  switch (kind) {
    case loop::ReduceKind::kSum:
      return b_.op(is_real ? BlockOp::kAddF : BlockOp::kAddI, a, b);
    case loop::ReduceKind::kProd:
      return b_.op(is_real ? BlockOp::kMulF : BlockOp::kMulI, a, b);
    case loop::ReduceKind::kMax:
    case loop::ReduceKind::kArgMax:
    case loop::ReduceKind::kAny:
      return b_.op(is_real ? BlockOp::kMaximumF : BlockOp::kMaxSI, a, b);
    default:
      return b_.op(is_real ? BlockOp::kMinimumF : BlockOp::kMinSI, a, b);
  }
}

BlockId ScalarLowering::lowered(ScalarOp op, std::span<const Typed> operands, DType result) {
  for (const Typed& operand : operands)
    if (!operand.value) return {};
  const BlockId a = operands[0].value;
  const BlockId b = operands.size() > 1 ? operands[1].value : BlockId();
  const DType dtype = operands[0].dtype;
  // Numbers that the host passes are f64; blocks hold them as f32, which is what they are cast to.
  if (dtype == DType::kF64 && !(op == ScalarOp::kCast && result == DType::kF32))
    return refuse(fmt::format("{} of f64", loop::scalar_op_name(op)));
  if (!is_held(result)) return refuse(fmt::format("values of {}", ir::dtype_name(result)));
  switch (op) {
    case ScalarOp::kCast:
    case ScalarOp::kDemote:
      return cast(a, dtype, result);
    case ScalarOp::kSelect: {
      BlockId x = b;
      BlockId y = operands[2].value;
      if (b_.type(x).dtype != b_.type(y).dtype) {
        x = wide(x);
        y = wide(y);
      }
      if (ir::is_bool(result)) {
        const BlockId left = b_.op(BlockOp::kAndI, a, x);
        return b_.op(BlockOp::kOrI, left, b_.op(BlockOp::kAndI, bool_op(ScalarOp::kNot, a, {}), y));
      }
      const BlockId value = select(a, x, y);
      const Range ra = range_of(x);
      const Range rb = range_of(y);
      if (ir::is_integer(result)) set_range(value, {std::min(ra.lo, rb.lo), std::max(ra.hi, rb.hi)});
      return value;
    }
    case ScalarOp::kBitcast: {
      const bool same = ir::dtype_bytes(dtype) == 4 && ir::dtype_bytes(result) == 4;
      return same ? b_.convert(BlockOp::kBitcast, a, result) : refuse("bits of types that are not 32 wide");
    }
    case ScalarOp::kIsNan:
      return is_nan(a);
    case ScalarOp::kIsInf:
      return b_.op(BlockOp::kEqF, b_.op(BlockOp::kAbsF, a), b_.real(std::numeric_limits<double>::infinity()));
    case ScalarOp::kSignBit:
      return sign_bit(a);
    default:
      break;
  }
  if (op >= ScalarOp::kEq && op <= ScalarOp::kGe) return compared(op, a, b, dtype);
  if (ir::is_bool(dtype)) return bool_op(op, a, b);
  return ir::is_float(dtype) ? float_op(op, a, b) : integer_op(op, a, b, dtype);
}

BlockId ScalarLowering::cast(BlockId value, DType from, DType to) {
  if (from == DType::kF64) from = DType::kF32;
  if (from == to) return value;
  if (ir::is_bool(to)) {
    if (ir::is_float(from)) {
      const BlockId real = from == DType::kF32 ? value : b_.convert(BlockOp::kExtF, value, DType::kF32);
      return b_.op(BlockOp::kNeF, real, b_.real(0.0));
    }
    return b_.op(BlockOp::kNeI, value, b_.integer(0, b_.type(value).dtype));
  }
  if (ir::is_bool(from)) {
    if (ir::is_float(to)) {
      const BlockId real = select(value, b_.real(1.0), b_.real(0.0));
      return to == DType::kF32 ? real : b_.convert(BlockOp::kTruncF, real, to);
    }
    const BlockId result = select(value, b_.integer(1), b_.integer(0));
    set_range(result, {0, 1});
    return result;
  }
  if (ir::is_float(from)) {
    const BlockId real = from == DType::kF32 ? value : b_.convert(BlockOp::kExtF, value, DType::kF32);
    if (!ir::is_float(to)) return integer_of_float(real, to);
    return to == DType::kF32 ? real : b_.convert(BlockOp::kTruncF, real, to);
  }
  if (ir::is_float(to)) {
    const BlockId real = b_.convert(BlockOp::kSIToF, value, DType::kF32);
    return to == DType::kF32 ? real : b_.convert(BlockOp::kTruncF, real, to);
  }
  // Between integers: keep the low bits.
  const Range wanted = range_of_type(to);
  if (fits(range_of(value), wanted) || to == DType::kI64) return value;
  const BlockId low =
      b_.type(value).dtype == DType::kI64 ? b_.convert(BlockOp::kTruncI, value, DType::kI32) : value;
  if (to == DType::kI32) return low;
  return plain_integer(ScalarOp::kAdd, low, b_.integer(0), to);
}

BlockId ScalarLowering::integer_of_float(BlockId value, DType to) {
  if (to == DType::kI64) return b_.convert(BlockOp::kFToSI, value, DType::kI64);
  const BlockId whole = b_.convert(BlockOp::kFToSI, value, DType::kI32);
  return to == DType::kI32 ? whole : plain_integer(ScalarOp::kAdd, whole, b_.integer(0), to);
}

BlockId ScalarLowering::bool_op(ScalarOp op, BlockId a, BlockId b) {
  switch (op) {
    case ScalarOp::kAnd:
    case ScalarOp::kMin:
    case ScalarOp::kMul:
      return b_.op(BlockOp::kAndI, a, b);
    case ScalarOp::kOr:
    case ScalarOp::kMax:
      return b_.op(BlockOp::kOrI, a, b);
    case ScalarOp::kXor:
      return b_.op(BlockOp::kXorI, a, b);
    case ScalarOp::kNot:
      return b_.op(BlockOp::kXorI, a, b_.boolean(true));
    default:
      return refuse(fmt::format("{} of bool", loop::scalar_op_name(op)));
  }
}

BlockId ScalarLowering::compared(ScalarOp op, BlockId a, BlockId b, DType dtype) {
  if (ir::is_bool(dtype)) {
    const auto inverse = [&](BlockId x) { return bool_op(ScalarOp::kNot, x, {}); };
    switch (op) {
      case ScalarOp::kEq:
        return inverse(b_.op(BlockOp::kXorI, a, b));
      case ScalarOp::kNe:
        return b_.op(BlockOp::kXorI, a, b);
      case ScalarOp::kLt:
        return b_.op(BlockOp::kAndI, inverse(a), b);
      case ScalarOp::kLe:
        return b_.op(BlockOp::kOrI, inverse(a), b);
      case ScalarOp::kGt:
        return b_.op(BlockOp::kAndI, a, inverse(b));
      default:
        return b_.op(BlockOp::kOrI, a, inverse(b));
    }
  }
  const bool is_real = ir::is_float(dtype);
  const auto offset = static_cast<int>(op) - static_cast<int>(ScalarOp::kEq);
  const auto first = static_cast<int>(is_real ? BlockOp::kEqF : BlockOp::kEqI);
  if (!is_real && b_.type(a).dtype != b_.type(b).dtype) {
    a = wide(a);
    b = wide(b);
  }
  return b_.op(static_cast<BlockOp>(first + offset), a, b);
}

BlockId ScalarLowering::integer_op(ScalarOp op, BlockId a, BlockId b, DType dtype) {
  if (dtype == DType::kI64) return narrow_or_wide(op, a, b);
  return plain_integer(op, a, b, dtype);
}

// i64: in 32 bits where operands are held so and the result is known to fit.
BlockId ScalarLowering::narrow_or_wide(ScalarOp op, BlockId a, BlockId b) {
  const bool narrow_operands = b_.type(a).dtype == DType::kI32 && (!b || b_.type(b).dtype == DType::kI32);
  const Range range = range_after(op, range_of(a), b ? range_of(b) : Range{});
  if (narrow_operands && fits(range, kI32)) {
    const BlockId result = plain_integer(op, a, b, DType::kI32);
    if (result) set_range(result, range);
    return result;
  }
  const BlockId left = wide(a);
  const BlockId right = b ? wide(b) : b;
  return plain_integer(op, left, right, DType::kI64);
}

BlockId ScalarLowering::plain_integer(ScalarOp op, BlockId a, BlockId b, DType dtype) {
  const Range range = range_after(op, range_of(a), b ? range_of(b) : Range{});
  BlockId result = unwrapped(op, a, b, dtype);
  const bool is_bitwise = op == ScalarOp::kAnd || op == ScalarOp::kOr || op == ScalarOp::kXor;
  if (!result || is_bitwise) return result;
  if (!is_narrow(dtype) || fits(range, range_of_type(dtype))) {
    if (ir::is_integer(dtype) && dtype != DType::kI64 && fits(range, kI32)) set_range(result, range);
    return result;
  }
  // Back to the type's width: its low bits, with their sign.
  const int64_t bits = 8 * ir::dtype_bytes(dtype);
  if (ir::is_unsigned(dtype)) {
    result = b_.op(BlockOp::kAndI, result, b_.integer((int64_t{1} << bits) - 1));
  } else {
    const BlockId shift = b_.integer(32 - bits);
    result = b_.op(BlockOp::kShrSI, b_.op(BlockOp::kShlI, result, shift), shift);
  }
  set_range(result, range_of_type(dtype));
  return result;
}

// In the width that the operands are held in.
BlockId ScalarLowering::unwrapped(ScalarOp op, BlockId a, BlockId b, DType dtype) {
  const auto number = [&](int64_t value) { return b_.integer(value, b_.type(a).dtype); };
  switch (op) {
    case ScalarOp::kAdd:
      return b == number(0) ? a : b_.op(BlockOp::kAddI, a, b);
    case ScalarOp::kSub:
      return b_.op(BlockOp::kSubI, a, b);
    case ScalarOp::kMul:
      return b_.op(BlockOp::kMulI, a, b);
    case ScalarOp::kNeg:
      return b_.op(BlockOp::kSubI, number(0), a);
    case ScalarOp::kAbs:
      return ir::is_unsigned(dtype) ? a : b_.op(BlockOp::kMaxSI, a, b_.op(BlockOp::kSubI, number(0), a));
    case ScalarOp::kSign:
      return b_.op(BlockOp::kMaxSI, b_.op(BlockOp::kMinSI, a, number(1)), number(-1));
    case ScalarOp::kMax:
    case ScalarOp::kFmax:
      return b_.op(BlockOp::kMaxSI, a, b);
    case ScalarOp::kMin:
    case ScalarOp::kFmin:
      return b_.op(BlockOp::kMinSI, a, b);
    case ScalarOp::kAnd:
      return b_.op(BlockOp::kAndI, a, b);
    case ScalarOp::kOr:
      return b_.op(BlockOp::kOrI, a, b);
    case ScalarOp::kXor:
      return b_.op(BlockOp::kXorI, a, b);
    case ScalarOp::kNot:
      return b_.op(BlockOp::kXorI, a, number(-1));
    case ScalarOp::kTruncDiv:
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFmod:
    case ScalarOp::kRemainder:
      return divided(op, a, b);
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return shifted(op, a, b, dtype);
    default:
      return refuse(fmt::format("{} of {}", loop::scalar_op_name(op), ir::dtype_name(dtype)));
  }
}

BlockId ScalarLowering::shifted(ScalarOp op, BlockId a, BlockId b, DType dtype) {
  const DType held = b_.type(a).dtype;
  const int64_t bits = 8 * ir::dtype_bytes(dtype);
  const BlockId zero = b_.integer(0, held);
  const BlockId last = b_.integer(bits - 1, held);
  const Range range = range_of(b);
  const bool is_valid = range.lo >= 0 && range.hi < bits;
  const BlockId amount = is_valid ? b : b_.op(BlockOp::kMinSI, b_.op(BlockOp::kMaxSI, b, zero), last);
  const BlockId outside =
      is_valid ? BlockId()
               : b_.op(BlockOp::kOrI, b_.op(BlockOp::kLtI, b, zero), b_.op(BlockOp::kGtI, b, last));
  if (op == ScalarOp::kShl) {
    const BlockId result = b_.op(BlockOp::kShlI, a, amount);
    return is_valid ? result : select(outside, zero, result);
  }
  const BlockId result = b_.op(BlockOp::kShrSI, a, amount);
  if (is_valid) return result;
  const BlockId sign = ir::is_unsigned(dtype) ? zero : b_.op(BlockOp::kShrSI, a, last);
  return select(outside, sign, result);
}

}  // namespace jumar::tile::npu
