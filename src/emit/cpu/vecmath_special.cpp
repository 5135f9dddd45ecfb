// The error functions and the gamma functions.
#include "emit/cpu/vecmath.h"
#include "emit/cpu/vecmath_coeffs.h"
#include "emit/cpu/vecmath_core.h"

namespace jumar::emit::cpu {

using llvm::Value;

namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;

// erf for |x| up to about 1.
Value* erf_small(VecOps& o, Value* x) {
  Value* s = o.mul(x, x);
  return o.fma(x, o.poly(s, o.pick(coeffs::kErfSmallF32, coeffs::kErfSmallF64)), x);
}

// exp(a^2) erfc(a) for a >= 0.48: a polynomial in (a - centre) / (a + centre), over 1 + 2a.
Value* scaled_erfc(VecOps& o, Value* a, double centre, std::span<const double> coefficients) {
  Value* t = o.div(o.sub(a, o.c(centre)), o.add(a, o.c(centre)));
  return o.div(o.poly(t, coefficients), o.fma(a, o.c(2), o.c(1)));
}

// f64 erfc for a >= 0.48, with the rounding error of the square made up for.
Value* erfc_large(VecOps& o, Value* a) {
  a = o.at_most(a, 27.3);
  Value* factor = scaled_erfc(o, a, coeffs::kErfcCentreF64, coeffs::kErfcF64);
  Value* square = o.neg(o.mul(a, a));
  Value* rest = o.neg(o.fma(a, a, square));
  // The factor goes in before the scaling, so that a subnormal result is rounded once.
  const ExpCore core = exp_core(o, square);
  Value* value = o.add(core.rest, o.c(1));
  return scaled(o, o.mul(o.fma(value, rest, value), factor), core.n_bits);
}

// f32 erfc of a wide |x|: f64 arithmetic makes up for everything that rounding would spoil, with polynomials
// no longer than f32 needs.
Value* erfc_for_f32(VecOps& o, Value* x) {
  Value* a = o.at_most(o.abs(x), 10.1);
  Value* octaves = o.mul(o.mul(a, a), o.c(-0x1.71547652b82fep+0));
  Value* t = o.add(octaves, o.c(o.magic()));
  Value* r = o.sub(octaves, o.sub(t, o.c(o.magic())));
  Value* power = o.mul(o.fma(r, o.poly(r, coeffs::kExp2ShortF64), o.c(1)), pow2(o, o.bits(t), 0));
  Value* tail = o.mul(power, scaled_erfc(o, a, coeffs::kErfcCentreF32, coeffs::kErfcF32));
  Value* large = o.select(o.lt(x, o.c(0)), o.sub(o.c(2), tail), tail);
  Value* small = o.sub(o.c(1), o.fma(x, o.poly(o.mul(x, x), coeffs::kErfSmallF32), x));
  return o.select(o.gt(a, o.c(0.5)), large, small);
}

}  // namespace

Value* VecMath::erf(Value* x) {
  VecOps o(b_, x->getType());
  if (accuracy_ == Accuracy::kFast && !o.is_f64()) {
    Value* t = o.at_least(o.at_most(x, 3.925), -3.925);
    Value* s = o.mul(t, t);
    Value* ratio = o.div(o.mul(t, o.poly(s, coeffs::kErfFastPF32)), o.poly(s, coeffs::kErfFastQF32));
    return o.at_least(o.at_most(ratio, 1), -1);
  }
  return erf_default(x);
}

Value* VecMath::erf_default(Value* x) {
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* tail = nullptr;
  if (o.is_f64()) {
    tail = erfc_large(o, o.at_most(a, 6));
  } else {
    // erfc(t) = exp(-t + t p(t)); from the bound on erf rounds to 1.
    Value* t = o.at_most(a, 3.93);
    tail = exp_normal(o, o.fma(o.poly(t, coeffs::kErfLargeF32), t, o.neg(t)));
  }
  Value* large = o.copysign(o.sub(o.c(1), tail), x);
  return o.select(o.gt(a, o.c(0.925, 1)), large, erf_small(o, x));
}

