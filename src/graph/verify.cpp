#include <unordered_set>

#include "graph/bind.h"
#include "graph/graph.h"
#include "graph/op_traits.h"
#include "ir/arg_text.h"

namespace jumar::graph {
namespace {

using sym::Expr;

// "Tensor?[]" -> the list's item type "Tensor?"; nothing when the type is no list.
std::optional<std::string_view> item_type(std::string_view type) {
  if (!type.ends_with(']')) return std::nullopt;
  return type.substr(0, type.rfind('['));
}

bool is_integer_type(std::string_view type) { return type == "int" || type == "SymInt"; }

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values.size(), false) {}

  Status run() {
    JUMAR_RETURN_IF_ERROR(symbols());
    JUMAR_RETURN_IF_ERROR(inputs());
    for (NodeId id : graph_.order) {
      if (id.index() >= graph_.nodes.size()) return fault("the program names a node that does not exist");
      JUMAR_RETURN_IF_ERROR(node(id));
    }
    for (const Arg& arg : graph_.outputs) JUMAR_RETURN_IF_ERROR(output(arg));
    return unbound_symbols();
  }

 private:
  template <class... Args>
  Diagnostic fault(fmt::format_string<Args...> format, Args&&... args) {
    return diagnostic("graph", "{}{}", place_, fmt::format(format, std::forward<Args>(args)...));
  }

  Status symbols() {
    for (const SymbolInfo& info : graph_.symbols) {
      if (!info.symbol || !info.symbol.is_symbol()) return fault("a declared symbol is no symbol");
      const std::string& name = info.symbol.symbol_name();
      if (!declared_.insert(info.symbol).second) return fault("symbol {} is declared twice", name);
      if (info.range.lo > info.range.hi) return fault("the range of symbol {} is empty", name);
    }
    return {};
  }

  Status inputs() {
    for (const Input& input : graph_.inputs) {
      if (!exists(input.value)) return fault("an input names a value that does not exist");
      const Value& value = graph_.values[input.value];
      place_ = fmt::format("input %{}: ", value.name);
      JUMAR_RETURN_IF_ERROR(define(input.value));
      if (value.definition.valid()) return fault("the value is also the result of a node");
      // An input's sizes bind symbols, so they may mention any declared one.
      JUMAR_RETURN_IF_ERROR(for_type(value, [&](Expr e) { return declared(e); }));
    }
    for (const SymbolBinding& row : symbol_bindings(graph_)) known_.insert(row.symbol);
    place_.clear();
    return {};
  }

  Status node(NodeId id) {
    const Node& node = graph_.nodes[id];
    place_ = node.results.empty() || !exists(node.results[0])
                 ? fmt::format("node {}: ", node.op)
                 : fmt::format("node %{} = {}: ", graph_.values[node.results[0]].name, node.op);
    JUMAR_RETURN_IF_ERROR(arguments(node));
    for (Expr symbol : node.unbacked) {
      if (!symbol.is_symbol()) return fault("a defined symbol is no symbol");
      JUMAR_RETURN_IF_ERROR(declared(symbol));
      if (!known_.insert(symbol).second) return fault("symbol {} is defined again", symbol.symbol_name());
    }
    for (ValueId result : node.results) {
      if (!exists(result)) return fault("a result does not exist");
      JUMAR_RETURN_IF_ERROR(define(result));
      const Value& value = graph_.values[result];
      if (value.definition != id)
        return fault("result %{} does not name this node as its definition", value.name);
      JUMAR_RETURN_IF_ERROR(for_type(value, [&](Expr e) { return known(e); }));
    }
    JUMAR_RETURN_IF_ERROR(result_count(node));
    JUMAR_RETURN_IF_ERROR(found_symbols(node));
    if (is_update(node)) JUMAR_RETURN_IF_ERROR(update(node));
    place_.clear();
    return {};
  }

