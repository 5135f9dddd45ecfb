// Gives parameters the layout in which the graph wants them, where it copies them into one.
//
//   before  %w: f32[8, 3, 3, 3] = parameter 1     %c: f32[8, 3, 3, 3]{27, 1, 9, 3} = aten.clone(%w, ...)
//   after   %w: f32[8, 3, 3, 3]{27, 1, 9, 3} = parameter 1                        (%c is %w)
//
// For callers who can choose how parameters lie in memory, as packages do: the copy is made once, ahead.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace jumar::graph {

// `may_change[k]`: parameter k, the graph's input `first_parameter` + k, may get other strides. Parameters
// that the graph uses in other ways than by equal copies keep theirs.
void lay_out_parameters(Graph& graph, size_t first_parameter, const std::vector<bool>& may_change);

}  // namespace jumar::graph
