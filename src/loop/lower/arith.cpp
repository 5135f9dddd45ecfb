// Elementwise operators that are no rows of pointwise.def: they choose by an argument, or refuse some.
#include "loop/lower/pointwise.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// Eager raises where an integer divisor is 0, so only divisors that are known not to be divide here.
bool divides_safely(const Op& op, size_t divisor) {
  if (ir::is_float(op.result_type(0).dtype)) return true;
  if (op.is_tensor(divisor)) return false;
  Scalar scalar = op.scalar(divisor);
  return scalar.constant().has_value() && !scalar.is(0);
}

Refusal divided(Op& op, PointRow row) {
  if (!divides_safely(op, 1)) return "an integer division that may be by zero";
  return lower_pointwise(op, Operands::kArith, row);
}

}  // namespace

Refusal lower_div_mode(Op& op) {
  if (!op.has(2)) return lower_pointwise(op, Operands::kFloat, [](const Args& x) { return x[0] / x[1]; });
  if (op.text(2) == "floor") return lower_floor_divide(op);
  return divided(op, [](const Args& x) { return trunc_div(x[0], x[1]); });
}

Refusal lower_floor_divide(Op& op) {
  return divided(op, [](const Args& x) { return floor_div(x[0], x[1]); });
}

Refusal lower_remainder(Op& op) {
  return divided(op, [](const Args& x) { return remainder(x[0], x.rounded(1)); });
}

Refusal lower_fmod(Op& op) {
  return divided(op, [](const Args& x) { return fmod(x[0], x.rounded(1)); });
}

namespace {

// Eager's vectors of bf16 round the square before it is used; those of f16 don't.
Val square(const Args& x) {
  Body& b = x.body();
  Val product = x[0] * x[0];
  if (x.result_type() != DType::kBF16) return product;
  return b.to(b.result(product, DType::kBF16), product.type);
}

// The powers that eager computes by other means than pow; null for the others.
PointRow special_power(double exponent, bool is_float) {
  if (exponent == 0) return [](const Args& x) { return x.body().real(x[0].type, 1); };
  if (exponent == 1) return [](const Args& x) { return x[0]; };
  if (exponent == 2) return [](const Args& x) { return x[0] * x[0]; };
  if (exponent == 3) return [](const Args& x) { return square(x) * x[0]; };
  if (!is_float) return nullptr;
  if (exponent == 0.5) return [](const Args& x) { return sqrt(x[0]); };
  if (exponent == -0.5) return [](const Args& x) { return rsqrt(x[0]); };
  if (exponent == -1) return [](const Args& x) { return reciprocal(x[0]); };
  if (exponent == -2) return [](const Args& x) { return reciprocal(square(x)); };
  return nullptr;
}

}  // namespace

Refusal lower_pow_scalar(Op& op) {
  bool is_float = ir::is_float(op.result_type(0).dtype);
  std::optional<double> exponent = op.scalar(1).constant();
  if (exponent) {
    if (PointRow row = special_power(*exponent, is_float)) return lower_pointwise(op, Operands::kArith, row);
  }
  if (!is_float && (!exponent || *exponent < 0)) return "an integer power whose exponent may be negative";
  return lower_pointwise(op, Operands::kArith, [](const Args& x) { return pow(x[0], x.rounded(1)); });
}

Refusal lower_pow_tensor(Op& op) {
  return lower_pointwise(op, Operands::kArith, [](const Args& x) { return pow(x.rounded(0), x[1]); });
}

Refusal lower_shift_left(Op& op) {
  return lower_pointwise(op, Operands::kBits, [](const Args& x) { return shl(x[0], x[1]); });
}

Refusal lower_shift_right(Op& op) {
  return lower_pointwise(op, Operands::kBits, [](const Args& x) { return shr(x[0], x[1]); });
}

namespace {

// An element of argument k, a tensor or a number, in the result's own type.
Val element(const Op& op, Body& b, const Index& index, size_t k, const Tensor& out) {
  if (op.is_tensor(k)) {
    Tensor x = op.tensor(k);
    return b.to(b.load(x, broadcast_index(x, index)), out.dtype());
  }
  Scalar value = op.scalar(k);
  return b.to(b.scalar(value, scalar_type(value, out)), out.dtype());
}

}  // namespace

// Arguments: condition, where it holds, where it does not.
Refusal lower_where(Op& op) {
  if (!op.is_tensor(0) || !op.has(2)) return "positions, not values, are asked for";
  Tensor condition = op.tensor(0), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val holds = read(b, condition, index, DType::kBool);
    Val yes = element(op, b, index, 1, out), no = element(op, b, index, 2, out);
    return select(holds, yes, no);
  });
  return {};
}

// Arguments: self, mask, value.
Refusal lower_masked_fill(Op& op) {
  Tensor mask = op.tensor(1), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val holds = read(b, mask, index, DType::kBool);
    Val kept = element(op, b, index, 0, out), filled = element(op, b, index, 2, out);
    return select(holds, filled, kept);
  });
  return {};
}

// Halves along a dimension: the first times the sigmoid of the second.
Refusal lower_glu(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t dim = op.dim(1, x.rank());
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index gate = index;
    gate[dim] = b.cx().add(gate[dim], out.size(dim));
    return b.to(b.load(x, index), type) * sigmoid(b.to(b.load(x, gate), type));
  });
  return {};
}

// A copy in the result's type and strides; conversions always round.
Refusal lower_copy(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) { return read(b, x, index, out.dtype()); });
  return {};
}

// Arguments: self, which gives the shape, and src, which gives the elements.
Refusal lower_copy_from(Op& op) {
  if (!op.is_tensor(1)) {
    // A number that is copied over a tensor is converted as an element is, also where it does not fit.
    const Scalar number = op.scalar(1);
    const DType from = number.is_float() ? op.low().widest_float() : DType::kI64;
    pointwise(op, op.result(0),
              [&](Body& b, const Index&) { return b.to(b.scalar(number, from), op.result_type(0).dtype); });
    return {};
  }
  Tensor x = op.tensor(1), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) { return read(b, x, index, out.dtype()); });
  return {};
}

// Two results: log(sigmoid(x)) and a buffer for the backward that the CPU's backward reads.
Refusal lower_log_sigmoid(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  pointwise(op, out, [&](Body& b, const Index& index) { return log_sigmoid(read(b, x, index, type)); });
  if (!op.has_result(1)) return {};
  Tensor kept = op.result(1);
  pointwise(op, kept, [&](Body& b, const Index& index) {
    if (kept.rank() != x.rank()) return b.real(type, 0);
    return exp(-abs(read(b, x, index, type)));
  });
  return {};
}

// Arguments: grad, x, and the forward's buffer, which repeats what x says.
Refusal lower_log_sigmoid_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), out = op.result(0);
  DType type = compute_type(out.dtype());
  pointwise(op, out, [&](Body& b, const Index& index) {
    return log_sigmoid_backward(read(b, grad, index, type), read(b, x, index, type));
  });
  return {};
}

}  // namespace jumar::loop::lowering
