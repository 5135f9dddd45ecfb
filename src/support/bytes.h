// Sequences of byte strings in one byte string: a count, then each with its length. What was written reads
// back, and a reader never goes outside the text it was given.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace jumar {

class ByteWriter {
 public:
  void number(uint64_t value) { out_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    out_.append(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<uint64_t> number() {
    uint64_t value = 0;
    if (bytes_.size() < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::optional<std::string_view> text() {
    const std::optional<uint64_t> length = number();
    if (!length || *length > bytes_.size()) return std::nullopt;
    const std::string_view value = bytes_.substr(0, *length);
    bytes_.remove_prefix(*length);
    return value;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace jumar
