#include "driver/device_launches.h"

#include <algorithm>
#include <set>

#include "driver/kernel_counts.h"
#include "tile/npu/walk.h"

namespace jumar::driver {
namespace {

using tile::npu::BlockInst;
using tile::npu::BlockKind;
using tile::npu::BlockOp;

bool is_wide_integer(ir::DType dtype) { return dtype == ir::DType::kI64 || dtype == ir::DType::kU64; }

// The cause in the block program, for an instruction that the toolchain may take apart.
std::optional<std::string> scalar_reason(const loop::Program& program, const tile::npu::BlockKernel& kernel,
                                         const tile::npu::BlockNest& nest,
                                         const std::set<tile::npu::BlockId>& data, const BlockInst& inst) {
  const auto buffer = [&] { return program.buffers[kernel.buffers[inst.access.buffer]].name; };
  switch (inst.kind) {
    case BlockKind::kLoad:
      if (inst.access.index) return fmt::format("gather from %{}", buffer());
      return std::nullopt;
    case BlockKind::kStore:
      if (inst.access.index) return fmt::format("scatter to %{}", buffer());
      return std::nullopt;
    case BlockKind::kScan:
      return "scan";
    case BlockKind::kReduce:
    case BlockKind::kOp:
      if (data.contains(inst.result) && is_wide_integer(nest.values[inst.operands[0]].dtype))
        return "int64 arithmetic";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::vector<std::string> scalar_reasons(const loop::Program& program, const tile::npu::BlockKernel& kernel) {
  std::set<std::string> reasons;
  for (const tile::npu::BlockNest& nest : kernel.nests) {
    const std::set<tile::npu::BlockId> data = tile::npu::data_values(nest);
    tile::npu::for_each_inst(nest.body, [&](const BlockInst& inst) {
      if (std::optional<std::string> reason = scalar_reason(program, kernel, nest, data, inst))
        reasons.insert(std::move(*reason));
    });
  }
  if (reasons.empty()) reasons.insert("of the toolchain's own: nothing in the kernel asks for it");
  return {reasons.begin(), reasons.end()};
}

class Facts {
 public:
  Facts(const NpuParts& parts, const Device& device, const SizeValues& sizes)
      : parts_(parts), device_(device), sizes_(sizes), costs_(toolchain::costs_of(device.target)) {}

  Result<DeviceLaunch> of(const std::string& name) const {
    DeviceLaunch launch;
    const auto kernel = std::ranges::find(parts_.kernels.kernels, name, &NpuKernel::name);
    CHECK(kernel != parts_.kernels.kernels.end(), "the plan launches @{}, which is not there", name);
    launch.kernel = &*kernel;
    for (const loop::Item& item : parts_.program.items)
      if (const auto* loops = std::get_if<loop::Kernel>(&item); loops != nullptr && loops->name == name)
        launch.loops = loops;
    CHECK(launch.loops != nullptr, "kernel @{} has no loops", name);
    JUMAR_ASSIGN(LaunchNumbers numbers,
                 launch_numbers(parts_.program, kernel->choice.kernel, device_.limit.vector_cores, sizes_));
    launch.grid = numbers.grid;
    launch.scalars = numbers.scalars;
    JUMAR_ASSIGN(launch.least, least_traffic(parts_.program, *launch.loops, sizes_));
    count(launch);
    return launch;
  }

 private:
  void count(DeviceLaunch& launch) const {
    if (!launch.kernel->is_checked) {
      launch.not_counted = "there is no compiled code";
      return;
    }
    const Result<toolchain::HivmTraffic> traffic =
        counted(launch.kernel->check, {launch.grid, launch.scalars}, device_.limit);
    if (!traffic.ok()) {
      launch.not_counted = traffic.error().text();
      return;
    }
    launch.traffic = *traffic;
    launch.time = toolchain::estimated_time(*traffic, costs_);
    if (traffic->total.scalar_elements > 0)
      launch.scalar_reasons = scalar_reasons(parts_.program, launch.kernel->choice.kernel);
  }

  const NpuParts& parts_;
  const Device& device_;
  const SizeValues& sizes_;
  toolchain::HivmCosts costs_;
};

}  // namespace

std::optional<double> DeviceLaunch::ratio_with_broadcast() const { return over(least_bytes_on_cores()); }

std::optional<double> DeviceLaunch::ratio() const { return over(least.bytes()); }

std::optional<double> DeviceLaunch::over(int64_t least_bytes) const {
  if (!traffic || !traffic->unknown.empty() || least_bytes == 0) return std::nullopt;
  return static_cast<double>(bytes()) / static_cast<double>(least_bytes);
}

Result<std::vector<DeviceLaunch>> device_launches(const NpuParts& parts, const Device& device,
                                                  const SizeValues& sizes) {
  std::vector<DeviceLaunch> out;
  const Facts facts(parts, device, sizes);
  for (const plan::Step& step : parts.plan.steps) {
    const auto* launch = std::get_if<plan::LaunchStep>(&step.data);
    if (launch == nullptr) continue;
    JUMAR_ASSIGN(DeviceLaunch row, facts.of(launch->kernel));
    out.push_back(std::move(row));
  }
  return out;
}

std::string_view use_of(const loop::Kernel& kernel, loop::BufferId buffer) {
  bool is_read = false;
  bool is_written = false;
  for (const loop::Nest& nest : kernel.nests)
    for (const loop::Stage& stage : nest.stages)
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.buffer != buffer) continue;
        is_read = is_read || line.inst.kind == loop::InstKind::kLoad;
        is_written = is_written || line.inst.kind == loop::InstKind::kStore;
      }
  return is_read && is_written ? "read and written" : is_written ? "written" : "read";
}

}  // namespace jumar::driver
