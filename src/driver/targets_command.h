// `jumar targets`: the devices that kernels can be made for.
#pragma once

#include <string>

#include "support/result.h"

namespace jumar::driver {

// Without a name, a line for each known target; with one, or a path, the whole of that target
// (docs/targets.md).
Result<std::string> targets_text(const std::string& name_or_path);

}  // namespace jumar::driver
