#include "driver/toolchain/hivm_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace jumar::driver::toolchain {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '#' || c == '-' || c == '$' ||
         c == '.';
}

// "%4:2" is "%4#0" and "%4#1".
void add_results(std::string_view text, std::vector<std::string>& out) {
  for (const std::string_view part : split_list(text)) {
    const size_t colon = part.find(':');
    if (colon == std::string_view::npos) {
      out.emplace_back(part);
      continue;
    }
    const int64_t count = number_in(part.substr(colon + 1)).value_or(0);
    for (int64_t k = 0; k < count; ++k) out.push_back(fmt::format("{}#{}", part.substr(0, colon), k));
  }
}

HivmSpace space_in(std::string_view text) {
  constexpr std::string_view kMark = "address_space<";
  const size_t at = text.find(kMark);
  if (at == std::string_view::npos) return HivmSpace::kNone;
  const std::string_view word = text.substr(at + kMark.size());
  if (starts_with(word, "gm>")) return HivmSpace::kGm;
  return starts_with(word, "ub>") ? HivmSpace::kUb : HivmSpace::kOther;
}

// "f32", "bf16", "i8", "ui8", "index".
int bits_of(std::string_view element) {
  if (element == "index") return 64;
  while (!element.empty() && std::isdigit(static_cast<unsigned char>(element.front())) == 0)
    element.remove_prefix(1);
  return static_cast<int>(number_in(element).value_or(0));
}

void read_memref(std::string_view inner, HivmType& out) {
  const std::vector<std::string_view> parts = split_list(inner);
  std::string_view shape = parts.empty() ? std::string_view() : parts[0];
  while (!shape.empty() &&
         (shape.front() == '?' || std::isdigit(static_cast<unsigned char>(shape.front())) != 0)) {
    const size_t cross = shape.find('x');
    if (cross == std::string_view::npos) break;
    out.sizes.push_back(shape.front() == '?' ? kDynamic : number_in(shape).value_or(0));
    shape.remove_prefix(cross + 1);
  }
  out.bits = bits_of(shape);
  for (const std::string_view part : parts) {
    constexpr std::string_view kStrided = "strided<";
    if (!starts_with(part, kStrided)) continue;
    size_t at = kStrided.size();
    for (const std::string_view stride : split_list(bracketed(part, at)))
      out.strides.push_back(number_in(stride).value_or(kDynamic));
  }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool starts_with(std::string_view text, std::string_view front) {
  return text.substr(0, front.size()) == front;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at)) {
    size_t end = at + 1;
    while (end < text.size() && is_name_char(text[end])) ++end;
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    // The arrow of a type is no bracket.
    const bool is_arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '(' || c == '[' || c == '<' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '>' || c == '}') && !is_arrow) --depth;
    if (c != ',' || (depth != 0 && at < text.size())) continue;
    if (const std::string_view part = trimmed(text.substr(begin, at - begin)); !part.empty())
      out.push_back(part);
    begin = at + 1;
  }
  return out;
}

std::string_view bracketed(std::string_view text, size_t& at) {
  while (at < text.size() && text[at] == ' ') ++at;
  if (at >= text.size()) return {};
  const char open = text[at];
  const char close = open == '(' ? ')' : open == '[' ? ']' : open == '<' ? '>' : open == '{' ? '}' : '\0';
  if (close == '\0') return {};
  int depth = 0;
  for (size_t end = at; end < text.size(); ++end) {
    if (text[end] == open) ++depth;
    if (text[end] != close || (close == '>' && text[end - 1] == '-')) continue;
    if (--depth > 0) continue;
    const std::string_view out = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return out;
  }
  return {};
}

std::optional<int64_t> number_in(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

HivmType type_in(std::string_view text) {
  text = trimmed(text);
  HivmType out;
  constexpr std::string_view kMemref = "memref";
  if (starts_with(text, "memref<")) {
    out.kind = HivmType::Kind::kMemref;
    out.space = space_in(text);
    size_t at = kMemref.size();
    read_memref(bracketed(text, at), out);
    return out;
  }
  const std::string_view word = text.substr(0, text.find_first_of(" ,){"));
  out.bits = bits_of(word);
  if (word == "index" || (!word.empty() && word.front() == 'i' && out.bits > 0)) {
    out.kind = HivmType::Kind::kInt;
  } else if (starts_with(word, "f") || starts_with(word, "bf")) {
    out.kind = HivmType::Kind::kFloat;
  }
  return out;
}

int last_bits(std::string_view text) {
  text = trimmed(text);
  const std::string_view word = text.substr(text.find_last_of(" :") + 1);
  if (word.empty() || word.front() != 'i' || word == "index") return 64;
  const int bits = bits_of(word);
  return bits > 0 && bits <= 64 ? bits : 64;
}

HivmLine::HivmLine(std::string_view text) {
  text = trimmed(text);
  if (starts_with(text, "%")) {
    const size_t equals = text.find(" = ");
    if (equals != std::string_view::npos) {
      add_results(text.substr(0, equals), results);
      text = trimmed(text.substr(equals + 3));
    }
  }
  if (starts_with(text, "\"")) {
    const size_t quote = std::min(text.find('"', 1), text.size());
    op = text.substr(1, quote - 1);
    rest = text.substr(std::min(quote + 1, text.size()));
    return;
  }
  const size_t end = std::min(text.find_first_of(" ([<"), text.size());
  op = text.substr(0, end);
  rest = text.substr(end);
}

std::vector<std::string> HivmLine::names() const { return names_in(rest); }

}  // namespace jumar::driver::toolchain
