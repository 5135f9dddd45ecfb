#include "loop/lower/pointwise.h"

#include <limits>

namespace jumar::loop::lowering {

Args::Args(const Op& op, Body& b, const Index& index, DType type, std::optional<DType> rounded)
    : op_(op), b_(b), type_(type), rounded_(rounded), loaded_(op.arg_count()) {
  for (size_t k = 0; k < op.arg_count(); ++k) {
    if (!op.is_tensor(k)) continue;
    Tensor tensor = op.tensor(k);
    Val value = b.load(tensor, broadcast_index(tensor, index));
    if (rounded_) value = b.to(value, *rounded_);
    // Integers become elements of the result's type before they are computed with; of one number, eager takes
    // the value as it is.
    const bool is_converted = ir::is_integer(tensor.dtype()) && ir::is_low_precision(result_type());
    if (is_converted && tensor.rank() > 0) value = b.to(value, result_type());
    loaded_[k] = b.to(value, type);
  }
}

Val Args::rounded(size_t k) const {
  Val value = (*this)[k];
  return op_.is_tensor(k) ? value : b_.to(b_.to(value, result_type()), value.type);
}

Val Args::operator[](size_t k) const {
  CHECK(k < loaded_.size() && op_.has(k), "{} has no argument {}", op_.name(), k);
  if (loaded_[k]) return loaded_[k];
  Scalar scalar = op_.scalar(k);
  if (!rounded_ || !ir::is_low_precision(*rounded_)) return b_.scalar(scalar, type_);
  return b_.to(b_.to(b_.scalar(scalar, type_), *rounded_), type_);
}

namespace {

struct Types {
  DType compute;
  std::optional<DType> rounded;
};

std::optional<DType> promoted_type(const Op& op) {
  Promotion promotion;
  for (size_t k = 0; k < op.arg_count(); ++k) {
    if (!op.has(k)) continue;
    if (op.is_tensor(k)) {
      promotion.add(op.tensor(k));
    } else {
      promotion.add(op.scalar(k));
    }
  }
  return promotion.type();
}

std::optional<Types> operand_types(Op& op, Operands operands) {
  DType result = op.result_type(0).dtype;
  DType compute = compute_type(result);
  switch (operands) {
    case Operands::kArith:
      if (ir::is_bool(compute)) return std::nullopt;
      return Types{compute, std::nullopt};
    case Operands::kAny:
      return Types{compute, std::nullopt};
    case Operands::kExact:
      return Types{compute, result};
    case Operands::kFloat:
      if (!ir::is_float(compute)) return std::nullopt;
      return Types{compute, std::nullopt};
    case Operands::kTruth:
      return Types{DType::kBool, std::nullopt};
    case Operands::kBits:
      if (ir::is_float(compute)) return std::nullopt;
      return Types{compute, result};
    case Operands::kSelf:
      compute = compute_type(op.tensor(0).dtype());
      if (!ir::is_float(compute)) return std::nullopt;
      return Types{compute, std::nullopt};
    case Operands::kCompare:
      std::optional<DType> common = promoted_type(op);
      if (!common) return std::nullopt;
      return Types{compute_type(*common), common};
  }
  return std::nullopt;
}

}  // namespace

Refusal lower_pointwise(Op& op, Operands operands, PointRow row) {
  std::optional<Types> types = operand_types(op, operands);
  if (!types) return "there are no rules for these element types";
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    return row(Args(op, b, index, types->compute, types->rounded));
  });
  return {};
}

Val product(Val a, Val b) { return ir::is_bool(a.type) ? (a & b) : a * b; }

Val scaled_sum(const Args& x, size_t a, size_t b, size_t alpha, bool minus) {
  Val left = x.rounded(a), right = x.rounded(b);
  if (ir::is_bool(left.type)) return x.is(alpha, 0) ? left : (left | right);
  if (!x.is(alpha, 1)) right = right * x[alpha];
  return minus ? left - right : left + right;
}

Val gelu(Val x, const std::string& approximate) {
  if (approximate == "none") return x * 0.5 * (1.0 + erf(x * 0.7071067811865476));
  Val inside = (x + x * x * x * 0.044715) * 0.7978845608028654;
  return x * 0.5 * (1.0 + tanh(inside));
}

Val gelu_backward(Val grad, Val x, const std::string& approximate) {
  if (approximate == "none") {
    Val cdf = (erf(x * 0.7071067811865476) + 1.0) * 0.5;
    Val pdf = exp(x * x * -0.5) * 0.3989422804014327;
    return grad * (cdf + x * pdf);
  }
  constexpr double kBeta = 0.7978845608028654, kKappa = 0.044715;
  Val square = x * x;
  Val tanh_inner = tanh((x + square * x * kKappa) * kBeta);
  Val left = x * 0.5, right = tanh_inner + 1.0;
  Val tanh_slope = 1.0 - tanh_inner * tanh_inner;
  Val inner_slope = (square * (3.0 * kKappa) + 1.0) * kBeta;
  return grad * (right * 0.5 + left * tanh_slope * inner_slope);
}

