// What the cache keeps of a compiled graph: the plan, the code of its kernels and the report, as bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/kernels.h"

namespace jumar::driver {

struct GraphEntry {
  std::string plan_text;
  std::string report_body;
  std::vector<KernelObject> kernels;
};

std::string entry_bytes(const GraphEntry& entry);
// Nothing when the bytes are not what entry_bytes gave.
std::optional<GraphEntry> entry_from_bytes(std::string_view bytes);

}  // namespace jumar::driver
