// Logarithms and what is made of them: pow and the inverse hyperbolic functions.
#include "emit/cpu/vecmath.h"
#include "emit/cpu/vecmath_coeffs.h"
#include "emit/cpu/vecmath_core.h"

namespace jumar::emit::cpu {

using llvm::Value;

namespace {

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLog2ELo = 0x1.777d0ffda0d24p-56;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLn2Lo = 0x1.abc9e3b39803fp-56;

// A constant as two floats of the type at hand: the first is its rounded value, the second the rest.
struct Split {
  double hi;
  double lo;
};

Split split_for(const VecOps& o, double hi, double lo) {
  if (o.is_f64()) return {hi, lo};
  const double rounded = static_cast<float>(hi);
  return {rounded, hi - rounded};
}

// exponent * octave + (f + w) * scale, where octave is the logarithm of 2 in the wanted base.
Value* in_base(VecOps& o, const LogCore& core, Split octave, Split scale) {
  const Pair product = two_product(o, core.f, o.c(scale.hi));
  Value* low = o.fma(core.w, o.c(scale.hi), o.fma(core.f, o.c(scale.lo), product.lo));
  if (octave.lo != 0) low = o.fma(core.exponent, o.c(octave.lo), low);
  return o.fma(core.exponent, o.c(octave.hi), o.add(product.hi, low));
}

}  // namespace

Value* VecMath::log(Value* x) {
  VecOps o(b_, x->getType());
  return with_log_specials(o, x, natural(o, log_core(o, x)));
}

Value* VecMath::log2(Value* x) {
  VecOps o(b_, x->getType());
  return with_log_specials(o, x, in_base(o, log_core(o, x), {1, 0}, split_for(o, kLog2E, kLog2ELo)));
}

Value* VecMath::log10(Value* x) {
  VecOps o(b_, x->getType());
  const Split octave = split_for(o, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59);
  const Split scale = split_for(o, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57);
  return with_log_specials(o, x, in_base(o, log_core(o, x), octave, scale));
}

Value* VecMath::log1p(Value* x) {
  VecOps o(b_, x->getType());
  // 1 + x as a sum and what its rounding lost; the loss is exact because the sum minus 1 is.
  Value* sum = o.add(x, o.c(1));
  Value* tail = o.sub(x, o.sub(sum, o.c(1)));
  Value* result = with_log_specials(o, sum, natural(o, log_core_with_tail(o, sum, tail)));
  // Below the bound the result is x, and half of a subnormal x would not be exact.
  return o.select(o.lt(o.abs(x), o.c(0x1p-28, 0x1p-57)), x, result);
}

Value* VecMath::asinh(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::asinh, x);
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  // Large: log(2a), as log(a) + log(2) so that nothing overflows; log1p(a - 1) is log(a) there.
  Value* large = o.gt(a, o.c(0x1p30));
  Value* t = o.select(large, o.c(0), a);
  Value* square = o.mul(t, t);
  Value* root = o.sqrt(o.add(square, o.c(1)));
  Value* argument = o.add(t, o.div(square, o.add(root, o.c(1))));
  Value* value = log1p(o.select(large, o.sub(a, o.c(1)), argument));
  return o.copysign(o.add(value, o.select(large, o.c(kLn2), o.c(0))), x);
}

Value* VecMath::acosh(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::acosh, x);
  VecOps o(b_, x->getType());
  Value* large = o.gt(x, o.c(0x1p30));
  Value* t = o.sub(x, o.c(1));
  // For x < 1 the root of a negative number gives the NaN that is wanted; far below, t * t + 2t turns
  // positive.
  Value* root = o.sqrt(o.fma(t, t, o.add(t, t)));
  Value* value = log1p(o.select(large, t, o.add(t, root)));
  value = o.add(value, o.select(large, o.c(kLn2), o.c(0)));
  return o.select(o.lt(x, o.c(1)), o.nan(), value);
}

Value* VecMath::atanh(Value* x) {
  if (!x->getType()->getScalarType()->isDoubleTy()) return through_f64(&VecMath::atanh, x);
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  // 2a / (1 - a); at a = 1 the quotient and its logarithm are infinite, beyond it the logarithm is NaN.
  Value* half = o.mul(log1p(o.div(o.add(a, a), o.sub(o.c(1), a))), o.c(0.5));
  return o.copysign(half, x);
}

