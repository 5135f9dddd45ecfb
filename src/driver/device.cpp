#include "driver/device.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kCpu = "cpu";

}  // namespace

Result<std::optional<Device>> device_of(const Options& options) {
  if (options.target() == kCpu) return std::optional<Device>();
  Result<target::Target> found = target::find_target(options.target());
  if (!found.ok()) {
    found.error().notes.push_back(fmt::format("{} is '{}', but must be cpu, a target or a path",
                                              options.source("target"), options.target()));
    return std::move(found.error());
  }
  JUMAR_ASSIGN(Device device, device_of(std::move(*found), options));
  return std::optional<Device>(std::move(device));
}

Result<Device> device_of(target::Target target, const Options& options) {
  Device device;
  device.target = std::move(target);
  JUMAR_ASSIGN(device.limit, target::parse_core_limit(options.device_limit(), device.target,
                                                      options.source("device_limit")));
  device.warnings = options.warnings();
  if (!device.limit.warning.empty()) device.warnings.push_back(device.limit.warning);
  return device;
}

}  // namespace jumar::driver
