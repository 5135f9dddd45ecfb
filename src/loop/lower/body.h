// Writing the body of a nest as C++ expressions.
//
//   Body b(cx, nest);
//   Expr i = b.keep(s0);                 // a kept axis
//   b.begin_stage();
//   Val x = b.load(input, {i});          // an element in the tensor's type
//   Val y = b.to(x, DType::kF32);
//   b.store(output, {i}, y * sigmoid(y));
//
// A Val is a value of the body; operators and functions on it append instructions to the stage that is being
// written. A number beside a Val becomes a constant of the Val's type.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <variant>
#include <vector>

#include "loop/loop.h"

namespace jumar::loop::lowering {

using ir::DType;
using sym::Expr;
using Index = std::vector<Expr>;
using Sizes = std::vector<Expr>;

// Elements in memory: element (k0, k1, ...) is offset + sum of k*stride elements behind the buffer's first
// one.
struct Tensor {
  BufferId buffer;
  Expr offset;
  ir::TensorType type;

  DType dtype() const { return type.dtype; }
  size_t rank() const { return type.rank(); }
  const Sizes& sizes() const { return type.sizes; }
  Expr size(size_t dim) const { return type.sizes[dim]; }
  Expr stride(size_t dim) const { return type.strides[dim]; }
};

Expr address(sym::Context& cx, const Tensor& tensor, std::span<const Expr> index);

// A number that an operator is given: an integer expression, a float, a bool, or a number of the host.
struct Scalar {
  std::variant<Expr, double, bool, NumberId> data;
  bool host_is_float = true;  // of a NumberId

  bool is_integer() const { return std::holds_alternative<Expr>(data); }
  bool is_bool() const {
    return std::holds_alternative<bool>(data) || (std::holds_alternative<NumberId>(data) && !host_is_float);
  }
  bool is_float() const { return !is_integer() && !is_bool(); }
  // The value, where it is a constant.
  std::optional<double> constant() const;
  bool is(double value) const { return constant() == value; }
};

// The type in which elements are computed: f32 for the floats below it, else the type itself.
inline DType compute_type(DType d) { return ir::is_low_precision(d) ? DType::kF32 : d; }

class Body;

struct Val {
  Body* body = nullptr;
  ValueId id;
  DType type = DType::kF32;
  explicit operator bool() const { return body != nullptr; }
};

class Body {
 public:
  Body(sym::Context& cx, Nest& nest) : cx_(cx), nest_(nest) {}
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  sym::Context& cx() { return cx_; }

  // The position along a new axis; an extent of one needs no axis, the position is 0.
  Expr keep(Expr extent);
  Index keep_all(const Sizes& sizes);
  void begin_stage() { nest_.stages.emplace_back(); }
  Expr inner(Expr extent);
  // The axes in scope: the kept ones and those of the stage.
  std::vector<Axis> axes() const;

  Val real(DType type, double value);  // converted as a cast would
  Val integer(DType type, int64_t value);
  Val scalar(const Scalar& scalar, DType type);
  Val index(Expr expr);      // i64
  Val predicate(Expr expr);  // bool
  Val load(const Tensor& tensor, const Index& index);
  Val load_at(const Tensor& tensor, Expr address, Expr guard = {}, double otherwise = 0);
  Val load_if(Expr guard, const Tensor& tensor, const Index& index, double otherwise);
  Val op(ScalarOp op, Val a, Val b = {}, Val c = {});
  // A cast where the types differ.
  Val to(Val value, DType type);
  Val bitcast(Val value, DType type);
  // `to`, but a result of f32 arithmetic becomes a low-precision float by demote.
  Val result(Val value, DType type);
  // The value as an integer of addresses: wrapped from the end, checked; or only checked.
  Expr wrapped(Val index, Expr size);
  Expr checked(Val index, Expr size);
  Val reduce(ReduceKind kind, Val value);
  Val arg_reduce(ReduceKind kind, Val value, Val at);
  Val scan(ScanKind kind, Val value, Expr axis);
  // `result` of the tensor's type, stored.
  void store(const Tensor& tensor, const Index& index, Val value, StoreMode mode = StoreMode::kSet);
  void store_if(Expr guard, const Tensor& tensor, const Index& index, Val value,
                StoreMode mode = StoreMode::kSet);

 private:
  Val append(Inst inst);

  sym::Context& cx_;
  Nest& nest_;
  uint32_t kept_count_ = 0;
  uint32_t inner_count_ = 0;
};

// A Val, or a number that takes the type of the Val beside it.
class Operand {
 public:
  Operand(Val value) : value_(value) {}
  Operand(double number) : number_(number) {}
  Val beside(Val other) const { return value_ ? value_ : other.body->real(other.type, number_); }
  Val value() const { return value_; }

