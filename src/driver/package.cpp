#include "driver/package.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "driver/build_id.h"
#include "driver/cli.h"
#include "driver/compile_graph.h"
#include "driver/html_report.h"
#include "driver/json_writer.h"
#include "driver/link/package_object.h"
#include "driver/link/shared_library.h"
#include "driver/package_details.h"
#include "driver/package_weights.h"
#include "driver/proxy_nodes.h"
#include "driver/scratch_directory.h"
#include "driver/zip_writer.h"
#include "graph/passes/lay_out_parameters.h"
#include "graph/passes/split_constants.h"
#include "plan/binary.h"
#include "runtime/native/call_site.h"
#include "runtime/package/cpu_features.h"
#include "runtime/package/manifest.h"
#include "runtime/package/weights.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

namespace package = runtime::package;

constexpr std::string_view kModel = "model";
constexpr std::string_view kBase = "model.wrapper";
// Steps are named in the report, which is for people.
constexpr plan::WriteOptions kInPackage = {.origins = false};
// Before the names of the folding plan's kernels.
constexpr const char* kFolding = "fold_";

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

// The instruction sets that code for the target may use, of those that a processor may lack.
std::vector<std::string> needed_features(const jit::CpuTarget& target) {
  int level = 0;
  if (target.cpu.starts_with("x86-64-v")) level = target.cpu.back() - '0';
  const std::string listed = "," + target.features + ",";
  std::vector<std::string> out;
  if (!target.is_x86()) return out;
  for (const package::CpuFeature& feature : package::cpu_features()) {
    const bool in_level = feature.x86_level != 0 && feature.x86_level <= level;
    if (in_level || listed.find(fmt::format(",+{},", feature.name)) != std::string::npos) {
      out.emplace_back(feature.name);
    }
  }
  return out;
}

class PackageWriter {
 public:
  PackageWriter(const import::Imported& model, const Options& options, const jit::CpuTarget& target)
      : model_(model), options_(options), target_(target) {}

