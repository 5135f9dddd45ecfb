// How writing to a view writes to what it is a view of.
//
//   view = select(x, 0, 1)            x becomes select_scatter(x, view's new elements, 0, 1)
//   view = transpose(x, 0, 1)         x becomes transpose(view's new elements, 0, 1)
#pragma once

#include "graph/graph.h"
#include "import/shape.h"

namespace jumar::import {

struct InverseContext {
  graph::Graph& graph;
  const Shapes& shapes;
  const graph::Node& view;  // the operator that made the view
  size_t result;            // which of its results the view is
  graph::ValueId parent;    // the elements that the view was made of
  graph::ValueId value;     // the view's new elements
};

// The operator that gives the parent's new elements; an empty name where those are the view's.
struct Inverse {
  std::string op;
  graph::ArgList args;
  ir::TensorType type;
};

Result<Inverse> view_inverse(const InverseContext& context);

}  // namespace jumar::import
