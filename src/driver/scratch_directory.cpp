#include "driver/scratch_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

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

Status write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return diagnostic("io", "cannot write '{}'", path);
  return {};
}

Result<std::string> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file && !file.eof()) return diagnostic("io", "cannot read '{}'", path);
  return bytes;
}

}  // namespace jumar::driver
