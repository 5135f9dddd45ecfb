// Splits what a graph computes of its parameters alone from what it computes of a call's arguments.
//
//   before  %w = parameter 1   %c = aten.clone(%w, channels_last)   %y = aten.convolution(%x, %c, ...)
//   after   folding:  %w = parameter 0   %c = aten.clone(...)   return %c
//           graph:    %c = parameter 1   %y = aten.convolution(%x, %c, ...)
//
// The folding graph is run when the parameters are known or have changed; its results are parameters of the
// graph from then on. Views cost nothing and stay in the graph, of a parameter or of a folded value. A value
// is not folded where that would take more memory than what it is computed of, beyond a small size, nor where
// its size is not a constant. Random operators, and operators with effects, are never folded.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace jumar::graph {

// What a parameter of the split graph is.
struct SplitParameter {
  bool is_folded = false;
  size_t index = 0;  // of the folding graph's results, or of the parameters before the split
};

struct SplitConstants {
  std::optional<Graph> folding;            // its inputs are all parameters, in order; none: nothing is folded
  std::vector<SplitParameter> parameters;  // of the graph after the split, in order
};

// `first_parameter`: the graph's inputs from here on are parameters. `is_written[k]`: a call changes the
// elements of parameter k, so that nothing may be computed of it ahead. Parameters that the graph does not
// use any more are dropped.
SplitConstants split_constants(Graph& graph, size_t first_parameter, const std::vector<bool>& is_written);

}  // namespace jumar::graph
