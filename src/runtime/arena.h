// Places buffers in one arena so that two whose lifetimes meet never overlap.
//
//   std::vector<ArenaRequest> requests = {{1024, 0, 2}, {512, 1, 3}, {1024, 3, 4}};
//   ArenaLayout layout = planned_arena(requests);      // the third takes the place of the first
//
// Greedy by size: the largest first, each at the lowest of the best-fitting gaps between those placed already
// that live at the same time. Offsets are multiples of kArenaAlignmentBytes, and every buffer begins on its
// own cache line. The result depends on nothing but the requests.
//
// Only the standard library is used, because written programs (emit/host/wrapper) carry a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

constexpr int64_t kArenaAlignmentBytes = 64;
constexpr int64_t kMostArenaBytes = int64_t{1} << 62;

inline int64_t arena_rounded(int64_t bytes) {
  return (bytes + kArenaAlignmentBytes - 1) / kArenaAlignmentBytes * kArenaAlignmentBytes;
}

struct ArenaPlace {
  int64_t begin;
  int64_t end;
};

// The lowest offset of the smallest gap that holds `bytes`, or the end of what is taken.
inline int64_t best_arena_offset(const std::vector<ArenaPlace>& taken, int64_t bytes) {
  int64_t end = 0;
  int64_t best = -1;
  int64_t best_gap = 0;
  for (const ArenaPlace& place : taken) {
    int64_t gap = place.begin - end;
    if (gap >= bytes && (best < 0 || gap < best_gap)) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, place.end);
  }
  return best >= 0 ? best : end;
}

// Nothing when the sum of the sizes leaves 62 bits.
inline std::optional<ArenaLayout> planned_arena(const std::vector<ArenaRequest>& requests) {
  int64_t sum = 0;
  for (const ArenaRequest& request : requests) {
    if (request.bytes < 0 || request.bytes > kMostArenaBytes - kArenaAlignmentBytes - sum)
      return std::nullopt;
    sum += arena_rounded(request.bytes);
  }
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });
  ArenaLayout layout;
  layout.offsets.assign(requests.size(), 0);
  std::vector<size_t> done;
  std::vector<ArenaPlace> taken;
  for (size_t index : order) {
    const ArenaRequest& request = requests[index];
    int64_t bytes = arena_rounded(request.bytes);
    taken.clear();
    for (size_t other : done)
      if (requests[other].first <= request.last && request.first <= requests[other].last)
        taken.push_back(
            {layout.offsets[other], layout.offsets[other] + arena_rounded(requests[other].bytes)});
    std::sort(taken.begin(), taken.end(),
              [](const ArenaPlace& a, const ArenaPlace& b) { return a.begin < b.begin; });
    layout.offsets[index] = best_arena_offset(taken, bytes);
    layout.total_bytes = std::max(layout.total_bytes, layout.offsets[index] + bytes);
    done.push_back(index);
  }
  return layout;
}

}  // namespace jumar::runtime
