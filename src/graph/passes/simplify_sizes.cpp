#include "graph/passes/passes.h"
#include "sym/facts.h"

namespace jumar::graph {
namespace {

class SimplifySizes {
 public:
  explicit SimplifySizes(Graph& graph)
      : graph_(graph), facts_(graph.facts()), simplify_(graph.cx(), facts_) {}

  ir::PassResult run() {
    for (Value& value : graph_.values) {
      for (sym::Expr& size : value.type.sizes) replace(size);
      for (sym::Expr& stride : value.type.strides) replace(stride);
      if (value.expr && !value.expr.is_symbol()) replace(value.expr);
    }
    for (NodeId id : graph_.order) replace(graph_.nodes[id].args);
    replace(graph_.outputs);
    return {changes_};
  }

 private:
  void replace(sym::Expr& expr) {
    const sym::Expr simple = simplify_(expr);
    if (simple == expr) return;
    expr = simple;
    ++changes_;
  }

  void replace(ArgList& args) {
    for (Arg& arg : args) {
      if (auto* expr = std::get_if<sym::Expr>(&arg.data)) replace(*expr);
      if (auto* list = std::get_if<ArgList>(&arg.data)) replace(*list);
    }
  }

  Graph& graph_;
  sym::Facts facts_;
  sym::Simplifier simplify_;
  uint32_t changes_ = 0;
};

}  // namespace

// Before:  symbols(s0 in [64, inf])   %y: f32[2, s0//4]{max(1, s0//4), 1} = ...
// After:                              %y: f32[2, s0//4] = ...
// Capture writes strides for sizes that may be 0 or 1; ranges of the symbols say more. Layouts are compared
// as expressions, so every pass after this one finds more of them equal.
ir::PassResult simplify_sizes(Graph& graph, ir::PassContext&) { return SimplifySizes(graph).run(); }

}  // namespace jumar::graph
