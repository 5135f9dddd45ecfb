// The elements of a package's constants: bytes after the library, in the same file.
//
//   library.so = ELF file | zeros to a multiple of kWeightsAlignmentBytes | weights | trailer
//
// The trailer says where the weights begin and repeats the manifest's `weights_id`. They are no part of the
// ELF image: whoever loads the library maps them from the file, private and writable, so that nothing is
// copied and a page that is written to belongs to this process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "support/result.h"

namespace jumar::runtime::package {

inline constexpr uint64_t kWeightsAlignmentBytes = 64;

struct WeightsTrailer {
  char magic[8] = {'J', 'U', 'M', 'A', 'R', 'W', 'T', '1'};
  uint64_t offset_bytes = 0;  // of the weights from the first byte of the library
  uint64_t weights_bytes = 0;
  char id[32] = {};  // the manifest's weights_id
};

class Weights {
 public:
  // Of a library that lies within the file at `path`: from byte `begin`, `bytes` long, or to the file's end.
  static Result<std::shared_ptr<Weights>> open(const std::string& path, uint64_t begin, uint64_t bytes,
                                               std::string_view id);
  // Of the file that this code was loaded from.
  static Result<std::shared_ptr<Weights>> open_own(std::string_view id);
  // Memory that the caller keeps; it is never written to by Jumar unless a constant is.
  static std::shared_ptr<Weights> borrowed(std::span<uint8_t> bytes);
  ~Weights();
  Weights(const Weights&) = delete;
  Weights& operator=(const Weights&) = delete;

  std::span<uint8_t> bytes() const { return bytes_; }

 private:
  Weights(std::span<uint8_t> bytes, void* map, size_t map_bytes)
      : bytes_(bytes), map_(map), map_bytes_(map_bytes) {}

  std::span<uint8_t> bytes_;
  void* map_;
  size_t map_bytes_;
};

}  // namespace jumar::runtime::package
