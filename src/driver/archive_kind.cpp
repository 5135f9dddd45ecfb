#include "driver/archive_kind.h"

#include <algorithm>

#include "driver/package_details.h"

namespace jumar::driver {
namespace {

// The name without the archive's root folder.
std::string_view in_root(std::string_view name) { return name.substr(name.find('/') + 1); }

}  // namespace

const ZipEntry* details_entry(const ZipArchive& zip) {
  const auto found = std::ranges::find_if(
      zip.entries(), [](const auto& row) { return in_root(row.first) == PackageDetails::kEntry; });
  return found == zip.entries().end() ? nullptr : &found->second;
}

ArchiveKind archive_kind(const ZipArchive& zip) {
  if (details_entry(zip) != nullptr) return ArchiveKind::kPackage;
  const auto has = [&](std::string_view folder, std::string_view ending) {
    return std::ranges::any_of(zip.entries(), [&](const auto& row) {
      return in_root(row.first).starts_with(folder) && row.first.ends_with(ending);
    });
  };
  if (has("models/", ".json")) return ArchiveKind::kExported;
  return has("data/aotinductor/", ".so") ? ArchiveKind::kForeign : ArchiveKind::kOther;
}

}  // namespace jumar::driver
