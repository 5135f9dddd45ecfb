#include "support/npy.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "support/files.h"

namespace jumar {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are taken as they are");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignmentBytes = 64;
constexpr size_t kMostDimensions = 64;

struct TypeRow {
  std::string_view type;
  int64_t bytes;
};
constexpr std::array<TypeRow, 14> kTypes = {{{"|b1", 1},
                                             {"|u1", 1},
                                             {"|i1", 1},
                                             {"<u2", 2},
                                             {"<i2", 2},
                                             {"<u4", 4},
                                             {"<i4", 4},
                                             {"<u8", 8},
                                             {"<i8", 8},
                                             {"<f2", 2},
                                             {"<f4", 4},
                                             {"<f8", 8},
                                             {"<V2", 2},
                                             {"|V2", 2}}};

// The header is a Python dict of three entries: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class Header {
 public:
  explicit Header(std::string_view text) : rest_(text) {}

  bool parse(NpyArray& array) {
    bool has_type = false;
    bool has_order = false;
    bool has_sizes = false;
    if (!take("{")) return false;
    while (!take("}")) {
      std::string_view key;
      if (!text(key) || !take(":")) return false;
      bool* known = key == "descr"           ? &has_type
                    : key == "fortran_order" ? &has_order
                    : key == "shape"         ? &has_sizes
                                             : nullptr;
      if (!known || std::exchange(*known, true)) return false;
      if (!value(key, array)) return false;
      if (!take(",") && !next_is("}")) return false;
    }
    skip_space();
    return rest_.empty() && has_type && has_order && has_sizes;
  }

 private:
  bool value(std::string_view key, NpyArray& array) {
    if (key == "shape") return tuple(array.sizes);
    if (key == "fortran_order") {
      array.is_column_major = take("True");
      return array.is_column_major || take("False");
    }
    std::string_view type;
    if (!text(type)) return false;
    array.type = type;
    return true;
  }

  bool tuple(std::vector<int64_t>& out) {
    if (!take("(")) return false;
    while (!take(")")) {
      int64_t number = 0;
      skip_space();
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
      if (error != std::errc() || number < 0 || out.size() == kMostDimensions) return false;
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      out.push_back(number);
      if (!take(",") && !next_is(")")) return false;
    }
    return true;
  }

  bool text(std::string_view& out) {
    if (!take("'")) return false;
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
  bool next_is(std::string_view word) {
    skip_space();
    return rest_.starts_with(word);
  }
  bool take(std::string_view word) {
    if (!next_is(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string_view rest_;
};

// Nothing where the number does not fit into 63 bits.
std::optional<int64_t> element_bytes(const NpyArray& array) {
  int64_t bytes = npy_type_bytes(array.type);
  // A size of 0 makes an empty array whatever the others are.
  if (std::ranges::find(array.sizes, 0) != array.sizes.end()) return 0;
  for (int64_t size : array.sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return bytes;
}

std::string header_text(const NpyArray& array) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", array.type,
                     array.is_column_major ? "True" : "False", fmt::join(array.sizes, ", "),
                     array.sizes.size() == 1 ? "," : "");
}

}  // namespace

int64_t npy_type_bytes(std::string_view type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? 0 : row->bytes;
}

Result<NpyArray> parse_npy(std::span<const uint8_t> bytes, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + 2)
    return diagnostic("input", "{} is no .npy file", file);
  const uint8_t version = bytes[kMagic.size()];
  if (version < 1 || version > 3)
    return diagnostic("input", "{} is a .npy file of format {}, not 1 to 3", file, version);
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t header_at = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < header_at) return diagnostic("input", "{} ends within its header", file);
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + kMagic.size() + 2, length_bytes);
  if (bytes.size() - header_at < length) return diagnostic("input", "{} ends within its header", file);
  NpyArray array;
  if (!Header(text.substr(header_at, length)).parse(array))
    return diagnostic("input", "{} has a header of another form than .npy files", file);
  if (npy_type_bytes(array.type) == 0)
    return diagnostic("input", "{} has elements of type '{}', which are not read", file, array.type);
  const std::optional<int64_t> wanted = element_bytes(array);
  const std::span<const uint8_t> elements = bytes.subspan(header_at + length);
  if (!wanted || static_cast<uint64_t>(*wanted) != elements.size())
    return diagnostic("input", "{} has {} bytes of elements, which are not {} of type '{}'", file,
                      elements.size(), fmt::join(array.sizes, "*"), array.type);
  array.elements.assign(elements.begin(), elements.end());
  return array;
}

Result<NpyArray> read_npy(const std::string& path) {
  JUMAR_ASSIGN(const std::string text, bytes_of_file(path));
  return parse_npy({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, path);
}

std::string npy_bytes(const NpyArray& array) {
  const std::optional<int64_t> bytes = element_bytes(array);
  CHECK(npy_type_bytes(array.type) > 0 && bytes && static_cast<uint64_t>(*bytes) == array.elements.size(),
        "{} bytes of type '{}'", array.elements.size(), array.type);
  std::string header = header_text(array);
  const size_t before = kMagic.size() + 4;
  const size_t used = before + header.size() + 1;
  header.append((kAlignmentBytes - used % kAlignmentBytes) % kAlignmentBytes, ' ');
  header += '\n';
  CHECK(header.size() <= UINT16_MAX, "{} dimensions", array.sizes.size());
  std::string out(kMagic);
  out += std::string_view("\x01\x00", 2);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char*>(array.elements.data()), array.elements.size());
  return out;
}

Status write_npy(const std::string& path, const NpyArray& array) {
  return write_file(path, npy_bytes(array));
}

}  // namespace jumar
