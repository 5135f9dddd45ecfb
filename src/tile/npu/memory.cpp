#include "tile/npu/memory.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "tile/npu/walk.h"

namespace jumar::tile::npu {

using ir::DType;

namespace {

int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Blocks of the result's shape, in 32 bits, that the toolchain's implementation of an operator takes besides
// operands and result: read off compiled kernels.
int64_t scratch_blocks(BlockOp op) {
  switch (op) {
    case BlockOp::kRemF:
    case BlockOp::kLog2:
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

// Whether the toolchain writes a constant operand to a block of its own first.
bool takes_blocks_only(const BlockInst& inst, size_t operand) {
  if (inst.kind != BlockKind::kOp) return false;
  if (is_comparison(inst.op) || inst.op == BlockOp::kSelect || inst.op == BlockOp::kPow) return true;
  return (inst.op == BlockOp::kDivF || inst.op == BlockOp::kSubF) && operand == 0;
}

struct NestBytes {
  int64_t always = 0;
  int64_t most_at_once = 0;  // besides
};

class Liveness {
 public:
  Liveness(const BlockNest& nest, const MemoryModel& model)
      : nest_(nest), model_(model), data_(data_values(nest)) {}

  NestBytes run() {
    walk(nest_.body, 0);
    // A value ends where it is last used; one of an outer loop that an inner one uses, where that one ends.
    std::vector<int64_t> change(static_cast<size_t>(time_) + 2, 0);
    const auto add = [&](int64_t first, int64_t last, int64_t bytes) {
      change[static_cast<size_t>(first)] += bytes;
      change[static_cast<size_t>(last) + 1] -= bytes;
    };
    for (const auto& [root, span] : spans_)
      if (span.last >= span.first) add(span.first, span.last, span.bytes);
    for (const auto& [when, bytes] : scratch_) add(when, when, bytes);
    int64_t now = 0;
    NestBytes out{always_bytes_, 0};
    for (int64_t step : change) {
      now += step;
      out.most_at_once = std::max(out.most_at_once, now);
    }
    return out;
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

  void define(BlockId id, uint32_t depth) { spans_[id] = {time_, -1, bytes_of(id), depth}; }

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
        if (spans_.count(root(carried.init)) == 0) {
          define(carried.init, depth);
          hold_constant(carried.init, carried.init);
        }
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
    for (size_t k = 0; k < inst.operands.size(); ++k) {
      const BlockId operand = inst.operands[k];
      if (!operand) continue;
      use(operand);
      if (constants_.contains(operand) && takes_blocks_only(inst, k)) hold_constant(operand, inst.result);
    }
    if (inst.access.index) use(inst.access.index);
    if (inst.kind == BlockKind::kConst) {
      constants_.insert(inst.result);
      return;
    }
    if (inst.kind == BlockKind::kStore) {
      visit_store(inst, depth);
      return;
    }
    if (inst.kind == BlockKind::kLoad && depth > 0 && model_.multi_buffer > 1) {
      always_bytes_ += bytes_of(inst.result) * model_.multi_buffer;
    } else {
      define(inst.result, depth);
    }
    if (inst.kind == BlockKind::kLoad && is_turned(inst)) scratch(bytes_of(inst.result));
    visit_scratch(inst);
  }

  // The buffers that a loop moves from or to memory change roles from round to round: they are there all the
  // time. What is stored is computed in one of them.
  void visit_store(const BlockInst& inst, uint32_t depth) {
    const BlockId value = inst.operands[0];
    if (is_turned(inst)) scratch(bytes_of(value));
    if (depth == 0 || model_.multi_buffer <= 1) return;
    always_bytes_ += bytes_of(value) * model_.multi_buffer;
    const auto found = spans_.find(root(value));
    if (found != spans_.end() && found->second.depth == depth && root(value) == value)
      found->second.bytes = 0;
  }

  void visit_scratch(const BlockInst& inst) {
    const DType dtype = nest_.values[inst.result].dtype;
    const int64_t words = bytes_of(inst.result) / ir::dtype_bytes(dtype) * 4;
    if (inst.kind == BlockKind::kReduce || inst.kind == BlockKind::kScan) scratch(bytes_of(inst.operands[0]));
    const bool makes_mask =
        ir::is_bool(dtype) && (inst.kind == BlockKind::kIndex || inst.kind == BlockKind::kBroadcast);
    if (makes_mask) scratch(words);
    if (inst.kind == BlockKind::kOp) scratch(op_scratch(inst, words));
  }

  int64_t op_scratch(const BlockInst& inst, int64_t words) const {
    const DType to = nest_.values[inst.result].dtype;
    const DType from = nest_.values[inst.operands[0]].dtype;
    const bool is_narrow = ir::dtype_bytes(from) == 1;
    // To 8 bits in pieces of 1024, by way of halves.
    constexpr int64_t kPieceBytes = 4 * 1024;
    if (inst.op == BlockOp::kTruncI) return ir::dtype_bytes(to) == 1 ? 4 * rounded_up(words, kPieceBytes) : 0;
    // From 8 bits or one by way of halves.
    if (inst.op == BlockOp::kExtUI || inst.op == BlockOp::kExtSI) return is_narrow ? words / 2 : 0;
    if (is_comparison(inst.op) && ir::is_integer(from)) return is_narrow ? words / 2 : words;
    return scratch_blocks(inst.op) * words;
  }

  // Written once, before all loops.
  void hold_constant(BlockId constant, BlockId like) {
    const BlockType& type = nest_.values[like];
    if (!known_constants_.insert({constant, type.axes}).second) return;
    const int64_t elements = bytes_of(like) / ir::dtype_bytes(type.dtype);
    always_bytes_ += elements * ir::dtype_bytes(nest_.values[constant].dtype);
  }

  void scratch(int64_t bytes) {
    if (bytes > 0) scratch_.emplace_back(time_, bytes);
  }

  static bool is_turned(const BlockInst& inst) {
    return inst.access.is_backward || !std::ranges::is_sorted(inst.access.dims, {}, &Access::Dim::axis);
  }

  const BlockNest& nest_;
  const MemoryModel& model_;
  std::set<BlockId> data_;
  std::unordered_map<BlockId, Span> spans_;
  std::unordered_map<BlockId, BlockId> alias_;
  std::vector<BlockId> used_in_loops_;
  std::vector<std::pair<int64_t, int64_t>> scratch_;
  int64_t always_bytes_ = 0;
  std::set<BlockId> constants_;
  std::set<std::pair<BlockId, AxisSet>> known_constants_;
  int64_t time_ = 0;
};

}  // namespace

// Nests follow each other, but what is there all the time is there for all of them.
int64_t buffer_bytes(const BlockKernel& kernel, const MemoryModel& model) {
  int64_t always = 0;
  int64_t most = 0;
  for (const BlockNest& nest : kernel.nests) {
    const NestBytes bytes = Liveness(nest, model).run();
    always += bytes.always;
    most = std::max(most, bytes.most_at_once);
  }
  return always + most;
}

}  // namespace jumar::tile::npu
