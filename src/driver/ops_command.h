// `jumar ops`: which operators are lowered, and why others are called.
#pragma once

#include <string>
#include <vector>

namespace jumar::driver {

// A line for each pattern: the name of an operator. Where a pattern has a * at its end, the rows that begin
// like it; without patterns, all rows.
std::string ops_text(const std::vector<std::string>& patterns);

}  // namespace jumar::driver
