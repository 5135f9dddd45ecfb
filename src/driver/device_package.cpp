#include "driver/device_package.h"

#include <algorithm>
#include <map>

#include "driver/device_archive.h"
#include "driver/device_json.h"
#include "driver/link/host_object.h"
#include "driver/link/package_object.h"
#include "driver/link/shared_library.h"
#include "driver/package_contents.h"
#include "driver/scratch_directory.h"
#include "graph/passes/lay_out_parameters.h"
#include "runtime/package/weights.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

// What torch's loaders choose a runner by.
constexpr const char* kDeviceKey = "npu";

ProgramTexts texts_of(const NpuParts& parts) {
  return {loop::write_program(parts.program), plan::write_plan(parts.plan)};
}

// The codes of both plans' kernels, each once, and the entries that hold them.
class Codes {
 public:
  void add(const NpuParts& parts, bool is_folding) {
    for (const NpuKernel& kernel : parts.kernels.kernels) {
      CHECK(kernel.has_linalg(), "kernel {} was made without the toolchain", kernel.name);
      const auto [it, is_new] = known_.try_emplace(hash_of(anonymous_linalg(kernel)), codes_.size());
      if (is_new) codes_.push_back(code_of(kernel, is_folding));
      DeviceKernel row = codes_[it->second].row;
      row.name = (is_folding ? kFoldingPrefix : "") + kernel.name;
      rows_.push_back(row);
      hosts_.push_back(host_of(kernel, row));
    }
  }

  const std::vector<DeviceKernel>& rows() const { return rows_; }
  const std::vector<link::HostKernel>& hosts() const { return hosts_; }
  size_t linked() const {
    return static_cast<size_t>(
        std::ranges::count_if(rows_, [](const DeviceKernel& row) { return !row.binary.empty(); }));
  }

  Status write(PackageFile& file) const {
    for (const Code& code : codes_) {
      JUMAR_RETURN_IF_ERROR(file.zip().add_deflated(file.entry(code.row.linalg), code.kernel->linalg()));
      if (!code.row.binary.empty())
        JUMAR_RETURN_IF_ERROR(
            file.zip().add(file.entry(code.row.binary), code.kernel->check.compiled.device_binary));
    }
    return {};
  }

 private:
  struct Code {
    const NpuKernel* kernel;
    DeviceKernel row;  // without the name
  };

  static Code code_of(const NpuKernel& kernel, bool is_folding) {
    const std::string base = fmt::format("kernels/{}{}", is_folding ? "at_load/" : "", kernel.function);
    const bool is_linked = !kernel.check.compiled.device_binary.empty();
    return {&kernel, {"", kernel.function, base + ".linalg.mlir", is_linked ? base + ".o" : ""}};
  }

  static link::HostKernel host_of(const NpuKernel& kernel, const DeviceKernel& row) {
    const tile::npu::BlockKernel& block = kernel.choice.kernel;
    link::HostKernel host;
    host.name = row.name;
    host.function = row.function;
    host.linalg = row.linalg;
    host.binary = row.binary;
    if (!row.binary.empty()) host.binary_function = kBinaryFunction;
    host.pointers = static_cast<int32_t>(block.buffers.size());
    for (const tile::npu::IntArgument& argument : block.ints)
      host.integer_bits.push_back(argument.is_wide ? 64 : 32);
    host.numbers = static_cast<int32_t>(block.numbers.size());
    host.in_turn = block.has_atomics;
    host.workspace_bytes = kernel.check.compiled.needs.workspace_bytes.value_or(0);
    host.locks = kernel.check.compiled.needs.lock_count.value_or(0);
    return host;
  }

  std::map<Hash128, size_t> known_;
  std::vector<Code> codes_;
  std::vector<DeviceKernel> rows_;
  std::vector<link::HostKernel> hosts_;
};

std::vector<link::HostLaunch> host_launches(const plan::Plan& plan, const Codes& codes) {
  std::vector<link::HostLaunch> launches;
  for (size_t k = 0; k < plan.steps.size(); ++k) {
    const auto* launch = std::get_if<plan::LaunchStep>(&plan.steps[k].data);
    if (launch == nullptr) continue;
    const auto row = std::ranges::find(codes.rows(), launch->kernel, &DeviceKernel::name);
    CHECK(row != codes.rows().end(), "the plan launches {}, which is not there", launch->kernel);
    launches.push_back(
        {static_cast<uint32_t>(k), static_cast<uint32_t>(row - codes.rows().begin()), launch->ints});
  }
  return launches;
}

