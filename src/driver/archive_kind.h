// What a `.pt2` file is, by what is in it: names say nothing.
#pragma once

#include "support/zip.h"

namespace jumar::driver {

enum class ArchiveKind : uint8_t {
  kExported,  // of torch.export.save
  kPackage,   // of `jumar compile`
  kForeign,   // a package that another compiler made, such as AOTInductor
  kOther,
};
ArchiveKind archive_kind(const ZipArchive& zip);

// The package's record for people; null where the archive is no package of Jumar's.
const ZipEntry* details_entry(const ZipArchive& zip);

}  // namespace jumar::driver
