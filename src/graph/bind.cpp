#include "graph/bind.h"

#include <algorithm>
#include <unordered_set>

namespace jumar::graph {
namespace {

using sym::Expr;
using Place = SymbolBinding::Place;

struct Candidate {
  Expr expr;
  size_t index;
  Place place;
  size_t dim;
};

// The numbers that `values` carry, best ones first.
std::vector<Candidate> candidates(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<Candidate> ints, sizes, strides;
  for (size_t k = 0; k < values.size(); ++k) {
    const Value& value = graph.values[values[k]];
    if (value.kind == ValueKind::kInt && !value.expr.is_const())
      ints.push_back({value.expr, k, Place::kInt, 0});
    if (value.kind != ValueKind::kTensor) continue;
    for (size_t d = 0; d < value.type.sizes.size(); ++d) {
      if (!value.type.sizes[d].is_const()) sizes.push_back({value.type.sizes[d], k, Place::kSize, d});
    }
    for (size_t d = 0; d < value.type.strides.size(); ++d) {
      if (!value.type.strides[d].is_const()) strides.push_back({value.type.strides[d], k, Place::kStride, d});
    }
  }
  ints.insert(ints.end(), sizes.begin(), sizes.end());
  ints.insert(ints.end(), strides.begin(), strides.end());
  return ints;
}

// Adds rows for the symbols of `wanted` that the candidates tell, and removes those from `wanted`.
void solve(sym::Context& cx, const std::vector<Candidate>& all, std::unordered_set<Expr>& wanted,
           std::vector<SymbolBinding>& rows) {
  for (const Candidate& c : all) {
    if (!c.expr.is_symbol() || wanted.erase(c.expr) == 0) continue;
    rows.push_back({c.expr, c.index, c.place, c.dim, cx.constant(1), cx.constant(0)});
  }
  for (bool changed = true; changed && !wanted.empty();) {
    changed = false;
    for (const Candidate& c : all) {
      std::vector<Expr> unknown;
      for (Expr symbol : sym::symbols_of(c.expr)) {
        if (wanted.contains(symbol)) unknown.push_back(symbol);
      }
      if (unknown.size() != 1) continue;
      std::optional<sym::Linear> linear = sym::linear_in(cx, c.expr, unknown[0]);
      if (!linear || linear->coefficient.is_const(0)) continue;
      rows.push_back({unknown[0], c.index, c.place, c.dim, linear->coefficient, linear->rest});
      wanted.erase(unknown[0]);
      changed = true;
    }
  }
}

}  // namespace

std::vector<SymbolBinding> symbol_bindings(const Graph& graph) {
  std::vector<SymbolBinding> rows;
  if (graph.symbols.empty()) return rows;
  std::vector<ValueId> values;
  for (const Input& input : graph.inputs) values.push_back(input.value);
  std::unordered_set<Expr> wanted;
  for (const SymbolInfo& info : graph.symbols) wanted.insert(info.symbol);
  solve(graph.cx(), candidates(graph, values), wanted, rows);
  return rows;
}

std::vector<SymbolBinding> symbol_bindings(const Graph& graph, const Node& node) {
  std::vector<SymbolBinding> rows;
  if (node.unbacked.empty()) return rows;
  std::unordered_set<Expr> wanted(node.unbacked.begin(), node.unbacked.end());
  solve(graph.cx(), candidates(graph, node.results), wanted, rows);
  // A bool result tells the symbol that nothing else does.
  for (size_t k = 0; k < node.results.size() && wanted.size() == 1; ++k) {
    if (graph.values[node.results[k]].kind != ValueKind::kBool) continue;
    rows.push_back({*wanted.begin(), k, Place::kBool, 0, graph.cx().constant(1), graph.cx().constant(0)});
    wanted.clear();
  }
  return rows;
}

}  // namespace jumar::graph
