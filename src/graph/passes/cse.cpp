#include <unordered_map>

#include "graph/op_traits.h"
#include "graph/passes/passes.h"
#include "graph/passes/replacement.h"
#include "graph/storage.h"
#include "ir/arg_text.h"

namespace jumar::graph {
namespace {

// Two nodes with the same key compute the same. Text keeps apart what compares equal: 1 and 1.0, 0.0 and
// -0.0.
std::string key_of(const Node& node) {
  return node.op + "(" +
         ir::write_args(node.args, [](ValueId value) { return fmt::format("%{}", value.index()); });
}

bool same_types(const Graph& graph, const Node& a, const Node& b) {
  if (a.results.size() != b.results.size()) return false;
  for (size_t k = 0; k < a.results.size(); ++k) {
    const Value &x = graph.values[a.results[k]], &y = graph.values[b.results[k]];
    if (x.kind != y.kind || x.expr != y.expr || !(x.type == y.type)) return false;
  }
  return true;
}

class Cse {
 public:
  explicit Cse(Graph& graph) : graph_(graph), storage_(graph), replacement_(graph) {}

  ir::PassResult run() {
    for (NodeId id : graph_.order) {
      Node& node = graph_.nodes[id];
      replacement_.apply(node.args);
      if (has_effect(node) || !node.unbacked.empty()) continue;
      auto [first, is_new] = seen_.emplace(key_of(node), id);
      if (!is_new) merge(graph_.nodes[first->second], node);
    }
    for (Arg& output : graph_.outputs) replacement_.apply(output);
    return {changes_};
  }

 private:
  // Uses of `node` become uses of `first`. The node itself is left to dead-code.
  void merge(const Node& first, const Node& node) {
    if (!same_types(graph_, first, node)) return;
    for (size_t k = 0; k < node.results.size(); ++k) {
      ValueId result = node.results[k];
      bool is_output = storage_.is_output(result);
      if (uses_[result.index()] == 0 && !is_output) continue;
      // Two tensors that a caller receives stay two, also when it receives a view of them.
      if (graph_.values[result].kind == ValueKind::kTensor && storage_.escapes(result)) continue;
      replacement_.set(result, first.results[k]);
      ++changes_;
    }
  }

  Graph& graph_;
  StorageFacts storage_;
  Replacement replacement_;
  std::vector<uint32_t> uses_ = use_counts(graph_);
  std::unordered_map<std::string, NodeId> seen_;  // looked up only, never iterated
  uint32_t changes_ = 0;
};

}  // namespace

// Before:  %0: f32[4] = aten.exp.default(%x)          After:  %0: f32[4] = aten.exp.default(%x)
//          %1: f32[4] = aten.exp.default(%x)                  %1: f32[4] = aten.exp.default(%x)
//          %2: f32[4] = aten.mul.Tensor(%0, %1)               %2: f32[4] = aten.mul.Tensor(%0, %0)
// Random operators, Python calls and custom operators are never merged, nor are results that a caller
// receives.
ir::PassResult cse(Graph& graph, ir::PassContext&) { return Cse(graph).run(); }

}  // namespace jumar::graph
