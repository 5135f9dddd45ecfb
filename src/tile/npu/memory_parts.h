// Sizes of blocks, and the scratch memory of operators as it was read off compiled kernels.
#pragma once

#include <set>
#include <utility>

#include "tile/npu/memory.h"

namespace jumar::tile::npu {

class BlockSizes {
 public:
  // Rows of masks may be as wide apart as rows of anything else. Each element of `spread` takes a unit.
  BlockSizes(const BlockNest& nest, int64_t align_bytes, bool pads_masks, std::set<BlockId> spread)
      : nest_(nest), align_bytes_(align_bytes), pads_masks_(pads_masks), spread_(std::move(spread)) {}

  // 0 where a value is no block.
  int64_t bytes(BlockId id) const;
  // As if elements were 32 bits.
  int64_t word_bytes(BlockId id) const { return is_spread(id) ? spread_bytes(id) : word_bytes(shape(id)); }
  bool is_spread(BlockId id) const { return spread_.contains(id); }
  // As if each element had a unit of alignment.
  int64_t spread_bytes(BlockId id) const;
  // Of an access whose dimensions have another order in global memory: the blocks that the value goes
  // through, from the first (as a load finds it, or as the value is that is stored) to the last. The
  // toolchain exchanges two axes at a time. Where that moves the densest axis both are padded, before and
  // after.
  std::vector<int64_t> turned_bytes(const BlockInst& access, BlockId id) const;

  // Where rows that follow each other in global memory without a gap do so on chip.
  int64_t moved_bytes(const BlockInst& access, BlockId id) const;

  int64_t bytes(const std::vector<int64_t>& shape, int64_t bits) const;

  std::vector<int64_t> shape(BlockId id) const { return shape_of(nest_, nest_.values[id].axes); }
  ir::DType dtype(BlockId id) const { return nest_.values[id].dtype; }
  int64_t bits(BlockId id) const { return ir::is_bool(dtype(id)) ? 1 : 8 * ir::dtype_bytes(dtype(id)); }
  const BlockNest& nest() const { return nest_; }
  int64_t rounded_up(int64_t bytes) const { return (bytes + align_bytes_ - 1) / align_bytes_ * align_bytes_; }

 private:
  int64_t word_bytes(const std::vector<int64_t>& shape) const;

  const BlockNest& nest_;
  int64_t align_bytes_;
  bool pads_masks_;
  std::set<BlockId> spread_;
};

// What the toolchain pads two axes to that are exchanged, the second of which is the densest: to units of
// alignment, in elements; of 32-bit elements one of them to 16.
std::pair<int64_t, int64_t> padded_turn(int64_t axis, int64_t dense, int64_t unit);

// Whether the axis is the densest of a block.
bool is_last_axis(const BlockNest& nest, AxisSet axes, uint32_t axis);
// The dimensions that a broadcast adds.
std::vector<uint32_t> added_axes(const BlockNest& nest, const BlockInst& broadcast);
// Whether the order of the axes differs from that in memory.
bool is_turned(const BlockInst& access);
// Whether the toolchain writes a constant operand to a block of its own first.
bool takes_blocks_only(const BlockInst& inst, size_t operand);

int64_t op_scratch_bytes(const BlockSizes& sizes, const BlockInst& op);
int64_t reduction_scratch_bytes(const BlockSizes& sizes, const BlockInst& reduction);
int64_t broadcast_scratch_bytes(const BlockSizes& sizes, const BlockInst& broadcast);
int64_t scan_scratch_bytes(const BlockSizes& sizes, const BlockInst& scan);
int64_t turn_scratch_bytes(const BlockSizes& sizes, BlockId turned);

// The same where the compiler makes functions of vector code. Of blocks with no more elements than this it
// cuts chains of operators into several functions, and gets no reduction and what needs it into one loop.
constexpr int64_t kCutElements = 4096;
int64_t function_op_scratch_bytes(const BlockSizes& sizes, const BlockInst& op);
int64_t function_scan_scratch_bytes(const BlockSizes& sizes, const BlockInst& scan);

}  // namespace jumar::tile::npu
