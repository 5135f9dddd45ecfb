#include "import/storage_model.h"

#include <algorithm>

#include "graph/op_traits.h"
#include "import/decomposer.h"
#include "import/view_inverse.h"

namespace jumar::import {

namespace {

constexpr std::string_view kAbsolute = "aten.as_strided.default";

}  // namespace

void StorageModel::define(ValueId tensor) {
  Handle made;
  made.value = tensor;
  made.root = made.parent = handles_.size();
  of_tensor_[tensor] = handles_.size();
  handles_.push_back(std::move(made));
}

void StorageModel::same(ValueId name, ValueId tensor) { of_tensor_[name] = handle(tensor); }

size_t StorageModel::handle(ValueId tensor) const {
  const auto found = of_tensor_.find(tensor);
  CHECK(found != of_tensor_.end(), "tensor %{} is not defined", graph_.values[tensor].name);
  return found->second;
}

size_t StorageModel::add_view(const Node& node, size_t result, size_t parent) {
  Handle made;
  // Whatever view as_strided is asked of, it addresses the storage.
  made.parent = node.op == kAbsolute ? handles_[parent].root : parent;
  made.root = handles_[parent].root;
  made.value = node.results[result];
  made.version = handles_[made.root].writes;
  made.view = node;
  made.result = result;
  handles_.push_back(std::move(made));
  return handles_.size() - 1;
}

Status StorageModel::define_views(Node node) {
  const auto* operand = node.args.empty() ? nullptr : node.args[0].as<ValueId>();
  if (operand == nullptr || graph_.values[*operand].kind != ValueKind::kTensor)
    return diagnostic("unsupported", "{} makes views of something that is no tensor", node.op);
  if (!graph::may_alias(node))
    return diagnostic("unsupported", "{} may or may not copy, which nobody here knows", node.op);
  size_t parent = handle(*operand);
  if (node.op == kAbsolute) parent = handles_[parent].root;
  JUMAR_ASSIGN(const ValueId value, current(parent));
  node.args[0] = Arg(value);
  for (size_t k = 1; k < node.args.size(); ++k) {
    JUMAR_ASSIGN(node.args[k], read(node.args[k]));
  }
  for (size_t k = 0; k < node.results.size(); ++k) of_tensor_[node.results[k]] = add_view(node, k, parent);
  append(std::move(node));
  return {};
}

Result<Arg> StorageModel::read(const Arg& arg) {
  if (const auto* tensor = arg.as<ValueId>()) {
    if (graph_.values[*tensor].kind != ValueKind::kTensor) return arg;
    JUMAR_ASSIGN(const ValueId value, read(*tensor));
    return Arg(value);
  }
  const ArgList* list = arg.list();
  if (list == nullptr) return arg;
  ArgList out;
  for (const Arg& item : *list) {
    JUMAR_ASSIGN(Arg value, read(item));
    out.push_back(std::move(value));
  }
  return Arg(std::move(out));
}

Result<ValueId> StorageModel::read(ValueId tensor) { return current(handle(tensor)); }

Result<ValueId> StorageModel::current(size_t index) {
  const size_t root = handles_[index].root;
  if (index == root || handles_[index].version == handles_[root].writes) return handles_[index].value;
  JUMAR_ASSIGN(const ValueId parent, current(handles_[index].parent));
  Node again = handles_[index].view;
  again.args[0] = Arg(parent);
  for (ValueId& result : again.results) {
    const graph::Value old = graph_.values[result];
    result = graph_.add_tensor(old.name, old.type);
  }
  handles_[index].value = again.results[handles_[index].result];
  handles_[index].version = handles_[root].writes;
  append(std::move(again));
  return handles_[index].value;
}

Status StorageModel::write(ValueId tensor, ValueId value, const std::string& origin) {
  size_t index = handle(tensor);
  const size_t root = handles_[index].root;
  // What lies on the way down is read before anything changes.
  std::vector<std::pair<size_t, ValueId>> path = {{index, value}};
  while (index != root) {
    const size_t parent = handles_[index].parent;
    JUMAR_ASSIGN(const ValueId old, current(parent));
    const Handle view = handles_[index];
    JUMAR_ASSIGN(value, written_through(view, old, value, origin));
    path.emplace_back(parent, value);
    index = parent;
  }
  const uint32_t version = ++handles_[root].writes;
  for (const auto& [changed, elements] : path) {
    handles_[changed].value = elements;
    handles_[changed].version = version;
  }
  return {};
}

Result<ValueId> StorageModel::written_through(const Handle& view, ValueId parent, ValueId value,
                                              const std::string& origin) {
  const InverseContext context{graph_, shapes_, view.view, view.result, parent, value};
  JUMAR_ASSIGN(const Inverse inverse, view_inverse(context));
  const TensorType wanted = graph_.values[parent].type;
  const std::string name = graph_.values[parent].name;
  if (inverse.op.empty()) return value;
  ValueId out = append(inverse.op, inverse.args, inverse.type, name, origin);
  if (!shapes_.same_layout(inverse.type, wanted))
    out = append("aten.clone.default", {Arg(out)}, wanted, name, origin);
  return out;
}

bool StorageModel::is_written(ValueId tensor) const {
  return handles_[handles_[handle(tensor)].root].writes > 0;
}

bool StorageModel::becomes_view(const Node& node, ValueId tensor) const {
  const std::string plain = functional_name(schemas_, node.op);
  return !plain.empty() && node.args[0].as<ValueId>() != nullptr && *node.args[0].as<ValueId>() == tensor &&
         schemas_.find(plain)->may_alias();
}

Status StorageModel::turn_into_view(const Node& node, ValueId tensor) {
  if (node.results.size() != 1) return diagnostic("unsupported", "{} has several results", node.op);
  Node view = node;
  view.op = functional_name(schemas_, node.op);
  JUMAR_RETURN_IF_ERROR(define_views(view));
  of_tensor_[tensor] = handle(node.results[0]);
  return {};
}

void StorageModel::append(Node node) {
  if (const OpSchema* schema = schemas_.find(node.op)) graph_.schemas.emplace(node.op, schema->plain());
  graph_.append(std::move(node));
}

ValueId StorageModel::append(const std::string& op, ArgList args, TensorType type, const std::string& name,
                             const std::string& origin) {
  const OpSchema* schema = schemas_.find(op);
  CHECK(schema != nullptr, "unknown operator {}", op);
  for (size_t k = args.size(); k < schema->args.size(); ++k) {
    CHECK(schema->args[k].default_value.has_value(), "{} needs '{}'", op, schema->args[k].name);
    args.push_back(*schema->args[k].default_value);
  }
  Node node;
  node.op = op;
  node.args = std::move(args);
  node.results = {graph_.add_tensor(name, std::move(type))};
  node.origin = origin;
  const ValueId out = node.results[0];
  append(std::move(node));
  return out;
}

}  // namespace jumar::import
