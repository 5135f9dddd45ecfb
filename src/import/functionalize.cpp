#include "import/functionalize.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "import/storage_model.h"
#include "import/writes.h"

namespace jumar::import {
namespace {

using graph::Arg;
using graph::ArgList;
using graph::Node;
using graph::ValueId;
using graph::ValueKind;

class Functionalizer {
 public:
  Functionalizer(graph::Graph& graph, OpSchemas& schemas)
      : graph_(graph), schemas_(schemas), model_(graph, schemas) {}

  Result<std::vector<size_t>> run() {
    const std::vector<graph::NodeId> old = std::move(graph_.order);
    graph_.order.clear();
    for (const graph::Input& input : graph_.inputs) {
      if (graph_.values[input.value].kind == ValueKind::kTensor) model_.define(input.value);
    }
    for (const graph::NodeId id : old) {
      const Node node = graph_.nodes[id];
      Status status = place(node);
      if (status.ok()) continue;
      const std::string place = node.results.empty() ? "" : " = %" + graph_.values[node.results[0]].name;
      status.error().notes.push_back(
          fmt::format("in node{} {}{}", place, node.op, node.origin.empty() ? "" : " of " + node.origin));
      return std::move(status.error());
    }
    return outputs();
  }

 private:
  Status place(const Node& node) {
    const OpSchema* schema = schemas_.find(node.op);
    if (schema != nullptr && schema->writes()) return write(node, *schema);
    Node made = node;
    if (schema != nullptr && schema->may_alias()) {
      JUMAR_RETURN_IF_ERROR(model_.define_views(made));
      return {};
    }
    for (Arg& arg : made.args) {
      JUMAR_ASSIGN(arg, model_.read(arg));
    }
    for (const ValueId result : made.results) {
      if (graph_.values[result].kind == ValueKind::kTensor) model_.define(result);
    }
    model_.append(std::move(made));
    return {};
  }

  // An operator of which one operand is written to: a function of the operand's old elements gives the new
  // ones.
  Status write(const Node& node, const OpSchema& schema) {
    const auto written = static_cast<size_t>(
        std::find_if(schema.args.begin(), schema.args.end(), [](const OpArgument& a) { return a.writes; }) -
        schema.args.begin());
    const auto writes =
        std::count_if(schema.args.begin(), schema.args.end(), [](const OpArgument& a) { return a.writes; });
    const auto* target = node.args[written].as<ValueId>();
    if (writes != 1 || target == nullptr || graph_.values[*target].kind != ValueKind::kTensor)
      return diagnostic("unsupported", "{} writes to {} operands, which no operator without writes expresses",
                        node.op, writes);
    if (model_.becomes_view(node, *target)) return model_.turn_into_view(node, *target);
    WriteContext context{graph_, schemas_, model_, node, *target};
    JUMAR_ASSIGN(const ValueId value, written_value(context));
    JUMAR_RETURN_IF_ERROR(model_.write(*target, value, node.origin));
    for (size_t k = 0; k < node.results.size(); ++k) {
      if (schema.same_as[k] != written)
        return diagnostic("unsupported", "{} returns more than what it writes", node.op);
      model_.same(node.results[k], *target);
    }
    return {};
  }

  Result<std::vector<size_t>> outputs() {
    std::vector<size_t> mutated;
    ArgList out;
    for (size_t k = 0; k < graph_.inputs.size(); ++k) {
      const ValueId input = graph_.inputs[k].value;
      if (graph_.values[input].kind != ValueKind::kTensor || !model_.is_written(input)) continue;
      JUMAR_ASSIGN(Arg value, model_.read(Arg(input)));
      out.push_back(std::move(value));
      mutated.push_back(k);
    }
    for (const Arg& arg : graph_.outputs) {
      JUMAR_ASSIGN(Arg value, model_.read(arg));
      out.push_back(std::move(value));
    }
    graph_.outputs = std::move(out);
    std::set<std::string> used;
    for (const graph::NodeId id : graph_.order) used.insert(graph_.nodes[id].op);
    std::erase_if(graph_.schemas, [&](const auto& row) { return !used.contains(row.first); });
    return mutated;
  }

  graph::Graph& graph_;
  OpSchemas& schemas_;
  StorageModel model_;
};

}  // namespace

Result<std::vector<size_t>> functionalize(graph::Graph& graph, OpSchemas& schemas) {
  return Functionalizer(graph, schemas).run();
}

}  // namespace jumar::import
