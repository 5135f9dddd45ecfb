// Softmax in its variants: the greatest element, the sum of scaled exponentials, then each element.
#include <cmath>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

struct Row {
  Tensor x;
  DType acc = DType::kF32;
  std::vector<bool> folded;
  Sizes kept;  // 1 at the folded dimension
};

Row row_of(Op& op, size_t dim_arg) {
  Row row;
  row.x = op.tensor(0);
  row.acc = compute_type(op.result_type(0).dtype);
  row.folded.assign(row.x.rank(), false);
  size_t dim = op.dim(dim_arg, row.x.rank());
  if (row.x.rank() > 0) row.folded[dim] = true;
  row.kept = kept_sizes(op.low().cx(), row.x.sizes(), row.folded);
  return row;
}

using RowFunction = std::function<Val(Body& b, const Index& index)>;

// A tensor of one fold per row, of value(index).
Tensor fold_rows(Op& op, const Row& row, ReduceKind kind, std::string_view name, const RowFunction& value) {
  Tensor out = op.temp(name, row.acc, row.kept);
  Fold f;
  f.sizes = row.x.sizes();
  f.folded = row.folded;
  f.fold = [&](Body& b, const Index& index) { return std::vector<Val>{b.reduce(kind, value(b, index))}; };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    b.store(out, index, folds[0]);
  };
  fold_kernel(op, f);
  return out;
}

Refusal softmax(Op& op, size_t dim_arg, bool is_log, bool is_safe) {
  Row row = row_of(op, dim_arg);
  if (!ir::is_float(row.acc)) return "no float";
  auto element = [&](Body& b, const Index& index) { return b.to(b.load(row.x, index), row.acc); };
  Tensor top = fold_rows(op, row, ReduceKind::kMax, "max", element);
  auto scaled = [&](Body& b, const Index& index) { return element(b, index) - b.load(top, index); };
  Tensor total = fold_rows(op, row, ReduceKind::kSum, "sum",
                           [&](Body& b, const Index& index) { return exp(scaled(b, index)); });
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    Val value = scaled(b, index), sum = b.load(total, index);
    if (is_log) return value - log(sum);
    Val share = exp(value) / sum;
    if (!is_safe) return share;
    // A row of which every element is masked out has no share to give.
    return select(equal(b.load(top, index), -HUGE_VAL), 0.0, share);
  });
  return {};
}

}  // namespace

Refusal lower_softmax(Op& op) { return softmax(op, 1, false, false); }
Refusal lower_log_softmax(Op& op) { return softmax(op, 1, true, false); }
Refusal lower_safe_softmax(Op& op) { return softmax(op, 1, false, true); }

namespace {

// Arguments: grad, output, dim, input_dtype.
Refusal softmax_backward(Op& op, bool is_log) {
  Row row = row_of(op, 2);
  Tensor grad = op.tensor(0), output = op.tensor(1);
  auto at = [&](Body& b, const Tensor& x, const Index& index) { return b.to(b.load(x, index), row.acc); };
  Tensor total = fold_rows(op, row, ReduceKind::kSum, "sum", [&](Body& b, const Index& index) {
    Val g = at(b, grad, index);
    return is_log ? g : g * at(b, output, index);
  });
  pointwise(op, op.result(0), [&](Body& b, const Index& index) {
    Val g = at(b, grad, index), y = at(b, output, index), sum = b.load(total, index);
    return is_log ? g - exp(y) * sum : (g - sum) * y;
  });
  return {};
}

}  // namespace

Refusal lower_softmax_backward(Op& op) { return softmax_backward(op, false); }
Refusal lower_log_softmax_backward(Op& op) { return softmax_backward(op, true); }

}  // namespace jumar::loop::lowering
