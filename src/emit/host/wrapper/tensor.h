// Tensors of one call, and what is kept for them from call to call.
//
// A Tensor is a place in memory with a layout; it owns nothing. Its slot does: the handle of memory that the
// call made (an output, an operator's result), and a handle that borrows the memory for operators, which is
// kept while address and layout stay.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/host/wrapper/layout.h"
#include "runtime/arena.h"

namespace jumar::wrapper {

struct Slot {
  Handle owned = nullptr;
  int64_t last_output = -1;  // of the call's that have it
  Handle blob = nullptr;     // borrows `blob_data`
  void* blob_data = nullptr;
  int64_t blob_sizes[kMostDims];
  int64_t blob_strides[kMostDims];
};

struct Tensor : Layout {
  void* data;
  const Tensor* root;  // itself, unless it is a view
  Slot* slot;
  int64_t place_bytes = 0;  // from the root's first element
  int32_t input = -1;       // position among the call's inputs, of a root

  Tensor(const Layout& layout, void* first, Slot* own, int32_t input_index = -1)
      : Layout(layout), data(first), root(this), slot(own), input(input_index) {}
  Tensor(const Layout& layout, const Tensor& base, int64_t bytes, Slot* own)
      : Layout(layout), root(base.root), slot(own), place_bytes(base.place_bytes + bytes) {
    data = static_cast<char*>(root->data) + place_bytes;
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  // Operators see it through a handle that does not own its memory.
  bool is_lent() const { return !root->slot->owned || dtype.code != root->dtype.code; }
};

// A planned arena for one set of sizes.
struct ArenaPlan {
  std::vector<int64_t> key;
  runtime::ArenaLayout layout;
};

// What calls leave for later ones; serves one call at a time.
struct Frame {
  std::vector<Slot> slots;             // by the order in which tensors appear
  std::vector<ArenaPlan> arena_plans;  // most recently used first
  // Scratch of calls of operators.
  std::vector<Handle> temporaries;
  std::vector<Handle> targets;
  std::vector<Handle> list;
  std::vector<const Tensor*> lent;
  std::vector<Handle> results;
  std::vector<int64_t> result_ints;
};

}  // namespace jumar::wrapper
