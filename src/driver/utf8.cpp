#include "driver/utf8.h"

namespace jumar::driver {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Of a character of that many bytes: of ASCII, or from U+0080 to U+009F.
bool is_control(std::string_view text, size_t size) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (size == 1) return lead < 0x20 || lead == 0x7F;
  return size == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
}

std::string shown(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = utf8_character_bytes(text);
    const bool is_kept = size > 0 && ((keeps_lines && text[0] == '\n') || !is_control(text, size));
    out += is_kept ? text.substr(0, size) : kReplacementCharacter;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace

size_t utf8_character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xF0 && lead <= 0xF4  ? 4
                      : lead >= 0xE0 && lead < 0xF0 ? 3
                      : lead >= 0xC2 && lead < 0xE0 ? 2
                                                    : 0;
  if (size == 0 || text.size() < size) return 0;
  for (size_t k = 1; k < size; ++k)
    if (!is_continuation(text[k])) return 0;
  // Longer than needed, a surrogate, or beyond the last character.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_broken = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
                         (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90);
  return is_broken ? 0 : size;
}

std::string printable(std::string_view text) { return shown(text, false); }
std::string printable_lines(std::string_view text) { return shown(text, true); }

}  // namespace jumar::driver
