#include "tile/npu/memory_parts.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "tile/npu/walk.h"

namespace jumar::tile::npu {

namespace {

struct NestBytes {
  int64_t always = 0;
  int64_t most_at_once = 0;  // besides
};

class Liveness {
 public:
  Liveness(const BlockNest& nest, const MemoryModel& model)
      : nest_(nest), model_(model), sizes_(nest, model.align_bytes), data_(data_values(nest)) {}

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
    // Masks are a byte for each element.
    const int64_t words = sizes_.word_bytes(id);
    return ir::is_bool(sizes_.dtype(id)) ? sizes_.rounded_up(words / 4) : sizes_.bytes(id);
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
      const bool takes_block = takes_blocks_only(inst, k) || inst.op == BlockOp::kSelect;
      if (constants_.contains(operand) && takes_block) hold_constant(operand, inst.result);
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
    if (inst.kind == BlockKind::kReduce || inst.kind == BlockKind::kScan) scratch(bytes_of(inst.operands[0]));
    const bool makes_mask = ir::is_bool(sizes_.dtype(inst.result)) &&
                            (inst.kind == BlockKind::kIndex || inst.kind == BlockKind::kBroadcast);
    if (makes_mask) scratch(sizes_.word_bytes(inst.result));
    if (inst.kind == BlockKind::kOp) scratch(op_scratch_bytes(sizes_, inst));
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

  const BlockNest& nest_;
  const MemoryModel& model_;
  BlockSizes sizes_;
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
BufferNeed function_buffer_need(const BlockKernel& kernel, const MemoryModel& model) {
  int64_t always = 0;
  int64_t most = 0;
  for (const BlockNest& nest : kernel.nests) {
    const NestBytes bytes = Liveness(nest, model).run();
    always += bytes.always;
    most = std::max(most, bytes.most_at_once);
  }
  return {always + most, always + most};
}

}  // namespace jumar::tile::npu
