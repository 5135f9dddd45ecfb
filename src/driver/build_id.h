// Names the build of Jumar that is running, for cache keys.
#pragma once

#include <string>

namespace jumar::driver {

inline constexpr const char* kVersion = "0.1.0";

// The linker's build id of the file that holds this code: a hash of everything in it. Empty when the file was
// linked without one; nothing may be cached then.
std::string build_id();

}  // namespace jumar::driver
