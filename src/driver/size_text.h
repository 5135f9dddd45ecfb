// Numbers of bytes for people: "532 bytes", "4.1 kB", "12.3 MB".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace jumar::driver {

inline std::string size_text(uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1000000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace jumar::driver
