#include "tile/npu/memory.h"

#include <algorithm>
#include <unordered_map>

#include "tile/npu/walk.h"

namespace jumar::tile::npu {
namespace {

int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Blocks of the result's shape, in 32 bits, that the toolchain's implementation of an operator takes besides
// operands and result: read off compiled kernels.
int64_t scratch_blocks(BlockOp op) {
  switch (op) {
    case BlockOp::kErf:
    case BlockOp::kTanh:
    case BlockOp::kLog1p:
    case BlockOp::kExpm1:
    case BlockOp::kRemF:
      return 2;
    case BlockOp::kSin:
    case BlockOp::kCos:
    case BlockOp::kTan:
    case BlockOp::kAtan:
    case BlockOp::kPow:
    case BlockOp::kDivSI:
    case BlockOp::kRemSI:
      return 3;
    case BlockOp::kSelect:
    case BlockOp::kMaximumF:
    case BlockOp::kMinimumF:
      return 1;
    default:
      return is_comparison(op) ? 1 : 0;
  }
}

class Liveness {
 public:
  Liveness(const BlockNest& nest, const MemoryModel& model)
      : nest_(nest), model_(model), data_(data_values(nest)) {}

  int64_t peak() {
    walk(nest_.body, 0);
    // A value ends where it is last used; one of an outer loop that an inner one uses, where that one ends.
    std::vector<int64_t> change(static_cast<size_t>(time_) + 2, 0);
    for (const auto& [root, span] : spans_) {
      if (span.last < span.first) continue;
      change[static_cast<size_t>(span.first)] += span.bytes;
      change[static_cast<size_t>(span.last) + 1] -= span.bytes;
    }
    for (const auto& [when, bytes] : scratch_) {
      change[static_cast<size_t>(when)] += bytes;
      change[static_cast<size_t>(when) + 1] -= bytes;
    }
    int64_t now = 0;
    int64_t most = 0;
    for (int64_t step : change) {
      now += step;
      most = std::max(most, now);
    }
    return most;
  }

 private:
  struct Span {
    int64_t first = 0;
    int64_t last = -1;
    int64_t bytes = 0;
    uint32_t depth = 0;
  };

  int64_t bytes_of(BlockId id) const {
    const BlockType& type = nest_.values[id];
    std::vector<int64_t> shape = shape_of(nest_, type.axes);
    if (shape.empty()) return 0;
    const int64_t element_bits = 8 * ir::dtype_bytes(type.dtype);
    int64_t bytes = rounded_up((shape.back() * element_bits + 7) / 8, model_.align_bytes);
    for (size_t k = 0; k + 1 < shape.size(); ++k) bytes *= shape[k];
    return bytes;
  }

  BlockId root(BlockId id) const {
    for (auto found = alias_.find(id); found != alias_.end(); found = alias_.find(id)) id = found->second;
    return id;
  }

  void define(BlockId id, uint32_t depth, int64_t copies) {
    spans_[id] = {time_, -1, bytes_of(id) * copies, depth};
  }

  void use(BlockId id) {
    const auto found = spans_.find(root(id));
    if (found == spans_.end()) return;
    found->second.last = std::max(found->second.last, time_);
    used_in_loops_.push_back(root(id));
  }

  void walk(const Region& region, uint32_t depth) {
    for (const BlockNode& node : region) {
      ++time_;
      if (const auto* inst = std::get_if<BlockInst>(&node)) {
        visit(*inst, depth);
        continue;
      }
      const BlockLoop& loop = *std::get<std::unique_ptr<BlockLoop>>(node);
      for (const BlockLoop::Carried& carried : loop.carried) {
        use(carried.init);
        // One buffer holds the value before, in and after the loop; a constant has to be written first.
        if (spans_.count(root(carried.init)) == 0) define(carried.init, depth, 1);
        alias_[carried.inside] = carried.init;
        alias_[carried.result] = carried.init;
      }
      const int64_t begin = time_;
      std::vector<BlockId> outer;
      outer.swap(used_in_loops_);
      walk(loop.body, depth + 1);
      for (const BlockLoop::Carried& carried : loop.carried) {
        use(carried.next);
        use(carried.init);
      }
      ++time_;
      for (BlockId id : used_in_loops_) {
        Span& span = spans_.at(id);
        if (span.first <= begin) span.last = std::max(span.last, time_);
      }
      outer.insert(outer.end(), used_in_loops_.begin(), used_in_loops_.end());
      used_in_loops_.swap(outer);
    }
  }

  void visit(const BlockInst& inst, uint32_t depth) {
    if (inst.result && !data_.count(inst.result)) return;
    for (BlockId operand : inst.operands)
      if (operand) use(operand);
    if (inst.access.index) use(inst.access.index);
    if (inst.kind == BlockKind::kConst) return;
    const bool moves = inst.kind == BlockKind::kLoad || inst.kind == BlockKind::kStore;
    const int64_t copies = moves && depth > 0 ? model_.multi_buffer : 1;
    if (inst.kind == BlockKind::kStore) {
      scratch_.emplace_back(time_, bytes_of(inst.operands[0]) * (copies - 1));
      if (is_turned(inst)) scratch_.emplace_back(time_, bytes_of(inst.operands[0]));
      return;
    }
    define(inst.result, depth, copies);
    const bool makes_mask = ir::is_bool(nest_.values[inst.result].dtype) &&
                            (inst.kind == BlockKind::kIndex || inst.kind == BlockKind::kBroadcast);
    const int64_t blocks = inst.kind == BlockKind::kOp ? scratch_blocks(inst.op) : makes_mask ? 1 : 0;
    if (blocks > 0 && inst.result) {
      const int64_t elements = bytes_of(inst.result) / ir::dtype_bytes(nest_.values[inst.result].dtype);
      scratch_.emplace_back(time_, blocks * elements * 4);
    }
    if (inst.kind == BlockKind::kReduce || inst.kind == BlockKind::kScan)
      scratch_.emplace_back(time_, bytes_of(inst.operands[0]));
    if (inst.kind == BlockKind::kLoad && is_turned(inst)) scratch_.emplace_back(time_, bytes_of(inst.result));
  }

  static bool is_turned(const BlockInst& inst) {
    return !std::ranges::is_sorted(inst.access.dims, {}, &Access::Dim::axis);
  }

  const BlockNest& nest_;
  const MemoryModel& model_;
  std::set<BlockId> data_;
  std::unordered_map<BlockId, Span> spans_;
  std::unordered_map<BlockId, BlockId> alias_;
  std::vector<BlockId> used_in_loops_;
  std::vector<std::pair<int64_t, int64_t>> scratch_;
  int64_t time_ = 0;
};

}  // namespace

int64_t buffer_bytes(const BlockNest& nest, const MemoryModel& model) { return Liveness(nest, model).peak(); }

int64_t buffer_bytes(const BlockKernel& kernel, const MemoryModel& model) {
  int64_t most = 0;
  for (const BlockNest& nest : kernel.nests) most = std::max(most, buffer_bytes(nest, model));
  return most;
}

}  // namespace jumar::tile::npu
