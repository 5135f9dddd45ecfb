// kernels.json for people: `jumar inspect DIR`.
#pragma once

#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar::driver {

// One row for each launch, a line of sums, the called operators. `file` is for diagnostics.
Result<std::string> device_table(std::string_view json, const std::string& file);
// The same without the called operators.
Result<std::string> device_launch_table(std::string_view json, const std::string& file);

}  // namespace jumar::driver
