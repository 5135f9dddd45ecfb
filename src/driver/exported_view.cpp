#include "driver/exported_view.h"

#include <algorithm>
#include <map>
#include <set>

#include "driver/inspect_json.h"
#include "driver/inspect_text.h"
#include "driver/json_writer.h"
#include "driver/size_text.h"
#include "driver/utf8.h"
#include "import/pt2.h"
#include "ir/arg_text.h"

namespace jumar::driver {
namespace {

std::string kind_name(import::InputRole role) {
  switch (role) {
    case import::InputRole::kParameter:
      return "parameter";
    case import::InputRole::kBuffer:
      return "buffer";
    default:
      return "constant";
  }
}

std::vector<ValueRow> input_rows(const import::Imported& model) {
  std::vector<ValueRow> rows;
  for (const import::CallInput& input : model.inputs) {
    ValueRow& row = rows.emplace_back();
    row.name = printable(input.name);
    if (input.graph_input) {
      row.type = value_text(model.graph, model.graph.values[model.graph.inputs[*input.graph_input].value]);
    } else {
      row.type = ir::write_arg(input.constant, [](graph::ValueId) { return std::string(); });
      row.note = "fixed by the export";
    }
  }
  return rows;
}

std::vector<ValueRow> result_rows(const import::Imported& model) {
  std::vector<ValueRow> rows;
  for (size_t k = 0; k < model.graph.outputs.size(); ++k) {
    if (model.outputs[k].role != import::OutputRole::kUser) continue;
    const graph::Arg& arg = model.graph.outputs[k];
    ValueRow& row = rows.emplace_back();
    row.name = fmt::format("result{}", rows.size() - 1);
    if (const graph::ValueId* id = arg.as<graph::ValueId>()) {
      row.type = value_text(model.graph, model.graph.values[*id]);
    } else {
      row.type = ir::write_arg(arg, [](graph::ValueId) { return std::string(); });
    }
  }
  return rows;
}

std::vector<WeightRow> weight_rows(const import::Imported& model, uint64_t& storage_bytes) {
  std::vector<WeightRow> rows;
  std::set<std::string> storages;
  for (size_t k = 0; k < model.weights.size(); ++k) {
    const import::Weight& weight = model.weights[k];
    const std::optional<int64_t> bytes = tensor_bytes(model.graph.cx(), weight.type, {});
    rows.push_back({printable(weight.name), kind_name(model.weight_roles[k]),
                    ir::text(model.graph.cx(), weight.type), bytes.value_or(0)});
    if (storages.insert(weight.path).second) storage_bytes += weight.storage.size();
  }
  return rows;
}

std::vector<CountedOp> op_rows(const graph::Graph& graph) {
  std::map<std::string, size_t> counts;
  for (const graph::NodeId id : graph.order) ++counts[graph.nodes[id].op];
  std::vector<CountedOp> rows;
  for (const auto& [op, count] : counts) rows.push_back({op, count});
  std::ranges::stable_sort(rows, std::greater<>(), &CountedOp::count);
  return rows;
}

}  // namespace

std::string value_text(const graph::Graph& graph, const graph::Value& value) {
  switch (value.kind) {
    case graph::ValueKind::kTensor:
      return ir::text(graph.cx(), value.type);
    case graph::ValueKind::kInt:
      return fmt::format("int({})", sym::text(value.expr));
    case graph::ValueKind::kFloat:
      return "float";
    case graph::ValueKind::kBool:
      return "bool";
    case graph::ValueKind::kNone:
      break;
  }
  return "none";
}

Result<ExportedView> read_exported_view(std::span<const uint8_t> bytes, const std::string& file,
                                        const std::string& model) {
  import::ImportOptions options;
  options.model = model;
  options.raw = true;
  JUMAR_ASSIGN(const import::Imported found, import::import_pt2(bytes, file, options));
  ExportedView view;
  view.file = file;
  view.file_bytes = bytes.size();
  view.torch = printable(found.torch_version);
  view.inputs = input_rows(found);
  for (const graph::SymbolInfo& info : found.graph.symbols)
    view.symbols.push_back({sym::text(info.symbol), info.range, info.hint});
  view.results = result_rows(found);
  view.weights = weight_rows(found, view.storage_bytes);
  view.ops = op_rows(found.graph);
  return view;
}

std::string exported_text(const ExportedView& view) {
  std::string out =
      fmt::format("{}: an exported program, not compiled; `jumar compile` makes a package\n", view.file);
  out += fmt::format("exported by: torch {}\n", view.torch);
  out += fmt::format("size: {}; weights {}\n\n", size_text(view.file_bytes), size_text(view.storage_bytes));
  out += fmt::format("inputs: {}\n", view.inputs.size()) + value_lines(view.inputs);
  if (!view.symbols.empty())
    out += fmt::format("sizes: {}\n", view.symbols.size()) + symbol_lines(view.symbols);
  out += fmt::format("results: {}\n", view.results.size()) + value_lines(view.results);
  out += fmt::format("weights: {}\n", view.weights.size());
  for (const char* kind : {"parameter", "buffer", "constant"}) {
    uint64_t bytes = 0;
    size_t count = 0;
    for (const WeightRow& row : view.weights) {
      if (row.kind != kind) continue;
      ++count;
      bytes += static_cast<uint64_t>(row.bytes);
    }
    if (count > 0) out += fmt::format("  {}: {}, {}\n", kind, count, size_text(bytes));
  }
  size_t nodes = 0;
  for (const CountedOp& row : view.ops) nodes += row.count;
  out += fmt::format("operators: {}\n", nodes);
  for (const CountedOp& row : view.ops) out += fmt::format("  {}x {}\n", row.count, row.op);
  return out;
}

std::string exported_json(const ExportedView& view) {
  JsonWriter json;
  json.object().key("file").text(view.file).key("kind").text("exported").key("torch").text(view.torch);
  json.key("bytes").count(view.file_bytes).key("weights_bytes").count(view.storage_bytes);
  write_json(json, "inputs", view.inputs);
  write_json(json, "symbols", view.symbols);
  write_json(json, "results", view.results);
  json.key("weights").list();
  for (const WeightRow& row : view.weights) {
    json.object().key("name").text(row.name).key("kind").text(row.kind).key("type").text(row.type);
    json.key("bytes").number(row.bytes).end();
  }
  json.end();
  write_json(json, "ops", view.ops);
  json.end();
  return json.take() + "\n";
}

}  // namespace jumar::driver