  // What the graph's inputs and outputs are; before the graph is compiled.
  void describe(const graph::Graph& graph) {
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
      const Role role = is_user       ? Role::kUser
                        : of_argument ? Role::kArgumentMutation
                                      : Role::kConstantMutation;
      const size_t index =
          role == Role::kConstantMutation ? output.graph_input - model_.user_input_count : output.graph_input;
      manifest_.results.push_back({role, is_user ? 0 : index});
    }
    describe_types(graph);
    manifest_.in_spec = model_.in_spec;
    manifest_.out_spec = model_.out_spec;
    manifest_.cpu = options_.cpu() == "host" ? target_.cpu : options_.cpu();
    manifest_.cpu_features = needed_features(target_);
    manifest_.provider = options_.provider();
    manifest_.checks_arguments = options_.input_checks();
    manifest_.facts = {{"jumar", kVersion}, {"build", build_id()}, {"torch", model_.torch_version}};
  }

  // The layouts that the optimized graph gives its parameters.
  void take_weights(const graph::Graph& graph) {
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

  void take_split(const std::vector<graph::SplitParameter>& parameters) {
    for (const graph::SplitParameter& parameter : parameters) {
      manifest_.plan_constants.push_back({parameter.is_folded, parameter.index});
    }
  }

  void take_proxy(const ProxyNodes& proxy) {
    proxy_record_ = proxy.json;
    manifest_.proxied_steps = proxy.steps;
  }

  // The library without its weights, as bytes.
  Result<std::string> library(const CompiledParts& parts, std::optional<CompiledParts>& folding) {
    std::vector<std::pair<std::string, const KernelObject*>> kernels;
    for (const KernelObject& kernel : parts.kernels) kernels.emplace_back(kernel.name, &kernel);
    std::string folding_plan;
    if (folding) {
      for (const KernelObject& kernel : folding->kernels)
        kernels.emplace_back(kFolding + kernel.name, &kernel);
      for (plan::Step& step : folding->plan.steps) {
        if (auto* launch = std::get_if<plan::LaunchStep>(&step.data)) launch->kernel.insert(0, kFolding);
      }
      folding_plan = plan::write_binary(folding->plan, kInPackage);
    }
    const std::string plan = plan::write_binary(parts.plan, kInPackage);
    manifest_.weights_id = hash_of(manifest_.bytes() + plan + folding_plan).hex();
    const std::string manifest = manifest_.bytes();
    link::PackageParts pieces{plan, folding_plan, manifest, {}};
    std::vector<std::string_view> objects;
    std::set<Hash128> linked;
    for (const auto& [name, kernel] : kernels) {
      pieces.kernels.emplace_back(name, kernel_symbol(kernel->key));
      if (linked.insert(kernel->key).second) objects.push_back(kernel->object);
    }
    const std::vector<uint8_t> data = link::package_object(target_, pieces);
    objects.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
    const bool needs_onednn = !calls_libtorch(options_);
    JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(options_.resolved_temporary_dir()));
    const std::string path = scratch.path() + "/model.so";
    JUMAR_RETURN_IF_ERROR(link::link_shared_library({needs_onednn, objects, path, scratch.path()}));
    return bytes_of_file(path);
  }

  Result<uint64_t> write(const std::string& output, const std::string& library,
                         const PackageDetails& details) const {
    JUMAR_ASSIGN(ZipWriter zip, ZipWriter::create(output));
    std::string root = std::filesystem::path(output).stem().stem().string();
    if (root.empty()) root = kModel;
    const std::string folder = fmt::format("{}/data/aotinductor/{}/", root, kModel);
    JUMAR_RETURN_IF_ERROR(zip.add(root + "/archive_format", "pt2"));
    JUMAR_RETURN_IF_ERROR(zip.add(root + "/archive_version", "0"));
    JUMAR_RETURN_IF_ERROR(zip.add(root + "/byteorder", "little"));
    JUMAR_RETURN_IF_ERROR(zip.add(root + "/.data/version", "6\n"));
    // The loader tells the name of the metadata from this file's.
    JUMAR_RETURN_IF_ERROR(
        zip.add(fmt::format("{}{}.cpp", folder, kBase),
                "// The program is in the library beside this file; `jumar inspect` shows it.\n"));
    JUMAR_RETURN_IF_ERROR(zip.add(fmt::format("{}{}_metadata.json", folder, kBase), metadata()));
    if (!proxy_record_.empty())
      JUMAR_RETURN_IF_ERROR(zip.add(fmt::format("{}{}.json", folder, kBase), proxy_record_));
    JUMAR_RETURN_IF_ERROR(zip.add(fmt::format("{}/{}", root, PackageDetails::kEntry), details.bytes()));
    JUMAR_RETURN_IF_ERROR(zip.add_deflated(fmt::format("{}{}.so", folder, kBase), library));
    if (weights_->bytes() > 0)
      JUMAR_RETURN_IF_ERROR(add_weights(zip, fmt::format("{}{}{}", folder, kModel, package::kWeightsEnding)));
    JUMAR_RETURN_IF_ERROR(zip.finish());
    return zip.bytes();
  }

  uint64_t weights_bytes() const { return weights_->bytes(); }
  std::string manifest() const { return manifest_.bytes(); }

  // By constant: whether it may lie in memory in another way: no other shares its storage.
  std::vector<bool> movable_constants() const {
    std::map<std::string, size_t> users;
    for (const import::Weight& weight : model_.weights) ++users[weight.path];
    std::vector<bool> out = written_constants();
    for (size_t k = 0; k < out.size(); ++k) out[k] = !out[k] && users[model_.weights[k].path] == 1;
    return out;
  }

  // By constant: whether calls change its elements.
  std::vector<bool> written_constants() const {
    std::vector<bool> out(model_.weights.size(), false);
    for (const package::CallResult& result : manifest_.results) {
      if (result.role == package::CallResult::Role::kConstantMutation) out[result.index] = true;
    }
    return out;
  }

 private:
  // What the metadata tells about the call: "x: f32[s0, 8]", "s0 in [2, 64]".
  void describe_types(const graph::Graph& graph) {
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

  // torch's loader puts both into one folder.
  Status add_weights(ZipWriter& zip, const std::string& name) const {
    package::WeightsTrailer trailer;
    trailer.weights_bytes = weights_->bytes();
    manifest_.weights_id.copy(trailer.id, sizeof trailer.id);
    std::vector<std::string_view> pieces = weights_->pieces();
    pieces.emplace_back(reinterpret_cast<const char*>(&trailer), sizeof trailer);
    return zip.add(name, pieces);
  }

  // All values are strings, as the loader demands. AOTI_CPU_ISA is left out: the loader would compare it with
  // what torch's own code generator would choose, and the package checks the processor itself.
  std::string metadata() const {
    std::vector<std::pair<std::string, std::string>> rows = {
        {"AOTI_DEVICE_KEY", "cpu"},
        {"AOTI_PLATFORM", "linux"},
        {"AOTI_MACHINE", target_.is_x86() ? "x86_64" : "aarch64"},
        {"JUMAR_VERSION", kVersion},
        {"JUMAR_BUILD", build_id()},
        {"JUMAR_CPU", manifest_.cpu},
        {"JUMAR_PROVIDER", manifest_.provider},
        {"JUMAR_INPUTS", inputs_},
        {"JUMAR_RESULTS", results_},
        {"JUMAR_SIZES", sizes_}};
    std::vector<std::string> members;
    for (const auto& [key, value] : rows) members.push_back(json_text(key) + ": " + json_text(value));
    return fmt::format("{{{}}}", fmt::join(members, ", "));
  }

  const import::Imported& model_;
  const Options& options_;
  const jit::CpuTarget& target_;
  std::optional<PackageWeights> weights_;
  package::Manifest manifest_;
  std::string proxy_record_;
  std::string inputs_;
  std::string results_;
  std::string sizes_;
};

