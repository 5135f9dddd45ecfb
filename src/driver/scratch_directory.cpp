#include "driver/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "support/files.h"

namespace jumar::driver {

Result<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  std::string path = parent + "/jumar-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return diagnostic("io", "cannot make a folder in '{}': {}", parent, std::strerror(errno));
  return ScratchDirectory(std::move(path));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status ScratchDirectory::write(std::string_view name, std::string_view bytes) const {
  return write_file(fmt::format("{}/{}", path_, name), bytes);
}

}  // namespace jumar::driver
