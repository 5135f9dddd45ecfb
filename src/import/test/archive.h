// Archives for tests: written here, entry by entry, or taken from src/import/test/archives.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace jumar::import::test {

using Bytes = std::vector<uint8_t>;

inline Bytes file_bytes(const std::string& name) {
  std::ifstream file(std::string(JUMAR_TEST_DIR) + "/archives/" + name, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// A zip archive of stored entries, as torch writes them but for the alignment.
class ZipWriter {
 public:
  void add(const std::string& name, const std::string& body, uint16_t method = 0) {
    const auto crc =
        static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
    const auto offset = static_cast<uint32_t>(bytes_.size());
    number(0x04034b50, 4), number(20, 2), number(0, 2), number(method, 2), number(0, 4), number(crc, 4);
    number(body.size(), 4), number(body.size(), 4), number(name.size(), 2), number(0, 2);
    append(bytes_, name), append(bytes_, body);
    std::swap(bytes_, directory_);
    number(0x02014b50, 4), number(20, 2), number(20, 2), number(0, 2), number(method, 2), number(0, 4);
    number(crc, 4), number(body.size(), 4), number(body.size(), 4), number(name.size(), 2);
    number(0, 2), number(0, 2), number(0, 2), number(0, 2), number(0, 4), number(offset, 4);
    append(bytes_, name);
    std::swap(bytes_, directory_);
    ++count_;
  }

  Bytes finish() {
    const size_t offset = bytes_.size();
    bytes_.insert(bytes_.end(), directory_.begin(), directory_.end());
    number(0x06054b50, 4), number(0, 2), number(0, 2), number(count_, 2), number(count_, 2);
    number(directory_.size(), 4), number(offset, 4), number(0, 2);
    return bytes_;
  }

 private:
  void number(uint64_t value, int count) {
    for (int k = 0; k < count; ++k) bytes_.push_back(static_cast<uint8_t>(value >> (8 * k)));
  }
  static void append(Bytes& out, const std::string& text) { out.insert(out.end(), text.begin(), text.end()); }

  Bytes bytes_;
  Bytes directory_;
  size_t count_ = 0;
};

}  // namespace jumar::import::test
