// Nodes of an exported graph, one by one, into nodes of a graph.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "graph/graph.h"
#include "import/exported.h"
#include "import/op_schema.h"

namespace jumar::import {

// A name of the archive as the name of a value: what a name may not hold becomes '_'.
std::string value_name(std::string_view name);

// The names that a graph's nodes see, and the graph that they are translated into. A graph within a node has
// a scope of its own.
class Scope {
 public:
  Scope(graph::Graph& graph, OpSchemas& schemas, const ExportedGraph& source)
      : graph_(graph),
        schemas_(schemas),
        source_(source),
        symbols_(std::make_shared<std::vector<sym::Expr>>()),
        known_(std::make_shared<std::unordered_set<sym::Expr>>()) {}
  // The scope of a graph within a node: names of its own, the same symbols.
  Scope nested(const ExportedGraph& source) const;

  graph::Graph& graph() { return graph_; }
  OpSchemas& schemas() { return schemas_; }
  const ExportedGraph& source() const { return source_; }
  sym::Context& cx() { return graph_.cx(); }

  Result<ir::TensorType> type_of(const std::string& tensor) const;
  Status define(const std::string& name, graph::Arg value);
  // The argument, where the schema wants `type`.
  Result<graph::Arg> argument(const Argument& value, std::string_view type);

  // The symbols of `e` are known from here on.
  void know(sym::Expr e);
  // Unbacked symbols of `e` that are not known, which become so.
  void define_symbols(sym::Expr e, std::vector<sym::Expr>& unbacked);
  // All symbols met, in order.
  const std::vector<sym::Expr>& symbols() const { return *symbols_; }
  bool is_known(sym::Expr symbol) const { return known_->contains(symbol); }

 private:
  Result<graph::Arg> named(const std::string& name) const;
  Result<graph::Arg> named_number(const std::string& name);
  Result<graph::Arg> known(const std::string& name, sym::Expr e) const;
  Result<graph::Arg> list(const Argument::List& items, std::string_view type);

  graph::Graph& graph_;
  OpSchemas& schemas_;
  const ExportedGraph& source_;
  std::unordered_map<std::string, graph::Arg> values_;
  std::shared_ptr<std::vector<sym::Expr>> symbols_;
  std::shared_ptr<std::unordered_set<sym::Expr>> known_;
};

Status translate_node(Scope& scope, const ExportedNode& node);

}  // namespace jumar::import
