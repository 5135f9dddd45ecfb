#include "import/translate.h"

#include <algorithm>
#include <unordered_set>

#include "import/translate_nodes.h"

namespace jumar::import {
namespace {

using graph::Arg;
using graph::ValueId;
using sym::Expr;

class Translation {
 public:
  Translation(std::shared_ptr<sym::Context> cx, const ExportedProgram& program, OpSchemas& schemas)
      : program_(program), out_(std::move(cx)), scope_(out_.graph, schemas, program.graph) {}

  Result<Translated> run() {
    JUMAR_RETURN_IF_ERROR(inputs());
    for (const ExportedNode& node : program_.graph.nodes) JUMAR_RETURN_IF_ERROR(translate_node(scope_, node));
    JUMAR_RETURN_IF_ERROR(outputs());
    declare_symbols();
    return std::move(out_);
  }

 private:
  // The arguments of a call first, then what the archive holds: the order in which a graph's caller passes
  // them.
  Status inputs() {
    JUMAR_RETURN_IF_ERROR(check_signature());
    for (const InputSpec& spec : program_.inputs) {
      if (spec.role == InputRole::kUser || spec.role == InputRole::kConstant)
        JUMAR_RETURN_IF_ERROR(user_input(spec));
    }
    out_.user_input_count = out_.graph.inputs.size();
    for (const InputSpec& spec : program_.inputs) {
      if (spec.role == InputRole::kUser || spec.role == InputRole::kConstant) continue;
      if (spec.role == InputRole::kCustomObject || spec.role == InputRole::kToken)
        return diagnostic("unsupported", "the program has an input that is an object or a token ('{}')",
                          spec.target);
      const auto* name = spec.value.as<TensorName>();
      if (name == nullptr) return diagnostic("input", "'{}' is no tensor", spec.target);
      JUMAR_RETURN_IF_ERROR(tensor_input(*name, graph::InputKind::kParameter, spec.target));
      out_.weight_roles.push_back(spec.role);
    }
    return {};
  }

  // The signature and the graph list the same inputs and outputs.
  Status check_signature() const {
    const ExportedGraph& graph = program_.graph;
    bool agrees =
        program_.inputs.size() == graph.inputs.size() && program_.outputs.size() == graph.outputs.size();
    for (size_t k = 0; agrees && k < graph.inputs.size(); ++k) {
      agrees = program_.inputs[k].role == InputRole::kConstant || program_.inputs[k].value == graph.inputs[k];
    }
    for (size_t k = 0; agrees && k < graph.outputs.size(); ++k)
      agrees = program_.outputs[k].value == graph.outputs[k];
    if (agrees) return {};
    return diagnostic("input", "the program's signature lists other inputs or outputs than its graph");
  }

  Status user_input(const InputSpec& spec) {
    CallInput leaf;
    if (const auto* tensor = spec.value.as<TensorName>()) {
      leaf.name = tensor->name;
      leaf.graph_input = out_.graph.inputs.size();
      JUMAR_RETURN_IF_ERROR(tensor_input(*tensor, graph::InputKind::kInput, ""));
    } else if (const auto* number = spec.value.as<NumberName>()) {
      leaf.name = number->name;
      leaf.graph_input = out_.graph.inputs.size();
      JUMAR_RETURN_IF_ERROR(number_input(*number));
    } else {
      leaf.name = spec.target;
      JUMAR_ASSIGN(leaf.constant, scope_.argument(spec.value, "Scalar"));
    }
    out_.inputs.push_back(std::move(leaf));
    return {};
  }

  Status tensor_input(const TensorName& tensor, graph::InputKind kind, const std::string& origin) {
    JUMAR_ASSIGN(const ir::TensorType type, scope_.type_of(tensor.name));
    const ValueId value = out_.graph.add_tensor(value_name(tensor.name), type);
    JUMAR_RETURN_IF_ERROR(scope_.define(tensor.name, value));
    for (const auto* list : {&type.sizes, &type.strides}) {
      for (const Expr e : *list) scope_.know(e);
    }
    out_.graph.inputs.push_back({value, kind, origin});
    return {};
  }

  Status number_input(const NumberName& number) {
    graph::Value value;
    value.name = value_name(number.name);
    const auto& ints = program_.graph.ints;
    if (const auto found = ints.find(number.name); found != ints.end()) {
      value.kind = graph::ValueKind::kInt;
      value.expr = found->second;
      scope_.know(value.expr);
    } else {
      value.kind =
          program_.graph.bools.contains(number.name) ? graph::ValueKind::kBool : graph::ValueKind::kFloat;
    }
    const graph::ValueKind kind = value.kind;
    const ValueId id = out_.graph.add_value(std::move(value));
    if (kind != graph::ValueKind::kInt) JUMAR_RETURN_IF_ERROR(scope_.define(number.name, id));
    out_.graph.inputs.push_back({id, graph::InputKind::kInput, ""});
    return {};
  }

  Status outputs() {
    for (const OutputSpec& spec : program_.outputs) {
      GraphOutput output;
      output.role = spec.role;
      if (spec.role == OutputRole::kToken || spec.role == OutputRole::kGradient)
        return diagnostic("unsupported", "the program has an output that is a {}",
                          spec.role == OutputRole::kToken ? "token" : "gradient");
      if (spec.role != OutputRole::kUser) {
        JUMAR_ASSIGN(output.graph_input, mutated_input(spec));
      }
      JUMAR_ASSIGN(Arg value, scope_.argument(spec.value, "Scalar"));
      out_.graph.outputs.push_back(std::move(value));
      out_.outputs.push_back(output);
    }
    return {};
  }

  Result<size_t> mutated_input(const OutputSpec& spec) const {
    const auto& graph = out_.graph;
    for (size_t k = 0; k < graph.inputs.size(); ++k) {
      const bool is_user = k < out_.user_input_count;
      if (is_user != (spec.role == OutputRole::kUserInputMutation)) continue;
      const std::string& name = is_user ? graph.values[graph.inputs[k].value].name : graph.inputs[k].origin;
      if (name == (is_user ? value_name(spec.target) : spec.target)) return k;
    }
    return diagnostic("input", "an output mutates '{}', which is no input", spec.target);
  }

  void declare_symbols() {
    std::unordered_set<Expr> seen;
    for (const Expr symbol : scope_.symbols()) {
      if (!seen.insert(symbol).second) continue;
      graph::SymbolInfo info;
      info.symbol = symbol;
      const bool is_size = symbol.is_symbol(sym::SymbolKind::kSize);
      info.range.lo = is_size ? 0 : sym::Range::kMin;
      const std::string& name = symbol.symbol_name();
      if (const auto range = program_.ranges.find(name); range != program_.ranges.end())
        info.range = range->second;
      if (const auto hint = program_.hints.find(name); hint != program_.hints.end() && is_size)
        info.hint = hint->second;
      out_.graph.symbols.push_back(info);
    }
  }

  const ExportedProgram& program_;
  Translated out_;
  Scope scope_;
};

}  // namespace

Result<Translated> translate(std::shared_ptr<sym::Context> cx, const ExportedProgram& program,
                             OpSchemas& schemas) {
  return Translation(std::move(cx), program, schemas).run();
}

}  // namespace jumar::import
