// What a report page needs beside its content: style sheet and script.
#pragma once

#include <string_view>

namespace jumar::driver::html {

std::string_view style();
std::string_view script();

}  // namespace jumar::driver::html
