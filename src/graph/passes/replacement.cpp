#include "graph/passes/replacement.h"

namespace jumar::graph {

Replacement::Replacement(const Graph& graph) : by_(graph.values.size()) {}

ValueId Replacement::of(ValueId value) const {
  if (value.index() >= by_.size() || !by_[value.index()]) return value;
  return by_[value.index()];
}

void Replacement::set(ValueId value, ValueId by) {
  CHECK(value.index() < by_.size(), "value {} was added after the replacement was made", value.index());
  // A chain is followed when it is made: what `by` stands for is known already, because programs are in
  // order.
  by_[value.index()] = of(by);
}

void Replacement::apply(ArgList& args) const {
  for (Arg& arg : args) apply(arg);
}

void Replacement::apply(Arg& arg) const {
  if (ValueId* value = std::get_if<ValueId>(&arg.data)) {
    *value = of(*value);
  } else if (ArgList* list = std::get_if<ArgList>(&arg.data)) {
    apply(*list);
  }
}

std::vector<uint32_t> use_counts(const Graph& graph) {
  std::vector<uint32_t> uses(graph.values.size(), 0);
  for (NodeId id : graph.order) {
    for (const Arg& arg : graph.nodes[id].args)
      for_each_value(arg, [&](ValueId value) { ++uses[value.index()]; });
  }
  return uses;
}

}  // namespace jumar::graph
