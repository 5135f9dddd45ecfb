// What memory.h's estimates for different compilers have in common: sizes of blocks, and the scratch memory
// of operators as it was read off compiled kernels.
#pragma once

#include "tile/npu/memory.h"

namespace jumar::tile::npu {

class BlockSizes {
 public:
  BlockSizes(const BlockNest& nest, int64_t align_bytes) : nest_(nest), align_bytes_(align_bytes) {}

  // 0 where a value is no block.
  int64_t bytes(BlockId id) const;
  // As if elements were 32 bits.
  int64_t word_bytes(BlockId id) const { return word_bytes(shape(id)); }
  // As an access has it in global memory, where its dimensions may have another order.
  int64_t bytes_in_memory_order(const BlockInst& access, BlockId id) const;

  std::vector<int64_t> shape(BlockId id) const { return shape_of(nest_, nest_.values[id].axes); }
  ir::DType dtype(BlockId id) const { return nest_.values[id].dtype; }
  int64_t bits(BlockId id) const { return ir::is_bool(dtype(id)) ? 1 : 8 * ir::dtype_bytes(dtype(id)); }
  const BlockNest& nest() const { return nest_; }
  int64_t rounded_up(int64_t bytes) const { return (bytes + align_bytes_ - 1) / align_bytes_ * align_bytes_; }

 private:
  int64_t word_bytes(const std::vector<int64_t>& shape) const;
  int64_t bytes(const std::vector<int64_t>& shape, int64_t bits) const;

  const BlockNest& nest_;
  int64_t align_bytes_;
};

// Whether the order of the axes differs from that in memory.
bool is_turned(const BlockInst& access);
// Whether the toolchain writes a constant operand to a block of its own first.
bool takes_blocks_only(const BlockInst& inst, size_t operand);

int64_t op_scratch_bytes(const BlockSizes& sizes, const BlockInst& op);
int64_t reduction_scratch_bytes(const BlockSizes& sizes, const BlockInst& reduction);
int64_t broadcast_scratch_bytes(const BlockSizes& sizes, const BlockInst& broadcast);

// For a compiler that makes functions of vector code.
BufferNeed function_buffer_need(const BlockKernel& kernel, const MemoryModel& model);

}  // namespace jumar::tile::npu
