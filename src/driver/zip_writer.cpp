#include "driver/zip_writer.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "support/zip_format.h"

namespace jumar::driver {
namespace {

using namespace zip_format;

constexpr uint16_t kVersionStored = 10;
constexpr uint16_t kVersionDeflated = 20;
constexpr uint16_t kVersion64 = 45;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kDate = 0x21;            // the first that the format has: 1 January 1980
constexpr uint16_t kExtraPadding = 0x4246;  // as torch's own writer calls its padding
constexpr size_t kLocalExtra64Bytes = 20;
constexpr size_t kExtraHeadBytes = 4;
// zlib counts in 32 bits.
constexpr size_t kCrcBlockBytes = size_t{1} << 30;

// What is deflated in pieces, of which those that shrink too little are kept as they are: reading machine
// code takes most of the time of reading a library, and wins less than half of it.
constexpr size_t kPieceBytes = size_t{16} << 10;
constexpr double kWorthwhile = 0.56;

class Bytes {
 public:
  template <class T>
  Bytes& add(T value) {
    for (size_t k = 0; k < sizeof value; ++k) {
      out_.push_back(static_cast<char>((static_cast<uint64_t>(value) >> (8 * k)) & 0xff));
    }
    return *this;
  }
  Bytes& add32(uint64_t value) { return add(static_cast<uint32_t>(std::min(value, kIs64))); }
  Bytes& add16(uint64_t value) { return add(static_cast<uint16_t>(std::min(value, kCountIs64))); }
  Bytes& text(std::string_view value) {
    out_.append(value);
    return *this;
  }
  std::string take() { return std::move(out_); }
  size_t size() const { return out_.size(); }

 private:
  std::string out_;
};

uint16_t version_of(bool is_deflated, bool is_large) {
  return is_large ? kVersion64 : is_deflated ? kVersionDeflated : kVersionStored;
}

uint16_t method_of(bool is_deflated) { return is_deflated ? kDeflated : uint16_t{0}; }

uint32_t crc_of(uint32_t crc, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view block = bytes.substr(0, kCrcBlockBytes);
    crc = static_cast<uint32_t>(
        ::crc32(crc, reinterpret_cast<const Bytef*>(block.data()), static_cast<uInt>(block.size())));
    bytes.remove_prefix(block.size());
  }
  return crc;
}

bool is_worthwhile(std::string_view piece) {
  uLongf size = ::compressBound(piece.size());
  std::string packed(size, '\0');
  const int status = ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                                reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  CHECK(status == Z_OK, "zlib's compress gives {}", status);
  return static_cast<double>(size) <= kWorthwhile * static_cast<double>(piece.size());
}

// One stream without a header; its blocks of compressed and of plain bytes take turns.
std::string deflated(std::string_view bytes) {
  z_stream stream = {};
  constexpr int kMemoryLevel = 9;
  int status =
      ::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kRawWindow, kMemoryLevel, Z_DEFAULT_STRATEGY);
  CHECK(status == Z_OK, "zlib's deflateInit2 gives {}", status);
  // Changes of level end a block, which takes a few bytes.
  constexpr size_t kSwitchBytes = 16;
  std::string packed(::deflateBound(&stream, bytes.size()) + (bytes.size() / kPieceBytes + 1) * kSwitchBytes,
                     '\0');
  // zlib takes what it only reads as not constant.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    const std::string_view piece = bytes.substr(at, kPieceBytes);
    const int level = is_worthwhile(piece) ? Z_BEST_COMPRESSION : Z_NO_COMPRESSION;
    status = ::deflateParams(&stream, level, Z_DEFAULT_STRATEGY);
    CHECK(status == Z_OK, "zlib's deflateParams gives {}", status);
    stream.avail_in = static_cast<uInt>(piece.size());
    status = ::deflate(&stream, Z_NO_FLUSH);
    CHECK(status == Z_OK && stream.avail_in == 0, "zlib's deflate gives {}", status);
  }
  status = ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  CHECK(status == Z_STREAM_END, "zlib's deflate gives {}", status);
  return packed;
}

}  // namespace

Result<ZipWriter> ZipWriter::create(const std::string& path) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return diagnostic("io", "cannot write '{}': {}", path, std::strerror(errno));
  // What the process's mask would have given a new file.
  std::error_code ignored;
  const auto mask = static_cast<std::filesystem::perms>(0644);
  std::filesystem::permissions(temporary, mask, ignored);
  std::FILE* file = ::fdopen(descriptor, "wb");
  if (file == nullptr) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    return diagnostic("io", "cannot write '{}': {}", path, std::strerror(errno));
  }
  return ZipWriter(path, std::move(temporary), file);
}

