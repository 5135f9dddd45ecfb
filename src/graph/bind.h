// Where the values of symbols are found: in the inputs of a call, or in the results of the node that defines
// them.
//
//   %n: int(s0) = input 0            s0 is the number passed as input 0
//   %x: f32[2*s1, 8] = input 1       s1 is size 0 of input 1, divided by 2
//   %i: i64[u0, 1] = aten.nonzero.default(%x) defines(u0)      u0 is size 0 of the node's result 0
//   %b: bool = aten._local_scalar_dense.default(%y) defines(u1)       u1 is the bool, as 0 or 1
//
// A number that stands alone is preferred to one that must be solved for; ints to bools, bools to sizes,
// sizes to strides (strides of dimensions of size 1 are arbitrary).
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace jumar::graph {

struct SymbolBinding {
  enum class Place : uint8_t { kInt, kBool, kSize, kStride };

  sym::Expr symbol;
  size_t index = 0;  // of the input in Graph::inputs, or of the result in Node::results
  Place place = Place::kInt;
  size_t dim = 0;  // of a size or stride
  // The number found there is coefficient*symbol + rest. Both mention only symbols bound by earlier rows, or
  // by what came before the node.
  sym::Expr coefficient;
  sym::Expr rest;
};

// One row for each symbol that inputs bind, in an order in which they can be computed.
std::vector<SymbolBinding> symbol_bindings(const Graph& graph);
// The same for the symbols that a node defines; a row is missing where its results do not tell.
std::vector<SymbolBinding> symbol_bindings(const Graph& graph, const Node& node);

}  // namespace jumar::graph
