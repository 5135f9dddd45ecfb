#include "embed/library.h"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/package/weights.h"
#include "support/zip.h"

namespace jumar::embed {
namespace {

constexpr std::string_view kFolder = "data/aotinductor/";
constexpr std::string_view kEnding = runtime::package::kLibraryEnding;
// Code of a model is megabytes; a package that claims more is broken.
constexpr uint64_t kMostLibraryBytes = uint64_t{1} << 30;
constexpr const char* kGetApi = "jumar_model_get_api";

// An anonymous file in memory, which the dynamic loader can open by its path.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("jumar-package", MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return descriptor_ >= 0;
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

jumar::Result<std::shared_ptr<const Library>> Library::load(std::string_view image,
                                                            const std::string& package) {
  const MemoryFile file;
  if (!file.write(image)) {
    return diagnostic("io", "cannot copy the library of '{}' to memory: {}", package, std::strerror(errno));
  }
  void* handle = ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return diagnostic("unsupported", "cannot load the library of '{}': {}", package,
                      why != nullptr ? why : "");
  }
  const auto get = reinterpret_cast<jumar_model_get_api_function>(::dlsym(handle, kGetApi));
  const jumar_model_api* api = get != nullptr ? get(JUMAR_MODEL_ABI_VERSION) : nullptr;
  if (api == nullptr) {
    ::dlclose(handle);
    return diagnostic("input", "'{}' {}", package,
                      get == nullptr ? "was not made by Jumar: its library has no interface of Jumar's"
                                     : "was made by a version of Jumar with another interface");
  }
  return std::shared_ptr<const Library>(new Library(handle, api));
}

Library::~Library() { ::dlclose(handle_); }

jumar::Result<PackageParts> package_parts(const ZipArchive& zip, const std::string& model) {
  std::vector<std::string> models;
  PackageParts parts;
  for (const auto& [name, entry] : zip.entries()) {
    const size_t folder = name.find(kFolder);
    if (folder == std::string::npos || !name.ends_with(kEnding)) continue;
    const size_t begin = folder + kFolder.size();
    const std::string found = name.substr(begin, name.find('/', begin) - begin);
    models.push_back(found);
    if (!model.empty() && model != found) continue;
    parts.library = entry;
    const std::string stem = name.substr(0, name.size() - kEnding.size());
    const ZipEntry* weights = zip.find(stem + runtime::package::kWeightsEnding);
    if (weights != nullptr && !weights->is_deflated) parts.weights = weights->bytes;
  }
  if (models.empty())
    return diagnostic("input", "'{}' is no package: it holds no compiled model", zip.file());
  if (parts.library.bytes.empty() || (model.empty() && models.size() > 1)) {
    return diagnostic("input", "'{}' has the models {}; '{}' names none of them", zip.file(),
                      fmt::join(models, ", "), model);
  }
  return parts;
}

jumar::Result<std::string> library_image(const PackageParts& parts, const std::string& file) {
  return unpacked(parts.library, file, kMostLibraryBytes);
}

}  // namespace jumar::embed
