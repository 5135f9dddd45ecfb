#include "graph/graph.h"

namespace jumar::graph {

sym::Facts Graph::facts() const {
  sym::Facts facts;
  for (const SymbolInfo& info : symbols) facts.set_range(info.symbol, info.range);
  return facts;
}

std::string Graph::unique_name(std::string name) {
  // Values may have been added to the table directly since the last call.
  for (; indexed_ < values.size(); ++indexed_) names_.insert(values[values.id_at(indexed_)].name);
  if (!names_.contains(name)) return name;
  for (int suffix = 1;; ++suffix) {
    std::string candidate = fmt::format("{}_{}", name, suffix);
    if (!names_.contains(candidate)) return candidate;
  }
}

ValueId Graph::add_value(Value value) {
  value.name = unique_name(std::move(value.name));
  return values.add(std::move(value));
}

ValueId Graph::add_tensor(std::string name, ir::TensorType type) {
  Value value;
  value.name = std::move(name);
  value.kind = ValueKind::kTensor;
  value.type = std::move(type);
  return add_value(std::move(value));
}

NodeId Graph::append(Node node) {
  NodeId id = nodes.add(std::move(node));
  for (ValueId result : nodes[id].results) values[result].definition = id;
  order.push_back(id);
  return id;
}

void for_each_value(const Arg& arg, const std::function<void(ValueId)>& visit) {
  if (const ValueId* value = arg.as<ValueId>()) {
    visit(*value);
  } else if (const ArgList* list = arg.as<ArgList>()) {
    for (const Arg& item : *list) for_each_value(item, visit);
  }
}

void for_each_expr(const Arg& arg, const std::function<void(sym::Expr)>& visit) {
  if (const sym::Expr* expr = arg.as<sym::Expr>()) {
    visit(*expr);
  } else if (const ArgList* list = arg.as<ArgList>()) {
    for (const Arg& item : *list) for_each_expr(item, visit);
  }
}

bool is_python_call(const Node& node) { return node.op.starts_with("python."); }
bool is_host_scalar(const Node& node) { return node.op.starts_with("scalar."); }

}  // namespace jumar::graph
