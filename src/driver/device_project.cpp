#include "driver/device_project.h"

#include <fcntl.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "driver/device_json.h"
#include "driver/model_source.h"
#include "driver/scratch_directory.h"
#include "emit/triton/emit_triton.h"
#include "loop/single_kernel.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kStages = {"loop", "ttir", "triton", "linalg", "hivm"};

std::string stage_text(std::string_view stage, const loop::Program& program, const DeviceLaunch& launch) {
  const NpuKernel& kernel = *launch.kernel;
  if (stage == "loop") return loop::write_program(loop::single_kernel(program, *launch.loops));
  if (stage == "ttir") return kernel.ttir;
  if (stage == "triton") return emit::triton::emit_triton(program, kernel.choice.kernel);
  return stage == "linalg" ? kernel.linalg() : kernel.check.compiled.hivm;
}

class Maker {
 public:
  Maker(const DeviceProjectRequest& request, const Options& options, Report& report)
      : request_(request), options_(options), report_(report) {}

  Result<DeviceProject> made() {
    tell("reading");
    JUMAR_ASSIGN(const std::optional<Device> device, device_of(options_));
    CHECK(device.has_value(), "the options name no device");
    report_.notes.insert(report_.notes.end(), device->warnings.begin(), device->warnings.end());
    JUMAR_ASSIGN(const toolchain::Toolchain tools, needed_toolchain(options_, device->target));
    JUMAR_ASSIGN(Dumps dumps, Dumps::create({}, [](std::string_view, const std::string&) {}));
    Stages stages(options_, report_, dumps);
    JUMAR_ASSIGN(ModelSource source, read_model(request_.input, request_.model, stages, report_));
    tell("compiling");
    JUMAR_RETURN_IF_ERROR(stages.optimize(source.graph));
    JUMAR_ASSIGN(const NpuParts parts, compiled(stages, source.graph, *device, tools));
    tell("counting");
    const StageTimer timer(report_, "count");
    const SizeValues sizes = hinted_sizes(parts.program);
    JUMAR_ASSIGN(const std::vector<DeviceLaunch> launches, device_launches(parts, *device, sizes));
    const std::vector<std::string> wanted = wanted_stages();
    DeviceProject out;
    out.launches = launches.size();
    out.json = device_json({parts, *device, tools, sizes, launches, report_, wanted, {}});
    out.files.push_back({kKernelsFile, out.json});
    out.files.push_back({"plan.txt", plan::write_plan(parts.plan)});
    for (const DeviceLaunch& launch : launches)
      for (const std::string& stage : wanted)
        out.files.push_back({stage_file(*launch.kernel, stage), stage_text(stage, parts.program, launch)});
    return out;
  }

 private:
  void tell(std::string_view stage) const {
    if (request_.progress) request_.progress(stage);
  }

  // In the order of the stages, each once.
  std::vector<std::string> wanted_stages() const {
    std::vector<std::string> out;
    for (const std::string_view stage : kStages)
      if (request_.stages.empty() || std::ranges::find(request_.stages, stage) != request_.stages.end())
        out.emplace_back(stage);
    return out;
  }

  Result<NpuParts> compiled(Stages& stages, const graph::Graph& graph, const Device& device,
                            const toolchain::Toolchain& tools) {
    const NpuSettings settings(
        options_, [&](size_t done, size_t total) { tell(fmt::format("kernel {} of {}", done, total)); });
    return compile_for_npu(stages, graph, device, &tools, settings.npu, report_);
  }

  const DeviceProjectRequest& request_;
  const Options& options_;
  Report& report_;
};

bool is_device_project(const fs::path& directory) {
  const Result<std::string> text = bytes_of_file((directory / kKernelsFile).string());
  return text.ok() && text->find(kDeviceProjectFormat) != std::string::npos;
}

// Puts `made` where `directory` is; what was there ends in `made`'s place.
Status take_place(const std::string& made, const std::string& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) {
    fs::rename(made, directory, error);
  } else if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) != 0) {
    // The file system cannot exchange.
    fs::rename(directory, made + "/replaced", error);
    if (!error) fs::rename(made, directory, error);
    if (!error) fs::remove_all(directory + "/replaced", error);
  }
  if (!error) return {};
  return diagnostic("io", "cannot make the folder '{}': {}", directory, error.message());
}

}  // namespace

std::span<const std::string_view> device_stages() { return kStages; }

Result<DeviceProject> device_project(const DeviceProjectRequest& request, const Options& options,
                                     Report& report) {
  return Maker(request, options, report).made();
}

Status write_device_project(const DeviceProject& project, const std::string& directory) {
  std::error_code error;
  const fs::path path = fs::absolute(directory).lexically_normal();
  const fs::path target = path.has_filename() ? path : path.parent_path();
  if (fs::exists(target, error)) {
    const bool is_free =
        fs::is_directory(target, error) && (fs::is_empty(target, error) || is_device_project(target));
    if (!is_free)
      return diagnostic("io",
                        "'{}' is there and holds something else than kernels for a device: it is left alone",
                        directory);
  }
  fs::create_directories(target.parent_path(), error);
  if (error)
    return diagnostic("io", "cannot make the folder '{}': {}", target.parent_path().string(),
                      error.message());
  JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(target.parent_path().string()));
  const std::string made = scratch.path() + "/made";
  fs::create_directory(made, error);
  for (const DeviceFile& file : project.files)
    JUMAR_RETURN_IF_ERROR(write_file(fmt::format("{}/{}", made, file.name), file.text));
  return take_place(made, target.string());
}

}  // namespace jumar::driver
