// Division of integers on blocks. Rounding errors are bounded as in Higham, Accuracy and Stability of
// Numerical Algorithms, chapter 2.
#include <cstdlib>

#include "tile/npu/lower_scalar.h"

namespace jumar::tile::npu {

using ir::DType;
using loop::ScalarOp;
using sym::Range;

namespace {

// Below it every integer is an f32, and the quotient of two of them rounds to the right side of an integer.
constexpr int64_t kExact = (int64_t{1} << 24) - 1;

bool is_exact_as_f32(Range range) { return range.lo >= -kExact && range.hi <= kExact; }

int64_t greatest_size(Range range) {
  if (range.lo < INT32_MIN || range.hi > INT32_MAX) return int64_t{1} << 31;
  return std::max(std::abs(range.lo), std::abs(range.hi));
}

int64_t least_size(Range range) {
  return range.lo > 0 ? range.lo : range.hi < 0 ? -std::max<int64_t>(range.hi, INT32_MIN) : 1;
}

}  // namespace

BlockId ScalarLowering::divided(ScalarOp op, BlockId a, BlockId b) {
  const BlockId zero = b_.integer(0, b_.type(a).dtype);
  const BlockId one = b_.integer(1, b_.type(a).dtype);
  const Range divisor = range_of(b);
  const Range dividend = range_of(a);
  const bool never_zero = divisor.lo > 0 || divisor.hi < 0;
  const BlockId is_zero = never_zero ? BlockId() : b_.op(BlockOp::kEqI, b, zero);
  const BlockId safe = never_zero ? b : select(is_zero, one, b);
  const Division whole = truncated(a, safe, dividend, divisor);
  const bool floors = op == ScalarOp::kFloorDiv || op == ScalarOp::kRemainder;
  BlockId differs;
  if (floors && !(dividend.lo >= 0 && divisor.lo >= 0)) {
    differs = signs_differ(whole.remainder, safe, divisor);
  }
  const bool is_quotient = op == ScalarOp::kTruncDiv || op == ScalarOp::kFloorDiv;
  BlockId result = is_quotient ? whole.quotient : whole.remainder;
  if (differs && is_quotient) result = b_.op(BlockOp::kSubI, result, select(differs, one, zero));
  if (differs && !is_quotient) result = b_.op(BlockOp::kAddI, result, select(differs, safe, zero));
  return is_zero ? select(is_zero, zero, result) : result;
}

// Of a remainder that is not zero, and a divisor.
BlockId ScalarLowering::signs_differ(BlockId remainder, BlockId b, Range divisor) {
  const BlockId zero = b_.integer(0, b_.type(b).dtype);
  if (divisor.lo > 0) return b_.op(BlockOp::kLtI, remainder, zero);
  if (divisor.hi < 0) return b_.op(BlockOp::kGtI, remainder, zero);
  const BlockId differ = b_.op(BlockOp::kLtI, b_.op(BlockOp::kXorI, remainder, b), zero);
  return b_.op(BlockOp::kAndI, b_.op(BlockOp::kNeI, remainder, zero), differ);
}

// Towards zero, of a divisor that is not zero.
ScalarLowering::Division ScalarLowering::truncated(BlockId a, BlockId b, Range dividend, Range divisor) {
  const bool is_narrow = b_.type(a).dtype == DType::kI32;
  if (is_narrow && !divides_i32_) {
    if (!is_exact_as_f32(dividend) || !is_exact_as_f32(divisor)) return by_floats(a, b, dividend, divisor);
    const BlockId quotient = b_.op(BlockOp::kDivSI, a, b);
    return {quotient, b_.op(BlockOp::kSubI, a, b_.op(BlockOp::kMulI, quotient, b))};
  }
  // The least number by -1 does not fit; x by -1 is -x for every x, which wraps as it should.
  const bool never_minus_one = divisor.lo > -1 || divisor.hi < -1 || dividend.lo >= 0;
  if (never_minus_one) return {b_.op(BlockOp::kDivSI, a, b), b_.op(BlockOp::kRemSI, a, b)};
  const DType held = b_.type(a).dtype;
  const BlockId zero = b_.integer(0, held);
  const BlockId minus_one = b_.op(BlockOp::kEqI, b, b_.integer(-1, held));
  const BlockId safe = select(minus_one, b_.integer(1, held), b);
  return {select(minus_one, b_.op(BlockOp::kSubI, zero, a), b_.op(BlockOp::kDivSI, a, safe)),
          select(minus_one, zero, b_.op(BlockOp::kRemSI, a, safe))};
}

// Towards zero, in 32 bits, by quotients of f32 and what is left of them:
//
//   n = -|a|, d = -|b|                     at most zero, since the least number has no opposite
//   q = int(float(n)/float(d));            r = n - q*d
//   p = floor(float(r)/float(d)); q += p;  r -= p*d
//   q and r by one more step of -1, 0 or 1, so that d < r <= 0
//
// An f32 quotient of integers is wrong by a few parts in 2^24; taken as 2^-21 of itself here, which leaves
// room for divisions and casts that don't round to nearest. The first q is at most 2^31, so by at most 1024
// off, and less than one more from being cut to an integer. The quotient of r is then below 2048 and known to
// a thousandth, so that p leaves r between -0.001 d and 1.001 d: one step from where it has to be. Where the
// first quotient is below 2^20 it is that near itself. Products and differences may wrap on the way; r fits,
// since an |r| above 2^31 needs a |d| that near to it, and then q is 0 or 1 and r lies between n and n - d.
ScalarLowering::Division ScalarLowering::by_floats(BlockId a, BlockId b, Range dividend, Range divisor) {
  constexpr double kGreatestBelow2To31 = 2147483520.0;
  constexpr int64_t kNear = int64_t{1} << 20;
  const BlockId zero = b_.integer(0);
  const auto at_most_zero = [&](BlockId x, Range range) {
    if (range.lo == range.hi) return b_.integer(-std::abs(range.lo));
    const BlockId opposite = range.hi <= 0 ? x : b_.op(BlockOp::kSubI, zero, x);
    return range.lo >= 0 || range.hi <= 0 ? opposite : b_.op(BlockOp::kMinSI, x, opposite);
  };
  const auto real = [&](BlockId x) { return b_.convert(BlockOp::kSIToF, x, DType::kF32); };
  const BlockId n = at_most_zero(a, dividend);
  const BlockId d = at_most_zero(b, divisor);
  Division result{{}, n};
  const auto take = [&](BlockId count) {
    result.quotient = result.quotient ? b_.op(BlockOp::kAddI, result.quotient, count) : count;
    result.remainder = b_.op(BlockOp::kSubI, result.remainder, b_.op(BlockOp::kMulI, count, d));
  };
  const bool is_near = greatest_size(dividend) / least_size(divisor) <= kNear;
  BlockId first = b_.op(BlockOp::kDivF, real(n), real(d));
  if (!is_near) first = b_.op(BlockOp::kMinNumF, first, b_.real(kGreatestBelow2To31));
  take(b_.convert(BlockOp::kFToSI, first, DType::kI32));
  if (!is_near) {
    const BlockId second = b_.op(BlockOp::kDivF, real(result.remainder), real(d));
    take(b_.convert(BlockOp::kFToSI, b_.op(BlockOp::kFloor, second), DType::kI32));
  }
  const BlockId too_many = b_.op(BlockOp::kGtI, result.remainder, zero);
  const BlockId too_few = b_.op(BlockOp::kLeI, result.remainder, d);
  take(select(too_many, b_.integer(-1), select(too_few, b_.integer(1), zero)));
  return with_signs(result, a, b, dividend, divisor);
}

// The quotient and remainder of -|a| by -|b| -> those of a by b.
ScalarLowering::Division ScalarLowering::with_signs(const Division& whole, BlockId a, BlockId b,
                                                    Range dividend, Range divisor) {
  const auto sign = [&](BlockId x, Range range) {
    if (range.lo >= 0) return b_.integer(1);
    return b_.op(BlockOp::kOrI, b_.op(BlockOp::kShrSI, x, b_.integer(31)), b_.integer(1));
  };
  const auto times = [&](BlockId x, BlockId by) {
    return by == b_.integer(1) ? x : b_.op(BlockOp::kMulI, x, by);
  };
  const BlockId sign_a = sign(a, dividend);
  const BlockId sign_b = sign(b, divisor);
  const BlockId remainder = b_.op(BlockOp::kSubI, b_.integer(0), times(whole.remainder, sign_a));
  return {times(times(whole.quotient, sign_a), sign_b), remainder};
}

}  // namespace jumar::tile::npu
