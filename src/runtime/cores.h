// How many cores of a device the launches of plans may use.
//
//   auto cores = std::make_shared<Cores>(CoreCounts{14, 28});
//   engine.cores = cores;                  // plans then know cores(cube) and cores(vector)
//   cores->set({7, 14});                   // the next call of each of these plans uses 7 and 14
//
// A call reads both counts at once, when it begins, so that its grids and buffers agree; another count needs
// no other plan and no other kernels.
#pragma once

#include <atomic>
#include <cstdint>

#include "support/check.h"

namespace jumar::runtime {

struct CoreCounts {
  int64_t cube = 0;
  int64_t vector = 0;
};

class Cores {
 public:
  explicit Cores(CoreCounts counts) { set(counts); }

  CoreCounts get() const {
    const uint64_t both = both_.load(std::memory_order_acquire);
    return {static_cast<int64_t>(both >> 32), static_cast<int64_t>(both & UINT32_MAX)};
  }
  // From any thread. Each count is from 1 to 2^31 - 1.
  void set(CoreCounts counts) {
    CHECK(counts.cube >= 1 && counts.cube <= INT32_MAX && counts.vector >= 1 && counts.vector <= INT32_MAX,
          "{} and {} are no counts of cores", counts.cube, counts.vector);
    both_.store(static_cast<uint64_t>(counts.cube) << 32 | static_cast<uint64_t>(counts.vector),
                std::memory_order_release);
  }

 private:
  std::atomic<uint64_t> both_{0};
};

}  // namespace jumar::runtime
