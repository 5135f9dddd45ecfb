#include "tile/npu/memory.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "tile/npu/buffer_plan.h"
#include "tile/npu/memory_parts.h"
#include "tile/npu/register_values.h"
#include "tile/npu/spread_blocks.h"
#include "tile/npu/walk.h"

namespace jumar::tile::npu {

using ir::DType;

namespace {

// Broadcasts whose users all repeat their operand by themselves: no block is made of them.
class InlineBroadcasts {
 public:
  explicit InlineBroadcasts(const BlockNest& nest) : nest_(nest) {
    for_each_inst(nest.body, [&](const BlockInst& inst) {
      if (inst.kind == BlockKind::kBroadcast && added_axes(nest, inst).size() == 1)
        found_.insert(inst.result);
    });
    drop_carried(nest.body);
    for_each_inst(nest.body, [&](const BlockInst& inst) { drop_used(inst); });
  }

  bool contains(BlockId id) const { return found_.contains(id); }

 private:
  static bool repeats_operands(const BlockInst& inst) {
    switch (inst.op) {
      case BlockOp::kAddF:
      case BlockOp::kSubF:
      case BlockOp::kMulF:
      case BlockOp::kDivF:
        return inst.kind == BlockKind::kOp;
      default:
        return false;
    }
  }

  void drop_used(const BlockInst& inst) {
    if (inst.access.index) found_.erase(inst.access.index);
    const bool takes_one = repeats_operands(inst) && inst.operands[0] != inst.operands[1];
    if (takes_one && !(contains(inst.operands[0]) && contains(inst.operands[1]))) return;
    // One of two operands is repeated, the other becomes a block.
    for (size_t k = takes_one ? 1 : 0; k < inst.operands.size(); ++k)
      if (inst.operands[k]) found_.erase(inst.operands[k]);
  }

  void drop_carried(const Region& region) {
    for (const BlockNode& node : region) {
      const auto* loop = std::get_if<std::unique_ptr<BlockLoop>>(&node);
      if (!loop) continue;
      for (const BlockLoop::Carried& carried : (*loop)->carried) {
        found_.erase(carried.init);
        found_.erase(carried.next);
      }
      drop_carried((*loop)->body);
    }
  }

  const BlockNest& nest_;
  std::set<BlockId> found_;
};

// The buffers of a nest, as the toolchain makes them: one for each value, which an operator may compute where
// an operand lay that nothing needs any more. Of a compiler that makes functions of vector code: one for each
// value that is in no register, and those of a function are all there while it runs.
class NestBuffers {
 public:
  NestBuffers(const BlockNest& nest, const MemoryModel& model, BufferPlan& plan, int64_t& time)
      : nest_(nest),
        model_(model),
        sizes_{nest, model.align_bytes, model.has_vector_functions,
               model.has_vector_functions ? std::set<BlockId>() : spread_blocks(nest)},
        plan_(plan),
        time_(time),
        data_(data_values(nest)),
        inlined_(nest) {
    if (model.has_vector_functions) registers_.emplace(nest, data_);
  }

  void run() {
    const int64_t begin = ++time_;
    walk(nest_.body, 0);
    ++time_;
    if (registers_)
      widen();
    else
      for (const Computed& each : computed_) join(each);
    for (const Moved& each : moved_) {
      PlannedBuffer& buffer = plan_.buffer(each.buffer);
      buffer.first = std::min(buffer.first, each.begin);
      buffer.last = std::max(buffer.last, each.end);
    }
    for (const int64_t bytes : constant_bytes_) plan_.add({.bytes = bytes, .first = begin, .last = time_});
  }

 private:
  struct Value {
    uint32_t buffer = 0;
    uint32_t depth = 0;
    bool can_join = true;
  };
  struct Computed {
    int64_t time = 0;
    BlockId result;
    std::vector<BlockId> operands;
  };
  struct Moved {
    uint32_t buffer = 0;
    uint32_t depth = 0;
    int64_t begin = 0;
    int64_t end = -1;  // of its loop; before that is known -1
  };

  BlockId root(BlockId id) const {
    for (auto found = alias_.find(id); found != alias_.end(); found = alias_.find(id)) id = found->second;
    return id;
  }
  Value* value_of(BlockId id) {
    const auto found = values_.find(root(id));
    return found == values_.end() ? nullptr : &found->second;
  }
  int64_t copies(uint32_t depth) const { return depth > 0 ? model_.multi_buffer : 1; }

