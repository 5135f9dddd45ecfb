// Tensors made from numbers.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

Refusal fill(Op& op, const Scalar& value) {
  Tensor out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index&) {
    return b.to(b.scalar(value, scalar_type(value, out)), out.dtype());
  });
  return {};
}

}  // namespace

Refusal lower_zeros(Op& op) { return fill(op, {0.0}); }
Refusal lower_ones(Op& op) { return fill(op, {1.0}); }
Refusal lower_scalar_tensor(Op& op) { return fill(op, op.scalar(0)); }
Refusal lower_full(Op& op) { return fill(op, op.scalar(1)); }
Refusal lower_new_full(Op& op) { return fill(op, op.scalar(2)); }

Refusal lower_fill_tensor(Op& op) {
  Tensor value = op.tensor(1), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index&) { return b.to(b.load(value, {}), out.dtype()); });
  return {};
}

namespace {

// start + step*i; floats in double, as eager computes them.
Refusal arange(Op& op, const Scalar& start, const Scalar& step) {
  Tensor out = op.result(0);
  DType type = ir::is_float(out.dtype()) ? op.low().widest_float() : DType::kI64;
  pointwise(op, out, [&](Body& b, const Index& index) {
    if (type == DType::kI64 && start.is_integer() && step.is_integer()) {
      Expr first = std::get<Expr>(start.data), stride = std::get<Expr>(step.data);
      return b.to(b.index(b.cx().add(first, b.cx().mul(stride, index[0]))), out.dtype());
    }
    Val at = b.scalar(step, type) * real_of(b, index[0], type);
    return b.to(at + b.scalar(start, type), out.dtype());
  });
  return {};
}

}  // namespace

Refusal lower_arange(Op& op) { return arange(op, {op.low().constant(0)}, {op.low().constant(1)}); }
Refusal lower_arange_start(Op& op) { return arange(op, op.scalar(0), {op.low().constant(1)}); }
Refusal lower_arange_step(Op& op) { return arange(op, op.scalar(0), op.scalar(2)); }

Refusal lower_eye(Op& op) {
  Tensor out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    return b.to(b.predicate(b.cx().eq(index[0], index[1])), out.dtype());
  });
  return {};
}

namespace {

// A number, or a tensor that holds one.
Val number_at(Op& op, Body& b, size_t k, DType type) {
  return op.is_tensor(k) ? b.to(b.load(op.tensor(k), {}), type) : b.scalar(op.scalar(k), type);
}

// Position `at` of so many steps from argument 0 to argument 1. Eager counts from the nearer end.
Val step_at(Op& op, Body& b, Expr at, DType type) {
  sym::Context& cx = b.cx();
  Expr steps = op.integer(2);
  Val start = number_at(op, b, 0, type);
  if (steps.is_const(1)) return start;
  Val end = number_at(op, b, 1, type);
  Val step = (end - start) / real_of(b, cx.sub(steps, 1), type);
  Val up = start + step * real_of(b, at, type);
  Val down = end - step * real_of(b, cx.sub(cx.sub(steps, 1), at), type);
  return select(b.predicate(cx.lt(at, cx.floordiv(steps, 2))), up, down);
}

constexpr const char* kIntegerSteps = "integer steps, which eager rounds by vectors";

}  // namespace

// Arguments: start, end, steps.
Refusal lower_linspace(Op& op) {
  Tensor out = op.result(0);
  if (!ir::is_float(out.dtype())) return kIntegerSteps;
  DType type = compute_type(out.dtype());
  pointwise(op, out, [&](Body& b, const Index& index) { return step_at(op, b, index[0], type); });
  return {};
}

// Arguments: start, end, steps, base. Exponents are of the result's type, powers doubles.
Refusal lower_logspace(Op& op) {
  Tensor out = op.result(0);
  if (!ir::is_float(out.dtype())) return kIntegerSteps;
  DType type = compute_type(out.dtype()), wide = op.low().widest_float();
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val base = b.scalar(op.scalar(3), wide);
    return b.to(pow(base, b.to(step_at(op, b, index[0], type), wide)), type);
  });
  return {};
}

}  // namespace jumar::loop::lowering
