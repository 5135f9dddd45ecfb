// The two shapes that nearly every kernel has: a function of each element, and a fold.
#pragma once

#include "loop/lower/lowering.h"

namespace jumar::loop::lowering {

// The position in a tensor that is broadcast to the space of `index`: dimensions are aligned at the end.
Index broadcast_index(const Tensor& tensor, const Index& index);
// An element of a broadcast tensor, in the given type.
Val read(Body& b, const Tensor& tensor, const Index& index, DType type);

// out[index] = value(b, index), in a kernel of its own.
using PointFunction = std::function<Val(Body& b, const Index& index)>;
void pointwise(Op& op, const Tensor& out, const PointFunction& value);

// A kernel whose result's elements are those of x at positions computed from their own.
using Reindex = std::function<Index(sym::Context& cx, const Index& index)>;
void moved(Op& op, const Tensor& x, const Reindex& reindex);

// The sizes of two tensors broadcast together.
Sizes common_sizes(const Tensor& a, const Tensor& b);

// A position given by the caller: a negative one counts from the end.
Expr from_end(const Lowering& low, Expr position, Expr size);
// Where the results of a split begin: each `length` behind the one before, or by lengths that are given.
std::vector<Expr> starts_of(const Op& op, Expr length);
std::vector<Expr> starts_of(const Op& op, const std::vector<Expr>& lengths);
// As from_end, for positions that are cut to [0, size].
Expr clamped_from_end(const Lowering& low, Expr position, Expr size);
// Strides of the operand's whole storage, from an offset that an argument gives.
Refusal restrided(const Op& op, const Tensor& x, ir::TensorType type, size_t offset_arg, Tensor& seen);

// For every point of the dimensions that `folded` does not name: folds over those that it does, then
// finishes.
//   fold:   inside the loop over the folded dimensions; returns `reduce` values
//   finish: after it; `index` has 0 at the folded dimensions
struct Fold {
  Sizes sizes;
  std::vector<bool> folded;
  std::function<std::vector<Val>(Body& b, const Index& index)> fold;
  std::function<void(Body& b, const Index& index, const std::vector<Val>& folds)> finish;
};
void fold_kernel(Op& op, const Fold& fold);

// `index` without the folded dimensions, unless they are kept (as size 1).
Index without(const Index& index, const std::vector<bool>& folded, bool keep);
// `sizes` with 1 at the folded dimensions.
Sizes kept_sizes(sym::Context& cx, const Sizes& sizes, const std::vector<bool>& folded);
// The number of folded elements.
Expr fold_count(sym::Context& cx, const Sizes& sizes, const std::vector<bool>& folded);
// A number as a value of the body.
Val real_of(Body& b, Expr expr, DType type);

// The type in which a scalar that becomes an element is made: integers stay exact, low-precision floats are
// rounded once.
DType scalar_type(const Scalar& value, const Tensor& out);

// The type that eager computes in, from tensors and scalars with their ranks (torch.result_type); nothing for
// mixtures that torch refuses.
class Promotion {
 public:
  void add(const Tensor& tensor);
  void add(const Scalar& scalar);
  std::optional<DType> type() const;

 private:
  void combine(std::optional<DType>& category, DType type);

  std::optional<DType> dims_;
  std::optional<DType> zero_dims_;
  std::optional<DType> scalars_;
  bool refused_ = false;
};

}  // namespace jumar::loop::lowering
