#include "tile/npu/memory_parts.h"

#include <algorithm>

namespace jumar::tile::npu {
namespace {

constexpr int64_t kWord = 4;
constexpr int64_t kVectorWords = 64;  // that an instruction does at once
constexpr int64_t kAngleTableBytes = 1280;

int64_t multiple(int64_t value, int64_t of) { return (value + of - 1) / of * of; }

// Blocks of the result's shape, in 32 bits, that the toolchain's implementation of an operator takes besides
// operands and result.
int64_t scratch_blocks(BlockOp op) {
  switch (op) {
    case BlockOp::kRemF:
    case BlockOp::kLog2:
    case BlockOp::kTanh:
    case BlockOp::kRsqrt:
      return 1;
    case BlockOp::kErf:
    case BlockOp::kDivSI:
    case BlockOp::kRemSI:
      return 3;
    case BlockOp::kTan:
      return 8;
    case BlockOp::kPow:
      return 10;
    case BlockOp::kSin:
    case BlockOp::kCos:
      return 11;
    case BlockOp::kAtan:
      return 13;
    default:
      return 0;
  }
}

}  // namespace

int64_t BlockSizes::bytes(const std::vector<int64_t>& shape, int64_t bits) const {
  if (shape.empty()) return 0;
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < shape.size(); ++k) rows *= shape[k];
  // Rows of masks are only full where those of the numbers are.
  const int64_t whole = align_bytes_ / kWord;
  if (bits == 1 && shape.back() % whole == 0 && (!pads_masks_ || shape.size() == 1))
    return rounded_up((rows * shape.back() + 7) / 8);
  return rows * rounded_up((shape.back() * bits + 7) / 8);
}

int64_t BlockSizes::bytes(BlockId id) const { return bytes(shape(id), bits(id)); }

int64_t BlockSizes::moved_bytes(const BlockInst& access, BlockId id) const {
  int64_t elements = 1;
  for (const int64_t size : shape(id)) elements *= size;
  if (shape(id).empty() || access.access.index || access.access.is_backward) return bytes(id);
  int64_t run = 1;
  for (size_t k = access.access.dims.size(); k-- > 0;) {
    const Access::Dim& dim = access.access.dims[k];
    const BlockAxis& axis = nest_.axes[dim.axis];
    if (axis.is_scalar || axis.size == 1) continue;
    // Rows of a block that may reach beyond its axis are loaded one by one.
    if (!dim.stride.is_const(run) || (run > 1 && !axis.is_exact)) break;
    run *= axis.size;
  }
  return elements / run * rounded_up((run * bits(id) + 7) / 8);
}

int64_t BlockSizes::word_bytes(const std::vector<int64_t>& shape) const { return bytes(shape, 8 * kWord); }

int64_t BlockSizes::bytes_in_memory_order(const BlockInst& access, BlockId id) const {
  const AxisSet axes = nest_.values[id].axes;
  std::vector<int64_t> shape;
  for (const Access::Dim& dim : access.access.dims)
    if ((axes >> dim.axis & 1) != 0 && !nest_.axes[dim.axis].is_scalar)
      shape.push_back(nest_.axes[dim.axis].size);
  return std::max(bytes(id), bytes(shape, bits(id)));
}

bool is_last_axis(const BlockNest& nest, AxisSet axes, uint32_t axis) {
  for (size_t k = axis + 1; k < nest.axes.size(); ++k)
    if ((axes >> k & 1) != 0 && !nest.axes[k].is_scalar) return false;
  return true;
}

bool is_turned(const BlockInst& access) {
  return access.access.is_backward || !std::ranges::is_sorted(access.access.dims, {}, &Access::Dim::axis);
}

bool takes_blocks_only(const BlockInst& inst, size_t operand) {
  if (inst.kind != BlockKind::kOp) return false;
  if (is_comparison(inst.op) || inst.op == BlockOp::kPow) return true;
  return (inst.op == BlockOp::kDivF || inst.op == BlockOp::kSubF) && operand == 0;
}

