// kernels.json of a device project. Schema and an example: docs/ascend.md.
#pragma once

#include <optional>
#include <span>

#include "driver/device_launches.h"
#include "driver/report.h"
#include "driver/toolchain/toolchain.h"

namespace jumar::driver {

// The launches of one plan.
struct PlanLaunches {
  const NpuParts& parts;
  std::span<const DeviceLaunch> launches;
  std::string_view prefix;  // of kernels' names in the package's plan
};

struct DeviceJson {
  const NpuParts& parts;
  const Device& device;
  const toolchain::Toolchain& tools;
  const SizeValues& sizes;
  std::span<const DeviceLaunch> launches;
  const Report& report;
  std::span<const std::string> stages;  // the words of --emit whose files are there
  std::optional<PlanLaunches> at_load;  // what is computed of the weights when a package is loaded
};

// The first member, by which such a file is known.
inline constexpr std::string_view kDeviceProjectFormat = "jumar device project 1";
inline constexpr const char* kKernelsFile = "kernels.json";

std::string device_json(const DeviceJson& facts);

// What the file of a kernel's stage is called: "softmax.ttir.mlir".
std::string stage_file(const NpuKernel& kernel, std::string_view stage);

}  // namespace jumar::driver
