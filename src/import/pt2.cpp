#include "import/pt2.h"

#include <fmt/ranges.h>

#include <set>

#include "import/decompose.h"
#include "import/functionalize.h"
#include "import/translate_nodes.h"
#include "ir/arg_text.h"

namespace jumar::import {
namespace {

constexpr std::string_view kModels = "models/";
constexpr std::string_view kJson = ".json";

// The folder that holds everything, with its slash.
Result<std::string> root_of(const ZipArchive& zip) {
  if (zip.entries().empty()) return diagnostic("archive", "{}: the archive is empty", zip.file());
  const std::string& first = zip.entries().begin()->first;
  const std::string root = first.substr(0, first.find('/') + 1);
  for (const auto& [name, entry] : zip.entries()) {
    if (root.empty() || !name.starts_with(root))
      return diagnostic("archive", "{}: '{}' and '{}' are not in one folder", zip.file(), first, name);
  }
  return root;
}

Result<const ZipEntry*> required(const ZipArchive& zip, const std::string& name) {
  const ZipEntry* entry = zip.find(name);
  if (entry == nullptr) return diagnostic("archive", "{}: there is no entry '{}'", zip.file(), name);
  JUMAR_RETURN_IF_ERROR(check_sum(*entry, name));
  return entry;
}

Status check_format(const ZipArchive& zip, const std::string& root) {
  JUMAR_ASSIGN(const ZipEntry* format, required(zip, root + "archive_format"));
  if (format->text() != "pt2")
    return diagnostic("archive", "{}: the archive's format is not pt2", zip.file());
  JUMAR_ASSIGN(const ZipEntry* version, required(zip, root + "archive_version"));
  if (version->text() != "0")
    return diagnostic("archive", "{}: the archive's version is '{}', this reader knows version 0", zip.file(),
                      version->text().substr(0, 20));
  const ZipEntry* order = zip.find(root + "byteorder");
  if (order != nullptr && order->text() != "little")
    return diagnostic("archive", "{}: the archive's byte order is not little", zip.file());
  return {};
}

Result<std::string> model_name(const ZipArchive& zip, const std::string& root, const std::string& wanted) {
  const std::string folder = root + std::string(kModels);
  std::vector<std::string> names;
  for (const auto& [name, entry] : zip.entries()) {
    if (name.starts_with(folder) && name.ends_with(kJson))
      names.push_back(name.substr(folder.size(), name.size() - folder.size() - kJson.size()));
  }
  if (names.empty()) return diagnostic("archive", "{}: the archive has no exported program", zip.file());
  if (wanted.empty() && names.size() == 1) return names[0];
  for (const std::string& name : names) {
    if (name == wanted) return name;
  }
  return diagnostic("archive", "{}: the archive has the models {}; name one of them", zip.file(),
                    fmt::join(names, ", "));
}

class Importer {
 public:
  Importer(const ZipArchive& zip, const ImportOptions& options) : zip_(zip), options_(options) {}

  Result<Imported> run() {
    JUMAR_ASSIGN(const std::string root, root_of(zip_));
    JUMAR_RETURN_IF_ERROR(check_format(zip_, root));
    JUMAR_ASSIGN(const std::string model, model_name(zip_, root, options_.model));
    const std::string path = root + std::string(kModels) + model + std::string(kJson);
    JUMAR_ASSIGN(const ZipEntry* json, required(zip_, path));
    auto cx = std::make_shared<sym::Context>();
    JUMAR_ASSIGN(ExportedProgram program, read_exported(*cx, json->text(), path));
    JUMAR_ASSIGN(const WeightTable weights, WeightTable::read(*cx, zip_, root, model));
    OpSchemas schemas(*cx);
    JUMAR_ASSIGN(Translated made, translate(cx, program, schemas));
    if (!options_.raw) JUMAR_RETURN_IF_ERROR(make_functional(made, schemas));
    Imported out(std::move(made.graph));
    out.user_input_count = made.user_input_count;
    out.inputs = std::move(made.inputs);
    out.outputs = std::move(made.outputs);
    out.weight_roles = std::move(made.weight_roles);
    out.in_spec = std::move(program.in_spec);
    out.out_spec = std::move(program.out_spec);
    out.argument_names = std::move(program.argument_names);
    out.torch_version = std::move(program.torch_version);
    JUMAR_RETURN_IF_ERROR(take_weights(weights, out));
    return out;
  }

