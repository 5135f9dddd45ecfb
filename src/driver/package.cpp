#include "driver/package.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "driver/build_id.h"
#include "driver/compile_graph.h"
#include "driver/device_package.h"
#include "driver/html_report.h"
#include "driver/link/package_object.h"
#include "driver/link/shared_library.h"
#include "driver/package_contents.h"
#include "driver/scratch_directory.h"
#include "graph/passes/lay_out_parameters.h"
#include "runtime/package/cpu_features.h"
#include "runtime/package/weights.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

namespace package = runtime::package;

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

std::string target_text(const jit::CpuTarget& target) {
  return fmt::format("{}, {}-bit vectors", target.cpu, target.vector_bits);
}

ProgramTexts texts_of(const CompiledParts& parts) {
  return {loop::write_program(parts.program), plan::write_plan(parts.plan)};
}

// The library without its weights, as bytes.
Result<std::string> library(PackageContents& contents, const CompiledParts& parts,
                            std::optional<CompiledParts>& folding, const jit::CpuTarget& target,
                            const Options& options) {
  std::vector<std::pair<std::string, const KernelObject*>> kernels;
  for (const KernelObject& kernel : parts.kernels) kernels.emplace_back(kernel.name, &kernel);
  std::string folding_plan;
  if (folding) {
    for (const KernelObject& kernel : folding->kernels)
      kernels.emplace_back(kFoldingPrefix + kernel.name, &kernel);
    rename_folding_kernels(folding->plan);
    folding_plan = package_plan(folding->plan);
  }
  const std::string plan = package_plan(parts.plan);
  contents.identify(plan, folding_plan);
  const std::string manifest = contents.manifest().bytes();
  link::PackageParts pieces{plan, folding_plan, manifest, {}, ""};
  std::vector<std::string_view> objects;
  std::set<Hash128> linked;
  for (const auto& [name, kernel] : kernels) {
    pieces.kernels.emplace_back(name, kernel_symbol(kernel->key));
    if (linked.insert(kernel->key).second) objects.push_back(kernel->object);
  }
  const std::vector<uint8_t> data = link::package_object(target, pieces);
  objects.emplace_back(reinterpret_cast<const char*>(data.data()), data.size());
  const bool needs_onednn = !calls_libtorch(options);
  JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(options.resolved_temporary_dir()));
  const std::string path = scratch.path() + "/model.so";
  JUMAR_RETURN_IF_ERROR(link::link_shared_library({needs_onednn, objects, path, scratch.path()}));
  return bytes_of_file(path);
}

// AOTI_CPU_ISA is left out: the loader would compare it with what torch's own code generator would choose,
// and the package checks the processor itself.
Result<uint64_t> write(const std::string& output, const PackageContents& contents,
                       const PackageDetails& details, const jit::CpuTarget& target,
                       const std::string& library) {
  JUMAR_ASSIGN(PackageFile file, PackageFile::create(output));
  JUMAR_RETURN_IF_ERROR(file.add_contents(contents, details,
                                          {{"AOTI_DEVICE_KEY", "cpu"},
                                           {"AOTI_PLATFORM", "linux"},
                                           {"AOTI_MACHINE", target.is_x86() ? "x86_64" : "aarch64"},
                                           {"JUMAR_CPU", contents.manifest().cpu}}));
  JUMAR_RETURN_IF_ERROR(
      file.zip().add_deflated(file.entry(fmt::format("model{}", package::kLibraryEnding)), library));
  return file.finish();
}

struct Compiling {
  const jit::CpuTarget& target;
  const Options& options;
  Dumps& dumps;
};

// Compiles what is computed of the constants alone; false where nobody could make its calls at load.
Result<bool> compile_folding(const graph::Graph& graph, const Compiling& how,
                             std::optional<CompiledParts>& folding) {
  Report report;
  Stages stages(how.options, report, how.dumps);
  JUMAR_ASSIGN(CompiledParts parts, compile_graph(stages, graph, how.target, how.options, nullptr, report));
  const ProxyNodes proxy = package_proxy(parts.plan, how.options);
  if (!proxy.steps.empty() || !check_package_calls(parts.plan, how.options, proxy).ok()) return false;
  folding = std::move(parts);
  return true;
}

}  // namespace

Status write_package_page(const PackageRequest& request, const ReportInputs& inputs) {
  ReportInputs page = inputs;
  page.title = std::filesystem::path(request.archive).filename().string();
  page.build = fmt::format("jumar {} (build {})", kVersion, build_id());
  return write_file(request.page, html_report(page));
}

Result<PackageSummary> compile_package(const PackageRequest& request, const Options& options,
                                       Report& report) {
  if (options.target() != "cpu") return compile_device_package(request, options, report);
  const auto tell = [&](std::string_view stage) {
    if (request.progress) request.progress(stage);
  };
  tell("reading");
  JUMAR_ASSIGN(import::Imported model, read_exported(request.archive, request.model, report));
  JUMAR_ASSIGN(const jit::CpuTarget target, target_of(options, false));
  JUMAR_RETURN_IF_ERROR(check_architecture(target));
  graph::Graph graph = std::move(model.graph);
  PackageContents contents(model, options);
  contents.describe(graph);
  contents.manifest().cpu = options.cpu() == "host" ? target.cpu : options.cpu();
  contents.manifest().cpu_features = needed_features(target);
  JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
  Stages stages(options, report, dumps);
  tell("compiling");
  JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
  graph::lay_out_parameters(graph, model.user_input_count, contents.movable_constants());
  contents.take_weights(graph);
  std::optional<CompiledParts> folding;
  JUMAR_ASSIGN(const std::vector<graph::SplitParameter> parameters,
               fold_constants(graph, model.user_input_count, contents.written_constants(),
                              [&](const graph::Graph& part) {
                                return compile_folding(part, {target, options, dumps}, folding);
                              }));
  contents.take_split(parameters);
  JUMAR_ASSIGN(const CompiledParts parts, compile_graph(stages, graph, target, options, nullptr, report));
  const ProxyNodes proxy = package_proxy(parts.plan, options);
  JUMAR_RETURN_IF_ERROR(check_package_calls(parts.plan, options, proxy));
  contents.take_proxy(proxy);
  // Before the folding plan's kernels get their names in the package.
  const PackageDetails details{contents.manifest().bytes(), target_text(target),
                               fmt::format("{{{}}}", json_body(report)), texts_of(parts),
                               folding ? texts_of(*folding) : ProgramTexts()};
  tell("linking");
  JUMAR_ASSIGN(const std::string linked, [&]() {
    const StageTimer timer(report, "link");
    return library(contents, parts, folding, target, options);
  }());
  tell("writing");
  if (!request.page.empty()) {
    JUMAR_RETURN_IF_ERROR(write_package_page(request, {"", "", target_text(target), graph, parts.program,
                                                       parts.plan, report, hinted_sizes(parts.program)}));
  }
  const StageTimer timer(report, "write");
  JUMAR_ASSIGN(const uint64_t bytes, write(request.output, contents, details, target, linked));
  PackageSummary made;
  made.kernels = parts.kernels.size();
  made.folding_kernels = folding ? folding->kernels.size() : 0;
  made.weights_bytes = contents.weights_bytes();
  made.package_bytes = bytes;
  return made;
}

}  // namespace jumar::driver
