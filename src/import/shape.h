// Types of results: what an operator makes of the types of its operands, with symbolic sizes.
//
//   Shapes shapes(graph);
//   shapes.broadcast({a.sizes, b.sizes})        [s0, 1] and [4] -> [s0, 4]
//   shapes.permuted(x, {1, 0})                  f32[s0, 4] -> f32[4, s0]{1, 4}
//
// Results that are no views are contiguous: only what capture has seen has promised strides, and these steps
// in between are ours.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace jumar::import {

using Sizes = std::vector<sym::Expr>;

// What arithmetic and comparisons compute in, for the arguments given: tensors with dimensions come first,
// those without and numbers only where their category is higher.
ir::DType result_dtype(const graph::Graph& graph, const std::vector<graph::Arg>& args);

class Shapes {
 public:
  explicit Shapes(const graph::Graph& graph) : cx_(graph.cx()), facts_(graph.facts()) {}

  ir::TensorType contiguous(ir::DType dtype, Sizes sizes) const;
  // Nothing, when it is not known that the sizes fit.
  std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b) const;
  ir::TensorType permuted(const ir::TensorType& type, const std::vector<size_t>& dims) const;
  // Strides of dimensions that grow become 0. The last sizes are those of the type.
  ir::TensorType expanded(const ir::TensorType& type, const Sizes& sizes) const;
  ir::TensorType unsqueezed(const ir::TensorType& type, size_t dim) const;
  ir::TensorType without(const ir::TensorType& type, size_t dim) const;
  // The elements as `sizes`, without a copy; nothing when that needs one or is not known.
  std::optional<ir::TensorType> viewed(const ir::TensorType& type, const Sizes& sizes) const;

  bool is_contiguous(const ir::TensorType& type) const;
  bool is_channels_last(const ir::TensorType& type) const;
  bool equal(sym::Expr a, sym::Expr b) const;
  bool equal(const Sizes& a, const Sizes& b) const;
  // Whether every element lies at the same place: strides of dimensions of size 1 do not count.
  bool same_layout(const ir::TensorType& a, const ir::TensorType& b) const;

 private:
  bool same_strides(const Sizes& sizes, const Sizes& a, const Sizes& b) const;

  sym::Context& cx_;
  sym::Facts facts_;
};

}  // namespace jumar::import
