// Composite operators as the operators that autograd would have left: `linear` as a product and a sum,
// `conv2d` as a convolution, `reshape` as a view or a copy, and so on.
//
//   %y = aten.linear.default(%x, %w, %b)            %y.t = aten.t.default(%w)
//                                              ->   %y = aten.addmm.default(%b, %x, %y.t, 1, 1)
//
// The rows are src/import/decompositions.def. A result keeps its name and the type that capture saw, strides
// included. An operator whose row does not apply is left as it is, and called; only operators of which nobody
// knows whether they copy must not stay (see functionalize.h).
#pragma once

#include "graph/graph.h"
#include "import/op_schema.h"

namespace jumar::import {

// Works on graphs whose operators still write to operands: an operator such as `dropout_` whose counterpart
// without the underscore is composite becomes that one, and a copy.
Status decompose(graph::Graph& graph, OpSchemas& schemas);

}  // namespace jumar::import