int64_t op_scratch_bytes(const BlockSizes& sizes, const BlockInst& op) {
  const int64_t words = sizes.word_bytes(op.result);
  const ir::DType to = sizes.dtype(op.result);
  const ir::DType from = sizes.dtype(op.operands[0]);
  const bool is_narrow = ir::dtype_bytes(from) == 1;
  // To 8 bits in pieces of 1024, by way of halves.
  constexpr int64_t kPieceBytes = 4 * 1024;
  if (op.op == BlockOp::kTruncI) return ir::dtype_bytes(to) == 1 ? 4 * multiple(words, kPieceBytes) : 0;
  // From 8 bits or one by way of halves.
  if (op.op == BlockOp::kExtUI || op.op == BlockOp::kExtSI) return is_narrow ? words / 2 : 0;
  if (is_comparison(op.op) && ir::is_integer(from)) return is_narrow ? words / 2 : words;
  if (op.op == BlockOp::kXorI) return sizes.bytes(op.result);
  // Two numbers as vectors of one instruction, and a mask.
  if (op.op == BlockOp::kSelect) return 3 * 8 * kWord;
  return scratch_blocks(op.op) * words;
}

// Rows are halved until they fit an instruction; other axes are folded in a copy.
int64_t reduction_scratch_bytes(const BlockSizes& sizes, const BlockInst& reduction) {
  const BlockId from = reduction.operands[0];
  const std::vector<int64_t> shape = sizes.shape(from);
  if (shape.empty()) return 0;
  if (!is_last_axis(sizes.nest(), sizes.nest().values[from].axes, reduction.axis))
    return sizes.word_bytes(from);
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < shape.size(); ++k) rows *= shape[k];
  const int64_t row = multiple(shape.back(), 16);
  const bool is_halved = ir::is_float(sizes.dtype(from)) && reduction.reduce != loop::ReduceKind::kProd;
  if (!is_halved) return rows * kWord * (row <= kVectorWords ? 2 * row : kVectorWords + 8);
  return row <= kVectorWords ? 0 : rows * kWord * std::max(kVectorWords, row / 2);
}

// A row of repeated elements begins as one unit of alignment. Axes on both sides are added one after the
// other.
int64_t broadcast_scratch_bytes(const BlockSizes& sizes, const BlockInst& broadcast) {
  const BlockNest& nest = sizes.nest();
  const AxisSet from = nest.values[broadcast.operands[0]].axes;
  const AxisSet to = nest.values[broadcast.result].axes;
  int64_t rows = 1;
  int64_t before = 1;  // new points before the first axis that is there already
  bool is_before = true;
  bool is_last_new = false;
  for (size_t k = 0; k < nest.axes.size(); ++k) {
    if ((to >> k & 1) == 0 || nest.axes[k].is_scalar || nest.axes[k].size == 1) continue;
    is_last_new = (from >> k & 1) == 0;
    if (!is_last_new) {
      rows *= nest.axes[k].size;
      is_before = false;
    } else if (is_before) {
      before *= nest.axes[k].size;
    }
  }
  if (!is_last_new || is_before) return 0;
  const int64_t units = multiple(rows * 8, kVectorWords) * kWord;
  return before > 1 ? units + sizes.bytes(broadcast.result) / before : units;
}

int64_t scan_scratch_bytes(const BlockSizes& sizes, const BlockInst& scan) {
  return scan.scan == loop::ScanKind::kSum ? 0 : sizes.bytes(scan.operands[0]);
}

// What is left between the functions or the loops that an operator's chain is cut into.
int64_t function_op_scratch_bytes(const BlockSizes& sizes, const BlockInst& op) {
  const int64_t words = sizes.word_bytes(op.result);
  const bool is_cut = elements_of(sizes.nest(), sizes.nest().values[op.result].axes) <= kCutElements;
  switch (op.op) {
    case BlockOp::kRemF:
      return is_cut ? 4 * words : 0;
    case BlockOp::kTan:
      return is_cut ? 5 * words : 0;
    case BlockOp::kErf:
      return is_cut ? 6 * words : 0;
    case BlockOp::kPow:
      return (is_cut ? 7 : 3) * words;
    case BlockOp::kAtan:
      return (is_cut ? 10 : 6) * words;
    case BlockOp::kCos:
      return (is_cut ? 10 : 4) * words + kAngleTableBytes;
    case BlockOp::kSin:
      return (is_cut ? 13 : 6) * words + kAngleTableBytes;
    default:
      return 0;
  }
}

// Along rows it is done on the block turned.
int64_t function_scan_scratch_bytes(const BlockSizes& sizes, const BlockInst& scan) {
  const std::vector<int64_t> shape = sizes.shape(scan.operands[0]);
  const AxisSet axes = sizes.nest().values[scan.operands[0]].axes;
  if (shape.empty() || !is_last_axis(sizes.nest(), axes, scan.axis)) return 0;
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < shape.size(); ++k) rows *= shape[k];
  return shape.back() * sizes.rounded_up(rows * sizes.bits(scan.operands[0]) / 8);
}

}  // namespace jumar::tile::npu
