// Writes a zip archive of entries, stored and aligned or deflated, in the form that torch's package readers
// take.
//
//   JUMAR_ASSIGN(ZipWriter zip, ZipWriter::create("model.jumar.pt2"));
//   JUMAR_RETURN_IF_ERROR(zip.add("model/version", {"6\n"}));
//   JUMAR_RETURN_IF_ERROR(zip.finish());
//
// An entry's bytes are given in pieces that are written as they come, so that large ones are never held in
// memory. The archive grows in a file of another name in the same folder and takes its name in finish():
// whoever looks sees the old file or the whole new one, and nothing is left when a write fails. Sizes and
// offsets beyond 32 bits use zip's 64-bit records. Times are left out: equal content gives equal bytes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::driver {

class ZipWriter {
 public:
  static constexpr uint64_t kAlignmentBytes = 64;

  static Result<ZipWriter> create(const std::string& path);
  ~ZipWriter();
  ZipWriter(ZipWriter&& other) noexcept;

  Status add(const std::string& name, std::span<const std::string_view> pieces);
  Status add(const std::string& name, std::string_view bytes) { return add(name, std::span(&bytes, 1)); }
  // Deflated: for what nobody wants to use in place.
  Status add_deflated(const std::string& name, std::string_view bytes);
  Status finish();
  uint64_t bytes() const { return offset_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Entry {
    std::string name;
    uint32_t crc = 0;
    uint64_t bytes = 0;        // of the entry, unpacked
    uint64_t offset = 0;       // of its local header
    bool is_deflated = false;  // never one that needs 64-bit records
    uint64_t packed_bytes = 0;
  };
  ZipWriter(std::string path, std::string temporary, std::FILE* file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}
  Status write(std::string_view bytes);
  std::string local_header(const Entry& entry) const;
  std::string directory() const;

  std::string path_;
  std::string temporary_;  // empty once there is nothing to remove
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t offset_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace jumar::driver
