#include "tile/npu/buffer_plan.h"

#include <algorithm>

namespace jumar::tile::npu {
namespace {

using Span = std::pair<int64_t, int64_t>;

bool meet(const std::vector<Span>& left, const std::vector<Span>& right) {
  return std::ranges::any_of(left, [&](const Span& a) {
    return std::ranges::any_of(right,
                               [&](const Span& b) { return a.first <= b.second && b.first <= a.second; });
  });
}

}  // namespace

uint32_t BufferPlan::add(const PlannedBuffer& buffer) {
  const auto id = static_cast<uint32_t>(buffers_.size());
  buffers_.push_back(buffer);
  buffers_.back().bytes = (buffer.bytes + align_bytes_ - 1) / align_bytes_ * align_bytes_;
  parents_.push_back(id);
  return id;
}

uint32_t BufferPlan::root(uint32_t id) const {
  while (parents_[id] != id) id = parents_[id];
  return id;
}

void BufferPlan::join(uint32_t next, uint32_t before) { parents_[root(next)] = root(before); }

int64_t BufferPlan::copies_of(uint32_t id) const {
  int64_t copies = 1;
  for (uint32_t k = 0; k < buffers_.size(); ++k)
    if (root(k) == root(id)) copies = std::max(copies, buffers_[k].copies);
  return copies;
}

std::vector<BufferPlan::Entry> BufferPlan::entries() const {
  std::vector<Entry> all(buffers_.size());
  for (uint32_t k = 0; k < buffers_.size(); ++k) {
    const PlannedBuffer& buffer = buffers_[k];
    if (buffer.bytes == 0) continue;
    Entry& entry = all[root(k)];
    entry.bytes = std::max(entry.bytes, buffer.bytes);
    entry.copies = std::max(entry.copies, buffer.copies);
    entry.is_moved = entry.is_moved || buffer.is_moved;
    entry.spans.emplace_back(buffer.first, buffer.last);
  }
  std::erase_if(all, [](const Entry& entry) { return entry.spans.empty(); });
  return all;
}

int64_t BufferPlan::unshared_bytes() const {
  int64_t sum = 0;
  for (const Entry& entry : entries()) sum += entry.bytes * entry.copies;
  return sum;
}

int64_t BufferPlan::peak_bytes() const {
  std::vector<Entry> all = entries();
  std::ranges::stable_sort(all, [](const Entry& a, const Entry& b) {
    return a.is_moved != b.is_moved ? a.is_moved : a.bytes > b.bytes;
  });
  struct Placed {
    int64_t begin;
    int64_t end;
    const Entry* entry;
  };
  std::vector<Placed> placed;  // by address
  int64_t peak = 0;
  for (const Entry& entry : all) {
    for (int64_t copy = 0; copy < entry.copies; ++copy) {
      int64_t at = 0;
      for (const Placed& other : placed) {
        if (other.end <= at || !meet(other.entry->spans, entry.spans)) continue;
        if (other.begin - at >= entry.bytes) break;
        at = other.end;
      }
      const auto place = std::ranges::upper_bound(placed, at, {}, &Placed::begin);
      placed.insert(place, {at, at + entry.bytes, &entry});
      peak = std::max(peak, at + entry.bytes);
    }
  }
  return peak;
}

}  // namespace jumar::tile::npu
