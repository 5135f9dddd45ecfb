#include "runtime/package/weights.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace jumar::runtime::package {
namespace {

struct File {
  int descriptor = -1;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

Diagnostic system_error(const std::string& path, const char* what) {
  return diagnostic("io", "cannot {} '{}': {}", what, path, std::strerror(errno));
}

Diagnostic no_weights(const std::string& path) {
  return diagnostic("input", "'{}' does not hold the package's weights, or not all of them", path);
}

}  // namespace

Result<std::shared_ptr<Weights>> Weights::open(const std::string& path, uint64_t begin, uint64_t bytes,
                                               std::string_view id) {
  File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.descriptor < 0) return system_error(path, "open");
  struct stat status {};
  if (::fstat(file.descriptor, &status) != 0) return system_error(path, "look at");
  const auto file_bytes = static_cast<uint64_t>(status.st_size);
  const uint64_t end = bytes == 0 ? file_bytes : begin + bytes;
  WeightsTrailer trailer;
  const WeightsTrailer expected;
  if (begin > end || end > file_bytes || end - begin < sizeof trailer) return no_weights(path);
  const ssize_t got =
      ::pread(file.descriptor, &trailer, sizeof trailer, static_cast<off_t>(end - sizeof trailer));
  if (got != static_cast<ssize_t>(sizeof trailer)) return system_error(path, "read");
  if (std::memcmp(trailer.magic, expected.magic, sizeof expected.magic) != 0 ||
      trailer.weights_bytes != end - begin - sizeof trailer) {
    return no_weights(path);
  }
  if (id.size() != sizeof trailer.id || id.compare(0, id.size(), trailer.id, sizeof trailer.id) != 0) {
    return diagnostic("input", "the weights in '{}' are another package's", path);
  }
  const uint64_t first = begin;
  const uint64_t page_first = first - first % static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const size_t map_bytes = first - page_first + trailer.weights_bytes;
  if (trailer.weights_bytes == 0) return std::shared_ptr<Weights>(new Weights({}, nullptr, 0));
  void* map = ::mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor,
                     static_cast<off_t>(page_first));
  if (map == MAP_FAILED) return system_error(path, "map");
  uint8_t* data = static_cast<uint8_t*>(map) + (first - page_first);
  return std::shared_ptr<Weights>(new Weights({data, trailer.weights_bytes}, map, map_bytes));
}

Result<std::shared_ptr<Weights>> Weights::open_own(std::string_view id) {
  Dl_info info{};
  static const char kInThisFile = 0;
  if (::dladdr(&kInThisFile, &info) == 0 || info.dli_fname == nullptr) {
    return diagnostic("io", "cannot tell which file the package was loaded from");
  }
  std::string path = info.dli_fname;
  if (path.ends_with(kLibraryEnding)) path.resize(path.size() - std::strlen(kLibraryEnding));
  return open(path + kWeightsEnding, 0, 0, id);
}

std::shared_ptr<Weights> Weights::borrowed(std::span<uint8_t> bytes) {
  return std::shared_ptr<Weights>(new Weights(bytes, nullptr, 0));
}

Weights::~Weights() {
  if (map_ != nullptr) ::munmap(map_, map_bytes_);
}

}  // namespace jumar::runtime::package