ZipWriter::ZipWriter(ZipWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      offset_(other.offset_),
      entries_(std::move(other.entries_)) {}

ZipWriter::~ZipWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status ZipWriter::write(std::string_view bytes) {
  offset_ += bytes.size();
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
  return diagnostic("io", "cannot write '{}': {}", path_, std::strerror(errno));
}

// The padding after a name is as long as brings the entry's bytes to a multiple of the alignment.
std::string ZipWriter::local_header(const Entry& entry) const {
  const bool is_large = entry.bytes >= kIs64;
  const size_t fixed =
      kLocalBytes + entry.name.size() + (is_large ? kLocalExtra64Bytes : 0) + kExtraHeadBytes;
  const uint64_t unaligned = entry.offset + fixed;
  const uint64_t padding = (kAlignmentBytes - unaligned % kAlignmentBytes) % kAlignmentBytes;
  const uint64_t extra = (is_large ? kLocalExtra64Bytes : 0) + kExtraHeadBytes + padding;
  Bytes out;
  out.add(kLocalMark).add(version_of(entry.is_deflated, is_large)).add(kUtf8Names);
  out.add(method_of(entry.is_deflated)).add(uint16_t{0}).add(kDate).add(entry.crc);
  out.add32(is_large ? kIs64 : entry.packed_bytes).add32(is_large ? kIs64 : entry.bytes);
  out.add16(entry.name.size()).add16(extra).text(entry.name);
  if (is_large) out.add(kExtra64).add(uint16_t{16}).add(entry.bytes).add(entry.bytes);
  out.add(kExtraPadding).add16(padding).text(std::string(padding, '\0'));
  return out.take();
}

Status ZipWriter::add(const std::string& name, std::span<const std::string_view> pieces) {
  Entry entry{name, static_cast<uint32_t>(::crc32(0, nullptr, 0)), 0, offset_, false, 0};
  for (const std::string_view piece : pieces) {
    entry.bytes += piece.size();
    entry.crc = crc_of(entry.crc, piece);
  }
  entry.packed_bytes = entry.bytes;
  JUMAR_RETURN_IF_ERROR(write(local_header(entry)));
  for (const std::string_view piece : pieces) JUMAR_RETURN_IF_ERROR(write(piece));
  entries_.push_back(std::move(entry));
  return {};
}

Status ZipWriter::add_deflated(const std::string& name, std::string_view bytes) {
  CHECK(bytes.size() < kCrcBlockBytes, "entry '{}' is too large to be deflated", name);
  const std::string packed = deflated(bytes);
  Entry entry{name,         crc_of(static_cast<uint32_t>(::crc32(0, nullptr, 0)), bytes),
              bytes.size(), offset_,
              true,         packed.size()};
  JUMAR_RETURN_IF_ERROR(write(local_header(entry)));
  JUMAR_RETURN_IF_ERROR(write(packed));
  entries_.push_back(std::move(entry));
  return {};
}

std::string ZipWriter::directory() const {
  Bytes out;
  for (const Entry& entry : entries_) {
    Bytes extra;
    if (entry.bytes >= kIs64) extra.add(entry.bytes).add(entry.bytes);
    if (entry.offset >= kIs64) extra.add(entry.offset);
    const bool is_large = extra.size() > 0;
    const uint16_t version = version_of(entry.is_deflated, is_large);
    out.add(kEntryMark).add(version).add(version).add(kUtf8Names).add(method_of(entry.is_deflated));
    out.add(uint16_t{0}).add(kDate).add(entry.crc).add32(entry.packed_bytes).add32(entry.bytes);
    out.add16(entry.name.size());
    out.add16(is_large ? extra.size() + kExtraHeadBytes : 0).add(uint16_t{0}).add(uint16_t{0});
    out.add(uint16_t{0}).add(uint32_t{0}).add32(entry.offset).text(entry.name);
    if (is_large) out.add(kExtra64).add16(extra.size()).text(extra.take());
  }
  const uint64_t size = out.size();
  const uint64_t count = entries_.size();
  if (count >= kCountIs64 || size >= kIs64 || offset_ >= kIs64) {
    const uint64_t end = offset_ + size;
    out.add(kEnd64Mark).add(uint64_t{44}).add(kVersion64).add(kVersion64).add(uint32_t{0});
    out.add(uint32_t{0}).add(count).add(count).add(size).add(offset_);
    out.add(kEnd64LocatorMark).add(uint32_t{0}).add(end).add(uint32_t{1});
  }
  out.add(kEndMark).add(uint16_t{0}).add(uint16_t{0}).add16(count).add16(count).add32(size);
  out.add32(offset_).add(uint16_t{0});
  return out.take();
}

Status ZipWriter::finish() {
  JUMAR_RETURN_IF_ERROR(write(directory()));
  std::FILE* file = file_.release();
  const bool flushed = std::fflush(file) == 0;
  const bool closed = std::fclose(file) == 0;
  if (!flushed || !closed || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return diagnostic("io", "cannot write '{}': {}", path_, std::strerror(errno));
  }
  temporary_.clear();
  return {};
}

}  // namespace jumar::driver