Val silu_backward(Val grad, Val x) {
  Val s = sigmoid(x);
  return grad * s * (x * (1.0 - s) + 1.0);
}

Val mish(Val x) { return x * tanh(log1p(exp(x))); }

Val mish_backward(Val grad, Val x) {
  Val s = sigmoid(x);
  Val t = tanh(log1p(exp(x)));
  return grad * (t + x * s * (1.0 - t * t));
}

// Arguments: x, alpha, scale, input_scale.
Val elu(const Args& x) {
  Val negative = expm1(x[0] * x[3]) * (x[1] * x[2]);
  return select(x[0] <= 0.0, negative, x[0] * x[2]);
}

// Arguments: grad, alpha, scale, input_scale, is_result, x or the result.
Val elu_backward(const Args& x) {
  Val grad = x[0], at = x[5], negative_scale = x[1] * x[2];
  Val slope = x.is(4, 1) ? (at + negative_scale) * x[3] : exp(at * x[3]) * negative_scale * x[3];
  return select(at <= 0.0, grad * slope, grad * x[2]);
}

Val softplus(Val x, Val beta, Val threshold) {
  Val scaled = x * beta;
  return select(scaled > threshold, x, log1p(exp(scaled)) / beta);
}

Val softplus_backward(Val grad, Val x, Val beta, Val threshold) {
  Val scaled = x * beta;
  Val z = exp(scaled);
  return select(scaled > threshold, grad, grad * z / (z + 1.0));
}

Val log_sigmoid(Val x) { return min(x, 0.0) - log1p(exp(-abs(x))); }

Val log_sigmoid_backward(Val grad, Val x) {
  Val is_negative = x < 0.0;
  Val z = exp(-abs(x));
  Val top = select(is_negative, 1.0, x.body->real(x.type, 0));
  Val sign = select(is_negative, 1.0, x.body->real(x.type, -1));
  return grad * (top - sign * (z / (z + 1.0)));
}

Val hardsigmoid(Val x) { return min(max(x + 3.0, 0.0), 6.0) / 6.0; }

Val hardswish(Val x) { return x * min(max(x + 3.0, 0.0), 6.0) / 6.0; }

Val hardswish_backward(Val grad, Val x) {
  Val middle = grad * (x / 3.0 + 0.5);
  return select(x <= -3.0, 0.0, select(x < 3.0, middle, grad));
}

// The form that is exact at both ends.
Val lerp(Val from, Val to, Val weight) {
  Val difference = to - from;
  return select(abs(weight) < 0.5, from + weight * difference, to - difference * (1.0 - weight));
}

Val logaddexp(Val a, Val b) {
  Val same_infinity = isinf(a) & equal(a, b);
  Val highest = max(a, b);
  return select(same_infinity, a, highest + log1p(exp(-abs(a - b))));
}

Val xlogy(Val a, Val b) { return select(isnan(b), b, select(equal(a, 0.0), 0.0, a * log(b))); }

// Arguments: x, eps. The bounds are of x's type, as x is.
Val logit(const Args& x) {
  Val at = x[0];
  if (x.has(1)) {
    auto rounded = [&](Val v) { return x.body().to(x.body().to(v, x.result_type()), v.type); };
    Val low = rounded(x[1]);
    at = min(max(at, low), rounded(1.0 - low));
  }
  return log(at / (1.0 - at));
}

// Arguments: x, lower or none, upper or none. The upper bound wins, as in eager, and where x equals a bound,
// x stays: zeros keep their sign. Eager takes no notice of a single bound that is the number NaN; with
// another bound beside it everything is NaN.
Val clamp(const Args& x) {
  Val value = x[0];
  if (x.has(1) != x.has(2) && (x.is_nan(1) || x.is_nan(2))) return value;
  if (x.has(1)) value = max(value, x[1]);
  if (x.has(2)) value = min(value, x[2]);
  return value;
}

namespace {

double greatest(DType type) {
  switch (type) {
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 0x1.fep127;
    case DType::kF32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

}  // namespace

// Arguments: x and what stands for NaN, inf and -inf: by default 0 and the greatest and least finite numbers.
Val nan_to_num(const Args& x) {
  Val value = x[0];
  double limit = greatest(x.result_type());
  auto replacement = [&](size_t k, double otherwise) {
    return x.has(k) ? x[k] : x.body().real(value.type, otherwise);
  };
  Val finite =
      select(isinf(value), select(value > 0.0, replacement(2, limit), replacement(3, -limit)), value);
  return select(isnan(value), replacement(1, 0), finite);
}

}  // namespace jumar::loop::lowering