  uint32_t define(BlockId id, uint32_t depth) {
    const uint32_t buffer = plan_.add({.bytes = sizes_.bytes(id), .first = time_, .last = time_});
    values_[id] = {buffer, depth, true};
    held_.push_back(buffer);
    return buffer;
  }
  // What is only ever in registers reads its operands where it is used: in the same function.
  void compute(BlockId id, uint32_t depth) {
    if (!registers_ || !registers_->contains(id)) define(id, depth);
  }
  void use(BlockId id) {
    Value* value = value_of(id);
    if (!value) return;
    PlannedBuffer& buffer = plan_.buffer(value->buffer);
    buffer.last = std::max(buffer.last, time_);
    used_in_loops_.push_back(root(id));
  }
  void scratch(int64_t bytes) {
    if (bytes > 0) plan_.add({.bytes = bytes, .first = time_, .last = time_});
  }
  // Transfers of the next and the last round go on while this one computes.
  void set_moved(uint32_t buffer, uint32_t depth, bool is_single = false) {
    plan_.buffer(buffer).is_moved = true;
    plan_.buffer(buffer).copies = is_single ? 1 : copies(depth);
    if (depth > 0) moved_.push_back({buffer, depth});
  }
  void add_moved(int64_t bytes, uint32_t depth, bool is_single = false) {
    held_.push_back(plan_.add({.bytes = bytes, .first = time_, .last = time_}));
    set_moved(held_.back(), depth, is_single);
  }

  // The buffers of a function are there from its begin to its end.
  void widen() {
    for (const uint32_t id : held_) {
      PlannedBuffer& buffer = plan_.buffer(id);
      const auto begin = std::ranges::lower_bound(function_ends_, buffer.first);
      const auto end = std::ranges::lower_bound(function_ends_, buffer.last);
      if (begin != function_ends_.begin()) buffer.first = *std::prev(begin) + 1;
      if (end != function_ends_.end()) buffer.last = *end;
    }
  }

  void walk(const Region& region, uint32_t depth) {
    for (const BlockNode& node : region) {
      ++time_;
      if (const auto* inst = std::get_if<BlockInst>(&node))
        visit(*inst, depth);
      else
        walk_loop(*std::get<std::unique_ptr<BlockLoop>>(node), depth);
    }
  }

  void walk_loop(const BlockLoop& loop, uint32_t depth) {
    for (const BlockLoop::Carried& carried : loop.carried) {
      use(carried.init);
      // One buffer holds the value before, in and after the loop; a constant has to be written first.
      if (!value_of(carried.init)) {
        hold_constant(carried.init, carried.init);
        define(carried.init, depth);
      }
      value_of(carried.init)->can_join = false;
      alias_[carried.inside] = carried.init;
      alias_[carried.result] = carried.init;
    }
    const int64_t begin = time_;
    function_ends_.push_back(time_);
    std::vector<BlockId> outer;
    outer.swap(used_in_loops_);
    walk(loop.body, depth + 1);
    for (const BlockLoop::Carried& carried : loop.carried) {
      use(carried.next);
      use(carried.init);
      if (!registers_) leave(carried, depth + 1);
    }
    ++time_;
    function_ends_.push_back(time_);
    // What an inner loop uses of outside is there until that ends.
    for (BlockId id : used_in_loops_) {
      PlannedBuffer& buffer = plan_.buffer(values_.at(id).buffer);
      if (buffer.first <= begin) buffer.last = std::max(buffer.last, time_);
    }
    for (Moved& each : moved_) {
      if (each.depth != depth + 1 || each.end >= 0) continue;
      each.begin = begin;
      each.end = time_;
    }
    outer.insert(outer.end(), used_in_loops_.begin(), used_in_loops_.end());
    used_in_loops_.swap(outer);
  }

  // The next value is computed where the last one is.
  void leave(const BlockLoop::Carried& carried, uint32_t depth) {
    Value* next = value_of(carried.next);
    Value* init = value_of(carried.init);
    if (!next || next == init || next->depth != depth) return;
    next->can_join = false;
    if (!plan_.buffer(next->buffer).is_moved) plan_.join(next->buffer, init->buffer);
  }