// The runtime that is linked in is this process's.
Status check_architecture(const jit::CpuTarget& target) {
#if defined(__x86_64__)
  constexpr bool kIsX86 = true;
#else
  constexpr bool kIsX86 = false;
#endif
  if (target.is_x86() == kIsX86) return {};
  return diagnostic("unsupported", "a package for {} has to be made on such a machine", target.cpu);
}

// Whether every call of the plan can be made where there is no Python, by `proxy` where that is needed.
Status check_calls(const plan::Plan& plan, const Options& options, const ProxyNodes& proxy) {
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

std::string target_text(const jit::CpuTarget& target) {
  return fmt::format("{}, {}-bit vectors", target.cpu, target.vector_bits);
}

ProgramTexts texts_of(const CompiledParts& parts) {
  return {loop::write_program(parts.program), plan::write_plan(parts.plan)};
}

struct Compiling {
  const jit::CpuTarget& target;
  const Options& options;
  Dumps& dumps;
};

// Takes what is computed of the constants alone out of the graph and compiles it. Where that calls operators
// that nobody could call at load, the graph stays whole.
Result<std::vector<graph::SplitParameter>> fold(graph::Graph& graph, size_t first_constant,
                                                const std::vector<bool>& is_written, const Compiling& how,
                                                std::optional<CompiledParts>& folding) {
  graph::Graph rest = graph;
  graph::SplitConstants split = graph::split_constants(rest, first_constant, is_written);
  if (split.folding) {
    Report report;
    Stages stages(how.options, report, how.dumps);
    JUMAR_ASSIGN(CompiledParts parts,
                 compile_graph(stages, *split.folding, how.target, how.options, nullptr, report));
    const ProxyNodes proxy = calls_libtorch(how.options) ? proxy_nodes(parts.plan) : ProxyNodes();
    if (!proxy.steps.empty() || !check_calls(parts.plan, how.options, proxy).ok()) {
      const std::vector<bool> all(is_written.size(), true);
      return graph::split_constants(graph, first_constant, all).parameters;
    }
    folding = std::move(parts);
  }
  graph = std::move(rest);
  return std::move(split.parameters);
}

Status write_page(const PackageRequest& request, const jit::CpuTarget& target, const graph::Graph& graph,
                  const CompiledParts& parts, const Report& report) {
  const std::string page =
      html_report({std::filesystem::path(request.archive).filename().string(),
                   fmt::format("jumar {} (build {})", kVersion, build_id()), target_text(target), graph,
                   parts.program, parts.plan, report, hinted_sizes(parts.program)});
  return write_file(request.page, page);
}

}  // namespace

Result<PackageSummary> compile_package(const PackageRequest& request, const Options& options,
                                       Report& report) {
  const auto tell = [&](std::string_view stage) {
    if (request.progress) request.progress(stage);
  };
  tell("reading");
  import::ImportOptions import_options;
  import_options.model = request.model;
  JUMAR_ASSIGN(import::Imported model, [&] {
    const StageTimer timer(report, "import");
    return import::import_pt2(request.archive, import_options);
  }());
  JUMAR_ASSIGN(const jit::CpuTarget target, target_of(options, false));
  JUMAR_RETURN_IF_ERROR(check_architecture(target));
  graph::Graph graph = std::move(model.graph);
  PackageWriter writer(model, options, target);
  writer.describe(graph);
  JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
  Stages stages(options, report, dumps);
  tell("compiling");
  JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
  graph::lay_out_parameters(graph, model.user_input_count, writer.movable_constants());
  writer.take_weights(graph);
  std::optional<CompiledParts> folding;
  JUMAR_ASSIGN(
      const std::vector<graph::SplitParameter> parameters,
      fold(graph, model.user_input_count, writer.written_constants(), {target, options, dumps}, folding));
  writer.take_split(parameters);
  JUMAR_ASSIGN(const CompiledParts parts, compile_graph(stages, graph, target, options, nullptr, report));
  // Without libtorch there is no proxy executor.
  const ProxyNodes proxy = calls_libtorch(options) ? proxy_nodes(parts.plan) : ProxyNodes();
  JUMAR_RETURN_IF_ERROR(check_calls(parts.plan, options, proxy));
  writer.take_proxy(proxy);
  // Before the writer gives the folding plan's kernels their names in the package.
  const PackageDetails details{writer.manifest(), target_text(target),
                               fmt::format("{{{}}}", json_body(report)), texts_of(parts),
                               folding ? texts_of(*folding) : ProgramTexts()};
  tell("linking");
  JUMAR_ASSIGN(const std::string linked, [&]() {
    const StageTimer timer(report, "link");
    return writer.library(parts, folding);
  }());
  tell("writing");
  if (!request.page.empty()) {
    JUMAR_RETURN_IF_ERROR(write_page(request, target, graph, parts, report));
  }
  const StageTimer timer(report, "write");
  JUMAR_ASSIGN(const uint64_t bytes, writer.write(request.output, linked, details));
  return PackageSummary{parts.kernels.size(), folding ? folding->kernels.size() : 0, writer.weights_bytes(),
                        bytes};
}

}  // namespace jumar::driver
