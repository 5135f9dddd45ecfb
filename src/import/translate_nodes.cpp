#include "import/translate_nodes.h"

#include <algorithm>

namespace jumar::import {
namespace {

using graph::Arg;
using graph::ArgList;
using graph::Value;
using graph::ValueId;
using graph::ValueKind;
using sym::Expr;

constexpr std::string_view kOperators = "torch.ops.";
constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";

// Python's arithmetic on host numbers, and the operator that stands for it in a graph.
struct ScalarRow {
  std::string_view target;
  std::string_view op;
};
constexpr ScalarRow kScalars[] = {
    {"_operator.add", "add"},
    {"_operator.sub", "sub"},
    {"_operator.mul", "mul"},
    {"_operator.truediv", "truediv"},
    {"_operator.floordiv", "floordiv"},
    {"_operator.mod", "mod"},
    {"_operator.pow", "pow"},
    {"_operator.neg", "neg"},
    {"_operator.abs", "abs"},
    {"_operator.eq", "eq"},
    {"_operator.ne", "ne"},
    {"_operator.lt", "lt"},
    {"_operator.le", "le"},
    {"_operator.gt", "gt"},
    {"_operator.ge", "ge"},
    {"_operator.and_", "and"},
    {"_operator.or_", "or"},
    {"math.floor", "floor"},
    {"math.ceil", "ceil"},
    {"math.trunc", "trunc"},
    {"math.sqrt", "sqrt"},
    {"torch.sym_float", "to_float"},
    {"torch.sym_max", "max"},
    {"torch.sym_min", "min"},
    {"torch.sym_not", "not"},
    {"torch._sym_sqrt", "sqrt"},
};

// Operators that say something to the tracer only: what they check was checked at export, or is said by the
// ranges of symbols.
constexpr std::string_view kDropped[] = {
    "aten._assert_tensor_metadata.default",
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
};

// "Tensor?[]" -> "Tensor?", with the number of items that a single one stands for.
struct ListType {
  std::string_view item;
  size_t count = 1;
};
std::optional<ListType> list_type(std::string_view type) {
  if (type.ends_with('?')) type.remove_suffix(1);
  if (!type.ends_with(']')) return std::nullopt;
  const size_t open = type.rfind('[');
  ListType out{type.substr(0, open), 1};
  size_t count = 0;
  for (const char c : type.substr(open + 1, type.size() - open - 2))
    count = count * 10 + static_cast<size_t>(c - '0');
  if (count > 0) out.count = count;
  return out;
}

class NodeTranslation {
 public:
  NodeTranslation(Scope& scope, const ExportedNode& node) : scope_(scope), node_(node) {}

  Status run() {
    Status status = translated();
    if (status.ok()) return status;
    Diagnostic error = std::move(status.error());
    error.notes.push_back(
        fmt::format("in node {}{}", node_.target, node_.origin.empty() ? "" : " of " + node_.origin));
    return error;
  }

 private:
  Status translated() {
    if (is_known_number()) return {};
    if (node_.target.starts_with(kHigherOrder)) return higher_order();
    for (const ScalarRow& row : kScalars) {
      if (row.target == node_.target) return host_number(row.op);
    }
    if (!node_.target.starts_with(kOperators))
      return diagnostic("unsupported", "{} is no operator", node_.target);
    const std::string op = node_.target.substr(kOperators.size());
    if (std::find(std::begin(kDropped), std::end(kDropped), op) != std::end(kDropped)) return {};
    const OpSchema* schema = scope_.schemas().find(op);
    if (schema == nullptr)
      return diagnostic("unsupported", "operator {} is not in the table of torch 2.11's operators", op);
    graph::Node made;
    made.op = op;
    made.origin = node_.origin;
    JUMAR_ASSIGN(made.args, arguments(*schema));
    JUMAR_RETURN_IF_ERROR(results(made));
    JUMAR_RETURN_IF_ERROR(check_results(*schema, made));
    scope_.graph().schemas.emplace(op, schema->plain());
    scope_.graph().append(std::move(made));
    return {};
  }

