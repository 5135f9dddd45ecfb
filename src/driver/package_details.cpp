#include "driver/package_details.h"

#include <zlib.h>

#include <array>

#include "support/bytes.h"

namespace jumar::driver {
namespace {

// Nobody's program has this much text; a record that claims more is broken.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

}  // namespace

std::string PackageDetails::bytes() const {
  ByteWriter writer;
  for (const std::string* text : {&report, &loops, &plan, &folding_plan}) writer.text(*text);
  const std::string plain = writer.take();
  uLongf size = ::compressBound(plain.size());
  std::string packed(size, '\0');
  const int status = ::compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                                 reinterpret_cast<const Bytef*>(plain.data()), plain.size(), Z_BEST_SPEED);
  CHECK(status == Z_OK, "zlib's compress2 gives {}", status);
  packed.resize(size);
  ByteWriter record;
  record.number(plain.size());
  record.text(packed);
  return record.take();
}

Result<PackageDetails> PackageDetails::read(std::string_view record, const std::string& file) {
  const Diagnostic broken = diagnostic("input", "'{}': the record '{}' is broken", file, kEntry);
  ByteReader outer(record);
  const std::optional<uint64_t> size = outer.number();
  const std::optional<std::string_view> packed = outer.text();
  if (!size || !packed || *size > kMostBytes) return broken;
  std::string plain(*size, '\0');
  uLongf found = plain.size();
  const int status = ::uncompress(reinterpret_cast<Bytef*>(plain.data()), &found,
                                  reinterpret_cast<const Bytef*>(packed->data()), packed->size());
  if (status != Z_OK || found != *size) return broken;
  PackageDetails out;
  ByteReader reader(plain);
  for (std::string* text : {&out.report, &out.loops, &out.plan, &out.folding_plan}) {
    const std::optional<std::string_view> part = reader.text();
    if (!part) return broken;
    *text = *part;
  }
  return out;
}

}  // namespace jumar::driver