  void visit(const BlockInst& inst, uint32_t depth) {
    if (inst.result && !data_.contains(inst.result)) return;
    for (size_t k = 0; k < inst.operands.size(); ++k) {
      const BlockId operand = inst.operands[k];
      if (!operand) continue;
      use(operand);
      const bool is_written = constants_.contains(operand) && takes_blocks_only(inst, k);
      if (is_written && !registers_) hold_constant(operand, inst.result);
    }
    if (inst.access.index) use(inst.access.index);
    if (inst.access.mask) use(inst.access.mask);
    switch (inst.kind) {
      case BlockKind::kConst:
        constants_.insert(inst.result);
        return;
      case BlockKind::kStore:
        visit_store(inst, depth);
        function_ends_.push_back(time_);
        return;
      case BlockKind::kLoad:
        return visit_load(inst, depth);
      case BlockKind::kBroadcast:
        return visit_broadcast(inst, depth);
      case BlockKind::kOp:
        if (sizes_.bytes(inst.result) == 0) return;
        compute(inst.result, depth);
        scratch(registers_ ? function_op_scratch_bytes(sizes_, inst) : op_scratch_bytes(sizes_, inst));
        if (inst.op != BlockOp::kSelect)
          computed_.push_back({time_, inst.result, {inst.operands.begin(), inst.operands.end()}});
        return;
      case BlockKind::kReduce:
        if (!registers_)
          scratch(reduction_scratch_bytes(sizes_, inst));
        else if (registers_->is_folded_in_copy(inst))
          scratch(sizes_.bytes(inst.operands[0]));
        break;
      case BlockKind::kSlice:
        return visit_slice(inst);
      case BlockKind::kScan:
        scratch(registers_ ? function_scan_scratch_bytes(sizes_, inst) : scan_scratch_bytes(sizes_, inst));
        break;
      default:
        if (!registers_ && ir::is_bool(sizes_.dtype(inst.result))) scratch(sizes_.word_bytes(inst.result));
    }
    compute(inst.result, depth);
  }

  // Operators read it where it lies.
  void visit_slice(const BlockInst& inst) {
    Value* whole = value_of(inst.operands[0]);
    if (!whole) return;
    whole->can_join = false;
    alias_[inst.result] = inst.operands[0];
  }

  void visit_load(const BlockInst& inst, uint32_t depth) {
    const bool is_bool = ir::is_bool(sizes_.dtype(inst.result)) && sizes_.bytes(inst.result) > 0;
    if (is_turned(inst) && !registers_) return visit_turned_load(inst, depth, is_bool);
    if (is_bool) {
      add_moved(sizes_.word_bytes(inst.result) / 4, depth);
      return visit_loaded_bytes(inst, depth);
    }
    if (!registers_ && is_stepped(nest_, inst) && !sizes_.is_spread(inst.result)) {
      add_moved(sizes_.spread_bytes(inst.result), depth, inst.is_single);
      return compute(inst.result, depth);
    }
    const int64_t bytes = registers_ ? sizes_.moved_bytes(inst, inst.result) : sizes_.bytes(inst.result);
    if (is_turned(inst)) {
      add_moved(bytes, depth, inst.is_single);
      return compute(inst.result, depth);
    }
    const uint32_t buffer = define(inst.result, depth);
    plan_.buffer(buffer).bytes = bytes;
    set_moved(buffer, depth, inst.is_single);
  }

  // Masks are bytes in global memory, which are compared with zero as halves.
  void visit_loaded_bytes(const BlockInst& inst, uint32_t depth) {
    if (!registers_) {
      const int64_t words = sizes_.word_bytes(inst.result);
      scratch(words / 2);
      constant_bytes_.push_back(words / 2);
    }
    compute(inst.result, depth);
  }

  void visit_turned_load(const BlockInst& inst, uint32_t depth, bool is_bool) {
    const std::vector<int64_t> blocks = sizes_.turned_bytes(inst, inst.result);
    add_moved(blocks.front(), depth, inst.is_single && !is_bool);
    turn(inst.result, blocks);
    if (is_bool) {
      scratch(blocks.back());
      return visit_loaded_bytes(inst, depth);
    }
    plan_.buffer(define(inst.result, depth)).bytes = blocks.back();
  }

  // What is between the first and the last block of a turn. The last one comes into being now.
  void turn(BlockId id, const std::vector<int64_t>& blocks) {
    for (size_t k = 1; k + 1 < blocks.size(); ++k) {
      plan_.add({.bytes = blocks[k], .first = time_, .last = time_ + 1});
      ++time_;
    }
    scratch(turn_scratch_bytes(sizes_, id));
  }

