// Texts that come from anywhere, made safe to show.
//
//   printable("a\x1b[2Jb\n")        "a\uFFFD[2Jb\uFFFD"
//
// Bytes that are no UTF-8 and control characters, which a terminal would obey, become U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jumar::driver {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// How many bytes the UTF-8 character at the front of a text takes; 0 where there is none. The text is not
// empty.
size_t utf8_character_bytes(std::string_view text);

// On one line.
std::string printable(std::string_view text);
// Ends of lines stay.
std::string printable_lines(std::string_view text);

}  // namespace jumar::driver
