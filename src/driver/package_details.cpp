#include "driver/package_details.h"

#include <zlib.h>

#include <array>

#include "support/bytes.h"

namespace jumar::driver {
namespace {

// zlib can't make more bytes of one than this; a record that claims to hold more is broken.
constexpr uint64_t kMostRatio = 1032;

// The texts in the order in which they are written.
template <class Details>
auto texts_of(Details& details) {
  return std::array{&details.manifest,      &details.target,       &details.report,
                    &details.program.loops, &details.program.plan, &details.folding.loops,
                    &details.folding.plan};
}

}  // namespace

std::string PackageDetails::bytes() const {
  ByteWriter writer;
  for (const std::string* text : texts_of(*this)) writer.text(*text);
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
  if (!size || !packed || !outer.at_end() || *size / kMostRatio > packed->size()) return broken;
  std::string plain(*size, '\0');
  uLongf found = plain.size();
  const int status = ::uncompress(reinterpret_cast<Bytef*>(plain.data()), &found,
                                  reinterpret_cast<const Bytef*>(packed->data()), packed->size());
  if (status != Z_OK || found != *size) return broken;
  PackageDetails out;
  ByteReader reader(plain);
  for (std::string* text : texts_of(out)) {
    const std::optional<std::string_view> part = reader.text();
    if (!part) return broken;
    *text = *part;
  }
  return reader.at_end() ? Result<PackageDetails>(std::move(out)) : broken;
}

}  // namespace jumar::driver
