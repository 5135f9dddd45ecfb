// Which tensors are views of which, and what their elements are at this point of the program.
//
// A tensor of the exported program is a name for memory, a value of a graph is elements. The model maps the
// one to the other: every tensor has a value that holds its elements, which goes stale when the storage is
// written to through another tensor.
#pragma once

#include <unordered_map>

#include "graph/graph.h"
#include "import/op_schema.h"
#include "import/shape.h"

namespace jumar::import {

class StorageModel {
 public:
  StorageModel(graph::Graph& graph, OpSchemas& schemas) : graph_(graph), schemas_(schemas), shapes_(graph) {}

  const Shapes& shapes() const { return shapes_; }

  // A tensor with storage of its own: an input, or what an operator has made.
  void define(graph::ValueId tensor);
  // The results of an operator whose results are views of an operand; appends it.
  Status define_views(graph::Node node);
  // Another name for the same tensor.
  void same(graph::ValueId name, graph::ValueId tensor);

  // The argument with the values that now hold its tensors' elements; stale views are made again.
  Result<graph::Arg> read(const graph::Arg& arg);
  Result<graph::ValueId> read(graph::ValueId tensor);
  // The tensor has the elements of `value` from here on, which has its type.
  Status write(graph::ValueId tensor, graph::ValueId value, const std::string& origin);
  // Whether the tensor's storage was written to.
  bool is_written(graph::ValueId tensor) const;

  // `unsqueeze_` and the like make the tensor itself a view of what it was.
  bool becomes_view(const graph::Node& node, graph::ValueId tensor) const;
  Status turn_into_view(const graph::Node& node, graph::ValueId tensor);

  void append(graph::Node node);
  // Appends an operator with one result.
  graph::ValueId append(const std::string& op, graph::ArgList args, ir::TensorType type,
                        const std::string& name, const std::string& origin);

 private:
  struct Handle {
    graph::ValueId value;  // its elements, as of `version`
    uint32_t version = 0;  // of the storage
    size_t root = 0;       // the handle that is the storage
    size_t parent = 0;     // what it is a view of; itself for a root
    graph::Node view;      // the operator that makes it from the parent
    size_t result = 0;     // which result of that operator
    uint32_t writes = 0;   // of a root: its current version
  };

  size_t handle(graph::ValueId tensor) const;
  size_t add_view(const graph::Node& node, size_t result, size_t parent);
  Result<graph::ValueId> current(size_t handle);
  // The parent's elements with those of the view replaced.
  Result<graph::ValueId> written_through(const Handle& view, graph::ValueId parent, graph::ValueId value,
                                         const std::string& origin);

  graph::Graph& graph_;
  OpSchemas& schemas_;
  Shapes shapes_;
  std::vector<Handle> handles_;
  std::unordered_map<graph::ValueId, size_t> of_tensor_;
};

}  // namespace jumar::import
