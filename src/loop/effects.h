// Which called operators must keep their order.
#pragma once

#include <string_view>

namespace jumar::loop {

// Random operators (they advance the generator) and calls that only Python can make (which may do anything)
// run in program order and are never dropped or merged.
bool is_ordered_call(std::string_view op);

}  // namespace jumar::loop