  // A node that computes an int or bool from sizes vanishes into the expression of its result.
  bool is_known_number() {
    if (node_.outputs.size() != 1) return false;
    const auto* name = node_.outputs[0].as<NumberName>();
    if (name == nullptr) return false;
    const ExportedGraph& source = scope_.source();
    if (const auto found = source.floats.find(name->name); found != source.floats.end())
      return found->second.has_value();
    Expr e;
    if (const auto found = source.ints.find(name->name); found != source.ints.end()) e = found->second;
    if (const auto found = source.bools.find(name->name); found != source.bools.end()) e = found->second;
    if (!e) return false;
    const std::vector<Expr> symbols = sym::symbols_of(e);
    return std::all_of(symbols.begin(), symbols.end(), [&](Expr s) { return scope_.is_known(s); });
  }

  Status host_number(std::string_view name) {
    graph::Node made;
    made.op = fmt::format("scalar.{}", name);
    made.origin = node_.origin;
    for (const NamedArgument& input : node_.inputs) {
      JUMAR_ASSIGN(Arg arg, scope_.argument(input.value, "Scalar"));
      made.args.push_back(std::move(arg));
    }
    JUMAR_RETURN_IF_ERROR(results(made));
    if (made.results.size() != 1) return diagnostic("input", "a number from several results");
    scope_.graph().append(std::move(made));
    return {};
  }

  Result<ArgList> arguments(const OpSchema& schema) {
    ArgList out;
    size_t used = 0;
    for (const OpArgument& wanted : schema.args) {
      const auto given = std::find_if(node_.inputs.begin(), node_.inputs.end(),
                                      [&](const NamedArgument& a) { return a.name == wanted.name; });
      if (given != node_.inputs.end()) {
        ++used;
        JUMAR_ASSIGN(Arg arg, scope_.argument(given->value, wanted.type));
        out.push_back(std::move(arg));
      } else if (wanted.default_value) {
        out.push_back(*wanted.default_value);
      } else {
        return diagnostic("input", "argument '{}' is missing", wanted.name);
      }
    }
    if (used != node_.inputs.size())
      return diagnostic("input", "it has arguments that its schema does not know");
    return out;
  }

  Status results(graph::Node& made) {
    for (const Argument& output : node_.outputs) {
      if (const auto* items = output.list()) {
        for (const Argument& item : *items) JUMAR_RETURN_IF_ERROR(result(made, item));
      } else {
        JUMAR_RETURN_IF_ERROR(result(made, output));
      }
    }
    return {};
  }

  Status result(graph::Node& made, const Argument& output) {
    Value value;
    std::string name;
    if (const auto* tensor = output.as<TensorName>()) {
      name = tensor->name;
      JUMAR_ASSIGN(value.type, scope_.type_of(name));
      for (const auto* list : {&value.type.sizes, &value.type.strides}) {
        for (const Expr e : *list) scope_.define_symbols(e, made.unbacked);
      }
    } else if (const auto* number = output.as<NumberName>()) {
      name = number->name;
      JUMAR_RETURN_IF_ERROR(number_result(made, name, value));
    } else if (output.is_none()) {
      value.kind = ValueKind::kNone;
      name = "none";
    } else {
      return diagnostic("unsupported", "it returns what no value can hold");
    }
    const ValueKind kind = value.kind;
    value.name = value_name(name);
    const ValueId id = scope_.graph().add_value(std::move(value));
    made.results.push_back(id);
    if (kind == ValueKind::kNone || kind == ValueKind::kInt) return {};
    return scope_.define(name, id);
  }

  Status number_result(graph::Node& made, const std::string& name, Value& value) {
    const ExportedGraph& source = scope_.source();
    if (const auto found = source.ints.find(name); found != source.ints.end()) {
      value.kind = ValueKind::kInt;
      value.expr = found->second;
      scope_.define_symbols(value.expr, made.unbacked);
      return {};
    }
    if (source.floats.contains(name)) {
      value.kind = ValueKind::kFloat;
      return {};
    }
    const auto found = source.bools.find(name);
    if (found == source.bools.end()) return diagnostic("input", "number '{}' has no description", name);
    value.kind = ValueKind::kBool;
    if (found->second) scope_.define_symbols(found->second, made.unbacked);
    return {};
  }

