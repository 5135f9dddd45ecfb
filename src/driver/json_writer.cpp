#include "driver/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "driver/utf8.h"
#include "support/check.h"

namespace jumar::driver {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t size = utf8_character_bytes(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (size == 0) {
      out += kReplacementCharacter;
    } else if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[0];
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out + '"';
}

JsonWriter& JsonWriter::end() {
  CHECK(!open_.empty() && !follows_key_, "nothing to end");
  out_ += open_.back();
  open_.pop_back();
  is_first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  CHECK(!open_.empty() && open_.back() == '}' && !follows_key_, "no object takes the member {}", name);
  separate();
  out_ += json_text(name) + ": ";
  follows_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  CHECK(std::isfinite(value), "JSON has no {}", value);
  return put(fmt::format("{:.6g}", value));
}

std::string JsonWriter::take() {
  CHECK(open_.empty(), "something is not ended");
  return std::move(out_);
}

JsonWriter& JsonWriter::open(char begin, char end) {
  put(std::string_view(&begin, 1));
  open_ += end;
  is_first_ = true;
  return *this;
}

JsonWriter& JsonWriter::put(std::string_view value) {
  if (!std::exchange(follows_key_, false)) separate();
  out_ += value;
  return *this;
}

void JsonWriter::separate() {
  if (!std::exchange(is_first_, false) && !open_.empty()) out_ += ", ";
}

}  // namespace jumar::driver