  Status arguments(const Node& node) {
    for (const Arg& arg : node.args) JUMAR_RETURN_IF_ERROR(mentions(arg));
    if (is_python_call(node) || is_host_scalar(node)) return {};
    auto schema = graph_.schemas.find(node.op);
    if (schema == graph_.schemas.end()) return fault("there is no schema line for this operator");
    const std::vector<SchemaArg>& wanted = schema->second.args;
    if (node.args.size() != wanted.size())
      return fault("the schema has {} arguments, {} are given", wanted.size(), node.args.size());
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!fits(node.args[k], wanted[k].type))
        return fault("argument {} '{}' must be a {}, which {} is not", k, wanted[k].name, wanted[k].type,
                     described(node.args[k]));
    }
    return {};
  }

  Status found_symbols(const Node& node) {
    std::unordered_set<Expr> found;
    for (const SymbolBinding& row : symbol_bindings(graph_, node)) found.insert(row.symbol);
    for (Expr symbol : node.unbacked) {
      if (!found.contains(symbol))
        return fault("symbol {} cannot be found in the results of the node that defines it",
                     symbol.symbol_name());
    }
    return {};
  }

  // A list result is spread over as many results as it has items, so that a count is known only without one.
  Status result_count(const Node& node) {
    if (is_host_scalar(node) && node.results.size() != 1)
      return fault("a scalar operator has 1 result, {} are given", node.results.size());
    auto schema = graph_.schemas.find(node.op);
    if (schema == graph_.schemas.end()) return {};
    size_t lists = 0;
    for (const std::string& type : schema->second.returns) lists += item_type(type) ? 1 : 0;
    size_t singles = schema->second.returns.size() - lists;
    if (lists > 1) return fault("an operator with {} list results can only be a python call", lists);
    if (lists == 0 ? node.results.size() != singles : node.results.size() < singles)
      return fault("the schema has {}{} results, {} are given", lists ? "at least " : "", singles,
                   node.results.size());
    return {};
  }

  Status update(const Node& node) {
    const ValueId* input = node.args[0].as<ValueId>();
    const ValueId* value = node.args[1].as<ValueId>();
    if (input == nullptr || graph_.values[*input].definition.valid() ||
        graph_.values[*input].kind != ValueKind::kTensor)
      return fault("only an input tensor can be updated");
    if (!updated_.insert(*input).second) return fault("%{} is updated twice", graph_.values[*input].name);
    if (value == nullptr || graph_.values[*value].kind != ValueKind::kTensor ||
        graph_.values[*value].type.dtype != graph_.values[*input].type.dtype ||
        graph_.values[*value].type.sizes != graph_.values[*input].type.sizes)
      return fault("%{} and what it becomes differ in type or sizes", graph_.values[*input].name);
    return {};
  }

  Status output(const Arg& arg) {
    place_ = "return: ";
    if (arg.as<std::string>() || arg.as<WordArg>() || arg.as<ArgList>())
      return fault("{} cannot be returned", described(arg));
    JUMAR_RETURN_IF_ERROR(mentions(arg));
    place_.clear();
    return {};
  }

  Status unbound_symbols() {
    for (const SymbolInfo& info : graph_.symbols) {
      if (!known_.contains(info.symbol))
        return fault("symbol {} is bound by no input and defined by no node", info.symbol.symbol_name());
    }
    return {};
  }

  // Every value and symbol in `arg` is defined by now.
  Status mentions(const Arg& arg) {
    if (const ValueId* value = arg.as<ValueId>()) {
      if (!exists(*value)) return fault("an argument names a value that does not exist");
      if (!defined_[value->index()])
        return fault("%{} is used before its definition", graph_.values[*value].name);
    } else if (const Expr* expr = arg.as<Expr>()) {
      return known(*expr);
    } else if (const ArgList* list = arg.as<ArgList>()) {
      for (const Arg& item : *list) JUMAR_RETURN_IF_ERROR(mentions(item));
    }
    return {};
  }

  Status define(ValueId id) {
    const Value& value = graph_.values[id];
    if (value.name.empty()) return fault("a value has no name");
    if (defined_[id.index()] || !names_.insert(value.name).second)
      return fault("value %{} is defined twice", value.name);
    defined_[id.index()] = true;
    return {};
  }

  // Applies `check` to every expression of the value's type.
  template <class Check>
  Status for_type(const Value& value, const Check& check) {
    if (value.kind == ValueKind::kInt) {
      if (!value.expr) return fault("the int %{} has no expression", value.name);
      return check(value.expr);
    }
    if (value.kind != ValueKind::kTensor) return {};
    if (value.type.sizes.size() != value.type.strides.size())
      return fault("%{} has {} sizes and {} strides", value.name, value.type.sizes.size(),
                   value.type.strides.size());
    for (Expr size : value.type.sizes) {
      JUMAR_RETURN_IF_ERROR(check(size));
      if (size.is_const() && size.const_value() < 0)
        return fault("%{} has the negative size {}", value.name, size.const_value());
    }
    for (Expr stride : value.type.strides) JUMAR_RETURN_IF_ERROR(check(stride));
    return {};
  }

  Status declared(Expr expr) {
    if (!expr) return fault("an expression is missing");
    for (Expr symbol : sym::symbols_of(expr)) {
      if (!declared_.contains(symbol)) return fault("symbol {} is not declared", symbol.symbol_name());
    }
    return {};
  }

  Status known(Expr expr) {
    if (expr && expr.is_const()) return {};
    JUMAR_RETURN_IF_ERROR(declared(expr));
    for (Expr symbol : sym::symbols_of(expr)) {
      if (!known_.contains(symbol))
        return fault("symbol {} is used before its definition", symbol.symbol_name());
    }
    return {};
  }

  bool exists(ValueId id) const { return id.valid() && id.index() < graph_.values.size(); }

  bool is_value(const Arg& arg, ValueKind kind) const {
    const ValueId* value = arg.as<ValueId>();
    return value != nullptr && graph_.values[*value].kind == kind;
  }

  bool is_integer(const Arg& arg) const { return arg.as<Expr>() || is_value(arg, ValueKind::kInt); }
  bool is_bool(const Arg& arg) const { return arg.as<bool>() || is_value(arg, ValueKind::kBool); }
  bool is_number(const Arg& arg) const {
    return is_integer(arg) || is_bool(arg) || arg.as<double>() || is_value(arg, ValueKind::kFloat);
  }
  static bool is_word(const Arg& arg, WordArg::Kind kind) {
    const WordArg* word = arg.as<WordArg>();
    return word != nullptr && word->kind == kind;
  }

  bool fits(const Arg& arg, std::string_view type) const {
    if (type.ends_with('?')) return arg.is_none() || fits(arg, type.substr(0, type.size() - 1));
    if (std::optional<std::string_view> item = item_type(type)) {
      const ArgList* list = arg.as<ArgList>();
      if (!list) return false;
      for (const Arg& one : *list) {
        if (!fits(one, *item)) return false;
      }
      return true;
    }
    if (type == "Tensor") return is_value(arg, ValueKind::kTensor) || is_number(arg);
    if (is_integer_type(type)) return is_integer(arg) || is_bool(arg);
    if (type == "float" || type == "SymFloat" || type == "Scalar") return is_number(arg);
    // Predicates over sizes are integer expressions.
    if (type == "bool" || type == "SymBool") return is_bool(arg) || is_integer(arg);
    if (type == "str") return arg.as<std::string>() != nullptr;
    if (type == "ScalarType") return is_word(arg, WordArg::Kind::kDType);
    if (type == "Layout") return is_word(arg, WordArg::Kind::kLayout);
    if (type == "MemoryFormat") return is_word(arg, WordArg::Kind::kMemoryFormat);
    if (type == "Device") return is_word(arg, WordArg::Kind::kDevice);
    return false;
  }

  std::string described(const Arg& arg) const {
    if (const ValueId* value = arg.as<ValueId>()) return "%" + graph_.values[*value].name;
    if (arg.list()) return "the list given";
    return ir::write_arg(arg, [](ValueId) { return std::string(); });
  }

  const Graph& graph_;
  std::string place_;  // what is being checked, for messages
  std::vector<bool> defined_;
  std::unordered_set<std::string> names_;
  std::unordered_set<Expr> declared_;
  std::unordered_set<Expr> known_;
  std::unordered_set<ValueId> updated_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace jumar::graph
