// Where the buffers of a kernel lie in on-chip memory, as the toolchain plans it.
//
//   BufferPlan plan(32);
//   const uint32_t x = plan.add({.bytes = 4096, .copies = 2, .is_moved = true, .first = 1, .last = 3});
//   const uint32_t y = plan.add({.bytes = 4096, .first = 3, .last = 5});
//   plan.join(y, x);          // y is computed where x lay
//   plan.peak_bytes()         // 8192
//
// Buffers that are joined are one: it has as many copies as any of them, and is taken whenever one of them
// is. Buffers that memory transfers touch are placed first, then the others, the largest first, each copy at
// the lowest address that nothing else has at the same time.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace jumar::tile::npu {

struct PlannedBuffer {
  int64_t bytes = 0;
  int64_t copies = 1;
  bool is_moved = false;  // by a transfer from or to global memory
  int64_t first = 0;      // points in time, both of them included
  int64_t last = 0;
};

class BufferPlan {
 public:
  explicit BufferPlan(int64_t align_bytes) : align_bytes_(align_bytes) {}

  uint32_t add(const PlannedBuffer& buffer);
  PlannedBuffer& buffer(uint32_t id) { return buffers_[id]; }
  // `next` becomes part of `before`, with all that it was joined with.
  void join(uint32_t next, uint32_t before);
  // Of what it is joined with.
  int64_t copies_of(uint32_t id) const;
  int64_t bytes_of(uint32_t id) const { return buffers_[root(id)].bytes; }

  // With no two buffers at the same address.
  int64_t unshared_bytes() const;
  // With buffers that are not there at the same time at the same address.
  int64_t peak_bytes() const;

 private:
  struct Entry {
    int64_t bytes = 0;
    int64_t copies = 1;
    bool is_moved = false;
    std::vector<std::pair<int64_t, int64_t>> spans;
  };
  uint32_t root(uint32_t id) const;
  std::vector<Entry> entries() const;

  int64_t align_bytes_;
  std::vector<PlannedBuffer> buffers_;
  std::vector<uint32_t> parents_;
};

}  // namespace jumar::tile::npu
