// Trigonometric functions and their inverses.
#include "emit/cpu/vecmath.h"
#include "emit/cpu/vecmath_coeffs.h"
#include "emit/cpu/vecmath_core.h"
#include "emit/cpu/vecmath_slow.h"

namespace jumar::emit::cpu {

using llvm::Value;

namespace {

// pi as hi + lo in the type at hand, times a power of two that the callers choose.
double pi_hi(const VecOps& o) { return o.pick(0x1.921fb6p+1, 0x1.921fb54442d18p+1); }
double pi_lo(const VecOps& o) { return o.pick(-0x1.777a5cp-24, 0x1.1a62633145c07p-53); }

// Up to here the reduction below is exact enough: pi/2 in three parts, each step one fused multiply-add. In
// f32 the number of quadrants must stay far below 2^22, where magic rounding ends, in f64 below 2^51.
double fast_bound(const VecOps& o) { return o.pick(0x1p17, 0x1p30); }

Angle reduced_by_half_pi_fast(VecOps& o, Value* x) {
  Value* t = o.fma(x, o.c(0x1.45f306dc9c883p-1), o.c(o.magic()));
  Value* n = o.sub(t, o.c(o.magic()));
  Value* r = o.fma(n, o.c(-0.5 * pi_hi(o)), x);
  r = o.fma(n, o.c(-0.5 * pi_lo(o)), r);
  r = o.fma(n, o.c(0x1.ee59dap-50, 0x1.f1976b7ed8fbcp-110), r);
  return {r, o.bits(t)};
}

Angle reduced_by_half_pi(VecOps& o, Value* x) {
  const Angle fast = reduced_by_half_pi_fast(o, x);
  Value* outside = o.gt(o.abs(x), o.c(fast_bound(o)));
  const std::vector<Value*> chosen =
      unless_any_lane(o.builder(), outside, {fast.r, fast.quadrant}, [&]() -> std::vector<Value*> {
        const Angle angle = reduced_by_half_pi_slow(o, x, fast, fast_bound(o));
        return {angle.r, angle.quadrant};
      });
  return {chosen[0], chosen[1]};
}

// sin of an angle given as quadrant and rest.
Value* sine_of(VecOps& o, Angle angle) {
  Value* value = o.select(o.bit_set(angle.quadrant, 0), cos_poly(o, angle.r), sin_poly(o, angle.r));
  Value* sign = o.shl(o.iand(angle.quadrant, o.ci(2)), o.width_bits() - 2);
  return o.xor_sign(value, sign);
}

}  // namespace

Value* VecMath::sin(Value* x) {
  VecOps o(b_, x->getType());
  // The reduction turns -0 into +0.
  return o.select(o.eq(x, o.c(0)), x, sine_of(o, reduced_by_half_pi(o, x)));
}

Value* VecMath::cos(Value* x) {
  VecOps o(b_, x->getType());
  const Angle angle = reduced_by_half_pi(o, x);
  return sine_of(o, {angle.r, o.iadd(angle.quadrant, o.ci(1))});
}

Value* VecMath::tan(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::tan, x);
  VecOps o(b_, x->getType());
  const Angle angle = reduced_by_half_pi(o, x);
  Value* sine = sin_poly(o, angle.r);
  Value* cosine = cos_poly(o, angle.r);
  Value* odd = o.bit_set(angle.quadrant, 0);
  Value* ratio = o.div(o.select(odd, o.neg(cosine), sine), o.select(odd, sine, cosine));
  return o.select(o.eq(x, o.c(0)), x, ratio);
}

// asin(t) - t for |t| <= 1/2.
Value* VecMath::asin_rest(Value* t) {
  VecOps o(b_, t->getType());
  Value* s = o.mul(t, t);
  return o.mul(o.mul(t, s), o.poly(s, o.pick(coeffs::kAsinF32, coeffs::kAsinF64)));
}

Value* VecMath::asin(Value* x) {
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* large = o.gt(a, o.c(0.5));
  // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)); for a > 1 the root is NaN, as the result must be. The square
  // is exact, so the root's rounding error can be made up for.
  Value* square = o.fma(a, o.c(-0.5), o.c(0.5));
  Value* root = o.sqrt(square);
  Value* lost = o.div(o.mul(o.fma(o.neg(root), root, square), o.c(0.5)), o.select(large, root, o.c(1)));
  lost = o.select(o.eq(square, o.c(0)), o.c(0), lost);
  Value* t = o.select(large, root, a);
  Value* rest = asin_rest(t);
  Value* low = o.fma(o.add(rest, lost), o.c(-2), o.c(0.5 * pi_lo(o)));
  Value* folded = o.add(o.fma(root, o.c(-2), o.c(0.5 * pi_hi(o))), low);
  return o.copysign(o.select(large, folded, o.add(a, rest)), x);
}

