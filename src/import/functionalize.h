// Graphs in which no operator writes to an operand, from graphs as they were exported.
//
//   %v = aten.select.int(%x, 0, 1)                 %v = aten.select.int(%x, 0, 1)
//   %y = aten.add_.Tensor(%v, 1, 1)        ->      %y = aten.add.Tensor(%v, 1, 1)
//   return %x                                      %x.new = aten.select_scatter.default(%x, %y, 0, 1)
//                                                  return %x.new
//
// Each tensor is its storage, or a view of another tensor. Writing gives a tensor new elements, rewrites
// through its views down to the storage, and makes every other view of that storage stale: it is made again
// from the new storage when somebody reads it. The new elements of inputs become results of the graph, before
// the others, for the caller to copy back.
//
// A write that no operator expresses is a diagnostic that names the node: through a view with elements that
// lie on one another, through an operator that may or may not copy, or one that changes what storage a tensor
// has.
#pragma once

#include "graph/graph.h"
#include "import/op_schema.h"

namespace jumar::import {

// The inputs, by place, whose new elements are the graph's first results, in that order.
Result<std::vector<size_t>> functionalize(graph::Graph& graph, OpSchemas& schemas);

}  // namespace jumar::import
