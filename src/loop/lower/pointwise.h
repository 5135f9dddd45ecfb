// Operators that compute each element from the elements of their operands: rows of loop/lower/pointwise.def.
#pragma once

#include <cmath>

#include "loop/lower/kernels.h"

namespace jumar::loop::lowering {

// In what type a row's operands arrive.
enum class Operands : uint8_t {
  kArith,    // the compute type of the result, no bool; scalars are not rounded to the result's type first
             // (torch's opmath)
  kAny,      // as kArith, for bools too
  kExact,    // as kArith, but operands are first rounded to the result's type, as picking one of them demands
  kFloat,    // as kArith, and only for floats
  kCompare,  // the promoted type of the operands, rounded to it; the result is a bool
  kTruth,    // bool
  kBits,     // as kExact, only for integers and bools
  kSelf,     // the compute type of the first operand, only for floats
};

// The operands of one element; tensors are loaded when the arguments are made, numbers where they are used.
class Args {
 public:
  Args(const Op& op, Body& b, const Index& index, DType type, std::optional<DType> rounded);

  Val operator[](size_t k) const;
  // The same, but a number is rounded to the result's type first: eager multiplies and divides by numbers in
  // single precision, but makes tensors of their type of those that it adds.
  Val rounded(size_t k) const;
  bool has(size_t k) const { return op_.has(k); }
  bool is(size_t k, double value) const { return op_.scalar(k).is(value); }
  bool is_nan(size_t k) const {
    return has(k) && !op_.is_tensor(k) && std::isnan(op_.scalar(k).constant().value_or(0));
  }
  std::string text(size_t k) const { return op_.text(k); }
  Body& body() const { return b_; }
  // In which a function is computed that needs more digits than its operands have.
  DType widest_float() const { return op_.low().widest_float(); }
  DType result_type() const { return op_.result_type(0).dtype; }

 private:
  const Op& op_;
  Body& b_;
  DType type_;
  std::optional<DType> rounded_;
  std::vector<Val> loaded_;
};

using PointRow = Val (*)(const Args& x);
Refusal lower_pointwise(Op& op, Operands operands, PointRow row);

// Functions of elements that rows share.
Val gelu(Val x, const std::string& approximate);
Val gelu_backward(Val grad, Val x, const std::string& approximate);
Val silu_backward(Val grad, Val x);
Val mish(Val x);
Val mish_backward(Val grad, Val x);
Val elu(const Args& x);
Val elu_backward(const Args& x);
Val softplus(Val x, Val beta, Val threshold);
Val softplus_backward(Val grad, Val x, Val beta, Val threshold);
Val log_sigmoid(Val x);
Val log_sigmoid_backward(Val grad, Val x);
Val hardsigmoid(Val x);
Val hardswish(Val x);
Val hardswish_backward(Val grad, Val x);
Val lerp(Val from, Val to, Val weight);
Val logaddexp(Val a, Val b);
Val xlogy(Val a, Val b);
Val logit(const Args& x);
Val clamp(const Args& x);
Val nan_to_num(const Args& x);
// a + alpha*b, with `or` and `and` in place of arithmetic on bools.
Val scaled_sum(const Args& x, size_t a, size_t b, size_t alpha, bool minus = false);
Val product(Val a, Val b);

}  // namespace jumar::loop::lowering
