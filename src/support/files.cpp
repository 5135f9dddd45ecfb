#include "support/files.h"

#include <fstream>
#include <iterator>

namespace jumar {

Result<std::string> bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return diagnostic("io", "cannot read '{}'", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Status write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return diagnostic("io", "cannot write '{}'", path);
  return {};
}

}  // namespace jumar
