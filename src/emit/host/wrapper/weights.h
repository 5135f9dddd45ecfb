// The file of weights of a program, seen in place.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "emit/host/wrapper/failure.h"
#include "emit/host/wrapper/program.h"

namespace jumar::wrapper {

class WeightsFile {
 public:
  WeightsFile() = default;
  ~WeightsFile() {
    if (data_) munmap(data_, static_cast<size_t>(bytes_));
  }
  WeightsFile(const WeightsFile&) = delete;
  WeightsFile& operator=(const WeightsFile&) = delete;

  // Without a path: weights.bin beside the library that holds `info`. The mapping is private: what a program
  // writes to its buffers stays in this process.
  void open(const ProgramInfo& info, const char* path) {
    if (info.weight_count == 0 || info.weights_bytes == 0) return;
    const std::string file = path && *path ? path : beside(&info) + "weights.bin";
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) fail(FailureKind::kInput, "cannot open " + file);
    struct stat status;
    const bool is_whole = fstat(descriptor, &status) == 0 && status.st_size == info.weights_bytes;
    void* mapped = MAP_FAILED;
    if (is_whole)
      mapped = mmap(nullptr, static_cast<size_t>(info.weights_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE,
                    descriptor, 0);
    ::close(descriptor);
    if (!is_whole)
      fail(FailureKind::kInput, file + " is not the program's file of weights: its size differs");
    if (mapped == MAP_FAILED) fail(FailureKind::kMemory, "cannot map " + file);
    data_ = mapped;
    bytes_ = info.weights_bytes;
  }

  void* at(int64_t offset_bytes) const { return static_cast<char*>(data_) + offset_bytes; }

 private:
  static std::string beside(const void* address) {
    Dl_info found;
    if (dladdr(address, &found) == 0 || !found.dli_fname) return "";
    const std::string library = found.dli_fname;
    const size_t slash = library.rfind('/');
    return slash == std::string::npos ? std::string() : library.substr(0, slash + 1);
  }

  void* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace jumar::wrapper
