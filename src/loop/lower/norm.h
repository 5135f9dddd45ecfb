// The space in which a normalization works, so that layer, group and batch norm are the same code.
//
// Elements are folded together along the space's folded dimensions; a group's numbers (mean, rstd) have size
// 1 there. A batch norm of x[N, C, H, W] folds N, H and W; a group norm sees x as [N, groups, C/groups, H,
// W].
#pragma once

#include "loop/lower/kernels.h"

namespace jumar::loop::lowering {

enum class NormKind : uint8_t { kLayer, kBatch, kGroup };

class NormSpace {
 public:
  // Layer norm of the last `dims` dimensions.
  static NormSpace layer(const Lowering& low, const Tensor& x, size_t dims);
  static NormSpace batch(const Lowering& low, const Tensor& x);
  static NormSpace group(const Lowering& low, const Tensor& x, Expr groups);

  // A tensor as large as x, a vector of weights, a tensor of one number per group: as seen in the space.
  Tensor elements(const Tensor& tensor) const;
  Tensor weights(const Tensor& tensor) const;
  Tensor stats(const Tensor& tensor) const;

  const Sizes& sizes() const { return sizes_; }
  const std::vector<bool>& folded() const { return folded_; }
  // Along which dimensions the gradient of a weight is folded.
  const std::vector<bool>& weight_folded() const { return weight_folded_; }
  Expr count() const { return count_; }
  DType acc() const { return acc_; }
  // The sizes of per-group numbers, and of what weights look like.
  Sizes stat_sizes() const { return kept_sizes(*cx_, sizes_, folded_); }
  Sizes weight_sizes() const { return kept_sizes(*cx_, sizes_, weight_folded_); }

 private:
  NormSpace(const Lowering& low, NormKind kind, const Tensor& x);
  void finish();

  sym::Context* cx_;
  NormKind kind_;
  Sizes sizes_;
  std::vector<bool> folded_;
  std::vector<bool> weight_folded_;
  Expr count_;
  DType acc_;
};

// An element, in the accumulation type.
Val at(Body& b, const NormSpace& space, const Tensor& tensor, const Index& index);

// Folds of values over `folded` into `outs`, one store each; `finish` turns a sum into what is stored.
using FoldValues = std::function<std::vector<Val>(Body& b, const Index& index)>;
using FoldFinish = std::function<std::vector<Val>(Body& b, const Index& index, const std::vector<Val>& sums)>;
void fold_sums(Op& op, const NormSpace& space, const std::vector<bool>& folded, const FoldValues& values,
               const std::vector<Tensor>& outs, const FoldFinish& finish = nullptr);

// Memory in the space for one number per group: the result where it has the accumulation type, else a temp.
Tensor stat_memory(Op& op, const NormSpace& space, size_t result, std::string_view name);
// Brings a temp of stat_memory into its result.
void finish_stat(Op& op, const NormSpace& space, size_t result, const Tensor& stat);

// Calls `use` for a tensor argument seen as weights, if it is given.
std::optional<Tensor> weights_of(const Op& op, const NormSpace& space, size_t arg);

}  // namespace jumar::loop::lowering
