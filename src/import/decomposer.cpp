#include "import/decomposer.h"

#include <algorithm>
#include <set>

#include "import/decompose.h"

namespace jumar::import {

namespace {

// Rows may lead to rows: a bound for a mistake in the table.
constexpr int kDeepest = 16;

struct FunctionRow {
  std::string_view op;
  Decompose function;
  bool is_required = false;
};
struct RenameRow {
  std::string_view op;
  std::string_view to;
};

#define JUMAR_RENAME(op, to)
#define JUMAR_DECOMPOSE(op, function) Outcome function(Call& c);
#define JUMAR_REQUIRED(op, function) Outcome function(Call& c);
}  // namespace
#include "import/decompositions.def"
#undef JUMAR_DECOMPOSE
#undef JUMAR_REQUIRED
namespace {
#define JUMAR_DECOMPOSE(op, function) {op, function, false},
#define JUMAR_REQUIRED(op, function) {op, function, true},
constexpr FunctionRow kFunctions[] = {
#include "import/decompositions.def"
};
#undef JUMAR_DECOMPOSE
#undef JUMAR_REQUIRED
#undef JUMAR_RENAME

#define JUMAR_DECOMPOSE(op, function)
#define JUMAR_REQUIRED(op, function)
#define JUMAR_RENAME(op, to) {op, to},
constexpr RenameRow kRenames[] = {
#include "import/decompositions.def"
};
#undef JUMAR_RENAME
#undef JUMAR_REQUIRED
#undef JUMAR_DECOMPOSE

const FunctionRow* function_row(std::string_view op) {
  for (const FunctionRow& row : kFunctions) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

std::string_view renamed_op(std::string_view op) {
  for (const RenameRow& row : kRenames) {
    if (row.op == op) return row.to;
  }
  return {};
}

// "aten.dropout_.default" -> {"dropout_", ".default"}.
std::pair<std::string, std::string> name_parts(const std::string& op) {
  constexpr std::string_view kAten = "aten.";
  if (!op.starts_with(kAten)) return {};
  const size_t dot = op.find('.', kAten.size());
  if (dot == std::string::npos) return {};
  return {op.substr(kAten.size(), dot - kAten.size()), op.substr(dot)};
}

// The same arguments but for the name of the first: `dropout_` calls it self, `dropout` input.
bool same_arguments(const OpSchema& a, const OpSchema& b) {
  if (a.args.size() != b.args.size() || b.writes()) return false;
  for (size_t k = 0; k < a.args.size(); ++k) {
    if (a.args[k].type != b.args[k].type || (k > 0 && a.args[k].name != b.args[k].name)) return false;
  }
  return true;
}

}  // namespace

bool is_composite(std::string_view op) { return function_row(op) != nullptr || !renamed_op(op).empty(); }

std::string functional_name(OpSchemas& schemas, const std::string& op) {
  const auto [name, overload] = name_parts(op);
  if (!name.ends_with('_')) return "";
  const OpSchema* in_place = schemas.find(op);
  if (in_place == nullptr) return "";
  const std::string plain = "aten." + name.substr(0, name.size() - 1);
  std::vector<std::string> candidates = {plain + overload};
  for (const std::string_view other : operators_of(plain + ".")) candidates.emplace_back(other);
  for (const std::string& candidate : candidates) {
    const OpSchema* functional = schemas.find(candidate);
    if (functional != nullptr && same_arguments(*in_place, *functional)) return candidate;
  }
  return "";
}

Status decompose(graph::Graph& graph, OpSchemas& schemas) { return Decomposer(graph, schemas).run(); }

Status Decomposer::run() {
  const std::vector<graph::NodeId> old = std::move(graph_.order);
  graph_.order.clear();
  for (const graph::NodeId id : old) {
    Node node = graph_.nodes[id];
    for (Arg& arg : node.args) arg = resolved(arg);
    place(std::move(node));
    if (error_) return std::move(*error_);
  }
  for (Arg& arg : graph_.outputs) arg = resolved(arg);
  std::set<std::string> used;
  for (const graph::NodeId id : graph_.order) used.insert(graph_.nodes[id].op);
  std::erase_if(graph_.schemas, [&](const auto& row) { return !used.contains(row.first); });
  return {};
}

void Decomposer::place(Node node) {
  if (const std::string_view to = renamed_op(node.op); !to.empty()) {
    node.op = to;
    const OpSchema* schema = schemas_.find(node.op);
    CHECK(schema != nullptr, "{} is renamed to an unknown operator", node.op);
    for (size_t k = node.args.size(); k < schema->args.size(); ++k) {
      CHECK(schema->args[k].default_value.has_value(), "{} needs '{}'", node.op, schema->args[k].name);
      node.args.push_back(*schema->args[k].default_value);
    }
  }
  ++depth_;
  const bool expanded = depth_ < kDeepest && node.unbacked.empty() && (expand_in_place(node) || expand(node));
  --depth_;
  if (expanded) return;
  if (const OpSchema* schema = schemas_.find(node.op)) graph_.schemas.emplace(node.op, schema->plain());
  graph_.append(std::move(node));
}

// Tensors stand where the schema has them: what functions of the table rely on. (A number may stand for a
// tensor elsewhere.)
bool Decomposer::has_tensors(const Node& node) const {
  const OpSchema* schema = schemas_.find(node.op);
  const auto is_tensor = [&](const Arg& arg) {
    const auto* value = arg.as<ValueId>();
    return value != nullptr && graph_.values[*value].kind == ValueKind::kTensor;
  };
  if (schema == nullptr || schema->args.size() != node.args.size()) return false;
  for (size_t k = 0; k < node.args.size(); ++k) {
    const std::string& kind = schema->args[k].type;
    if (kind == "Tensor" && !is_tensor(node.args[k])) return false;
    if (kind == "Tensor?" && !node.args[k].is_none() && !is_tensor(node.args[k])) return false;
  }
  return std::all_of(node.results.begin(), node.results.end(),
                     [&](ValueId result) { return graph_.values[result].kind == ValueKind::kTensor; });
}

bool Decomposer::expand(const Node& node) {
  const FunctionRow* row = function_row(node.op);
  if (row == nullptr) return false;
  const size_t placed = graph_.order.size();
  const size_t first_new = graph_.values.size();
  Call call(*this, node);
  const Outcome outcome = has_tensors(node) ? row->function(call) : Call::refuse("an operand is no tensor");
  const auto* values = std::get_if<std::vector<ValueId>>(&outcome);
  bool fits = values != nullptr && values->size() == node.results.size();
  for (size_t k = 0; fits && k < values->size(); ++k) {
    const TensorType wanted = type(node.results[k]);
    fits = (*values)[k].valid() && type((*values)[k]).dtype == wanted.dtype &&
           shapes_.equal(type((*values)[k]).sizes, wanted.sizes);
  }
  if (!fits) {
    graph_.order.resize(placed);
    const auto* refusal = std::get_if<Refusal>(&outcome);
    if (row->is_required && !error_) {
      error_ = diagnostic("unsupported", "{} cannot be expressed by other operators: {}", node.op,
                          refusal != nullptr ? refusal->reason : "its result has another type");
      if (!node.results.empty())
        error_->notes.push_back(fmt::format("in node %{}", graph_.values[node.results[0]].name));
    }
    return false;
  }
  finish(node, *values, first_new);
  return true;
}

// `dropout_(x)` is copy_(x, dropout(x)) where dropout is composite.
bool Decomposer::expand_in_place(const Node& node) {
  const std::string plain = functional_name(schemas_, node.op);
  if (plain.empty() || !is_composite(plain)) return false;
  const auto* self = node.args.empty() ? nullptr : node.args[0].as<ValueId>();
  if (self == nullptr || graph_.values[*self].kind != ValueKind::kTensor || node.results.size() != 1 ||
      schemas_.find(plain)->may_alias())
    return false;
  const std::string& name = graph_.values[node.results[0]].name;
  const ValueId value = append(plain, node.args, {type(*self)}, name + "_new", node.origin)[0];
  Node copy;
  copy.op = "aten.copy_.default";
  copy.args = {Arg(*self), Arg(value), Arg(false)};
  copy.results = node.results;
  copy.origin = node.origin;
  graph_.schemas.emplace(copy.op, schemas_.find(copy.op)->plain());
  graph_.append(std::move(copy));
  return true;
}

// New values take over the names and the promised types of the results that they are.
void Decomposer::finish(const Node& node, const std::vector<ValueId>& values, size_t first_new) {
  for (size_t k = 0; k < values.size(); ++k) {
    const ValueId result = node.results[k];
    const TensorType wanted = type(result);
    ValueId value = values[k];
    if (!shapes_.same_layout(type(value), wanted)) value = restrided(value, wanted, node);
    const bool is_new = value.index() >= first_new && std::count(values.begin(), values.end(), value) <= 1;
    if (is_new) {
      // Where both say the same stride, the value's own form is the simpler one.
      ir::TensorType& own = graph_.values[value].type;
      for (size_t d = 0; d < own.rank(); ++d) {
        if (!shapes_.equal(own.strides[d], wanted.strides[d])) own.strides[d] = wanted.strides[d];
      }
      std::swap(graph_.values[value].name, graph_.values[result].name);
    }
    replaced_[result] = value;
  }
}

ValueId Decomposer::restrided(ValueId value, const TensorType& wanted, const Node& node) {
  Node copy;
  copy.op = "aten.clone.default";
  copy.args = {Arg(value), Arg()};
  copy.results = {graph_.add_tensor(graph_.values[value].name + "_strided", wanted)};
  copy.origin = node.origin;
  graph_.schemas.emplace(copy.op, schemas_.find(copy.op)->plain());
  const ValueId out = copy.results[0];
  graph_.append(std::move(copy));
  return out;
}

std::vector<ValueId> Decomposer::append(const std::string& op, ArgList args, std::vector<TensorType> types,
                                        const std::string& name, const std::string& origin) {
  const OpSchema* schema = schemas_.find(op);
  CHECK(schema != nullptr && args.size() <= schema->args.size(), "operator {} with {} arguments", op,
        args.size());
  for (size_t k = args.size(); k < schema->args.size(); ++k) {
    CHECK(schema->args[k].default_value.has_value(), "{} needs '{}'", op, schema->args[k].name);
    args.push_back(*schema->args[k].default_value);
  }
  Node node;
  node.op = op;
  node.args = std::move(args);
  node.origin = origin;
  for (TensorType& type : types) node.results.push_back(graph_.add_tensor(name, std::move(type)));
  std::vector<ValueId> results = node.results;
  place(std::move(node));
  for (ValueId& result : results) result = resolved(result);
  return results;
}

ValueId Decomposer::resolved(ValueId value) const {
  for (auto it = replaced_.find(value); it != replaced_.end(); it = replaced_.find(value)) value = it->second;
  return value;
}

Arg Decomposer::resolved(const Arg& arg) const {
  if (const auto* value = arg.as<ValueId>()) return Arg(resolved(*value));
  const ArgList* list = arg.list();
  if (list == nullptr) return arg;
  ArgList out;
  for (const Arg& item : *list) out.push_back(resolved(item));
  return Arg(std::move(out));
}

}  // namespace jumar::import
