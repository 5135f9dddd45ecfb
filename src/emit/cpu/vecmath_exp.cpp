// exp and what is made of it: exp2, expm1, sigmoid and the hyperbolic functions.
#include "emit/cpu/vecmath.h"
#include "emit/cpu/vecmath_coeffs.h"
#include "emit/cpu/vecmath_core.h"

namespace jumar::emit::cpu {

using llvm::Value;

Value* VecMath::exp(Value* x) {
  VecOps o(b_, x->getType());
  // Beyond these bounds the result has overflowed, or is below half the least subnormal number.
  x = o.at_least(o.at_most(x, o.pick(89, 710)), o.pick(-104, -746));
  const ExpCore core = exp_core(o, x);
  return scaled(o, o.add(core.rest, o.c(1)), core.n_bits);
}

Value* VecMath::exp_nonpositive(Value* x) {
  VecOps o(b_, x->getType());
  Value* result = exp_normal(o, o.at_least(x, o.pick(-87.3, -708.3)));
  return o.select(o.lt(x, o.c(-87.3, -708.3)), o.c(0), result);
}

Value* VecMath::exp2(Value* x) {
  VecOps o(b_, x->getType());
  x = o.at_least(o.at_most(x, o.pick(129, 1025)), o.pick(-151, -1076));
  Value* t = o.add(x, o.c(o.magic()));
  Value* r = o.sub(x, o.sub(t, o.c(o.magic())));
  Value* value = o.fma(r, o.poly(r, o.pick(coeffs::kExp2F32, coeffs::kExp2F64)), o.c(1));
  return scaled(o, value, o.bits(t));
}

Value* VecMath::expm1(Value* x) {
  VecOps o(b_, x->getType());
  // At the upper bound the sum below overflows; at the lower one it rounds to -1.
  Value* bounded = o.at_least(o.at_most(x, o.pick(88.8, 709.79)), o.pick(-18, -38));
  const ExpCore core = expm1_core(o, bounded);
  // Half of 2^n (1 + rest) - 1: the doubling at the end lets n reach bias + 1.
  Value* half_scale = pow2(o, core.n_bits, -1);
  Value* half = o.fma(half_scale, core.rest, o.sub(half_scale, o.c(0.5)));
  return o.select(o.eq(x, o.c(0)), x, o.add(half, half));
}

Value* VecMath::sigmoid(Value* x) {
  VecOps o(b_, x->getType());
  // 0.5 / (0.5 + e^-x / 2). The upper bound makes the half an infinity, the lower one no longer matters.
  Value* negated = o.at_least(o.at_most(o.neg(x), o.pick(89.2, 710.3)), o.pick(-86, -707));
  const ExpCore core = exp_core(o, negated);
  Value* half = o.mul(o.add(core.rest, o.c(1)), pow2(o, core.n_bits, -1));
  return o.div(o.c(0.5), o.add(half, o.c(0.5)));
}

Value* VecMath::sinh(Value* x) {
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* s = o.mul(x, x);
  Value* small = o.fma(o.mul(x, s), o.poly(s, o.pick(coeffs::kSinhF32, coeffs::kSinhF64)), x);
  // quarter = e^a / 4, so that sinh a = 2 quarter - 1 / (8 quarter) overflows only where it must.
  const ExpCore core = exp_core(o, o.at_most(a, o.pick(90, 711)));
  Value* quarter = o.mul(o.add(core.rest, o.c(1)), pow2(o, core.n_bits, -2));
  Value* large = o.fma(quarter, o.c(2), o.div(o.c(-0.125), quarter));
  return o.select(o.gt(a, o.c(1)), o.copysign(large, x), small);
}

Value* VecMath::cosh(Value* x) {
  VecOps o(b_, x->getType());
  const ExpCore core = exp_core(o, o.at_most(o.abs(x), o.pick(90, 711)));
  Value* quarter = o.mul(o.add(core.rest, o.c(1)), pow2(o, core.n_bits, -2));
  return o.fma(quarter, o.c(2), o.div(o.c(0.125), quarter));
}

Value* VecMath::tanh(Value* x) {
  VecOps o(b_, x->getType());
  if (accuracy_ == Accuracy::kFast && !o.is_f64()) {
    Value* t = o.at_least(o.at_most(x, 9.01), -9.01);
    Value* s = o.mul(t, t);
    Value* ratio = o.div(o.mul(t, o.poly(s, coeffs::kTanhFastPF32)), o.poly(s, coeffs::kTanhFastQF32));
    return o.at_least(o.at_most(ratio, 1), -1);
  }
  Value* a = o.abs(x);
  Value* s = o.mul(x, x);
  Value* small = o.fma(o.mul(x, s), o.poly(s, o.pick(coeffs::kTanhF32, coeffs::kTanhF64)), x);
  // 1 - 2 / (e^2a + 1); from the bound on it rounds to 1.
  Value* twice = o.at_most(o.add(a, a), o.pick(18.4, 38.4));
  Value* large = o.sub(o.c(1), o.div(o.c(2), o.add(exp_normal(o, twice), o.c(1))));
  return o.copysign(o.select(o.gt(a, o.c(0.59)), large, small), x);
}

}  // namespace jumar::emit::cpu
