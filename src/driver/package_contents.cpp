#include "driver/package_contents.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "driver/build_id.h"
#include "driver/json_writer.h"
#include "driver/stages.h"
#include "plan/binary.h"
#include "runtime/native/call_site.h"
#include "runtime/package/weights.h"
#include "support/hash.h"

namespace jumar::driver {
namespace {

namespace package = runtime::package;

constexpr std::string_view kModel = "model";
constexpr std::string_view kBase = "model.wrapper";

// An identifier made of a name, different from all others.
std::string identifier(std::string_view name, std::set<std::string>& taken) {
  std::string out;
  for (const char c : name) {
    const bool keeps = std::isalnum(static_cast<unsigned char>(c)) != 0;
    out += keeps ? c : '_';
  }
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out = "_" + out;
  const std::string base = out;
  for (int k = 1; !taken.insert(out).second; ++k) out = fmt::format("{}_{}", base, k);
  return out;
}

package::Constant::Kind kind_of(import::InputRole role) {
  switch (role) {
    case import::InputRole::kParameter:
      return package::Constant::Kind::kParameter;
    case import::InputRole::kBuffer:
      return package::Constant::Kind::kBuffer;
    default:
      return package::Constant::Kind::kLifted;
  }
}

std::string metadata_text(const PackageMetadata& rows) {
  JsonWriter json;
  json.object();
  for (const auto& [key, value] : rows) json.key(key).text(value);
  json.end();
  return json.take();
}

}  // namespace

Result<import::Imported> read_exported(const std::string& archive, const std::string& model, Report& report) {
  const StageTimer timer(report, "import");
  import::ImportOptions options;
  options.model = model;
  return import::import_pt2(archive, options);
}

Result<std::vector<graph::SplitParameter>> fold_constants(
    graph::Graph& graph, size_t first_constant, const std::vector<bool>& is_written,
    const std::function<Result<bool>(const graph::Graph& folding)>& compile) {
  graph::Graph rest = graph;
  graph::SplitConstants split = graph::split_constants(rest, first_constant, is_written);
  if (split.folding) {
    JUMAR_ASSIGN(const bool can_be_run, compile(*split.folding));
    if (!can_be_run) {
      const std::vector<bool> all(is_written.size(), true);
      return graph::split_constants(graph, first_constant, all).parameters;
    }
  }
  graph = std::move(rest);
  return std::move(split.parameters);
}

std::string package_plan(const plan::Plan& plan) { return plan::write_binary(plan, {.origins = false}); }

void rename_folding_kernels(plan::Plan& plan) {
  for (plan::Step& step : plan.steps)
    if (auto* launch = std::get_if<plan::LaunchStep>(&step.data)) launch->kernel.insert(0, kFoldingPrefix);
}

// ---- Contents ----

PackageContents::PackageContents(const import::Imported& model, const Options& options) : model_(model) {
  manifest_.provider = options.provider();
  manifest_.checks_arguments = options.input_checks();
  manifest_.facts = {{"jumar", kVersion}, {"build", build_id()}, {"torch", model_.torch_version}};
}

void PackageContents::describe(const graph::Graph& graph) {
  for (const import::CallInput& input : model_.inputs) {
    package::Argument& argument = manifest_.arguments.emplace_back();
    argument.name = input.name;
    argument.is_constant = !input.graph_input;
    argument.is_tensor = input.graph_input && graph.values[graph.inputs[*input.graph_input].value].kind ==
                                                  graph::ValueKind::kTensor;
  }
  for (const import::GraphOutput& output : model_.outputs) {
    using Role = package::CallResult::Role;
    const bool is_user = output.role == import::OutputRole::kUser;
    const bool of_argument = output.graph_input < model_.user_input_count;
    const Role role = is_user ? Role::kUser : of_argument ? Role::kArgumentMutation : Role::kConstantMutation;
    const size_t index =
        role == Role::kConstantMutation ? output.graph_input - model_.user_input_count : output.graph_input;
    manifest_.results.push_back({role, is_user ? 0 : index});
  }
  describe_types(graph);
  manifest_.in_spec = model_.in_spec;
  manifest_.out_spec = model_.out_spec;
}

// "x: f32[s0, 8]", "s0 in [2, 64]".
void PackageContents::describe_types(const graph::Graph& graph) {
  std::vector<std::string> inputs;
  std::vector<std::string> results;
  std::vector<std::string> sizes;
  for (const import::CallInput& input : model_.inputs) {
    if (!input.graph_input) continue;
    const graph::Value& value = graph.values[graph.inputs[*input.graph_input].value];
    const bool is_tensor = value.kind == graph::ValueKind::kTensor;
    inputs.push_back(input.name + ": " + (is_tensor ? ir::text(graph.cx(), value.type) : "number"));
  }
  for (size_t k = 0; k < model_.outputs.size(); ++k) {
    if (model_.outputs[k].role != import::OutputRole::kUser) continue;
    const auto* value = std::get_if<graph::ValueId>(&graph.outputs[k].data);
    const bool is_tensor = value != nullptr && graph.values[*value].kind == graph::ValueKind::kTensor;
    results.push_back(is_tensor ? ir::text(graph.cx(), graph.values[*value].type) : "number");
  }
  for (const graph::SymbolInfo& symbol : graph.symbols) {
    const std::string most = symbol.range.hi == sym::Range::kMax ? "inf" : std::to_string(symbol.range.hi);
    sizes.push_back(fmt::format("{} in [{}, {}]", sym::text(symbol.symbol), symbol.range.lo, most));
  }
  inputs_ = fmt::format("{}", fmt::join(inputs, "; "));
  results_ = fmt::format("{}", fmt::join(results, "; "));
  sizes_ = fmt::format("{}", fmt::join(sizes, "; "));
}

void PackageContents::take_weights(const graph::Graph& graph) {
  std::vector<ir::TensorType> types;
  for (size_t k = 0; k < model_.weights.size(); ++k) {
    types.push_back(graph.values[graph.inputs[model_.user_input_count + k].value].type);
  }
  weights_.emplace(model_.weights, types);
  manifest_.weights_bytes = weights_->bytes();
  std::set<std::string> names;
  for (size_t k = 0; k < model_.weights.size(); ++k) {
    const import::Weight& weight = model_.weights[k];
    package::Constant& constant = manifest_.constants.emplace_back();
    constant.name = identifier(weight.name, names);
    constant.fqn = weight.name;
    constant.kind = kind_of(model_.weight_roles[k]);
    constant.dtype = weight.type.dtype;
    constant.sizes = constants_of(types[k].sizes);
    constant.strides = constants_of(types[k].strides);
    constant.offset_bytes = weights_->offset_bytes(k);
  }
}

void PackageContents::take_split(const std::vector<graph::SplitParameter>& parameters) {
  for (const graph::SplitParameter& parameter : parameters)
    manifest_.plan_constants.push_back({parameter.is_folded, parameter.index});
}

void PackageContents::take_proxy(const ProxyNodes& proxy) {
  proxy_record_ = proxy.json;
  manifest_.proxied_steps = proxy.steps;
}

void PackageContents::identify(std::string_view plan, std::string_view folding_plan) {
  manifest_.weights_id = hash_of(fmt::format("{}{}{}", manifest_.bytes(), plan, folding_plan)).hex();
}

PackageMetadata PackageContents::metadata() const {
  return {{"JUMAR_VERSION", kVersion}, {"JUMAR_BUILD", build_id()}, {"JUMAR_PROVIDER", manifest_.provider},
          {"JUMAR_INPUTS", inputs_},   {"JUMAR_RESULTS", results_}, {"JUMAR_SIZES", sizes_}};
}

// torch's loader puts library and weights into one folder.
Status PackageContents::add_weights(ZipWriter& zip, const std::string& name) const {
  package::WeightsTrailer trailer;
  trailer.weights_bytes = weights_->bytes();
  manifest_.weights_id.copy(trailer.id, sizeof trailer.id);
  std::vector<std::string_view> pieces = weights_->pieces();
  pieces.emplace_back(reinterpret_cast<const char*>(&trailer), sizeof trailer);
  return zip.add(name, pieces);
}

std::vector<bool> PackageContents::movable_constants() const {
  std::map<std::string, size_t> users;
  for (const import::Weight& weight : model_.weights) ++users[weight.path];
  std::vector<bool> out = written_constants();
  for (size_t k = 0; k < out.size(); ++k) out[k] = !out[k] && users[model_.weights[k].path] == 1;
  return out;
}

std::vector<bool> PackageContents::written_constants() const {
  std::vector<bool> out(model_.weights.size(), false);
  for (const package::CallResult& result : manifest_.results)
    if (result.role == package::CallResult::Role::kConstantMutation) out[result.index] = true;
  return out;
}

// ---- The file ----

PackageFile::PackageFile(ZipWriter zip, std::string root)
    : zip_(std::move(zip)),
      root_(std::move(root)),
      folder_(fmt::format("{}/data/aotinductor/{}/", root_, kModel)) {}

Result<PackageFile> PackageFile::create(const std::string& path) {
  JUMAR_ASSIGN(ZipWriter zip, ZipWriter::create(path));
  std::string root = std::filesystem::path(path).stem().stem().string();
  if (root.empty()) root = kModel;
  return PackageFile(std::move(zip), std::move(root));
}

Status PackageFile::add_contents(const PackageContents& contents, const PackageDetails& details,
                                 const PackageMetadata& more) {
  PackageMetadata metadata = more;
  for (auto& row : contents.metadata()) metadata.push_back(std::move(row));
  JUMAR_RETURN_IF_ERROR(zip_.add(root_ + "/archive_format", "pt2"));
  JUMAR_RETURN_IF_ERROR(zip_.add(root_ + "/archive_version", "0"));
  JUMAR_RETURN_IF_ERROR(zip_.add(root_ + "/byteorder", "little"));
  JUMAR_RETURN_IF_ERROR(zip_.add(root_ + "/.data/version", "6\n"));
  // The loader tells the name of the metadata from this file's.
  JUMAR_RETURN_IF_ERROR(
      zip_.add(entry(fmt::format("{}.cpp", kBase)),
               "// The program is in the library beside this file; `jumar inspect` shows it.\n"));
  JUMAR_RETURN_IF_ERROR(zip_.add(entry(fmt::format("{}_metadata.json", kBase)), metadata_text(metadata)));
  if (!contents.proxy_record().empty())
    JUMAR_RETURN_IF_ERROR(zip_.add(entry(fmt::format("{}.json", kBase)), contents.proxy_record()));
  JUMAR_RETURN_IF_ERROR(zip_.add(fmt::format("{}/{}", root_, PackageDetails::kEntry), details.bytes()));
  if (contents.weights_bytes() == 0) return {};
  return contents.add_weights(zip_, entry(fmt::format("{}{}", kModel, package::kWeightsEnding)));
}

Result<uint64_t> PackageFile::finish() {
  JUMAR_RETURN_IF_ERROR(zip_.finish());
  return zip_.bytes();
}

// ---- Calls ----

Status check_package_calls(const plan::Plan& plan, const Options& options, const ProxyNodes& proxy) {
  Diagnostic error =
      diagnostic("unsupported", "the program calls operators that a package cannot call with provider {}",
                 options.provider());
  error.notes = proxy.problems;
  if (!calls_libtorch(options)) {
    for (const runtime::native::Obstacle& call : runtime::native::obstacles(plan))
      error.notes.push_back(fmt::format("{}: {}", call.op, call.reason));
  }
  if (error.notes.empty()) return {};
  return error;
}

ProxyNodes package_proxy(const plan::Plan& plan, const Options& options) {
  return calls_libtorch(options) ? proxy_nodes(plan) : ProxyNodes();
}

}  // namespace jumar::driver
