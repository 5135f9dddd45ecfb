// From an exported program to a package for an NPU: `jumar compile --target=Ascend910B1`.
//
//   JUMAR_ASSIGN(PackageSummary made, compile_device_package(request, options, report));
//
// Beside what every package holds (driver/package_contents.h):
//
//   model.wrapper.so                 the host program for this architecture: runtime and plans, no kernels
//   host/x86_64.o, host/aarch64.o    plans and launches for programs that launch kernels (jumar/device.h)
//   kernels/gelu.linalg.mlir         a kernel's code as the toolchain's front end made it
//   kernels/gelu.o                   the same for the device, where the device linker was there
//   device.target                    the device, complete
//   device.json                      which kernel of the plans is which code (driver/device_archive.h)
//   kernels.json                     what each launch is and costs, for people
//   model.plan, model.folding, model.manifest
//
// Nothing in a package depends on how many cores launches may use: that is decided where it runs.
#pragma once

#include "driver/package.h"

namespace jumar::driver {

// `options` name a device. Its toolchain must be there.
Result<PackageSummary> compile_device_package(const PackageRequest& request, const Options& options,
                                              Report& report);

}  // namespace jumar::driver
