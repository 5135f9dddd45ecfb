#include "runtime/arena.h"

#include <algorithm>
#include <numeric>

namespace jumar::runtime {
namespace {

constexpr int64_t kAlignmentBytes = 64;
constexpr int64_t kMostBytes = int64_t{1} << 62;

int64_t rounded(int64_t bytes) { return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes; }

struct Placed {
  int64_t begin;
  int64_t end;
};

// The lowest offset of the smallest gap that holds `bytes`, or the end of what is taken.
int64_t best_offset(const std::vector<Placed>& taken, int64_t bytes) {
  int64_t end = 0;
  int64_t best = -1;
  int64_t best_gap = 0;
  for (const Placed& place : taken) {
    int64_t gap = place.begin - end;
    if (gap >= bytes && (best < 0 || gap < best_gap)) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, place.end);
  }
  return best >= 0 ? best : end;
}

}  // namespace

std::optional<ArenaLayout> planned_arena(const std::vector<ArenaRequest>& requests) {
  int64_t sum = 0;
  for (const ArenaRequest& request : requests) {
    if (request.bytes < 0 || request.bytes > kMostBytes - kAlignmentBytes - sum) return std::nullopt;
    sum += rounded(request.bytes);
  }
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });
  ArenaLayout layout;
  layout.offsets.assign(requests.size(), 0);
  std::vector<size_t> done;
  std::vector<Placed> taken;
  for (size_t index : order) {
    const ArenaRequest& request = requests[index];
    int64_t bytes = rounded(request.bytes);
    taken.clear();
    for (size_t other : done)
      if (requests[other].first <= request.last && request.first <= requests[other].last)
        taken.push_back({layout.offsets[other], layout.offsets[other] + rounded(requests[other].bytes)});
    std::sort(taken.begin(), taken.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    layout.offsets[index] = best_offset(taken, bytes);
    layout.total_bytes = std::max(layout.total_bytes, layout.offsets[index] + bytes);
    done.push_back(index);
  }
  return layout;
}

}  // namespace jumar::runtime