 private:
  static Status make_functional(Translated& made, OpSchemas& schemas) {
    // Arguments are as schemas say from here on.
    JUMAR_RETURN_IF_ERROR(graph::verify(made.graph));
    JUMAR_RETURN_IF_ERROR(decompose(made.graph, schemas));
    JUMAR_ASSIGN(const std::vector<size_t> mutated, functionalize(made.graph, schemas));
    std::vector<GraphOutput> outputs;
    for (const size_t input : mutated) {
      const InputRole role =
          input < made.user_input_count ? InputRole::kUser : made.weight_roles[input - made.user_input_count];
      outputs.push_back({role == InputRole::kUser        ? OutputRole::kUserInputMutation
                         : role == InputRole::kParameter ? OutputRole::kParameterMutation
                                                         : OutputRole::kBufferMutation,
                         input});
    }
    made.outputs.insert(made.outputs.begin(), outputs.begin(), outputs.end());
    return graph::verify(made.graph);
  }

  Status take_weights(const WeightTable& weights, Imported& out) {
    for (size_t k = out.user_input_count; k < out.graph.inputs.size(); ++k) {
      const graph::Input& input = out.graph.inputs[k];
      const Weight* weight = weights.find(input.origin);
      if (weight == nullptr)
        return diagnostic("archive", "{}: the program needs '{}', which the archive does not hold",
                          zip_.file(), input.origin);
      const ir::TensorType& wanted = out.graph.values[input.value].type;
      if (wanted.dtype != weight->type.dtype || wanted.sizes != weight->type.sizes ||
          wanted.strides != weight->type.strides)
        return diagnostic("archive", "{}: '{}' is {} in the program and {} in the archive", zip_.file(),
                          input.origin, ir::text(out.graph.cx(), wanted),
                          ir::text(out.graph.cx(), weight->type));
      out.weights.push_back(*weight);
    }
    return check_shared(out);
  }

  // New elements of one weight would be new elements of the others in its storage, which the graph does not
  // know.
  Status check_shared(const Imported& out) const {
    std::set<graph::ValueId> used;
    const auto use = [&](const graph::Arg& arg) {
      graph::for_each_value(arg, [&](graph::ValueId value) { used.insert(value); });
    };
    for (const graph::NodeId id : out.graph.order) {
      for (const graph::Arg& arg : out.graph.nodes[id].args) use(arg);
    }
    for (const graph::Arg& arg : out.graph.outputs) use(arg);
    for (const GraphOutput& output : out.outputs) {
      if (output.role == OutputRole::kUser || output.graph_input < out.user_input_count) continue;
      const Weight& written = out.weights[output.graph_input - out.user_input_count];
      for (size_t k = 0; k < out.weights.size(); ++k) {
        const Weight& other = out.weights[k];
        if (other.name == written.name || other.path != written.path) continue;
        if (!used.contains(out.graph.inputs[k + out.user_input_count].value)) continue;
        return diagnostic("unsupported", "{}: the program writes to '{}', which shares its storage with '{}'",
                          zip_.file(), written.name, other.name);
      }
    }
    return {};
  }

  const ZipArchive& zip_;
  const ImportOptions& options_;
};

}  // namespace

Result<Imported> import_pt2(std::span<const uint8_t> bytes, const std::string& file,
                            const ImportOptions& options) {
  JUMAR_ASSIGN(const ZipArchive zip, ZipArchive::read(bytes, file));
  return Importer(zip, options).run();
}

Result<Imported> import_pt2(const std::string& path, const ImportOptions& options) {
  JUMAR_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  JUMAR_ASSIGN(Imported out, import_pt2(file->bytes(), path, options));
  out.file = std::move(file);
  return out;
}

std::string notes(const Imported& model) {
  std::string out;
  const graph::Graph& graph = model.graph;
  for (size_t k = 0; k < model.inputs.size(); ++k) {
    const CallInput& leaf = model.inputs[k];
    if (leaf.graph_input) continue;
    const auto no_values = [](graph::ValueId) { return std::string(); };
    out += fmt::format("# argument {} '{}' is always {}\n", k, value_name(leaf.name),
                       ir::write_arg(leaf.constant, no_values));
  }
  for (size_t k = 0; k < model.outputs.size(); ++k) {
    const GraphOutput& output = model.outputs[k];
    if (output.role == OutputRole::kUser) continue;
    const graph::Value& input = graph.values[graph.inputs[output.graph_input].value];
    out += fmt::format("# result {} is the new value of input {} %{}\n", k, output.graph_input, input.name);
  }
  return out;
}

}  // namespace jumar::import
