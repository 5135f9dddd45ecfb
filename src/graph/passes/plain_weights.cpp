#include <unordered_set>

#include "graph/passes/passes.h"

namespace jumar::graph {

// Before:  %w: f32[8, 3, 3, 3] = parameter 1
//          %c: f32[8, 3, 3, 3]{27, 1, 9, 3} = aten.clone.default(%w, memory_format(channels_last))
//          %0: f32[2, 8, 9, 9] = aten.convolution.default(%x, %c, ...)
// After:   %0: f32[2, 8, 9, 9] = aten.convolution.default(%x, %w, ...)
// A provider brings weights into a layout of its own, and keeps it for parameters: a copy would be in the
// way, since it is made anew in every call.
ir::PassResult plain_weights(Graph& graph, ir::PassContext&) {
  std::unordered_set<uint32_t> parameters;
  for (const Input& input : graph.inputs)
    if (input.kind == InputKind::kParameter) parameters.insert(input.value.index());
  ir::PassResult result;
  for (NodeId id : graph.order) {
    Node& node = graph.nodes[id];
    if (node.op != "aten.convolution.default") continue;
    const ValueId* weight = node.args[1].as<ValueId>();
    const NodeId definition = weight ? graph.values[*weight].definition : NodeId();
    if (!definition || graph.nodes[definition].op != "aten.clone.default") continue;
    const ValueId source = *graph.nodes[definition].args[0].as<ValueId>();
    if (!parameters.contains(source.index())) continue;
    std::get<ValueId>(node.args[1].data) = source;
    ++result.changes;
  }
  return result;
}

}  // namespace jumar::graph
