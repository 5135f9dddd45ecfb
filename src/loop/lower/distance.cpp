// Distances between rows of two batches: one fold over the rows' elements per pair.
#include <cmath>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

constexpr const char* kBroadcastRows = "batches that are broadcast";

// x[..., i, k], with the batch dimensions broadcast to those of `batch`.
Val row_element(Body& b, const Tensor& x, const Index& batch, Expr row, Expr k, DType type) {
  Index index = batch;
  index.push_back(row);
  index.push_back(k);
  Index from = broadcast_index(x, index);
  for (size_t d = 0; d < x.rank(); ++d) {
    if (x.size(d).is_const(1)) from[d] = b.cx().constant(0);
  }
  return b.to(b.load(x, from), type);
}

// What is folded of the absolute difference of two elements, and what becomes of the fold.
struct Order {
  double p;

  ReduceKind fold() const { return std::isinf(p) ? ReduceKind::kMax : ReduceKind::kSum; }
  Val part(Val difference) const {
    if (p == 0) return difference.body->to(unequal(difference, 0.0), difference.type);
    if (p == 2) return difference * difference;
    return p == 1 || std::isinf(p) ? difference : pow(difference, p);
  }
  Val distance(Val folded) const {
    if (p == 2) return sqrt(folded);
    return p == 0 || p == 1 || std::isinf(p) ? folded : pow(folded, 1 / p);
  }
  // The derivative of the distance by an element, times the gradient; 0 where the distance is.
  Val slope(Val difference, Val grad, Val distance) const {
    Val size = abs(difference), direction = sign(difference);
    if (p == 0) return difference.body->real(difference.type, 0);
    if (p == 1) return grad * direction;
    if (std::isinf(p)) return grad * direction * difference.body->to(equal(size, distance), difference.type);
    if (p == 2) return select(equal(distance, 0.0), 0.0, grad * difference / distance);
    if (p < 2) {
      Val value = direction * pow(size, p - 1) * grad / pow(distance, p - 1);
      Val nothing = equal(distance, 0.0);
      if (p < 1) nothing = nothing | equal(difference, 0.0);
      return select(nothing, 0.0, value);
    }
    Val value = difference * pow(size, p - 2) * grad / pow(distance, p - 1);
    return select(equal(distance, 0.0), 0.0, value);
  }
};

}  // namespace

// Arguments: x1, x2, p, compute_mode.
Refusal lower_cdist(Op& op) {
  Tensor a = op.tensor(0), c = op.tensor(1), out = op.result(0);
  DType acc = compute_type(out.dtype());
  if (!ir::is_float(acc)) return "no float";
  Order order{op.number(2)};
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    Expr k = b.inner(a.size(a.rank() - 1));
    Index batch(index.begin(), index.end() - 2);
    Val difference = row_element(b, a, batch, index[index.size() - 2], k, acc) -
                     row_element(b, c, batch, index.back(), k, acc);
    Val folded = b.reduce(order.fold(), order.part(abs(difference)));
    b.begin_stage();
    // A maximum over no elements is no distance.
    if (order.fold() == ReduceKind::kMax) folded = max(folded, 0.0);
    b.store(out, index, order.distance(folded));
  });
  return {};
}

// Arguments: grad, x1, x2, p, cdist. The gradient of x1.
Refusal lower_cdist_backward(Op& op) {
  Tensor grad = op.tensor(0), a = op.tensor(1), c = op.tensor(2), distance = op.tensor(4), out = op.result(0);
  DType acc = compute_type(out.dtype());
  if (!ir::is_float(acc)) return "no float";
  // Where rows are broadcast, what was captured is not what eager returns.
  const Lowering& low = op.low();
  for (const Tensor* t : {&a, &c, &out}) {
    if (t->rank() != grad.rank()) return kBroadcastRows;
    for (size_t d = 0; d + 2 < grad.rank(); ++d) {
      if (!sym::proves_eq(low.cx(), t->size(d), grad.size(d), low.facts())) return kBroadcastRows;
    }
  }
  Order order{op.number(3)};
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    Expr j = b.inner(c.size(c.rank() - 2));
    Index batch(index.begin(), index.end() - 2), pair(index.begin(), index.end() - 1);
    pair.push_back(j);
    Val difference = row_element(b, a, batch, index[index.size() - 2], index.back(), acc) -
                     row_element(b, c, batch, j, index.back(), acc);
    Val slope = order.slope(difference, read(b, grad, pair, acc), read(b, distance, pair, acc));
    Val sum = b.reduce(ReduceKind::kSum, slope);
    b.begin_stage();
    b.store(out, index, sum);
  });
  return {};
}

}  // namespace jumar::loop::lowering
