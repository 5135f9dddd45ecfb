// On-chip memory that a block program needs.
#pragma once

#include "tile/npu/block.h"

namespace jumar::tile::npu {

struct MemoryModel {
  int64_t align_bytes = 32;  // of a buffer, and of the rows of a block
  int64_t multi_buffer = 2;  // copies of a buffer that a loop moves from or to global memory
  // The compiler makes functions of vector code, whose buffers are all there while they run.
  bool has_vector_functions = false;
};

struct BufferNeed {
  // That are enough, where buffers share addresses: an upper bound.
  int64_t bytes = 0;
  // With an address for each buffer: what the toolchain takes where there is as much.
  int64_t unshared_bytes = 0;
};

// Bytes of the vector unit's buffer. A block has its rows rounded up to the alignment. An operator computes
// where an operand lay that ends there, if it isn't smaller; blocks that a loop loads or stores are there as
// often as they are buffered, for as long as the loop runs. Besides there is the scratch memory that
// reductions, turns and conversions take.
BufferNeed buffer_need(const BlockKernel& kernel, const MemoryModel& model);

inline int64_t buffer_bytes(const BlockKernel& kernel, const MemoryModel& model) {
  return buffer_need(kernel, model).bytes;
}

}  // namespace jumar::tile::npu
