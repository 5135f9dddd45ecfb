#include "driver/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jumar::driver::html {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// How many bytes the UTF-8 character at the front takes; 0 where there is none.
size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : lead == '\n' || lead == '\t' ? 1 : 0;
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

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

constexpr std::array<std::string_view, 9> kWords = {"kernel", "nest",  "stage", "tile",  "load",
                                                    "store",  "local", "scan",  "reduce"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    if (size == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    const std::string_view replaced = entity(text[0]);
    out += replaced.empty() ? text.substr(0, size) : replaced;
    text.remove_prefix(size);
  }
  return out;
}

std::string bytes_text(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // What would be printed as 1024.0 is one of the next unit.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string count_text(size_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

std::string loop_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = 1;
    if (text[0] == '%' || text[0] == '@' || is_letter(text[0])) {
      while (end < text.size() && is_word(text[end])) ++end;
      const std::string_view word = text.substr(0, end);
      const bool is_known = std::ranges::find(kWords, word) != kWords.end();
      out += is_known ? fmt::format("<b>{}</b>", word) : escaped(word);
    } else {
      while (end < text.size() && text[end] != '%' && text[end] != '@' && !is_letter(text[end])) ++end;
      out += escaped(text.substr(0, end));
    }
    text.remove_prefix(end);
  }
  return out;
}

}  // namespace jumar::driver::html