Value* VecMath::erfc(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) {
    VecOps wide(b_, x->getType()->getWithNewType(b_.getDoubleTy()));
    return b_.CreateFPTrunc(erfc_for_f32(wide, b_.CreateFPExt(x, wide.type())), x->getType());
  }
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* tail = erfc_large(o, a);
  Value* large = o.select(o.lt(x, o.c(0)), o.sub(o.c(2), tail), tail);
  return o.select(o.gt(a, o.c(0.5)), large, o.sub(o.c(1), erf_small(o, x)));
}

Value* VecMath::erfinv(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::erfinv, x);
  return outlined("erfinv", {x},
                  [](VecMath& math, llvm::ArrayRef<Value*> a) { return math.erfinv_body(a[0]); });
}

Value* VecMath::erfinv_body(Value* x) {
  VecOps o(b_, x->getType());
  // x times a polynomial in w = -log(1 - x^2), or in its root where w is large. The logarithm is taken of the
  // product (1 - x)(1 + x) or, where that would lose digits, of 1 - x^2 with what its rounding lost.
  Value* a = o.abs(x);
  Value* far = o.gt(a, o.c(0.5));
  Value* square = o.mul(x, x);
  Value* difference = o.sub(o.c(1), square);
  Value* lost = o.sub(o.sub(o.c(1), difference), square);
  Value* product = o.mul(o.sub(o.c(1), a), o.add(o.c(1), a));
  Value* argument = o.select(far, product, difference);
  Value* w = o.neg(natural(o, log_core_with_tail(o, argument, o.select(far, o.c(0), lost))));
  Value* root = o.sqrt(w);
  Value* low = o.poly(o.sub(w, o.c(3.125)), coeffs::kErfinvLowF64);
  Value* middle = o.poly(o.sub(root, o.c(3.25)), coeffs::kErfinvMiddleF64);
  Value* high = o.poly(o.sub(root, o.c(5)), coeffs::kErfinvHighF64);
  Value* scale = o.select(o.lt(w, o.c(6.25)), low, o.select(o.lt(w, o.c(16)), middle, high));
  Value* result = o.select(o.eq(a, o.c(1)), o.copysign(o.inf(), x), o.mul(x, scale));
  return o.select(o.gt(a, o.c(1)), o.nan(), result);
}

Value* VecMath::lgamma(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::lgamma, x);
  return outlined("lgamma", {x},
                  [](VecMath& math, llvm::ArrayRef<Value*> a) { return math.lgamma_body(a[0]); });
}

namespace {

struct GammaRange {
  Value* z;         // the distance from 1 or 2
  Value* from_one;  // set where z counts from 1
  Value* product;   // what the recurrence multiplied up, 1 where there was nothing to do
};

// Brings 1/2 <= y < 8.5 to within 1/2 of 1 or 2 by gamma(y) = (y - 1) gamma(y - 1).
GammaRange gamma_range(VecMath& math, VecOps& o, Value* y) {
  Value* nearest = o.at_least(math.round_half_even(y), 1);
  Value* product = o.c(1);
  for (int k = 1; k <= 6; ++k) {
    Value* counts = o.gt(nearest, o.c(k + 1.5));
    product = o.select(counts, o.mul(product, o.sub(y, o.c(k))), product);
  }
  // Halves are rounded to even, so 1.5 and 2.5 both count from 2.
  return {o.sub(y, nearest), o.lt(y, o.c(1.5)), product};
}

}  // namespace

