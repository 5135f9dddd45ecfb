#include "tile/npu/memory_parts.h"

#include <algorithm>
#include <utility>

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

int64_t BlockSizes::bytes(BlockId id) const {
  return is_spread(id) ? spread_bytes(id) : bytes(shape(id), bits(id));
}

int64_t BlockSizes::spread_bytes(BlockId id) const {
  return shape(id).empty() ? 0 : elements_of(nest_, nest_.values[id].axes) * align_bytes_;
}

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

std::pair<int64_t, int64_t> padded_turn(int64_t axis, int64_t dense, int64_t unit) {
  // Words are exchanged as squares of 8 by 16.
  constexpr int64_t kWords = 8;
  constexpr int64_t kRows = 16;
  axis = multiple(axis, unit);
  dense = multiple(dense, unit);
  if (unit == kWords && axis % kRows != 0 && dense % kRows != 0) dense = multiple(dense, kRows);
  return {axis, dense};
}

namespace {

int64_t product(const std::vector<int64_t>& shape) {
  int64_t points = 1;
  for (const int64_t size : shape) points *= size;
  return points;
}

// What a permutation is made of, one cycle after the other: exchanges of its least axis with the others.
std::vector<std::pair<size_t, size_t>> exchanges(const std::vector<size_t>& permutation) {
  std::vector<std::pair<size_t, size_t>> found;
  std::vector<bool> is_done(permutation.size());
  for (size_t first = 0; first < permutation.size(); ++first) {
    std::vector<size_t> cycle;
    for (size_t k = first; !is_done[k]; k = permutation[k]) {
      is_done[k] = true;
      cycle.push_back(k);
    }
    for (size_t k = cycle.size(); k-- > 1;) found.emplace_back(first, cycle[k]);
  }
  return found;
}

// Axes of a block before or after it is turned: their sizes, and what these are padded to.
struct TurnedShape {
  std::vector<int64_t> sizes;
  std::vector<int64_t> padded;
};

// Pads both axes of an exchange that moves the densest one, before and after it.
void pad_exchanged(TurnedShape& before, TurnedShape& after, size_t axis, int64_t unit) {
  const auto [kept, dense] = padded_turn(before.sizes[axis], before.sizes.back(), unit);
  const auto pad = [](int64_t& size, int64_t to) { size = std::max(size, to); };
  pad(before.padded[axis], kept);
  pad(before.padded.back(), dense);
  pad(after.padded[axis], dense);
  pad(after.padded.back(), kept);
}

}  // namespace

std::vector<int64_t> BlockSizes::turned_bytes(const BlockInst& access, BlockId id) const {
  const AxisSet axes = nest_.values[id].axes;
  std::vector<uint32_t> from;
  for (const Access::Dim& dim : access.access.dims)
    if ((axes >> dim.axis & 1) != 0 && !nest_.axes[dim.axis].is_scalar) from.push_back(dim.axis);
  std::vector<uint32_t> to = from;
  std::ranges::sort(to);
  if (access.kind == BlockKind::kStore) from.swap(to);

  const int64_t element = ir::is_bool(dtype(id)) ? 1 : ir::dtype_bytes(dtype(id));
  const int64_t unit = align_bytes_ / element;
  std::vector<size_t> permutation;
  for (const uint32_t axis : to) permutation.push_back(std::ranges::find(from, axis) - from.begin());
  TurnedShape shape;
  for (const uint32_t axis : from) shape.sizes.push_back(nest_.axes[axis].size);
  const auto with_rows = [&](std::vector<int64_t> sizes) {
    if (!sizes.empty()) sizes.back() = multiple(sizes.back(), unit);
    return sizes;
  };
  shape.padded = with_rows(shape.sizes);
  std::vector<TurnedShape> blocks = {shape};
  for (const auto& [first, second] : exchanges(permutation)) {
    std::swap(shape.sizes[first], shape.sizes[second]);
    shape.padded = with_rows(shape.sizes);
    blocks.push_back(shape);
    if (second + 1 == shape.sizes.size())
      pad_exchanged(blocks[blocks.size() - 2], blocks.back(), first, unit);
  }
  if (blocks.size() == 1) blocks.push_back(shape);  // only turned round
  std::vector<int64_t> bytes;
  for (const TurnedShape& each : blocks) bytes.push_back(product(each.padded) * element);
  return bytes;
}

bool is_last_axis(const BlockNest& nest, AxisSet axes, uint32_t axis) {
  for (size_t k = axis + 1; k < nest.axes.size(); ++k)
    if ((axes >> k & 1) != 0 && !nest.axes[k].is_scalar) return false;
  return true;
}

std::vector<uint32_t> added_axes(const BlockNest& nest, const BlockInst& broadcast) {
  const AxisSet from = nest.values[broadcast.operands[0]].axes;
  const AxisSet to = nest.values[broadcast.result].axes;
  std::vector<uint32_t> added;
  for (uint32_t k = 0; k < nest.axes.size(); ++k)
    if (((to & ~from) >> k & 1) != 0 && !nest.axes[k].is_scalar && nest.axes[k].size > 1) added.push_back(k);
  return added;
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
  if (sizes.is_spread(from) || !is_last_axis(sizes.nest(), sizes.nest().values[from].axes, reduction.axis))
    return sizes.word_bytes(from);
  int64_t rows = 1;
  for (size_t k = 0; k + 1 < shape.size(); ++k) rows *= shape[k];
  const int64_t row = multiple(shape.back(), 16);
  const bool is_halved = ir::is_float(sizes.dtype(from)) && reduction.reduce != loop::ReduceKind::kProd;
  if (!is_halved) return rows * kWord * (row <= kVectorWords ? 2 * row : kVectorWords + 8);
  return row <= kVectorWords ? 0 : rows * kWord * std::max(kVectorWords, row / 2);
}

// Axes are added one after the other from the densest, and what is between is a block. A row of repeated
// elements begins as one unit of alignment.
int64_t broadcast_scratch_bytes(const BlockSizes& sizes, const BlockInst& broadcast) {
  const BlockNest& nest = sizes.nest();
  if (sizes.shape(broadcast.operands[0]).empty()) return 0;
  const std::vector<uint32_t> added = added_axes(nest, broadcast);
  AxisSet axes = nest.values[broadcast.operands[0]].axes;
  int64_t scratch = 0;
  for (size_t k = added.size(); k-- > 0;) {
    if (is_last_axis(nest, nest.values[broadcast.result].axes, added[k]))
      scratch += multiple(elements_of(nest, axes) * 8, kVectorWords) * kWord;
    axes |= AxisSet{1} << added[k];
    if (k > 0) scratch += sizes.bytes(shape_of(nest, axes), sizes.bits(broadcast.result));
  }
  return scratch;
}

int64_t scan_scratch_bytes(const BlockSizes& sizes, const BlockInst& scan) {
  return scan.scan == loop::ScanKind::kSum ? 0 : sizes.bytes(scan.operands[0]);
}

int64_t turn_scratch_bytes(const BlockSizes& sizes, BlockId turned) {
  constexpr int64_t kWideTurnBytes = 4096;
  return ir::dtype_bytes(sizes.dtype(turned)) > kWord ? kWideTurnBytes : 0;
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
