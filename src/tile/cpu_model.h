// The processor as the tile stage sees it: a handful of numbers.
#pragma once

#include <cstdint>

namespace jumar::tile {

struct CpuModel {
  int64_t vector_bytes = 32;  // of one register
  bool cheap_masks = false;   // masked vector access costs little more than a plain one (AVX-512, SVE)
  int64_t unit_work = 4096;   // least work of a unit, in element operations: less drowns in its own overhead
  int64_t thread_work = 32768;  // least work that is worth a thread
};

}  // namespace jumar::tile
