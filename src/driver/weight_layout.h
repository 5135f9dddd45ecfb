// Weights of an exported program as the bytes of one file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/weights.h"
#include "runtime/package/weights.h"

namespace jumar::driver {

// Storages in the order of their first use, each once, and where each begins.
struct WeightLayout {
  std::vector<std::string_view> pieces;     // storages and the zeros between them
  std::map<std::string, uint64_t> offsets;  // by the archive's entry
  uint64_t bytes = 0;

  static constexpr char kZeros[runtime::package::kWeightsAlignmentBytes] = {};
  void align() {
    const uint64_t over = bytes % runtime::package::kWeightsAlignmentBytes;
    if (over != 0) add({kZeros, runtime::package::kWeightsAlignmentBytes - over});
  }
  void add(std::string_view piece) {
    pieces.push_back(piece);
    bytes += piece.size();
  }
  // Of the weight's first element.
  uint64_t offset_of(const import::Weight& weight) const {
    return offsets.at(weight.path) +
           static_cast<uint64_t>(weight.storage_offset * ir::dtype_bytes(weight.type.dtype));
  }
};

inline WeightLayout weight_layout(const std::vector<import::Weight>& weights) {
  WeightLayout out;
  for (const import::Weight& weight : weights) {
    if (!out.offsets.try_emplace(weight.path, out.bytes).second) continue;
    out.add({reinterpret_cast<const char*>(weight.storage.data()), weight.storage.size()});
    out.align();
  }
  return out;
}

}  // namespace jumar::driver
