// Elementary functions on vectors, as IR written out at the builder's insertion point.
//
//   VecMath math(builder);
//   llvm::Value* y = math.exp(x);        // x: float, <8 x float>, <4 x double>, ... any lane count
//
// The code depends on nothing outside the module: polynomials with fused multiply-adds, no calls of libm,
// SLEEF or libmvec, and no vector intrinsics that LLVM would split into such calls. It is the same for the
// JIT and for packages and for every processor with a fused multiply-add. Errors are bounded (docs/vecmath.md
// has the table); NaN, infinities, signed zeros, subnormal numbers and overflow behave as in eager PyTorch.
//
// Invariants:
// - Fast-math flags of the builder are neither needed nor used; they are the same after a call as before.
// - A function may end the current block: sin, cos, tan and fmod branch to an out-of-line slow path when a
// lane
//   is out of range. Ask the builder for its block again afterwards (for example for the incoming edge of a
//   phi).
// - Out-of-line parts are internal functions and constants named "jumar.*", made once in the module.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <string>

namespace jumar::emit::cpu {

enum class Accuracy {
  kDefault,  // the bounds of docs/vecmath.md: 2 ulp or better for most functions
  kFast,     // f32 erf and tanh by one rational function: up to 6 ulp, twice to four times as fast
};

class VecMath {
 public:
  using Value = llvm::Value;

  explicit VecMath(llvm::IRBuilder<>& builder, Accuracy accuracy = Accuracy::kDefault)
      : b_(builder), accuracy_(accuracy) {}

  Value* exp(Value* x);
  // exp for an argument that is known to be <= 0 or NaN (as in softmax): faster, and results below the least
  // normal number become 0. A positive argument gives garbage.
  Value* exp_nonpositive(Value* x);
  Value* exp2(Value* x);
  Value* expm1(Value* x);
  Value* log(Value* x);
  Value* log2(Value* x);
  Value* log10(Value* x);
  Value* log1p(Value* x);
  Value* pow(Value* x, Value* y);
  Value* sqrt(Value* x);
  Value* rsqrt(Value* x);
  Value* sigmoid(Value* x);

  Value* sin(Value* x);
  Value* cos(Value* x);
  Value* tan(Value* x);
  Value* asin(Value* x);
  Value* acos(Value* x);
  Value* atan(Value* x);
  Value* atan2(Value* y, Value* x);

  Value* sinh(Value* x);
  Value* cosh(Value* x);
  Value* tanh(Value* x);
  Value* asinh(Value* x);
  Value* acosh(Value* x);
  Value* atanh(Value* x);

  Value* erf(Value* x);
  Value* erfc(Value* x);
  Value* erfinv(Value* x);
  Value* lgamma(Value* x);
  Value* digamma(Value* x);

  Value* floor(Value* x);
  Value* ceil(Value* x);
  Value* trunc(Value* x);
  Value* round_half_even(Value* x);
  Value* abs(Value* x);
  // C's fmod: exact, with the sign of x.
  Value* fmod(Value* x, Value* y);

  // NaN wins from either side; of two equal values (+0 and -0 are equal) the second is returned.
  Value* maximum(Value* a, Value* b);
  Value* minimum(Value* a, Value* b);

 private:
  using Unary = Value* (VecMath::*)(Value*);

  // The f32 result of an f64 function: for functions that are too rare for code of their own.
  Value* through_f64(Unary function, Value* x);
  // A call of the internal function `name`, whose body `build` writes from its arguments when it is first
  // used.
  Value* outlined(const std::string& name, llvm::ArrayRef<Value*> arguments,
                  const std::function<Value*(VecMath&, llvm::ArrayRef<Value*>)>& build);
  Value* unary_intrinsic(llvm::Intrinsic::ID id, Value* x);
  Value* atan_of_ratio(Value* numerator, Value* denominator);
  Value* asin_rest(Value* t);
  Value* erf_default(Value* x);
  Value* pow_f32(Value* x, Value* y);
  Value* pow_f64(Value* x, Value* y);
  Value* erfinv_body(Value* x);
  Value* lgamma_body(Value* x);
  Value* digamma_body(Value* x);

  llvm::IRBuilder<>& b_;
  Accuracy accuracy_;
};

}  // namespace jumar::emit::cpu
