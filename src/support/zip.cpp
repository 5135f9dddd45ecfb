#include "support/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "support/zip_format.h"

namespace jumar {
namespace {

using namespace zip_format;
using Bytes = std::span<const uint8_t>;

constexpr size_t kLongestComment = 0xffff;
constexpr uint16_t kEncrypted = 1;
constexpr size_t kMostEntries = 1 << 20;

// A little-endian number; the caller has checked that it lies within the bytes.
template <class T>
T number(Bytes bytes, size_t at) {
  uint64_t value = 0;
  for (size_t k = 0; k < sizeof(T); ++k) value |= static_cast<uint64_t>(bytes[at + k]) << (8 * k);
  return static_cast<T>(value);
}

struct Directory {
  uint64_t count = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};

class Reader {
 public:
  Reader(Bytes bytes, const std::string& file, ZipArchive::Packing allowed)
      : bytes_(bytes), file_(file), allowed_(allowed) {}

  Status run(std::map<std::string, ZipEntry>& entries) {
    JUMAR_ASSIGN(const Directory directory, find_directory());
    if (directory.count > kMostEntries) return fault("it claims to have {} entries", directory.count);
    directory_offset_ = directory.offset;
    const Bytes rows = bytes_.subspan(directory.offset, directory.size);
    size_t at = 0;
    for (uint64_t k = 0; k < directory.count; ++k) {
      JUMAR_ASSIGN(const size_t used, entry(rows.subspan(at), entries));
      at += used;
    }
    return {};
  }

 private:
  template <class... Args>
  Diagnostic fault(fmt::format_string<Args...> format, Args&&... args) const {
    Diagnostic out = diagnostic("archive", "not a usable zip archive: {}",
                                fmt::format(format, std::forward<Args>(args)...));
    out.where.file = file_;
    return out;
  }

