#include "driver/package.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "driver/build_id.h"
#include "driver/cli.h"
#include "driver/compile_graph.h"
#include "driver/link/package_object.h"
#include "driver/link/shared_library.h"
#include "driver/scratch_directory.h"
#include "driver/weight_layout.h"
#include "driver/zip_writer.h"
#include "graph/passes/split_constants.h"
#include "plan/binary.h"
#include "runtime/package/cpu_features.h"
#include "runtime/package/manifest.h"
#include "runtime/package/weights.h"

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

std::vector<int64_t> constants_of(const std::vector<sym::Expr>& exprs) {
  std::vector<int64_t> out;
  for (const sym::Expr e : exprs) out.push_back(e.const_value());
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
      : model_(model), options_(options), target_(target), weights_(weight_layout(model.weights)) {}

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
    std::set<std::string> names;
    for (size_t k = 0; k < model_.weights.size(); ++k) {
      const import::Weight& weight = model_.weights[k];
      package::Constant& constant = manifest_.constants.emplace_back();
      constant.name = identifier(weight.name, names);
      constant.fqn = weight.name;
      constant.kind = kind_of(model_.weight_roles[k]);
      constant.dtype = weight.type.dtype;
      constant.sizes = constants_of(weight.type.sizes);
      constant.strides = constants_of(weight.type.strides);
      constant.offset_bytes = weights_.offset_of(weight);
    }
    manifest_.in_spec = model_.in_spec;
    manifest_.out_spec = model_.out_spec;
    manifest_.cpu = options_.cpu() == "host" ? target_.cpu : options_.cpu();
    manifest_.cpu_features = needed_features(target_);
    manifest_.provider = options_.provider();
    manifest_.weights_bytes = weights_.bytes;
    manifest_.facts = {{"jumar", kVersion}, {"build", build_id()}, {"torch", model_.torch_version}};
  }

  void take_split(const std::vector<graph::SplitParameter>& parameters) {
    for (const graph::SplitParameter& parameter : parameters) {
      manifest_.plan_constants.push_back({parameter.is_folded, parameter.index});
    }
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
    JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(options_.resolved_temporary_dir()));
    const std::string path = scratch.path() + "/model.so";
    JUMAR_RETURN_IF_ERROR(link::link_shared_library({objects, path, scratch.path()}));
    return bytes_of_file(path);
  }

  Result<uint64_t> write(const std::string& output, const std::string& library) const {
    JUMAR_ASSIGN(ZipWriter zip, ZipWriter::create(output));
    const std::string root = std::filesystem::path(output).stem().stem().string();
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
    JUMAR_RETURN_IF_ERROR(add_library(zip, fmt::format("{}{}.so", folder, kBase), library));
    JUMAR_RETURN_IF_ERROR(zip.finish());
    return zip.bytes();
  }

  uint64_t weights_bytes() const { return weights_.bytes; }

  // By constant: whether calls change its elements.
  std::vector<bool> written_constants() const {
    std::vector<bool> out(manifest_.constants.size(), false);
    for (const package::CallResult& result : manifest_.results) {
      if (result.role == package::CallResult::Role::kConstantMutation) out[result.index] = true;
    }
    return out;
  }

 private:
  Status add_library(ZipWriter& zip, const std::string& name, const std::string& library) const {
    package::WeightsTrailer trailer;
    const uint64_t over = library.size() % package::kWeightsAlignmentBytes;
    const std::string padding(over == 0 ? 0 : package::kWeightsAlignmentBytes - over, '\0');
    trailer.offset_bytes = library.size() + padding.size();
    trailer.weights_bytes = weights_.bytes;
    manifest_.weights_id.copy(trailer.id, sizeof trailer.id);
    std::vector<std::string_view> pieces = {library, padding};
    pieces.insert(pieces.end(), weights_.pieces.begin(), weights_.pieces.end());
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
        {"JUMAR_CPU", manifest_.cpu}};
    std::vector<std::string> members;
    for (const auto& [key, value] : rows) members.push_back(fmt::format("\"{}\": \"{}\"", key, value));
    return fmt::format("{{{}}}", fmt::join(members, ", "));
  }

  const import::Imported& model_;
  const Options& options_;
  const jit::CpuTarget& target_;
  WeightLayout weights_;
  package::Manifest manifest_;
};

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
  graph::Graph graph = std::move(model.graph);
  PackageWriter writer(model, options, target);
  writer.describe(graph);
  JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
  Stages stages(options, report, dumps);
  tell("compiling");
  JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
  const graph::SplitConstants split =
      graph::split_constants(graph, model.user_input_count, writer.written_constants());
  writer.take_split(split.parameters);
  JUMAR_ASSIGN(const CompiledParts parts, compile_graph(stages, graph, target, options, nullptr, report));
  std::optional<CompiledParts> folding;
  if (split.folding) {
    Report of_folding;
    Stages folding_stages(options, of_folding, dumps);
    JUMAR_ASSIGN(folding,
                 compile_graph(folding_stages, *split.folding, target, options, nullptr, of_folding));
  }
  tell("linking");
  JUMAR_ASSIGN(const std::string linked, [&]() {
    const StageTimer timer(report, "link");
    return writer.library(parts, folding);
  }());
  tell("writing");
  const StageTimer timer(report, "write");
  JUMAR_ASSIGN(const uint64_t bytes, writer.write(request.output, linked));
  return PackageSummary{parts.kernels.size(), folding ? folding->kernels.size() : 0, writer.weights_bytes(),
                        bytes};
}

}  // namespace jumar::driver
