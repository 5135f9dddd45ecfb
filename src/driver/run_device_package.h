// `jumar run --sim` of a package for an NPU.
#pragma once

#include "driver/run_command.h"

namespace jumar::driver {

// `arguments` have inputs.
Status run_device_package(const RunArguments& arguments, const Options& base);

}  // namespace jumar::driver