namespace {

// The specials of C99's pow, put over the general result: |x| in {0, infinity} or |y| infinite, x negative,
// and the cases that give 1 whatever the other argument is.
Value* with_pow_specials(VecMath& math, VecOps& o, Value* x, Value* y, Value* magnitude) {
  Value* a = o.abs(x);
  Value* y_infinite = o.eq(o.abs(y), o.inf());
  Value* extreme = o.either(o.either(o.eq(a, o.c(0)), o.eq(a, o.inf())), y_infinite);
  Value* grows = o.builder().CreateICmpEQ(o.gt(a, o.c(1)), o.gt(y, o.c(0)));
  Value* result = o.select(extreme, o.select(grows, o.inf(), o.c(0)), magnitude);
  // y is an integer, and an odd one.
  Value* integer = o.eq(math.trunc(y), y);
  Value* half = o.mul(y, o.c(0.5));
  Value* odd = o.both(integer, o.ne(math.trunc(half), half));
  Value* negative = o.builder().CreateICmpSLT(o.bits(x), o.ci(0));
  Value* flipped = o.select(o.both(negative, odd), o.neg(result), result);
  Value* undefined = o.both(o.both(o.lt(x, o.c(0)), o.negation(integer)), o.gt(x, o.neg(o.inf())));
  result = o.select(o.both(undefined, o.negation(y_infinite)), o.nan(), flipped);
  result = o.select(o.either_nan(x, y), o.nan(), result);
  Value* one = o.either(o.eq(x, o.c(1)), o.eq(y, o.c(0)));
  one = o.either(one, o.both(y_infinite, o.eq(a, o.c(1))));
  return o.select(one, o.c(1), result);
}

// log(a) for normal or subnormal a > 0 as a pair with about 70 correct bits.
Pair log_pair(VecOps& o, Value* a) {
  const LogCore core = log_core(o, a);
  // log(1 + f) = 2 atanh(s), s = f / (2 + f) to twice the precision.
  const Pair denominator = two_sum(o, o.c(2), core.f);
  Value* s_hi = o.div(core.f, denominator.hi);
  Value* rest = o.fma(o.neg(s_hi), denominator.lo, o.fma(o.neg(s_hi), denominator.hi, core.f));
  const Pair s = {s_hi, o.div(rest, denominator.hi)};
  const Pair z = pair_product(o, s, s);
  // atanh(s)/s - 1 = z/3 + z^2 q(z), of which only the first term needs both halves.
  const Pair third = pair_product(o, z, {o.c(0x1.5555555555555p-2), o.c(0x1.5555555555555p-56)});
  Value* tail = o.mul(o.mul(z.hi, z.hi), o.poly(z.hi, coeffs::kLogPairF64));
  const Pair series = fast_two_sum(o, third.hi, o.add(third.lo, tail));
  const Pair correction = pair_product(o, s, series);
  Pair half = fast_two_sum(o, s.hi, correction.hi);
  half.lo = o.add(half.lo, o.add(correction.lo, s.lo));
  const Pair mantissa = {o.add(half.hi, half.hi), o.add(half.lo, half.lo)};
  const Pair octaves = two_product(o, core.exponent, o.c(kLn2));
  Pair sum = two_sum(o, octaves.hi, mantissa.hi);
  sum.lo = o.add(sum.lo, o.add(o.fma(core.exponent, o.c(kLn2Lo), octaves.lo), mantissa.lo));
  return fast_two_sum(o, sum.hi, sum.lo);
}

}  // namespace

// All of it in f64, where a logarithm of 2^-38 relative error is enough.
Value* VecMath::pow_f32(Value* x, Value* y) {
  VecOps narrow(b_, x->getType());
  llvm::Type* wide_type = x->getType()->getWithNewType(b_.getDoubleTy());
  VecOps o(b_, wide_type);
  Value* a = b_.CreateFPExt(narrow.abs(x), wide_type);
  // Every f32 is a normal f64, so nothing needs lifting.
  const int64_t root_half = 0x3fe6a09e667f3bcd;
  const int64_t one = 0x3ff0000000000000;
  Value* field = o.lshr(o.iadd(o.bits(a), o.ci(one - root_half)), 52);
  Value* m = o.from_bits(o.iadd(o.isub(o.bits(a), o.shl(field, 52)), o.ci(one)));
  Value* s = o.div(o.sub(m, o.c(1)), o.add(m, o.c(1)));
  Value* z = o.mul(s, s);
  // 2 atanh(s) in octaves.
  Value* series =
      o.fma(o.mul(o.mul(s, z), o.poly(z, coeffs::kLogShortF64)), o.c(kLog2E), o.mul(s, o.c(2 * kLog2E)));
  Value* octaves = o.add(o.float_of_small(field, -1023), series);
  Value* product = o.mul(octaves, b_.CreateFPExt(y, wide_type));
  product = o.at_least(o.at_most(product, 200), -200);
  Value* t = o.add(product, o.c(o.magic()));
  Value* r = o.sub(product, o.sub(t, o.c(o.magic())));
  Value* value = o.fma(r, o.poly(r, coeffs::kExp2ShortF64), o.c(1));
  Value* magnitude = b_.CreateFPTrunc(o.mul(value, pow2(o, o.bits(t), 0)), x->getType());
  return with_pow_specials(*this, narrow, x, y, magnitude);
}

Value* VecMath::pow_f64(Value* x, Value* y) {
  VecOps o(b_, x->getType());
  const Pair log_x = log_pair(o, o.abs(x));
  // |log x| >= 2^-53 unless x = 1, so a larger y changes nothing but would overflow the pair.
  Value* bounded = o.at_least(o.at_most(y, 0x1p65), -0x1p65);
  Pair product = two_product(o, log_x.hi, bounded);
  product.lo = o.fma(log_x.lo, bounded, product.lo);
  product = fast_two_sum(o, product.hi, product.lo);
  // Beyond the bounds the low half no longer matters, and must not meet a clamped high half.
  Value* outside = o.gt(o.abs(product.hi), o.c(746));
  Value* hi = o.at_least(o.at_most(product.hi, 746), -746);
  Value* lo = o.select(outside, o.c(0), product.lo);
  const ExpCore core = exp_core(o, hi);
  Value* value = o.add(core.rest, o.c(1));
  return with_pow_specials(*this, o, x, y, scaled(o, o.fma(value, lo, value), core.n_bits));
}

Value* VecMath::pow(Value* x, Value* y) {
  return x->getType()->getScalarType()->isDoubleTy() ? pow_f64(x, y) : pow_f32(x, y);
}

}  // namespace jumar::emit::cpu
