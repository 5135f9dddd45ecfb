#include "tile/npu/spread_blocks.h"

#include <vector>

#include "tile/npu/memory_parts.h"
#include "tile/npu/walk.h"

namespace jumar::tile::npu {
namespace {

// Values of which one is spread where the others are.
class Connected {
 public:
  explicit Connected(const BlockNest& nest) : nest_(nest) {
    for_each_inst(nest.body, [&](const BlockInst& inst) { note(inst); });
    note_loops(nest.body);
  }

  std::set<BlockId> found() {
    for (size_t before = SIZE_MAX; before != found_.size();) {
      before = found_.size();
      for (const auto& [a, b] : pairs_) {
        if (found_.contains(a)) found_.insert(b);
        if (found_.contains(b)) found_.insert(a);
      }
    }
    return std::move(found_);
  }

 private:
  void note(const BlockInst& inst) {
    switch (inst.kind) {
      case BlockKind::kLoad:
        if (is_stepped(nest_, inst) && !is_turned(inst)) loaded_.insert(inst.result);
        return;
      case BlockKind::kStore:
        if (is_stepped(nest_, inst) && !is_turned(inst)) found_.insert(inst.operands[0]);
        return;
      case BlockKind::kBroadcast:
        if (loaded_.contains(inst.operands[0])) found_.insert(inst.operands[0]);
        break;
      default:
        break;
    }
    if (!inst.result) return;
    for (const BlockId operand : inst.operands)
      if (operand && nest_.values[operand].axes != 0) pairs_.emplace_back(operand, inst.result);
  }

  void note_loops(const Region& region) {
    for (const BlockNode& node : region) {
      const auto* loop = std::get_if<std::unique_ptr<BlockLoop>>(&node);
      if (!loop) continue;
      for (const BlockLoop::Carried& carried : (*loop)->carried) {
        pairs_.emplace_back(carried.init, carried.inside);
        pairs_.emplace_back(carried.init, carried.result);
        pairs_.emplace_back(carried.init, carried.next);
      }
      note_loops((*loop)->body);
    }
  }

  const BlockNest& nest_;
  std::set<BlockId> loaded_;
  std::set<BlockId> found_;
  std::vector<std::pair<BlockId, BlockId>> pairs_;
};

}  // namespace

bool is_stepped(const BlockNest& nest, const BlockInst& access) {
  if (access.access.index || access.access.is_backward) return false;
  for (size_t k = access.access.dims.size(); k-- > 0;) {
    const Access::Dim& dim = access.access.dims[k];
    const BlockAxis& axis = nest.axes[dim.axis];
    if (axis.is_scalar || axis.size == 1) continue;
    return !dim.stride.is_const(1);
  }
  return false;
}

// Asked of every candidate, while hardly any kernel has a stepped access.
std::set<BlockId> spread_blocks(const BlockNest& nest) {
  bool has_any = false;
  for_each_inst(nest.body, [&](const BlockInst& inst) {
    const bool is_access = inst.kind == BlockKind::kLoad || inst.kind == BlockKind::kStore;
    has_any = has_any || (is_access && is_stepped(nest, inst));
  });
  return has_any ? Connected(nest).found() : std::set<BlockId>();
}

}  // namespace jumar::tile::npu