class Maker {
 public:
  Maker(const PackageRequest& request, const Options& options, const Device& device,
        const toolchain::Toolchain& tools, Report& report)
      : request_(request),
        options_(options),
        device_(device),
        tools_(tools),
        report_(report),
        settings_(options,
                  [this](size_t done, size_t total) { tell(fmt::format("kernel {} of {}", done, total)); }) {}

  Result<PackageSummary> made() {
    tell("reading");
    JUMAR_ASSIGN(import::Imported model, read_exported(request_.archive, request_.model, report_));
    graph::Graph graph = std::move(model.graph);
    PackageContents contents(model, options_);
    contents.describe(graph);
    JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
    Stages stages(options_, report_, dumps);
    tell("compiling");
    JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
    graph::lay_out_parameters(graph, model.user_input_count, contents.movable_constants());
    contents.take_weights(graph);
    JUMAR_ASSIGN(const std::vector<graph::SplitParameter> parameters,
                 fold_constants(graph, model.user_input_count, contents.written_constants(),
                                [&](const graph::Graph& part) { return compile_folding(part, dumps); }));
    contents.take_split(parameters);
    JUMAR_ASSIGN(const NpuParts parts,
                 compile_for_npu(stages, graph, device_, &tools_, settings_.npu, report_));
    const ProxyNodes proxy = package_proxy(parts.plan, options_);
    JUMAR_RETURN_IF_ERROR(check_package_calls(parts.plan, options_, proxy));
    contents.take_proxy(proxy);
    JUMAR_ASSIGN(const std::string launches, launches_json(parts));
    if (!request_.page.empty()) {
      JUMAR_RETURN_IF_ERROR(write_package_page(request_, {"", "", device_.target.name, graph, parts.program,
                                                          parts.plan, report_, hinted_sizes(parts.program)}));
    }
    return written(contents, parts, launches);
  }

 private:
  void tell(std::string_view stage) const {
    if (request_.progress) request_.progress(stage);
  }

  // Weights are on the device when they are folded: by kernels like any other.
  Result<bool> compile_folding(const graph::Graph& graph, Dumps& dumps) {
    Report report;
    Stages stages(options_, report, dumps);
    JUMAR_ASSIGN(NpuParts parts, compile_for_npu(stages, graph, device_, &tools_, settings_.npu, report));
    const ProxyNodes proxy = package_proxy(parts.plan, options_);
    if (!proxy.steps.empty() || !check_package_calls(parts.plan, options_, proxy).ok()) return false;
    folding_ = std::move(parts);
    return true;
  }

  Result<std::string> launches_json(const NpuParts& parts) {
    tell("counting");
    const StageTimer timer(report_, "count");
    const SizeValues sizes = hinted_sizes(parts.program);
    JUMAR_ASSIGN(const std::vector<DeviceLaunch> launches, device_launches(parts, device_, sizes));
    std::vector<DeviceLaunch> folding;
    std::optional<PlanLaunches> at_load;
    if (folding_) {
      // Sizes of weights are numbers.
      JUMAR_ASSIGN(folding, device_launches(*folding_, device_, {}));
      at_load.emplace(PlanLaunches{*folding_, folding, kFoldingPrefix});
    }
    return device_json({parts, device_, tools_, sizes, launches, report_, {}, at_load});
  }

