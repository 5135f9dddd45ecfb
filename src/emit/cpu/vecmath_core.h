// The two halves that most functions of the vector mathematics share: an exponential and a logarithm before
// their last step.
#pragma once

#include "emit/cpu/vecmath_ops.h"

namespace jumar::emit::cpu {

// e^x = (1 + rest) * 2^n, with |rest| < 0.42.
struct ExpCore {
  llvm::Value* rest;
  llvm::Value* n_bits;  // an integer from whose low bits n is read: n + magic_bits()
};

// x must be so small that n fits the exponent range of pow2(); NaN gives NaN in `rest`.
ExpCore exp_core(VecOps& o, llvm::Value* x);
// The same with a polynomial that keeps `rest` accurate relative to itself.
ExpCore expm1_core(VecOps& o, llvm::Value* x);

// 2^(n + shift); n + shift must lie in -bias + 1 .. bias + 1, where the last gives infinity.
llvm::Value* pow2(VecOps& o, llvm::Value* n_bits, int shift);
// value * 2^n in two steps, so that overflow and gradual underflow come out right.
llvm::Value* scaled(VecOps& o, llvm::Value* value, llvm::Value* n_bits);
// exp for arguments whose result is normal.
llvm::Value* exp_normal(VecOps& o, llvm::Value* x);
// exp(hi + lo) for hi <= 0 or NaN and tiny lo, with gradual underflow.
llvm::Value* exp_of_pair(VecOps& o, Pair x);

// log(x) = exponent * log(2) + f + w, where 1 + f is x scaled into sqrt(1/2) .. sqrt(2) and w is small next
// to f.
struct LogCore {
  llvm::Value* exponent;
  llvm::Value* f;
  llvm::Value* w;
};

// Subnormal x are scaled first; x that is zero, negative, infinite or NaN gives garbage.
LogCore log_core(VecOps& o, llvm::Value* x);
// log(x + tail) for a tail below half an ulp of x; x must be normal.
LogCore log_core_with_tail(VecOps& o, llvm::Value* x, llvm::Value* tail);
llvm::Value* natural(VecOps& o, const LogCore& core);
// Puts in the results of a logarithm's special arguments: x = 0, negative, infinity, NaN.
llvm::Value* with_log_specials(VecOps& o, llvm::Value* x, llvm::Value* result);

// The quotient-free part of sin and cos for |r| <= pi/4.
llvm::Value* sin_poly(VecOps& o, llvm::Value* r);
llvm::Value* cos_poly(VecOps& o, llvm::Value* r);
// sin(pi r) and cos(pi r) for |r| <= 1/2, exact zeros included.
struct SinCos {
  llvm::Value* sin;
  llvm::Value* cos;
};
SinCos sin_cos_pi(VecOps& o, llvm::Value* r);

}  // namespace jumar::emit::cpu