  static Status check_results(const OpSchema& schema, const graph::Node& made) {
    const auto lists =
        static_cast<size_t>(std::count_if(schema.returns.begin(), schema.returns.end(),
                                          [](const std::string& type) { return type.ends_with(']'); }));
    const size_t singles = schema.returns.size() - lists;
    const bool right =
        lists == 0 ? made.results.size() == singles : lists == 1 && made.results.size() >= singles;
    if (right) return {};
    return diagnostic("input", "it has {} results, its schema says {}", made.results.size(),
                      schema.returns.size());
  }

  // A region that only changed how gradients are recorded is what it does inside.
  Status higher_order() {
    const std::string name = node_.target.substr(kHigherOrder.size());
    const bool grad = name == "wrap_with_set_grad_enabled";
    const bool autocast = name == "wrap_with_autocast";
    if (!grad && !autocast)
      return diagnostic("unsupported", "the higher-order operator {} is not supported", name);
    const auto body = std::find_if(node_.inputs.begin(), node_.inputs.end(),
                                   [](const NamedArgument& a) { return a.value.as<Subgraph>() != nullptr; });
    if (body == node_.inputs.end()) return diagnostic("input", "its graph is missing");
    if (autocast) {
      // (device, dtype, enabled, cache, graph, ...)
      const bool* enabled = node_.inputs.size() > 2 ? node_.inputs[2].value.as<bool>() : nullptr;
      if (enabled == nullptr || *enabled)
        return diagnostic("unsupported", "a region with autocast turned on");
    }
    std::vector<Argument> operands;
    for (auto it = body + 1; it != node_.inputs.end(); ++it) operands.push_back(it->value);
    return inlined(*body->value.as<Subgraph>()->graph, operands);
  }

  Status inlined(const ExportedGraph& body, const std::vector<Argument>& operands) {
    if (operands.size() != body.inputs.size())
      return diagnostic("input", "its graph takes {} values, {} are given", body.inputs.size(),
                        operands.size());
    Scope inner = scope_.nested(body);
    for (size_t k = 0; k < operands.size(); ++k) {
      JUMAR_ASSIGN(Arg value, scope_.argument(operands[k], "Scalar"));
      if (const auto* tensor = body.inputs[k].as<TensorName>())
        JUMAR_RETURN_IF_ERROR(inner.define(tensor->name, value));
      if (const auto* number = body.inputs[k].as<NumberName>())
        JUMAR_RETURN_IF_ERROR(inner.define(number->name, value));
    }
    for (const ExportedNode& node : body.nodes) JUMAR_RETURN_IF_ERROR(translate_node(inner, node));
    std::vector<Argument> outer;
    for (const Argument& output : node_.outputs) {
      const auto* items = output.list();
      if (items == nullptr) outer.push_back(output);
      if (items != nullptr) outer.insert(outer.end(), items->begin(), items->end());
    }
    if (outer.size() != body.outputs.size())
      return diagnostic("input", "its graph has {} results, the node {}", body.outputs.size(), outer.size());
    for (size_t k = 0; k < outer.size(); ++k) {
      JUMAR_ASSIGN(Arg value, inner.argument(body.outputs[k], "Scalar"));
      if (const auto* tensor = outer[k].as<TensorName>())
        JUMAR_RETURN_IF_ERROR(scope_.define(tensor->name, value));
      if (const auto* number = outer[k].as<NumberName>())
        JUMAR_RETURN_IF_ERROR(scope_.define(number->name, value));
    }
    return {};
  }

  Scope& scope_;
  const ExportedNode& node_;
};

}  // namespace

std::string value_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += fits ? c : '_';
  }
  return out.empty() ? "_" : out;
}

