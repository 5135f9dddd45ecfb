#include <algorithm>

#include "graph/op_traits.h"
#include "graph/passes/passes.h"

namespace jumar::graph {
namespace {

bool overlaps(const ir::TensorType& type) {
  for (size_t k = 0; k < type.rank(); ++k)
    if (type.strides[k].is_const(0) && !type.sizes[k].is_const(1)) return true;
  return false;
}

}  // namespace

// Before:  %e: f32[3, 9]{1, 0} = aten.expand.default(%x, [3, 9], false)
//          %0: f32[3, 9]{1, 0} = aten.slice_scatter.default(%e, %y, 1, 2, 5, 1)
// After:   %0: f32[3, 9] = aten.slice_scatter.default(%e, %y, 1, 2, 5, 1)
// Capture promises some results with the strides of an expanded operand, in which elements share memory. An
// operator that makes a tensor cannot fill one like that, and eager's result is dense, unless such strides
// are what it is asked for. A result that a view reads is left alone, because the view's strides are promised
// on top of it.
ir::PassResult dense_results(Graph& graph, ir::PassContext&) {
  std::vector<bool> is_viewed(graph.values.size(), false);
  for (NodeId id : graph.order) {
    const Node& node = graph.nodes[id];
    if (!may_alias(node) || node.args.empty()) continue;
    for_each_value(node.args[0], [&](ValueId value) { is_viewed[value.index()] = true; });
  }
  ir::PassResult result;
  for (NodeId id : graph.order) {
    const Node& node = graph.nodes[id];
    if (may_alias(node) || takes_strides(node)) continue;
    for (ValueId value : node.results) {
      Value& made = graph.values[value];
      if (made.kind != ValueKind::kTensor || is_viewed[value.index()] || !overlaps(made.type)) continue;
      made.type.strides = ir::contiguous_strides(graph.cx(), made.type.sizes);
      ++result.changes;
    }
  }
  return result;
}

}  // namespace jumar::graph
