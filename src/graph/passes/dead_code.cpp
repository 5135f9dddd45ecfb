#include <algorithm>
#include <unordered_set>

#include "graph/op_traits.h"
#include "graph/passes/passes.h"

namespace jumar::graph {
namespace {

using sym::Expr;

// What the rest of the program, walked backwards, needs.
class Needs {
 public:
  explicit Needs(const Graph& graph) : values_(graph.values.size(), false) {
    for (const Arg& output : graph.outputs) add(output);
  }

  bool has(const Node& node) const {
    if (std::any_of(node.results.begin(), node.results.end(), [&](ValueId v) { return values_[v.index()]; }))
      return true;
    // A number that a node reads from a tensor is mentioned by its symbol, not as a value.
    return std::any_of(node.unbacked.begin(), node.unbacked.end(),
                       [&](Expr symbol) { return symbols_.contains(symbol); });
  }

  void add(const Graph& graph, const Node& node) {
    for (const Arg& arg : node.args) add(arg);
    for (ValueId result : node.results) {
      const Value& value = graph.values[result];
      for (Expr size : value.type.sizes) add(size);
      for (Expr stride : value.type.strides) add(stride);
    }
  }

 private:
  void add(Expr expr) {
    if (expr.is_const()) return;
    for (Expr symbol : sym::symbols_of(expr)) symbols_.insert(symbol);
  }

  void add(const Arg& arg) {
    for_each_value(arg, [&](ValueId value) { values_[value.index()] = true; });
    for_each_expr(arg, [&](Expr expr) { add(expr); });
  }

  std::vector<bool> values_;
  std::unordered_set<Expr> symbols_;
};

}  // namespace

// Before:  %0: f32[4] = aten.neg.default(%x)          After:  %1: f32[4] = aten.exp.default(%x)
//          %1: f32[4] = aten.exp.default(%x)                  return %1
//          return %1
// Nodes with effects stay (graph/op_traits.h). Inputs stay: they are what callers pass.
ir::PassResult dead_code(Graph& graph, ir::PassContext&) {
  Needs needs(graph);
  std::vector<NodeId> kept;
  std::unordered_set<Expr> lost;
  for (size_t k = graph.order.size(); k-- > 0;) {
    const Node& node = graph.nodes[graph.order[k]];
    if (!has_effect(node) && !needs.has(node)) {
      lost.insert(node.unbacked.begin(), node.unbacked.end());
      continue;
    }
    needs.add(graph, node);
    kept.push_back(graph.order[k]);
  }
  ir::PassResult result{static_cast<uint32_t>(graph.order.size() - kept.size())};
  std::reverse(kept.begin(), kept.end());
  graph.order = std::move(kept);
  std::erase_if(graph.symbols, [&](const SymbolInfo& info) { return lost.contains(info.symbol); });
  std::unordered_set<std::string> ops;
  for (NodeId id : graph.order) ops.insert(graph.nodes[id].op);
  result.changes += std::erase_if(graph.schemas, [&](const auto& row) { return !ops.contains(row.first); });
  return result;
}

}  // namespace jumar::graph
