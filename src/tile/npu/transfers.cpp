#include "tile/npu/transfers.h"

#include <set>
#include <vector>

namespace jumar::tile::npu {
namespace {

// Of a loop's own instructions: what they move, in bytes.
class Round {
 public:
  Round(const BlockNest& nest, BlockLoop& loop) : nest_(nest) {
    for (BlockNode& node : loop.body)
      if (auto* inst = std::get_if<BlockInst>(&node)) note(*inst);
  }

  void mark(bool is_one_round) {
    if (is_one_round) {
      for (const std::vector<BlockInst*>& accesses : {turned_, plain_, stores_, turned_stores_})
        for (BlockInst* access : accesses) access->is_single = true;
      return;
    }
    if (turned_.empty() || plain_bytes_ < turned_bytes_) return;
    for (BlockInst* load : turned_) load->is_single = true;
    if (plain_bytes_ + turned_bytes_ < 2 * stored_bytes_) return;
    for (BlockInst* store : stores_) store->is_single = true;
  }

 private:
  void note(BlockInst& inst) {
    if (inst.kind == BlockKind::kOp) computed_.insert(inst.result);
    const bool is_load = inst.kind == BlockKind::kLoad;
    if (!is_load && inst.kind != BlockKind::kStore) return;
    const BlockType& type = nest_.values[is_load ? inst.result : inst.operands[0]];
    const int64_t bytes = elements_of(nest_, type.axes) * ir::dtype_bytes(type.dtype);
    // What goes element by element, and what is converted on its way, has buffers of other forms.
    const bool is_block = type.axes != 0 && !inst.access.index && !ir::is_bool(type.dtype);
    if (!is_load) {
      stored_bytes_ += bytes;
      const bool is_plain = is_block && inst.mode == loop::StoreMode::kSet && !inst.access.is_backward;
      if (!is_plain || !computed_.contains(inst.operands[0])) return;
      (is_turned(inst) ? turned_stores_ : stores_).push_back(&inst);
    } else if (is_block && !inst.access.is_backward && is_turned(inst)) {
      turned_bytes_ += bytes;
      turned_.push_back(&inst);
    } else if (is_block) {
      plain_bytes_ += bytes;
      if (!inst.access.is_backward) plain_.push_back(&inst);
    }
  }

  // By the dimensions that blocks have.
  bool is_turned(const BlockInst& inst) const {
    uint32_t last = 0;
    for (const Access::Dim& dim : inst.access.dims) {
      const BlockAxis& axis = nest_.axes[dim.axis];
      if (axis.is_scalar || axis.size == 1) continue;
      if (dim.axis < last) return true;
      last = dim.axis;
    }
    return false;
  }

  const BlockNest& nest_;
  std::set<BlockId> computed_;
  std::vector<BlockInst*> turned_;
  std::vector<BlockInst*> plain_;
  std::vector<BlockInst*> stores_;
  std::vector<BlockInst*> turned_stores_;
  int64_t turned_bytes_ = 0;
  int64_t plain_bytes_ = 0;
  int64_t stored_bytes_ = 0;
};

void visit(const BlockNest& nest, Region& region, bool is_one_round) {
  for (BlockNode& node : region) {
    auto* loop = std::get_if<std::unique_ptr<BlockLoop>>(&node);
    if (!loop) continue;
    Round(nest, **loop).mark(is_one_round);
    visit(nest, (*loop)->body, false);
  }
}

}  // namespace

void mark_single_buffers(BlockNest& nest, bool is_one_round) { visit(nest, nest.body, is_one_round); }

}  // namespace jumar::tile::npu
