// Values that stand for others, applied while a pass walks the program in order.
//
//   Replacement replacement(graph);
//   for (NodeId id : graph.order) {
//     replacement.apply(graph.nodes[id].args);     // operands are final from here on
//     ... replacement.set(result, operand);
//   }
#pragma once

#include <vector>

#include "graph/graph.h"

namespace jumar::graph {

class Replacement {
 public:
  explicit Replacement(const Graph& graph);

  // `value` is itself, or what stands for it.
  ValueId of(ValueId value) const;
  void set(ValueId value, ValueId by);
  void apply(ArgList& args) const;
  void apply(Arg& arg) const;

 private:
  std::vector<ValueId> by_;  // invalid: itself
};

// How often each value is an operand of a node in the program.
std::vector<uint32_t> use_counts(const Graph& graph);

}  // namespace jumar::graph