 private:
  Val value_;
  double number_ = 0;
};

inline Val binary(ScalarOp op, const Operand& a, const Operand& b) {
  Val typed = a.value() ? a.value() : b.value();
  return typed.body->op(op, a.beside(typed), b.beside(typed));
}
inline Val unary(ScalarOp op, Val a) { return a.body->op(op, a); }

inline Val operator-(Val a) { return unary(ScalarOp::kNeg, a); }
inline Val inverted(Val a) { return unary(ScalarOp::kNot, a); }
#define JUMAR_VAL_BINARY(function, row) \
  inline Val function(const Operand& a, const Operand& b) { return binary(ScalarOp::k##row, a, b); }
JUMAR_VAL_BINARY(operator+, Add)
JUMAR_VAL_BINARY(operator-, Sub)
JUMAR_VAL_BINARY(operator*, Mul)
JUMAR_VAL_BINARY(operator/, Div)
JUMAR_VAL_BINARY(operator<, Lt)
JUMAR_VAL_BINARY(operator<=, Le)
JUMAR_VAL_BINARY(operator>, Gt)
JUMAR_VAL_BINARY(operator>=, Ge)
JUMAR_VAL_BINARY(equal, Eq)
JUMAR_VAL_BINARY(unequal, Ne)
JUMAR_VAL_BINARY(operator&, And)
JUMAR_VAL_BINARY(operator|, Or)
JUMAR_VAL_BINARY(operator^, Xor)
JUMAR_VAL_BINARY(shl, Shl)
JUMAR_VAL_BINARY(shr, Shr)
JUMAR_VAL_BINARY(trunc_div, TruncDiv)
JUMAR_VAL_BINARY(floor_div, FloorDiv)
JUMAR_VAL_BINARY(fmod, Fmod)
JUMAR_VAL_BINARY(remainder, Remainder)
JUMAR_VAL_BINARY(max, Max)
JUMAR_VAL_BINARY(min, Min)
JUMAR_VAL_BINARY(fmax, Fmax)
JUMAR_VAL_BINARY(fmin, Fmin)
JUMAR_VAL_BINARY(pow, Pow)
JUMAR_VAL_BINARY(atan2, Atan2)
JUMAR_VAL_BINARY(copysign, CopySign)
#undef JUMAR_VAL_BINARY

#define JUMAR_VAL_UNARY(function, row) \
  inline Val function(Val a) { return unary(ScalarOp::k##row, a); }
JUMAR_VAL_UNARY(abs, Abs)
JUMAR_VAL_UNARY(sign, Sign)
JUMAR_VAL_UNARY(isnan, IsNan)
JUMAR_VAL_UNARY(isinf, IsInf)
JUMAR_VAL_UNARY(signbit, SignBit)
JUMAR_VAL_UNARY(floor, Floor)
JUMAR_VAL_UNARY(ceil, Ceil)
JUMAR_VAL_UNARY(trunc, Trunc)
JUMAR_VAL_UNARY(round, Round)
JUMAR_VAL_UNARY(sqrt, Sqrt)
JUMAR_VAL_UNARY(rsqrt, Rsqrt)
JUMAR_VAL_UNARY(reciprocal, Reciprocal)
JUMAR_VAL_UNARY(exp, Exp)
JUMAR_VAL_UNARY(exp2, Exp2)
JUMAR_VAL_UNARY(expm1, Expm1)
JUMAR_VAL_UNARY(log, Log)
JUMAR_VAL_UNARY(log2, Log2)
JUMAR_VAL_UNARY(log10, Log10)
JUMAR_VAL_UNARY(log1p, Log1p)
JUMAR_VAL_UNARY(sin, Sin)
JUMAR_VAL_UNARY(cos, Cos)
JUMAR_VAL_UNARY(tan, Tan)
JUMAR_VAL_UNARY(asin, Asin)
JUMAR_VAL_UNARY(acos, Acos)
JUMAR_VAL_UNARY(atan, Atan)
JUMAR_VAL_UNARY(sinh, Sinh)
JUMAR_VAL_UNARY(cosh, Cosh)
JUMAR_VAL_UNARY(tanh, Tanh)
JUMAR_VAL_UNARY(asinh, Asinh)
JUMAR_VAL_UNARY(acosh, Acosh)
JUMAR_VAL_UNARY(atanh, Atanh)
JUMAR_VAL_UNARY(erf, Erf)
JUMAR_VAL_UNARY(erfc, Erfc)
JUMAR_VAL_UNARY(erfinv, Erfinv)
JUMAR_VAL_UNARY(lgamma, Lgamma)
JUMAR_VAL_UNARY(digamma, Digamma)
JUMAR_VAL_UNARY(sigmoid, Sigmoid)
#undef JUMAR_VAL_UNARY

// `a` where the condition holds, else `b`; at least one of them is a Val.
inline Val select(Val condition, const Operand& a, const Operand& b) {
  Val typed = a.value() ? a.value() : b.value();
  return condition.body->op(ScalarOp::kSelect, condition, a.beside(typed), b.beside(typed));
}

}  // namespace jumar::loop::lowering
