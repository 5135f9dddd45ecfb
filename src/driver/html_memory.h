// The memory of a call as a picture: steps from left to right, bytes from bottom to top, a box for each
// buffer.
#pragma once

#include <string>

#include "driver/memory_map.h"

namespace jumar::driver::html {

// The chart as SVG and, below it, the table of the buffers.
std::string memory_chart(const plan::Plan& plan, const MemoryMap& map);
std::string memory_table(const plan::Plan& plan, const MemoryMap& map);

}  // namespace jumar::driver::html
