#include "graph/graph.h"
#include "ir/arg_text.h"
#include "sym/expr.h"

namespace jumar::graph {
namespace {

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph) {}

  std::string text() {
    header();
    for (const auto& [op, schema] : graph_.schemas)
      out_ += fmt::format("  {}\n", ir::schema_text(op, schema));
    for (size_t k = 0; k < graph_.inputs.size(); ++k) input(k);
    for (NodeId id : graph_.order) node(graph_.nodes[id]);
    out_ += graph_.outputs.empty() ? "  return\n}\n" : fmt::format("  return {}\n}}\n", args(graph_.outputs));
    return std::move(out_);
  }

 private:
  static std::string bound(int64_t value) {
    if (value == sym::Range::kMin) return "-inf";
    if (value == sym::Range::kMax) return "inf";
    return fmt::format("{}", value);
  }

  void header() {
    out_ += "graph @" + graph_.name;
    if (!graph_.symbols.empty()) out_ += " symbols(";
    for (size_t k = 0; k < graph_.symbols.size(); ++k) {
      const SymbolInfo& info = graph_.symbols[k];
      if (k > 0) out_ += ", ";
      out_ += fmt::format("{} in [{}, {}]", info.symbol.symbol_name(), bound(info.range.lo),
                          bound(info.range.hi));
      if (info.hint) out_ += fmt::format(" hint {}", *info.hint);
    }
    out_ += graph_.symbols.empty() ? " {\n" : ") {\n";
  }

  void definition(const Value& value) {
    out_ += fmt::format("%{}: ", value.name);
    switch (value.kind) {
      case ValueKind::kTensor:
        out_ += ir::text(graph_.cx(), value.type);
        break;
      case ValueKind::kInt:
        out_ += "int(" + sym::text(value.expr) + ")";
        break;
      case ValueKind::kFloat:
        out_ += "float";
        break;
      case ValueKind::kBool:
        out_ += "bool";
        break;
      case ValueKind::kNone:
        out_ += "none";
        break;
    }
  }

  void input(size_t index) {
    const Input& input = graph_.inputs[index];
    out_ += "  ";
    definition(graph_.values[input.value]);
    out_ += fmt::format(" = {} {}", input.kind == InputKind::kParameter ? "parameter" : "input", index);
    if (!input.origin.empty()) out_ += fmt::format(" {}", quoted(input.origin));
    out_ += '\n';
  }

  void node(const Node& node) {
    out_ += "  ";
    for (size_t k = 0; k < node.results.size(); ++k) {
      if (k > 0) out_ += ", ";
      definition(graph_.values[node.results[k]]);
    }
    if (!node.results.empty()) out_ += " = ";
    out_ += node.op + "(";
    out_ += args(node.args);
    out_ += ')';
    for (size_t k = 0; k < node.unbacked.size(); ++k)
      out_ += (k == 0 ? " defines(" : ", ") + node.unbacked[k].symbol_name();
    if (!node.unbacked.empty()) out_ += ')';
    if (!node.origin.empty()) out_ += " origin " + quoted(node.origin);
    out_ += '\n';
  }

  std::string args(const ArgList& args) const {
    return ir::write_args(args,
                          [this](ValueId value) { return fmt::format("%{}", graph_.values[value].name); });
  }

  const Graph& graph_;
  std::string out_;
};

}  // namespace

std::string write_graph(const Graph& graph) { return Writer(graph).text(); }

}  // namespace jumar::graph
