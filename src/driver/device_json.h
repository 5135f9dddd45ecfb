// kernels.json of a device project. Schema and an example: docs/ascend.md.
#pragma once

#include <span>

#include "driver/device_launches.h"
#include "driver/report.h"
#include "driver/toolchain/toolchain.h"

namespace jumar::driver {

struct DeviceJson {
  const NpuParts& parts;
  const Device& device;
  const toolchain::Toolchain& tools;
  const SizeValues& sizes;
  std::span<const DeviceLaunch> launches;
  const Report& report;
  std::span<const std::string> stages;  // the words of --emit whose files are there
};

// The first member, by which such a file is known.
inline constexpr std::string_view kDeviceProjectFormat = "jumar device project 1";
inline constexpr const char* kKernelsFile = "kernels.json";

std::string device_json(const DeviceJson& facts);

// What the file of a kernel's stage is called: "softmax.ttir.mlir".
std::string stage_file(const NpuKernel& kernel, std::string_view stage);

}  // namespace jumar::driver