Scope Scope::nested(const ExportedGraph& source) const {
  Scope out(graph_, schemas_, source);
  out.symbols_ = symbols_;
  out.known_ = known_;
  return out;
}

Result<ir::TensorType> Scope::type_of(const std::string& tensor) const {
  const auto found = source_.tensors.find(tensor);
  if (found == source_.tensors.end()) return diagnostic("input", "tensor '{}' has no description", tensor);
  return found->second.type;
}

Status Scope::define(const std::string& name, Arg value) {
  if (!values_.emplace(name, std::move(value)).second)
    return diagnostic("input", "'{}' is defined twice", name);
  return {};
}

void Scope::know(Expr e) {
  for (const Expr symbol : sym::symbols_of(e)) {
    if (known_->insert(symbol).second) symbols_->push_back(symbol);
  }
}

void Scope::define_symbols(Expr e, std::vector<Expr>& unbacked) {
  for (const Expr symbol : sym::symbols_of(e)) {
    if (!known_->insert(symbol).second) continue;
    symbols_->push_back(symbol);
    if (symbol.is_symbol(sym::SymbolKind::kUnbacked)) unbacked.push_back(symbol);
  }
}

Result<Arg> Scope::argument(const Argument& value, std::string_view type) {
  if (const auto* tensor = value.as<TensorName>()) return named(tensor->name);
  if (const auto* number = value.as<NumberName>()) return named_number(number->name);
  if (const auto* items = value.list()) return list(*items, type);
  if (value.as<Subgraph>() != nullptr) return diagnostic("unsupported", "an argument is a graph");
  if (const auto* opaque = value.as<Opaque>())
    return diagnostic("unsupported", "an argument of kind {} is not supported", opaque->kind);
  if (const auto* word = value.as<ir::WordArg>();
      word != nullptr && word->kind == ir::WordArg::Kind::kDevice && word->word != "cpu")
    return diagnostic("unsupported", "device {} is not supported, only cpu", word->word);
  Arg out = ir::converted_arg<Arg>(value, [](const auto&) { return graph::NoneArg{}; });
  if (value.is_none()) return out;
  if (const std::optional<ListType> wanted = list_type(type)) {
    // A single number where several are wanted stands for each of them.
    JUMAR_ASSIGN(const Arg item, argument(value, wanted->item));
    return Arg(ArgList(wanted->count, item));
  }
  const auto* number = out.as<Expr>();
  if ((type == "float" || type == "float?") && number != nullptr) {
    if (!number->is_const()) return diagnostic("unsupported", "a size where a float is wanted");
    return Arg(static_cast<double>(number->const_value()));
  }
  return out;
}

Result<Arg> Scope::list(const Argument::List& items, std::string_view type) {
  const std::optional<ListType> wanted = list_type(type);
  ArgList out;
  for (const Argument& item : items) {
    JUMAR_ASSIGN(Arg arg, argument(item, wanted ? wanted->item : "Scalar"));
    out.push_back(std::move(arg));
  }
  return Arg(std::move(out));
}

Result<Arg> Scope::named(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return diagnostic("input", "'{}' is used before it is defined", name);
  return found->second;
}

Result<Arg> Scope::named_number(const std::string& name) {
  if (values_.contains(name)) return named(name);
  if (const auto found = source_.ints.find(name); found != source_.ints.end())
    return known(name, found->second);
  if (const auto found = source_.floats.find(name); found != source_.floats.end() && found->second)
    return Arg(*found->second);
  if (const auto found = source_.bools.find(name); found != source_.bools.end() && found->second)
    return known(name, found->second);
  return diagnostic("input", "number '{}' is used before it is defined", name);
}

Result<Arg> Scope::known(const std::string& name, Expr e) const {
  for (const Expr symbol : sym::symbols_of(e)) {
    if (!is_known(symbol))
      return diagnostic("input", "number '{}' is used before {} is known", name, symbol.symbol_name());
  }
  return Arg(e);
}

Status translate_node(Scope& scope, const ExportedNode& node) { return NodeTranslation(scope, node).run(); }

}  // namespace jumar::import