Value* VecMath::acos(Value* x) {
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* large = o.gt(a, o.c(0.5));
  Value* root = o.sqrt(o.fma(a, o.c(-0.5), o.c(0.5)));
  Value* t = o.select(large, root, x);
  Value* part = o.add(t, asin_rest(t));
  // |x| <= 1/2: pi/2 - asin x. Otherwise 2 asin(root) for positive x and pi minus it for negative x.
  Value* twice = o.add(part, part);
  Value* near_pi = o.sub(o.c(pi_hi(o)), o.sub(twice, o.c(pi_lo(o))));
  Value* outer = o.select(o.lt(x, o.c(0)), near_pi, twice);
  Value* inner = o.sub(o.c(0.5 * pi_hi(o)), o.sub(part, o.c(0.5 * pi_lo(o))));
  return o.select(large, outer, inner);
}

// atan(numerator / denominator) for 0 <= numerator <= denominator, with one division: above tan(pi/8) the
// angle is measured from pi/4.
Value* VecMath::atan_of_ratio(Value* numerator, Value* denominator) {
  VecOps o(b_, numerator->getType());
  // Two infinities are equal, and stand for a ratio of 1.
  Value* equal = o.eq(numerator, denominator);
  Value* upper = o.either(equal, o.gt(numerator, o.mul(denominator, o.c(0x1.a8279ap-2))));
  Value* difference = o.select(equal, o.c(0), o.sub(numerator, denominator));
  Value* top = o.select(upper, difference, numerator);
  Value* bottom = o.select(upper, o.add(numerator, denominator), denominator);
  Value* t = o.div(top, bottom);
  Value* s = o.mul(t, t);
  Value* rest = o.mul(o.mul(t, s), o.poly(s, o.pick(coeffs::kAtanF32, coeffs::kAtanF64)));
  Value* low = o.select(upper, o.c(0.25 * pi_lo(o)), o.c(0));
  return o.add(o.select(upper, o.c(0.25 * pi_hi(o)), o.c(0)), o.add(t, o.add(rest, low)));
}

Value* VecMath::atan(Value* x) {
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* steep = o.gt(a, o.c(1));
  Value* angle = atan_of_ratio(o.select(steep, o.c(1), a), o.select(steep, a, o.c(1)));
  Value* complement = o.sub(o.c(0.5 * pi_hi(o)), o.sub(angle, o.c(0.5 * pi_lo(o))));
  return o.copysign(o.select(steep, complement, angle), x);
}

Value* VecMath::atan2(Value* y, Value* x) {
  VecOps o(b_, x->getType());
  // Both are halved twice where their sum could overflow; infinities stay what they are.
  Value* huge = o.either(o.gt(o.abs(x), o.c(0x1p126, 0x1p1022)), o.gt(o.abs(y), o.c(0x1p126, 0x1p1022)));
  Value* factor = o.select(huge, o.c(0.25), o.c(1));
  Value* across = o.mul(o.abs(x), factor);
  Value* up = o.mul(o.abs(y), factor);
  Value* steep = o.gt(up, across);
  Value* longer = o.select(steep, up, across);
  Value* shorter = o.select(steep, across, up);
  Value* angle = atan_of_ratio(shorter, o.select(o.eq(longer, o.c(0)), o.c(1), longer));
  angle = o.select(steep, o.sub(o.c(0.5 * pi_hi(o)), o.sub(angle, o.c(0.5 * pi_lo(o)))), angle);
  // The sign bit of x decides, so that x = -0 counts as negative.
  Value* left = o.builder().CreateICmpSLT(o.bits(x), o.ci(0));
  angle = o.select(left, o.sub(o.c(pi_hi(o)), o.sub(angle, o.c(pi_lo(o)))), angle);
  return o.select(o.either_nan(x, y), o.nan(), o.copysign(angle, y));
}

}  // namespace jumar::emit::cpu
