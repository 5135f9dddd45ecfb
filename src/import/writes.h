// The elements that an operator writes to its operand, as the result of an operator that does not write.
#pragma once

#include "graph/graph.h"
#include "import/op_schema.h"
#include "import/storage_model.h"

namespace jumar::import {

struct WriteContext {
  graph::Graph& graph;
  OpSchemas& schemas;
  StorageModel& model;
  const graph::Node& node;  // aten.add_.Tensor(%x, 1, 1)
  graph::ValueId target;    // %x
};

// A value of the target's type.
Result<graph::ValueId> written_value(const WriteContext& context);

}  // namespace jumar::import