// Around 2 lgamma(2 + z) = z p(z), which keeps its zero; around 1 lgamma(1 + z) = lgamma(2 + z) - log1p(z),
// whose two parts are both proportional to z. Above, the logarithm of the product of the recurrence is added,
// from 8.5 on Stirling's series is used, and below 1/2 the reflection.
Value* VecMath::lgamma_body(Value* x) {
  VecOps o(b_, x->getType());
  Value* reflect = o.lt(x, o.c(0.5));
  Value* y = o.select(reflect, o.sub(o.c(1), x), x);
  Value* large = o.ge(y, o.c(8.5));
  const GammaRange range = gamma_range(*this, o, o.select(large, o.c(1), y));
  Value* near_one = o.neg(o.div(range.z, o.add(range.z, o.c(1))));
  Value* argument = o.select(range.from_one, near_one, o.sub(range.product, o.c(1)));
  Value* logarithm = log1p(o.select(large, o.sub(y, o.c(1)), argument));
  Value* small = o.fma(range.z, o.poly(range.z, coeffs::kLgammaNearTwoF64), logarithm);
  // Stirling's series.
  Value* inverse = o.div(o.c(1), y);
  Value* series = o.mul(inverse, o.poly(o.mul(inverse, inverse), coeffs::kLgammaLargeF64));
  constexpr double kHalfLog2PiLessHalf = 0x1.acfe390c97d69p-2;
  Value* stirling =
      o.fma(o.sub(y, o.c(0.5)), o.sub(logarithm, o.c(1)), o.add(o.c(kHalfLog2PiLessHalf), series));
  Value* positive = o.select(large, stirling, small);
  // lgamma(x) = log(pi / |sin(pi x)|) - lgamma(1 - x); at 0, -1, -2, ... the sine is 0 and the result
  // infinite.
  Value* fraction = o.sub(x, round_half_even(x));
  Value* sine = o.abs(sin_cos_pi(o, fraction).sin);
  Value* reflected = o.sub(o.neg(log(o.div(sine, o.c(kPi)))), positive);
  Value* pole = o.either(o.eq(sine, o.c(0)), o.eq(o.abs(x), o.inf()));
  return o.select(reflect, o.select(pole, o.inf(), reflected), positive);
}

Value* VecMath::digamma(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::digamma, x);
  return outlined("digamma", {x},
                  [](VecMath& math, llvm::ArrayRef<Value*> a) { return math.digamma_body(a[0]); });
}

Value* VecMath::digamma_body(Value* x) {
  VecOps o(b_, x->getType());
  Value* reflect = o.lt(x, o.c(0));
  Value* y = o.select(reflect, o.sub(o.c(1), x), x);
  // Below 10: digamma(y) = digamma(y + 10) - sum of 1 / (y + k), the sum as one fraction.
  Value* small = o.lt(y, o.c(10));
  Value* t = o.select(small, y, o.c(1));
  Value* denominator = t;
  Value* numerator = o.c(1);
  for (int k = 1; k < 10; ++k) {
    Value* factor = o.add(t, o.c(k));
    numerator = o.fma(numerator, factor, denominator);
    denominator = o.mul(denominator, factor);
  }
  Value* shifted = o.select(small, o.add(y, o.c(10)), y);
  Value* inverse = o.div(o.c(1), shifted);
  Value* square = o.mul(inverse, inverse);
  Value* value =
      o.sub(o.fma(inverse, o.c(-0.5), log(shifted)), o.mul(square, o.poly(square, coeffs::kDigammaLargeF64)));
  value = o.select(small, o.sub(value, o.div(numerator, denominator)), value);
  // digamma(x) = digamma(1 - x) - pi / tan(pi x); at negative integers there is a pole without a sign.
  Value* fraction = o.sub(x, round_half_even(x));
  const SinCos angle = sin_cos_pi(o, fraction);
  Value* reflected = o.sub(value, o.div(o.mul(o.c(kPi), angle.cos), angle.sin));
  reflected = o.select(o.eq(fraction, o.c(0)), o.nan(), reflected);
  Value* result = o.select(reflect, reflected, value);
  result = o.select(o.eq(x, o.inf()), x, result);
  return o.select(o.eq(x, o.c(0)), o.copysign(o.inf(), o.neg(x)), result);
}

}  // namespace jumar::emit::cpu
