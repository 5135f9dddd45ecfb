// The device that options name, and how much of it may be used.
//
//   JUMAR_ASSIGN(const std::optional<Device> device, device_of(options));
//   if (device) device->limit.vector_cores;
//
// Options that are about devices are checked here, where a device is asked for, and nowhere else: with
// target=cpu, whatever they say does not matter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/options.h"
#include "target/core_limit.h"

namespace jumar::driver {

struct Device {
  target::Target target;
  target::CoreLimit limit;
  // To be shown once: a limit of another ratio than the device's, a value that counts as the default.
  std::vector<std::string> warnings;
};

// Nothing for target=cpu.
Result<std::optional<Device>> device_of(const Options& options);

// Of a target that something else has named.
Result<Device> device_of(target::Target target, const Options& options);

}  // namespace jumar::driver
