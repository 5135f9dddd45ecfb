#include "driver/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "driver/utf8.h"

namespace jumar::driver::html {
namespace {

// A control character that a page may not hold.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x7F || (byte < 0x20 && c != '\n' && c != '\t');
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
    const size_t size = utf8_character_bytes(text);
    if (size == 0 || is_control(text[0])) {
      out += kReplacementCharacter;
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