  void visit_store(const BlockInst& inst, uint32_t depth) {
    const BlockId id = inst.operands[0];
    const bool is_bool = ir::is_bool(sizes_.dtype(id));
    const int64_t words = sizes_.word_bytes(id);
    if (is_bool && !registers_) scratch(words / 2);
    Value* value = value_of(id);
    if (is_turned(inst) && !registers_ && (is_bool || value)) {
      const std::vector<int64_t> blocks = sizes_.turned_bytes(inst, id);
      if (is_bool) {
        scratch(blocks.front());
      } else {
        PlannedBuffer& buffer = plan_.buffer(value->buffer);
        buffer.bytes = std::max(buffer.bytes, blocks.front());
      }
      turn(id, blocks);
      return add_moved(blocks.back(), depth, inst.is_single && !is_bool);
    }
    if (is_bool)
      add_moved(words / 4, depth);
    else if (is_turned(inst) || !value)
      add_moved(registers_ ? sizes_.moved_bytes(inst, id) : sizes_.bytes(id), depth, inst.is_single);
    else if (value->depth == depth)
      set_moved(value->buffer, depth, inst.is_single);
  }

  void visit_broadcast(const BlockInst& inst, uint32_t depth) {
    if (registers_) {
      if (registers_->contains(inst.result) && value_of(inst.operands[0]))
        alias_[inst.result] = inst.operands[0];
      return compute(inst.result, depth);
    }
    scratch(broadcast_scratch_bytes(sizes_, inst));
    if (inlined_.contains(inst.result) && value_of(inst.operands[0])) {
      alias_[inst.result] = inst.operands[0];
      return;
    }
    if (ir::is_bool(sizes_.dtype(inst.result))) scratch(sizes_.word_bytes(inst.result));
    define(inst.result, depth);
  }

  // A constant that is needed as a block is written once, before all loops.
  void hold_constant(BlockId constant, BlockId like) {
    if (!known_constants_.insert({constant, nest_.values[like].axes}).second) return;
    const int64_t words = sizes_.word_bytes(like);
    if (words > 0) constant_bytes_.push_back(words / 4 * ir::dtype_bytes(sizes_.dtype(constant)));
  }

  // Which of several operands gives its buffer is not known: the one that then has the most copies to add.
  void join(const Computed& each) {
    const Value& result = values_.at(each.result);
    if (!result.can_join) return;
    std::optional<uint32_t> best;
    for (const BlockId operand : each.operands) {
      const Value* value = operand ? value_of(operand) : nullptr;
      if (!value || !value->can_join || plan_.buffer(value->buffer).last != each.time) continue;
      const int64_t to = sizes_.bits(each.result);
      if (sizes_.bits(root(operand)) % to != 0) continue;
      if (plan_.bytes_of(value->buffer) < plan_.bytes_of(result.buffer)) continue;
      if (!best || plan_.copies_of(value->buffer) < plan_.copies_of(*best)) best = value->buffer;
    }
    if (best) plan_.join(result.buffer, *best);
  }

  const BlockNest& nest_;
  const MemoryModel& model_;
  BlockSizes sizes_;
  BufferPlan& plan_;
  int64_t& time_;
  std::set<BlockId> data_;
  InlineBroadcasts inlined_;
  std::optional<RegisterValues> registers_;
  std::unordered_map<BlockId, Value> values_;
  std::unordered_map<BlockId, BlockId> alias_;
  std::vector<BlockId> used_in_loops_;
  std::vector<Computed> computed_;
  std::vector<Moved> moved_;
  std::vector<int64_t> constant_bytes_;
  std::vector<uint32_t> held_;  // buffers of values, and what is moved
  std::vector<int64_t> function_ends_;
  std::set<BlockId> constants_;
  std::set<std::pair<BlockId, AxisSet>> known_constants_;
};

}  // namespace

BufferNeed buffer_need(const BlockKernel& kernel, const MemoryModel& model) {
  BufferPlan plan(model.align_bytes);
  int64_t time = 0;
  for (const BlockNest& nest : kernel.nests) NestBuffers(nest, model, plan, time).run();
  return {plan.peak_bytes(), plan.unshared_bytes()};
}

}  // namespace jumar::tile::npu
