// Pieces of HTML text. Everything that comes from a model, a file or an option goes through `escaped`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jumar::driver::html {

// Safe as text and inside of an attribute's quotes. Bytes that are no UTF-8 become U+FFFD, and so do control
// characters other than line ends and tabs.
std::string escaped(std::string_view text);

// 532 B, 4.0 KiB, 12.3 MiB.
std::string bytes_text(int64_t bytes);
// 1,234,567
std::string count_text(size_t count);
// "1 kernel", "2 kernels"
std::string counted(size_t count, std::string_view noun);

// Loop text with the words that structure it made bold.
std::string loop_text(std::string_view text);

}  // namespace jumar::driver::html
