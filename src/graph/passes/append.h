// Operators that passes add, with the schemas that a graph must have for them.
//
//   ValueId copy = appended(graph, "aten.clone.default", {x, WordArg{...}}, "x_copy", type);
#pragma once

#include "graph/graph.h"

namespace jumar::graph {

// Makes sure that the graph has the schema of `op`, one of the operators that passes make.
void add_schema(Graph& graph, const std::string& op);
// A node at the end of the program with one result, whose name is made unique.
ValueId appended(Graph& graph, const std::string& op, ArgList args, const std::string& name,
                 ir::TensorType type);

// Puts a node that the program does not hold at its end, with another operator and other arguments: its
// results are what they were.
void append_as(Graph& graph, NodeId id, const std::string& op, ArgList args);

}  // namespace jumar::graph
