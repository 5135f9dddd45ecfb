// Norms of vectors: a term of each element, folded, and what is made of the fold.
#include <cmath>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

Val norm_term(Val x, double order) {
  if (order == 0) return select(unequal(x, 0.0), 1.0, x.body->real(x.type, 0));
  if (order == 2) return x * x;
  if (order == 1 || std::isinf(order)) return abs(x);
  return pow(abs(x), x.body->real(x.type, order));
}

ReduceKind norm_fold(double order) {
  if (!std::isinf(order)) return ReduceKind::kSum;
  return order > 0 ? ReduceKind::kMax : ReduceKind::kMin;
}

Val norm_of(Val fold, double order) {
  if (order == 2) return sqrt(fold);
  if (order == 0 || order == 1 || std::isinf(order)) return fold;
  return pow(fold, fold.body->real(fold.type, 1 / order));
}

// The order that an argument gives, 2 where it gives none; nothing for one that is known only when run.
std::optional<double> order_of(const Op& op, size_t k) {
  return op.has(k) ? op.scalar(k).constant() : std::optional(2.0);
}

constexpr const char* kUnknownOrder = "an order that is not known, or no float";

// The norm over the folded dimensions of what `element` gives.
void norm_kernel(Op& op, const Sizes& sizes, const std::vector<bool>& folded, bool keep, double order,
                 const Tensor& out, const PointFunction& element) {
  Fold f;
  f.sizes = sizes;
  f.folded = folded;
  f.fold = [&](Body& b, const Index& index) {
    return std::vector<Val>{b.reduce(norm_fold(order), norm_term(element(b, index), order))};
  };
  f.finish = [&](Body& b, const Index& index, const std::vector<Val>& folds) {
    b.store(out, without(index, folded, keep), norm_of(folds[0], order));
  };
  fold_kernel(op, f);
}

Refusal vector_norm(Op& op, std::optional<size_t> dims, std::optional<size_t> keep) {
  Tensor x = op.tensor(0);
  DType acc = compute_type(op.result_type(0).dtype);
  std::optional<double> order = order_of(op, 1);
  if (!order || !ir::is_float(acc)) return kUnknownOrder;
  std::vector<bool> folded(x.rank(), true);
  if (dims && op.has(*dims)) folded = op.dim_mask(*dims, x.rank());
  norm_kernel(op, x.sizes(), folded, keep && op.flag(*keep), *order, op.result(0),
              [&](Body& b, const Index& index) { return b.to(b.load(x, index), acc); });
  return {};
}

}  // namespace

// Arguments: self, order, dim, keepdim, dtype.
Refusal lower_vector_norm(Op& op) { return vector_norm(op, 2, 3); }
// Arguments: self, order, dtype.
Refusal lower_norm(Op& op) { return vector_norm(op, std::nullopt, std::nullopt); }

// Arguments: self, other, p.
Refusal lower_dist(Op& op) {
  Tensor a = op.tensor(0), z = op.tensor(1), out = op.result(0);
  DType acc = compute_type(out.dtype());
  std::optional<double> order = order_of(op, 2);
  if (!order || !ir::is_float(acc)) return kUnknownOrder;
  Sizes sizes = common_sizes(a, z);
  norm_kernel(op, sizes, std::vector<bool>(sizes.size(), true), false, *order, out,
              [&](Body& b, const Index& index) { return read(b, a, index, acc) - read(b, z, index, acc); });
  return {};
}

// Arguments: self, p, dim, maxnorm. Slices along the dimension whose norm is above maxnorm are scaled down to
// it.
Refusal lower_renorm(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType acc = compute_type(out.dtype());
  std::optional<double> order = order_of(op, 1);
  if (!order || !ir::is_float(acc)) return kUnknownOrder;
  std::vector<bool> folded(x.rank(), true);
  folded[op.dim(2, x.rank())] = false;
  Tensor norm = op.temp("norm", acc, kept_sizes(op.low().cx(), x.sizes(), folded));
  auto element = [&](Body& b, const Index& index) { return b.to(b.load(x, index), acc); };
  norm_kernel(op, x.sizes(), folded, true, *order, norm, element);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val size = b.load(norm, index), most = b.scalar(op.scalar(3), acc);
    return element(b, index) * select(size > most, most / (size + 1e-7), 1.0);
  });
  return {};
}

}  // namespace jumar::loop::lowering
