// An exported program as a graph, node for node: not functional and not decomposed yet.
//
//   JUMAR_ASSIGN(Translated made, translate(cx, program, schemas));
//
// Names are resolved, arguments stand in schema order with defaults filled in, sizes that nodes compute have
// become expressions, and nodes that only exist for capture are gone. Inputs are the call's arguments, then
// what the archive holds. Operators may still write to operands, which graphs otherwise never do, until
// `functionalize` has run; no such graph may reach a pass.
#pragma once

#include "graph/graph.h"
#include "import/exported.h"
#include "import/op_schema.h"

namespace jumar::import {

// One leaf of the call's argument tree, in order.
struct CallInput {
  std::string name;
  std::optional<size_t> graph_input;  // otherwise the program was exported for one value, which is `constant`
  graph::Arg constant;
};

// What a result of the graph is for.
struct GraphOutput {
  OutputRole role = OutputRole::kUser;
  size_t graph_input = 0;  // of a mutation: the input whose new elements the result holds
};

struct Translated {
  explicit Translated(std::shared_ptr<sym::Context> cx) : graph(std::move(cx)) {}

  graph::Graph graph;
  std::vector<CallInput> inputs;
  std::vector<GraphOutput> outputs;     // one for each output of the graph
  size_t user_input_count = 0;          // the graph's first inputs; weights follow
  std::vector<InputRole> weight_roles;  // of the inputs after those
};

Result<Translated> translate(std::shared_ptr<sym::Context> cx, const ExportedProgram& program,
                             OpSchemas& schemas);

}  // namespace jumar::import
