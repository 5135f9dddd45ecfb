#include "graph/storage.h"

#include "graph/op_traits.h"

namespace jumar::graph {

StorageFacts::StorageFacts(const Graph& graph)
    : roots_(graph.values.size()),
      escapes_(graph.values.size(), false),
      by_offset_(graph.values.size(), false),
      is_input_(graph.values.size(), false),
      is_output_(graph.values.size(), false) {
  for (size_t k = 0; k < roots_.size(); ++k) roots_[k] = ValueId(static_cast<uint32_t>(k));
  for (const Input& input : graph.inputs) is_input_[input.value.index()] = true;
  for (NodeId id : graph.order) {
    const Node& node = graph.nodes[id];
    if (node.args.empty() || !may_alias(node) || is_python_call(node)) continue;
    const ValueId* operand = node.args[0].as<ValueId>();
    if (!operand) continue;
    for (ValueId result : node.results) roots_[result.index()] = root(*operand);
  }
  for (const Arg& output : graph.outputs) {
    for_each_value(output, [&](ValueId value) {
      is_output_[value.index()] = true;
      escapes_[root(value).index()] = true;
    });
  }
  for (size_t k = graph.order.size(); k-- > 0;) {
    const Node& node = graph.nodes[graph.order[k]];
    bool escaping = false;
    for (ValueId result : node.results) escaping = escaping || escapes(result);
    // What Python returns may be any of its operands.
    if (escaping && is_python_call(node)) {
      for (const Arg& arg : node.args)
        for_each_value(arg, [&](ValueId value) { escapes_[root(value).index()] = true; });
    }
    bool sensitive = reads_storage(node);
    if (!sensitive && may_alias(node)) {
      for (ValueId result : node.results) sensitive = sensitive || by_offset_[result.index()];
    }
    if (!sensitive) continue;
    for (const Arg& arg : node.args)
      for_each_value(arg, [&](ValueId value) { by_offset_[value.index()] = true; });
  }
}

}  // namespace jumar::graph
