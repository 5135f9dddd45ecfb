#include "emit/cpu/vecmath_core.h"

#include "emit/cpu/vecmath_coeffs.h"

namespace jumar::emit::cpu {
namespace {

using llvm::Value;

constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLn2HiF32 = 0x1.62e43p-1;
constexpr double kLn2LoF32 = -0x1.05c610ca86c39p-29;
constexpr double kLn2HiF64 = 0x1.62e42fefa39efp-1;
constexpr double kLn2LoF64 = 0x1.abc9e3b39803fp-56;
constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kPiLo = 0x1.1a62633145c07p-53;

struct Reduced {
  Value* r;
  Value* n_bits;
};

// x = n log(2) + r. The first product is exact inside the fma and the difference is a multiple of the last
// place of x or of the constant, so the first step does not round.
Reduced reduced_by_ln2(VecOps& o, Value* x) {
  Value* t = o.fma(x, o.c(kLog2E), o.c(o.magic()));
  Value* n = o.sub(t, o.c(o.magic()));
  Value* r = o.fma(n, o.c(-kLn2HiF32, -kLn2HiF64), x);
  return {o.fma(n, o.c(-kLn2LoF32, -kLn2LoF64), r), o.bits(t)};
}

ExpCore core_with(VecOps& o, Value* x, std::span<const double> coefficients) {
  const Reduced reduced = reduced_by_ln2(o, x);
  Value* square = o.mul(reduced.r, reduced.r);
  return {o.fma(square, o.poly(reduced.r, coefficients), reduced.r), reduced.n_bits};
}

struct Exponent {
  Value* value;
  Value* field;  // the exponent plus bias
  Value* mantissa;
};

// Splits normal x > 0 into mantissa * 2^value with the mantissa in sqrt(1/2) .. sqrt(2). `lifted` is how much
// was added to the exponent of x beforehand, or null.
Exponent split(VecOps& o, Value* x, Value* lifted) {
  const int64_t root_half = o.is_f64() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  const int64_t one = static_cast<int64_t>(o.bias()) << o.mantissa_bits();
  Value* field = o.lshr(o.iadd(o.bits(x), o.ci(one - root_half)), o.mantissa_bits());
  Value* mantissa = o.from_bits(o.iadd(o.isub(o.bits(x), o.shl(field, o.mantissa_bits())), o.ci(one)));
  Value* value = o.float_of_small(field, -o.bias());
  return {lifted == nullptr ? value : o.sub(value, lifted), field, mantissa};
}

// log(1 + f) - f.
Value* log_rest(VecOps& o, Value* f) {
  Value* square = o.mul(f, f);
  if (!o.is_f64()) {
    Value* cubic = o.mul(o.mul(f, square), o.poly(f, coeffs::kLogF32));
    return o.fma(square, o.c(-0.5), cubic);
  }
  // log(1 + f) = 2 atanh(s) with s = f / (2 + f), rearranged so that f itself stays exact.
  Value* half_square = o.mul(square, o.c(0.5));
  Value* s = o.div(f, o.add(f, o.c(2)));
  Value* z = o.mul(s, s);
  Value* series = o.mul(z, o.poly(z, coeffs::kLogF64));
  return o.fma(s, o.add(half_square, series), o.neg(half_square));
}

}  // namespace

ExpCore exp_core(VecOps& o, Value* x) { return core_with(o, x, o.pick(coeffs::kExpF32, coeffs::kExpF64)); }

ExpCore expm1_core(VecOps& o, Value* x) {
  return core_with(o, x, o.pick(coeffs::kExpm1F32, coeffs::kExpm1F64));
}

Value* pow2(VecOps& o, Value* n_bits, int shift) {
  return o.pow2_of_field(o.iadd(n_bits, o.ci(o.bias() + shift - o.magic_bits())));
}

Value* scaled(VecOps& o, Value* value, Value* n_bits) {
  Value* both = o.iadd(n_bits, o.ci(2 * o.bias() - o.magic_bits()));
  Value* first = o.lshr(both, 1);
  Value* second = o.isub(both, first);
  return o.mul(o.mul(value, o.pow2_of_field(first)), o.pow2_of_field(second));
}

Value* exp_normal(VecOps& o, Value* x) {
  const ExpCore core = exp_core(o, x);
  return o.mul(o.add(core.rest, o.c(1)), pow2(o, core.n_bits, 0));
}

Value* exp_of_pair(VecOps& o, Pair x) {
  const ExpCore core = exp_core(o, o.at_least(x.hi, o.pick(-104, -746)));
  Value* value = o.add(core.rest, o.c(1));
  return scaled(o, o.fma(value, x.lo, value), core.n_bits);
}

LogCore log_core(VecOps& o, Value* x) {
  Value* subnormal = o.lt(x, o.min_normal());
  Value* lifted = o.select(subnormal, o.mul(x, o.c(0x1p24, 0x1p54)), x);
  const Exponent e = split(o, lifted, o.select(subnormal, o.c(24, 54), o.c(0)));
  Value* f = o.sub(e.mantissa, o.c(1));
  return {e.value, f, log_rest(o, f)};
}

LogCore log_core_with_tail(VecOps& o, Value* x, Value* tail) {
  const Exponent e = split(o, x, nullptr);
  // 2^(1 - exponent), which unlike 2^-exponent has a field that is never negative.
  Value* field = o.isub(o.ci(2 * o.bias() + 1), e.field);
  Value* half_tail = o.mul(tail, o.c(0.5));
  Value* f = o.fma(half_tail, o.pow2_of_field(field), o.sub(e.mantissa, o.c(1)));
  return {e.value, f, log_rest(o, f)};
}

Value* natural(VecOps& o, const LogCore& core) {
  // For f32 the low part of log(2) is below a tenth of an ulp of the result, for f64 it is not.
  Value* w = o.is_f64() ? o.fma(core.exponent, o.c(kLn2LoF64), core.w) : core.w;
  return o.fma(core.exponent, o.c(kLn2HiF32, kLn2HiF64), o.add(core.f, w));
}

Value* with_log_specials(VecOps& o, Value* x, Value* result) {
  result = o.select(o.lt(x, o.inf()), result, x);
  result = o.select(o.lt(x, o.c(0)), o.nan(), result);
  return o.select(o.eq(x, o.c(0)), o.neg(o.inf()), result);
}

Value* sin_poly(VecOps& o, Value* r) {
  Value* s = o.mul(r, r);
  return o.fma(o.mul(r, s), o.poly(s, o.pick(coeffs::kSinF32, coeffs::kSinF64)), r);
}

Value* cos_poly(VecOps& o, Value* r) {
  Value* s = o.mul(r, r);
  Value* head = o.fma(s, o.c(-0.5), o.c(1));
  return o.fma(o.mul(s, s), o.poly(s, o.pick(coeffs::kCosF32, coeffs::kCosF64)), head);
}

SinCos sin_cos_pi(VecOps& o, Value* r) {
  Value* a = o.abs(r);
  Value* far = o.gt(a, o.c(0.25));
  Value* t = o.select(far, o.sub(o.c(0.5), a), a);
  Value* angle = o.fma(t, o.c(kPi), o.mul(t, o.c(o.is_f64() ? kPiLo : kPi - static_cast<float>(kPi))));
  Value* sine = sin_poly(o, angle);
  Value* cosine = cos_poly(o, angle);
  return {o.copysign(o.select(far, cosine, sine), r), o.select(far, sine, cosine)};
}

}  // namespace jumar::emit::cpu
