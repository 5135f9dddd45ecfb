#include "graph/passes/lay_out_parameters.h"

#include <algorithm>

#include "graph/passes/replacement.h"

namespace jumar::graph {
namespace {

constexpr std::string_view kClone = "aten.clone.default";

// What uses a value: copies with one layout, or something else.
struct Uses {
  std::vector<ValueId> copies;
  bool has_others = false;
};

std::vector<Uses> uses_of(const Graph& graph) {
  std::vector<Uses> uses(graph.values.size());
  const auto other = [&](const Arg& arg) {
    for_each_value(arg, [&](ValueId v) { uses[v.index()].has_others = true; });
  };
  for (const NodeId id : graph.order) {
    const Node& node = graph.nodes[id];
    const ValueId* operand = node.args.empty() ? nullptr : std::get_if<ValueId>(&node.args[0].data);
    if (node.op == kClone && operand != nullptr && ir::is_static(graph.values[node.results[0]].type)) {
      uses[operand->index()].copies.push_back(node.results[0]);
    } else {
      std::for_each(node.args.begin(), node.args.end(), other);
    }
  }
  for (const Arg& output : graph.outputs) {
    other(output);
    // A result must stay a tensor of its own.
    for_each_value(output, [&](ValueId v) {
      const NodeId definition = graph.values[v].definition;
      if (definition)
        std::for_each(graph.nodes[definition].args.begin(), graph.nodes[definition].args.end(), other);
    });
  }
  return uses;
}

}  // namespace

void lay_out_parameters(Graph& graph, size_t first_parameter, const std::vector<bool>& may_change) {
  const std::vector<Uses> uses = uses_of(graph);
  Replacement replacement(graph);
  std::vector<bool> is_gone(graph.nodes.size(), false);
  for (size_t k = first_parameter; k < graph.inputs.size(); ++k) {
    const ValueId parameter = graph.inputs[k].value;
    const Uses& use = uses[parameter.index()];
    if (!may_change[k - first_parameter] || use.has_others || use.copies.empty()) continue;
    const ir::TensorType type = graph.values[use.copies[0]].type;
    const bool are_equal = std::all_of(use.copies.begin(), use.copies.end(),
                                       [&](ValueId copy) { return graph.values[copy].type == type; });
    if (!are_equal) continue;
    graph.values[parameter].type = type;
    for (const ValueId copy : use.copies) {
      replacement.set(copy, parameter);
      is_gone[graph.values[copy].definition.index()] = true;
    }
  }
  std::erase_if(graph.order, [&](NodeId id) { return is_gone[id.index()]; });
  for (const NodeId id : graph.order) replacement.apply(graph.nodes[id].args);
}

}  // namespace jumar::graph
