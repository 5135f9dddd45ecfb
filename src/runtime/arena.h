// Places buffers in one arena so that two whose lifetimes meet never overlap.
//
//   std::vector<ArenaRequest> requests = {{1024, 0, 2}, {512, 1, 3}, {1024, 3, 4}};
//   ArenaLayout layout = planned_arena(requests);      // the third takes the place of the first
//
// Greedy by size: the largest first, each at the lowest of the best-fitting gaps between those placed already
// that live at the same time. Offsets are multiples of kAlignmentBytes, and every buffer begins on its own
// cache line. The result depends on nothing but the requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace jumar::runtime {

struct ArenaRequest {
  int64_t bytes = 0;
  uint32_t first = 0;  // step that first uses it
  uint32_t last = 0;   // step that last uses it
};

struct ArenaLayout {
  std::vector<int64_t> offsets;
  int64_t total_bytes = 0;
};

// Nothing when the sum of the sizes leaves 62 bits.
std::optional<ArenaLayout> planned_arena(const std::vector<ArenaRequest>& requests);

}  // namespace jumar::runtime
