// The elements of a package's constants: a file beside the library, or a part of the package.
//
//   model.weights = weights | trailer
//
// The trailer repeats the manifest's `weights_id`. Whoever loads the library maps the weights from the file,
// private and writable, so that nothing is copied and a page that is written to belongs to this process.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "support/result.h"

namespace jumar::runtime::package {

inline constexpr uint64_t kWeightsAlignmentBytes = 64;
// What the names of a package's library and of its weights end with, after the same beginning.
inline constexpr const char* kLibraryEnding = ".wrapper.so";
inline constexpr const char* kWeightsEnding = ".weights";

struct WeightsTrailer {
  char magic[8] = {'J', 'U', 'M', 'A', 'R', 'W', 'T', '1'};
  uint64_t weights_bytes = 0;  // all before the trailer
  char id[32] = {};            // the manifest's weights_id
};

class Weights {
 public:
  // They and their trailer lie in the file at `path` from byte `begin`, `bytes` long, or to the file's end.
  static Result<std::shared_ptr<Weights>> open(const std::string& path, uint64_t begin, uint64_t bytes,
                                               std::string_view id);
  // Of the file beside the one that this code was loaded from.
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
