// The directory of a zip archive whose entries are stored, over memory that somebody else holds.
//
//   JUMAR_ASSIGN(ZipArchive zip, ZipArchive::read(file->bytes(), "model.pt2"));
//   const ZipEntry* entry = zip.find("model/archive_version");       // null when there is none
//
// Every offset and size of the directory is checked before it is used, the local headers included, so that
// the bytes of an entry lie within the archive and before its directory. Compressed and encrypted entries,
// archives in several parts and names that leave the archive (absolute, or with `..`) are refused. The 64-bit
// forms of sizes and offsets are understood. Checksums are not computed here: `check_sum` does that for one
// entry.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar {

struct ZipEntry {
  std::span<const uint8_t> bytes;  // as they lie in the archive
  uint32_t crc = 0;                // of the plain bytes
  bool is_deflated = false;
  uint64_t plain_bytes =
      0;  // how many there are once they are unpacked; bytes.size() where nothing is packed

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

class ZipArchive {
 public:
  enum class Packing : uint8_t { kNone, kDeflate };
  // `bytes` must outlive the archive; `file` names it in diagnostics. Deflated entries are refused unless
  // they are allowed.
  static Result<ZipArchive> read(std::span<const uint8_t> bytes, const std::string& file,
                                 Packing allowed = Packing::kNone);

  const ZipEntry* find(const std::string& name) const;
  // By name, in order of the names.
  const std::map<std::string, ZipEntry>& entries() const { return entries_; }
  const std::string& file() const { return file_; }

 private:
  explicit ZipArchive(std::string file) : file_(std::move(file)) {}

  std::string file_;
  std::map<std::string, ZipEntry> entries_;
};

// The plain bytes of an entry, which are checked against its checksum. Fails where there are more than
// `most_bytes`.
Result<std::string> unpacked(const ZipEntry& entry, const std::string& name, uint64_t most_bytes);

// Nothing, or that the entry's bytes are not those that were written. Reads all of them.
Status check_sum(const ZipEntry& entry, const std::string& name);

}  // namespace jumar
