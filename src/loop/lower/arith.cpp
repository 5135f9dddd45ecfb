// Elementwise operators that are no rows of pointwise.def: they choose by an argument, or refuse some.
#include <cmath>
#include <numbers>

#include "loop/lower/rows.h"
#include "loop/lower/special.h"

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

// Arguments: grad, self, dim. The first half gets grad*sigmoid(second), the second what the gate's slope
// makes of it.
Refusal lower_glu_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), out = op.result(0);
  size_t dim = op.dim(2, x.rank());
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  pointwise(op, out, [&](Body& b, const Index& index) {
    sym::Context& cx = b.cx();
    Expr half = grad.size(dim);
    Index value_at = index, gate_at = index;
    value_at[dim] = cx.mod(index[dim], half);
    gate_at[dim] = cx.add(value_at[dim], half);
    Val scale = sigmoid(b.to(b.load(x, gate_at), type));
    Val passed = scale * b.to(b.load(grad, value_at), type);
    Val turned = (1.0 - scale) * passed * b.to(b.load(x, value_at), type);
    return select(b.predicate(cx.lt(index[dim], half)), passed, turned);
  });
  return {};
}

// Arguments: grad, self, weight; results: the gradients of self and of the weight, element by element.
Refusal lower_prelu_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), weight = op.tensor(2);
  DType type = compute_type(op.result_type(0).dtype);
  if (!ir::is_float(type)) return "no float";
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    Val slope = read(b, grad, index, type);
    return select(read(b, x, index, type) > 0.0, slope, read(b, weight, index, type) * slope);
  });
  if (!op.has_result(1)) return {};
  pointwise(op, op.result(1), [&](Body& b, const Index& index) {
    Val at = read(b, x, index, type);
    return select(at > 0.0, 0.0, at * read(b, grad, index, type));
  });
  return {};
}

// Arguments: self, vec1, vec2, beta, alpha. Where beta is 0, self is not looked at.
Refusal lower_addr(Op& op) {
  Tensor x = op.tensor(0), column = op.tensor(1), row = op.tensor(2), out = op.result(0);
  Scalar beta = op.scalar(3), alpha = op.scalar(4);
  DType type = compute_type(out.dtype());
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val outer = product(b.to(b.load(column, {index[0]}), type), b.to(b.load(row, {index[1]}), type));
    if (!alpha.is(1)) outer = product(b.scalar(alpha, type), outer);
    if (beta.is(0)) return outer;
    Val rest = read(b, x, index, type);
    if (!beta.is(1)) rest = product(b.scalar(beta, type), rest);
    return ir::is_bool(type) ? (rest | outer) : rest + outer;
  });
  return {};
}

// x*2^other. Eager takes the power in the exponent's type; that of an integer is the default float.
Refusal lower_ldexp(Op& op) {
  Tensor x = op.tensor(0), exponent = op.tensor(1), out = op.result(0);
  DType power_type = ir::is_float(exponent.dtype()) ? exponent.dtype() : DType::kF32;
  if (power_type != exponent.dtype() && out.dtype() == DType::kF64)
    return "the type of the power depends on the default one";
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val power = exp2(read(b, exponent, index, compute_type(power_type)));
    return read(b, x, index, type) * b.to(b.to(power, power_type), type);
  });
  return {};
}

// Arguments: self, decimals. Each step rounds to the tensor's type, as eager's does.
Refusal lower_round_decimals(Op& op) {
  auto decimals = op.constant(1);
  Tensor x = op.tensor(0), out = op.result(0);
  if (!decimals || !ir::is_float(out.dtype())) return "decimals that are not known, or no float";
  DType type = compute_type(out.dtype());
  double power = std::pow(10.0, static_cast<double>(std::abs(*decimals)));
  pointwise(op, out, [&](Body& b, const Index& index) {
    auto rounded = [&](Val value) { return b.to(b.to(value, out.dtype()), type); };
    Val value = read(b, x, index, type), scale = rounded(b.real(type, power));
    if (*decimals < 0) return round(rounded(value / scale)) * scale;
    return round(rounded(value * scale)) / scale;
  });
  return {};
}

// Arguments: order, self.
Refusal lower_polygamma(Op& op) {
  auto order = op.constant(0);
  if (!order || *order > 1) return "a derivative above the first: a series as long as its argument asks";
  Tensor x = op.tensor(1), out = op.result(0);
  DType type = compute_type(out.dtype()), wide = op.low().widest_float();
  if (!ir::is_float(type)) return "no float";
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val at = read(b, x, index, type);
    return *order == 0 ? digamma(at) : b.to(trigamma(b.to(at, wide)), type);
  });
  return {};
}

// Arguments: self, p. The sum of lgamma(x - k/2) for k from 0 to p - 1, and a constant.
Refusal lower_mvlgamma(Op& op) {
  auto order = op.constant(1);
  Tensor x = op.tensor(0), out = op.result(0);
  DType type = compute_type(out.dtype());
  if (!order || *order > 16 || !ir::is_float(type)) return "an order that is not known or large, or no float";
  double p = static_cast<double>(*order);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val at = read(b, x, index, type), sum = lgamma(at);
    for (int64_t k = 1; k < *order; ++k) sum = sum + lgamma(at - 0.5 * static_cast<double>(k));
    return sum + p * (p - 1) / 4 * std::log(std::numbers::pi);
  });
  return {};
}

// Arguments: self, other, dim, along which there are three elements.
Refusal lower_cross(Op& op) {
  Tensor x = op.tensor(0), y = op.tensor(1), out = op.result(0);
  size_t dim = op.dim(2, out.rank());
  DType type = compute_type(out.dtype());
  if (ir::is_bool(type)) return "a product of bools";
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index next = index, after = index;
    next[dim] = b.cx().mod(b.cx().add(index[dim], 1), 3);
    after[dim] = b.cx().mod(b.cx().add(index[dim], 2), 3);
    return read(b, x, next, type) * read(b, y, after, type) -
           read(b, x, after, type) * read(b, y, next, type);
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
