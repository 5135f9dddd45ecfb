// On-chip memory that a block program needs.
#pragma once

#include "tile/npu/block.h"

namespace jumar::tile::npu {

struct MemoryModel {
  int64_t align_bytes = 32;  // of a buffer, and of the rows of a block
  int64_t multi_buffer = 2;  // copies of a buffer that a loop moves from or to global memory
};

// The most bytes of the vector unit's buffer that are in use at once: every block that is alive, rows rounded
// up to the alignment, those that a loop loads or stores as often as they are buffered, and the scratch
// memory that reductions, turns and conversions take. An upper bound of what the toolchain's own planning
// comes to, which reuses buffers in place.
int64_t buffer_bytes(const BlockNest& nest, const MemoryModel& model);
int64_t buffer_bytes(const BlockKernel& kernel, const MemoryModel& model);

}  // namespace jumar::tile::npu