  bool holds(uint64_t offset, uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  // The end record is the last thing in the file but for a comment.
  std::optional<size_t> end_record() const {
    if (bytes_.size() < kEndBytes) return std::nullopt;
    const size_t last = bytes_.size() - kEndBytes;
    const size_t first = last > kLongestComment ? last - kLongestComment : 0;
    for (size_t at = last + 1; at-- > first;) {
      if (number<uint32_t>(bytes_, at) != kEndMark) continue;
      if (at + kEndBytes + number<uint16_t>(bytes_, at + 20) == bytes_.size()) return at;
    }
    return std::nullopt;
  }

  Result<Directory> find_directory() const {
    const std::optional<size_t> end = end_record();
    if (!end) return fault("its directory is missing; it may be truncated");
    if (number<uint16_t>(bytes_, *end + 4) != 0 || number<uint16_t>(bytes_, *end + 6) != 0)
      return fault("it has several parts");
    Directory directory;
    directory.count = number<uint16_t>(bytes_, *end + 10);
    directory.size = number<uint32_t>(bytes_, *end + 12);
    directory.offset = number<uint32_t>(bytes_, *end + 16);
    if (directory.count == kCountIs64 || directory.size == kIs64 || directory.offset == kIs64) {
      JUMAR_RETURN_IF_ERROR(read_end64(*end, directory));
    }
    if (!holds(directory.offset, directory.size) || directory.offset + directory.size > *end)
      return fault("its directory at byte {} of {} bytes lies outside of it", directory.offset,
                   directory.size);
    return directory;
  }

  Status read_end64(size_t end, Directory& directory) const {
    if (end < kEnd64LocatorBytes || number<uint32_t>(bytes_, end - kEnd64LocatorBytes) != kEnd64LocatorMark)
      return fault("its 64-bit directory is missing");
    const auto at = number<uint64_t>(bytes_, end - kEnd64LocatorBytes + 8);
    if (!holds(at, kEnd64Bytes) || number<uint32_t>(bytes_, at) != kEnd64Mark)
      return fault("its 64-bit directory is not where it should be");
    directory.count = number<uint64_t>(bytes_, at + 32);
    directory.size = number<uint64_t>(bytes_, at + 40);
    directory.offset = number<uint64_t>(bytes_, at + 48);
    return {};
  }

  // One row of the directory; gives its length.
  Result<size_t> entry(Bytes row, std::map<std::string, ZipEntry>& entries) const {
    if (row.size() < kEntryBytes || number<uint32_t>(row, 0) != kEntryMark)
      return fault("its directory is broken");
    const size_t name_bytes = number<uint16_t>(row, 28);
    const size_t extra_bytes = number<uint16_t>(row, 30);
    const size_t used = kEntryBytes + name_bytes + extra_bytes + number<uint16_t>(row, 32);
    if (used > row.size()) return fault("its directory is broken");
    const Bytes name_span = row.subspan(kEntryBytes, name_bytes);
    const std::string name(name_span.begin(), name_span.end());
    JUMAR_RETURN_IF_ERROR(check_name(name));
    if (number<uint16_t>(row, 8) & kEncrypted) return fault("entry '{}' is encrypted", name);
    const auto method = number<uint16_t>(row, 10);
    const bool is_deflated = method == kDeflated && allowed_ == ZipArchive::Packing::kDeflate;
    if (method != 0 && !is_deflated)
      return fault("entry '{}' is compressed (method {}); entries must be stored as they are", name, method);
    uint64_t stored = number<uint32_t>(row, 20);
    uint64_t size = number<uint32_t>(row, 24);
    uint64_t offset = number<uint32_t>(row, 42);
    JUMAR_RETURN_IF_ERROR(
        read_extra64(row.subspan(kEntryBytes + name_bytes, extra_bytes), name, size, stored, offset));
    if (stored != size && !is_deflated)
      return fault("entry '{}' has two sizes, {} and {}", name, stored, size);
    JUMAR_ASSIGN(ZipEntry found, located(name, offset, stored));
    found.crc = number<uint32_t>(row, 16);
    found.is_deflated = is_deflated;
    found.plain_bytes = size;
    if (!entries.emplace(name, found).second) return fault("there are two entries '{}'", name);
    return used;
  }

  Status check_name(const std::string& name) const {
    if (name.empty()) return fault("an entry has no name");
    const bool is_text = std::none_of(name.begin(), name.end(), [](char c) {
      return c == '\\' || c == '\0' || static_cast<unsigned char>(c) < 0x20;
    });
    if (!is_text || name.front() == '/')
      return fault("entry {} has a name that is no relative path", quoted_name(name));
    for (size_t begin = 0; begin <= name.size();) {
      const size_t end = std::min(name.find('/', begin), name.size());
      if (const std::string part = name.substr(begin, end - begin); part == ".." || part == ".")
        return fault("entry {} has a name that leaves the archive", quoted_name(name));
      begin = end + 1;
    }
    return {};
  }

  static std::string quoted_name(const std::string& name) {
    std::string out = "'";
    for (const char c : name.substr(0, 100)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    return out + "'";
  }

  // The numbers that need 64 bits, in the order size, stored size, offset.
  Status read_extra64(Bytes extra, const std::string& name, uint64_t& size, uint64_t& stored,
                      uint64_t& offset) const {
    while (extra.size() >= 4) {
      const auto id = number<uint16_t>(extra, 0);
      const size_t length = number<uint16_t>(extra, 2);
      if (length > extra.size() - 4) return fault("entry '{}' has a broken extra field", name);
      Bytes field = extra.subspan(4, length);
      extra = extra.subspan(4 + length);
      if (id != kExtra64) continue;
      for (uint64_t* value : {&size, &stored, &offset}) {
        if (*value != kIs64) continue;
        if (field.size() < 8) return fault("entry '{}' has a broken extra field", name);
        *value = number<uint64_t>(field, 0);
        field = field.subspan(8);
      }
    }
    return {};
  }

  Result<ZipEntry> located(const std::string& name, uint64_t offset, uint64_t size) const {
    if (!holds(offset, kLocalBytes) || number<uint32_t>(bytes_, offset) != kLocalMark)
      return fault("entry '{}' is not where the directory says", name);
    const size_t name_bytes = number<uint16_t>(bytes_, offset + 26);
    const uint64_t begin = offset + kLocalBytes + name_bytes + number<uint16_t>(bytes_, offset + 28);
    const bool same_name =
        name_bytes == name.size() && holds(offset + kLocalBytes, name_bytes) &&
        std::equal(name.begin(), name.end(), bytes_.begin() + static_cast<ptrdiff_t>(offset + kLocalBytes),
                   [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
    if (!same_name) return fault("entry '{}' has another name in its own header", name);
    if (!holds(begin, size) || begin + size > directory_offset_)
      return fault("entry '{}' of {} bytes at byte {} lies outside of it", name, size, begin);
    return ZipEntry{bytes_.subspan(begin, size), 0, false, size};
  }

  Bytes bytes_;
  const std::string& file_;
  ZipArchive::Packing allowed_;
  uint64_t directory_offset_ = 0;
};

}  // namespace

Result<ZipArchive> ZipArchive::read(std::span<const uint8_t> bytes, const std::string& file,
                                    Packing allowed) {
  ZipArchive out(file);
  JUMAR_RETURN_IF_ERROR(Reader(bytes, out.file_, allowed).run(out.entries_));
  return out;
}

const ZipEntry* ZipArchive::find(const std::string& name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

Result<std::string> unpacked(const ZipEntry& entry, const std::string& name, uint64_t most_bytes) {
  if (entry.plain_bytes > most_bytes) {
    return diagnostic("archive", "entry '{}' has {} bytes unpacked; at most {} are taken", name,
                      entry.plain_bytes, most_bytes);
  }
  std::string out(entry.plain_bytes, '\0');
  if (!entry.is_deflated) {
    out.assign(entry.text());
  } else {
    z_stream stream = {};
    if (::inflateInit2(&stream, kRawWindow) != Z_OK)
      return diagnostic("memory", "no memory to unpack '{}'", name);
    // zlib takes what it only reads as not constant.
    stream.next_in = const_cast<Bytef*>(entry.bytes.data());
    stream.avail_in = static_cast<uInt>(std::min<uint64_t>(entry.bytes.size(), UINT32_MAX));
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(std::min<uint64_t>(out.size(), UINT32_MAX));
    const int status = ::inflate(&stream, Z_FINISH);
    const bool is_whole = status == Z_STREAM_END && stream.total_out == out.size();
    ::inflateEnd(&stream);
    if (!is_whole) return diagnostic("archive", "entry '{}' is damaged: it does not unpack", name);
  }
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (static_cast<uint32_t>(sum) == entry.crc) return out;
  return diagnostic("archive", "entry '{}' is damaged: its checksum is {:08x}, not {:08x}", name, sum,
                    entry.crc);
}

Status check_sum(const ZipEntry& entry, const std::string& name) {
  const uLong sum = crc32_z(0, entry.bytes.data(), entry.bytes.size());
  if (static_cast<uint32_t>(sum) == entry.crc) return {};
  return diagnostic("archive", "entry '{}' is damaged: its checksum is {:08x}, not {:08x}", name, sum,
                    entry.crc);
}

}  // namespace jumar
