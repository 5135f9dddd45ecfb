#include "tile/npu/register_values.h"

#include <algorithm>

#include "tile/npu/memory_parts.h"

namespace jumar::tile::npu {
namespace {

constexpr int64_t kRegisterElements = 64;

bool is_conversion(const BlockInst& inst) {
  if (inst.kind != BlockKind::kOp) return false;
  switch (inst.op) {
    case BlockOp::kExtF:
    case BlockOp::kExtSI:
    case BlockOp::kExtUI:
    case BlockOp::kSIToF:
      return true;
    default:
      return false;
  }
}

bool is_first_axis(const BlockNest& nest, AxisSet axes, uint32_t axis) {
  for (size_t k = 0; k < axis; ++k)
    if ((axes >> k & 1) != 0 && !nest.axes[k].is_scalar) return false;
  return true;
}

}  // namespace

RegisterValues::RegisterValues(const BlockNest& nest, const std::set<BlockId>& data)
    : nest_(nest), data_(data) {
  note_users(nest.body);
  place(nest.body);
}

void RegisterValues::note_users(const Region& region) {
  for (const BlockNode& node : region) {
    if (const auto* loop = std::get_if<std::unique_ptr<BlockLoop>>(&node)) {
      note_users((*loop)->body);
      continue;
    }
    const auto& inst = std::get<BlockInst>(node);
    if (inst.result && !data_.contains(inst.result)) continue;
    for (BlockId operand : inst.operands)
      if (operand) users_[operand].push_back({&inst, &region});
  }
}

void RegisterValues::place(const Region& region) {
  for (const BlockNode& node : region) {
    if (const auto* inst = std::get_if<BlockInst>(&node)) {
      place(*inst, region);
      continue;
    }
    const BlockLoop& loop = *std::get<std::unique_ptr<BlockLoop>>(node);
    for (const BlockLoop::Carried& carried : loop.carried) found_.erase(carried.init);
    ++function_;
    place(loop.body);
    for (const BlockLoop::Carried& carried : loop.carried) found_.erase(carried.next);
    ++function_;
  }
}

void RegisterValues::place(const BlockInst& inst, const Region& region) {
  if (inst.result && !data_.contains(inst.result)) return;
  Place where{function_, 0};
  for (BlockId operand : inst.operands) {
    const auto found = operand ? known_from_.find(operand) : known_from_.end();
    if (found != known_from_.end() && found->second.function == function_)
      where.loop = std::max(where.loop, found->second.loop);
  }
  for (BlockId operand : inst.operands)
    if (operand) hold(inst, operand, where);
  if (inst.access.index) found_.erase(inst.access.index);
  if (inst.access.mask) found_.erase(inst.access.mask);
  if (inst.kind == BlockKind::kStore) ++function_;
  if (!inst.result) return;
  if (inst.kind == BlockKind::kReduce) folded_[inst.result] = folded_points(inst);
  known_from_[inst.result] = {function_, where.loop + (ends_loop(inst) ? 1 : 0)};
  // It has no place, but what it repeats is in none of its users' registers.
  if (is_repeated_anywhere(inst, region))
    found_.erase(inst.operands[0]);
  else
    places_[inst.result] = where;
  if (is_conversion(inst)) converted_.insert(inst.result);
  if (is_computed(inst)) found_.insert(inst.result);
}

// An operand is a block where its user is in another loop, or does not compute.
void RegisterValues::hold(const BlockInst& user, BlockId operand, Place where) {
  // Rows between others are added as they are converted.
  const bool is_middle = user.kind == BlockKind::kReduce && users_.at(operand).size() == 1 &&
                         !is_first_axis(nest_, nest_.values[operand].axes, user.axis);
  // A stored mask becomes bytes.
  const bool is_stored = user.kind == BlockKind::kStore && !ir::is_bool(nest_.values[operand].dtype);
  const bool is_folded = folds_in_memory(user) && !(is_middle && converted_.contains(operand));
  const auto place = places_.find(operand);
  const bool is_elsewhere = place != places_.end() && !(place->second == where);
  if (is_stored || is_folded || is_elsewhere || user.kind == BlockKind::kScan) found_.erase(operand);
}

bool RegisterValues::is_computed(const BlockInst& inst) const {
  switch (inst.kind) {
    case BlockKind::kIndex:
    case BlockKind::kParam:
    case BlockKind::kOp:
    case BlockKind::kBroadcast:
      return true;
    case BlockKind::kReduce:
      return is_folded_on(inst);
    case BlockKind::kLoad:
      // Of what is in memory: bytes become a mask, and dimensions change places, when they are used.
      return ir::is_bool(nest_.values[inst.result].dtype) || (is_turned(inst) && !inst.access.is_backward);
    default:
      return false;
  }
}

// A number that is repeated is a constant of whatever function needs it, and what is repeated before a loop
// is repeated in it.
bool RegisterValues::is_repeated_anywhere(const BlockInst& inst, const Region& region) const {
  if (inst.kind != BlockKind::kBroadcast) return false;
  if (elements_of(nest_, nest_.values[inst.operands[0]].axes) == 1) return true;
  const auto users = users_.find(inst.result);
  return users != users_.end() &&
         std::ranges::none_of(users->second, [&](const User& user) { return user.region == &region; });
}

// Folds along several axes are one.
bool RegisterValues::is_folded_on(const BlockInst& inst) const {
  if (inst.kind != BlockKind::kReduce) return false;
  const auto found = users_.find(inst.result);
  if (found == users_.end() || found->second.size() != 1) return false;
  const BlockInst& user = *found->second.front().inst;
  return user.kind == BlockKind::kReduce && user.reduce == inst.reduce;
}

int64_t RegisterValues::folded_points(const BlockInst& inst) const {
  const auto before = folded_.find(inst.operands[0]);
  const int64_t points = nest_.axes[inst.axis].size;
  return before == folded_.end() ? points : points * before->second;
}

bool RegisterValues::ends_loop(const BlockInst& inst) const {
  if (inst.kind == BlockKind::kScan) return true;
  if (inst.kind != BlockKind::kReduce || is_folded_on(inst)) return false;
  const AxisSet axes = nest_.values[inst.operands[0]].axes;
  const bool is_cut = elements_of(nest_, axes) <= kCutElements;
  return is_cut || !is_last_axis(nest_, axes, inst.axis) || folded_points(inst) > kRegisterElements;
}

// Rows are added and multiplied pair by pair.
bool RegisterValues::folds_in_memory(const BlockInst& inst) const {
  if (inst.kind != BlockKind::kReduce) return false;
  if (inst.reduce == loop::ReduceKind::kProd) return true;
  const AxisSet axes = nest_.values[inst.operands[0]].axes;
  return inst.reduce == loop::ReduceKind::kSum && !is_last_axis(nest_, axes, inst.axis) &&
         !is_folded_on(inst);
}

bool RegisterValues::is_folded_in_copy(const BlockInst& reduction) const {
  return folds_in_memory(reduction) && users_.at(reduction.operands[0]).size() > 1;
}

}  // namespace jumar::tile::npu