  Result<PackageSummary> written(PackageContents& contents, const NpuParts& parts,
                                 const std::string& launches) {
    const PackageDetails details{contents.manifest().bytes(), device_.target.name,
                                 fmt::format("{{{}}}", json_body(report_)), texts_of(parts),
                                 folding_ ? texts_of(*folding_) : ProgramTexts()};
    Codes codes;
    codes.add(parts, false);
    std::string folding_plan;
    if (folding_) {
      codes.add(*folding_, true);
      rename_folding_kernels(folding_->plan);
      folding_plan = package_plan(folding_->plan);
    }
    const std::string plan = package_plan(parts.plan);
    contents.identify(plan, folding_plan);
    link::HostProgram host;
    host.target = target::write_target(device_.target);
    host.kernels = codes.hosts();
    host.main = {plan, host_launches(parts.plan, codes)};
    if (folding_) host.folding = {folding_plan, host_launches(folding_->plan, codes)};
    tell("writing");
    const StageTimer timer(report_, "write");
    JUMAR_ASSIGN(PackageFile file, PackageFile::create(request_.output));
    JUMAR_RETURN_IF_ERROR(file.add_contents(contents, details,
                                            {{"AOTI_DEVICE_KEY", kDeviceKey},
                                             {"AOTI_PLATFORM", "linux"},
                                             {"AOTI_MACHINE", std::string(link::own_architecture())},
                                             {"JUMAR_TARGET", device_.target.name}}));
    JUMAR_RETURN_IF_ERROR(write_host(file, contents, host));
    JUMAR_RETURN_IF_ERROR(codes.write(file));
    JUMAR_RETURN_IF_ERROR(write_texts(file, contents, host, codes, launches));
    PackageSummary out;
    out.kernels = parts.kernels.kernels.size();
    out.folding_kernels = folding_ ? folding_->kernels.kernels.size() : 0;
    out.weights_bytes = contents.weights_bytes();
    out.device = device_.target.name;
    out.linked_kernels = codes.linked();
    JUMAR_ASSIGN(out.package_bytes, file.finish());
    return out;
  }

  Status write_texts(PackageFile& file, const PackageContents& contents, const link::HostProgram& host,
                     const Codes& codes, const std::string& launches) const {
    const std::string manifest = contents.manifest().bytes();
    const std::string kernels = device_kernels_json(device_.target.name, codes.rows());
    const std::pair<const char*, std::string_view> entries[] = {
        {device_entry::kTarget, host.target},         {device_entry::kKernels, kernels},
        {device_entry::kLaunches, launches},          {device_entry::kPlan, host.main.bytes},
        {device_entry::kFolding, host.folding.bytes}, {device_entry::kManifest, manifest}};
    for (const auto& [name, bytes] : entries)
      if (!bytes.empty()) JUMAR_RETURN_IF_ERROR(file.zip().add_deflated(file.entry(name), bytes));
    return {};
  }

  // Objects for every architecture, and the library for this one: its runtime is at hand here.
  Status write_host(PackageFile& file, const PackageContents& contents, const link::HostProgram& host) const {
    std::string own;
    for (const std::string_view name : link::host_architectures()) {
      const std::vector<uint8_t> object = link::host_object(link::host_architecture(name), host);
      const std::string_view bytes(reinterpret_cast<const char*>(object.data()), object.size());
      if (name == link::own_architecture()) own = bytes;
      JUMAR_RETURN_IF_ERROR(file.zip().add_deflated(file.entry(fmt::format("host/{}.o", name)), bytes));
    }
    const std::string manifest = contents.manifest().bytes();
    const link::PackageParts pieces{host.main.bytes, host.folding.bytes, manifest, {}, device_.target.name};
    const std::vector<uint8_t> data =
        link::package_object(link::host_architecture(link::own_architecture()), pieces);
    const std::string_view objects[] = {own, {reinterpret_cast<const char*>(data.data()), data.size()}};
    JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(options_.resolved_temporary_dir()));
    const std::string path = scratch.path() + "/model.so";
    JUMAR_RETURN_IF_ERROR(
        link::link_shared_library({false, {std::begin(objects), std::end(objects)}, path, scratch.path()}));
    JUMAR_ASSIGN(const std::string library, bytes_of_file(path));
    return file.zip().add_deflated(file.entry(fmt::format("model{}", runtime::package::kLibraryEnding)),
                                   library);
  }

  const PackageRequest& request_;
  const Options& options_;
  const Device& device_;
  const toolchain::Toolchain& tools_;
  Report& report_;
  NpuSettings settings_;
  std::optional<NpuParts> folding_;
};

}  // namespace

Result<PackageSummary> compile_device_package(const PackageRequest& request, const Options& options,
                                              Report& report) {
  JUMAR_ASSIGN(const std::optional<Device> device, device_of(options));
  CHECK(device.has_value(), "the options name no device");
  report.notes.insert(report.notes.end(), device->warnings.begin(), device->warnings.end());
  JUMAR_ASSIGN(const toolchain::Toolchain tools, needed_toolchain(options, device->target));
  return Maker(request, options, *device, tools, report).made();
}

}  // namespace jumar::driver
