// Writes a nest of a block program: values are made where they are needed and put where they can be known
// earliest.
//
//   BlockBuilder b(cx, nest, facts);
//   b.open_loop(t0, begin, end);
//   BlockId x = b.load(...);              // goes before the loop if nothing in its address moves with t0
//   BlockId y = b.op(BlockOp::kAddF, x, b.real(1.0));
//   b.store(...);                         // stays in the innermost open loop
//   b.close_loop();
//
// Equal values are made once. Operands of an operator are brought to the union of their axes. An operator on
// scalar floats alone is computed in blocks of one element, since that is what vector units take.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "sym/facts.h"
#include "tile/npu/block.h"

namespace jumar::tile::npu {

class BlockBuilder {
 public:
  // `nest.axes` must be complete; an axis of one element for scalars is added behind them.
  BlockBuilder(sym::Context& cx, BlockNest& nest);

  sym::Context& cx() { return cx_; }
  BlockNest& nest() { return nest_; }
  const BlockType& type(BlockId id) const { return nest_.values[id]; }
  AxisSet unit() const { return unit_; }

  // Loops. What is opened last is closed first.
  void open_loop(Expr variable, Expr begin, Expr end);
  // A value that goes round the loop of a level (1 is the outermost): its value inside.
  BlockId carry(uint32_t level, BlockId init);
  // Of a value that goes round the innermost open loop.
  void set_next(BlockId inside, BlockId next);
  void close_loop();
  // After close_loop: what the value was at the end.
  BlockId carried_result(BlockId inside) const;

  BlockId constant(ir::DType dtype, loop::Constant value, AxisSet axes = 0);
  BlockId real(double value, ir::DType dtype = ir::DType::kF32);
  BlockId integer(int64_t value, ir::DType dtype = ir::DType::kI32);
  BlockId boolean(bool value) { return integer(value, ir::DType::kBool); }
  // An expression of axes, loop variables, arguments and scalar values.
  BlockId index(Expr e, ir::DType dtype);
  BlockId param(uint32_t number, ir::DType dtype);

  BlockId op(BlockOp op, BlockId a, BlockId b = {}, BlockId c = {});
  BlockId convert(BlockOp op, BlockId a, ir::DType to);
  BlockId broadcast(BlockId value, AxisSet axes);
  BlockId reduce(loop::ReduceKind kind, BlockId value, uint32_t axis);
  BlockId scan(loop::ScanKind kind, BlockId value, uint32_t axis);
  // The axis gives way to `to_axis`: each `step`-th point from `first` on, an expression of loop variables.
  BlockId slice(BlockId value, uint32_t axis, uint32_t to_axis, Expr first, int64_t step);

  // A pinned load is made now, in the innermost open loop.
  BlockId load(ir::DType dtype, Access access, std::optional<loop::Constant> other, bool pinned);
  void store(Access access, BlockId value, loop::StoreMode mode);

  // How many loops must be open for what mentions these symbols to be known.
  uint32_t level_of(Expr e) const;
  uint32_t level_of(BlockId value) const { return levels_[value.index()]; }
  uint32_t open_loops() const { return static_cast<uint32_t>(open_.size()); }
  void set_axis_level(Expr axis, uint32_t level) { symbol_levels_[axis] = level; }
  // Axes that an expression moves along.
  AxisSet axes_of(Expr e) const;

 private:
  BlockId add(BlockInst inst, BlockType type, uint32_t level);
  BlockId new_value(BlockType type, uint32_t level);
  Region& region(uint32_t level);
  AxisSet joined(AxisSet a, AxisSet b) const;

  sym::Context& cx_;
  BlockNest& nest_;
  AxisSet unit_ = 0;
  std::vector<uint32_t> levels_;
  std::unordered_map<Expr, uint32_t> symbol_levels_;
  std::vector<std::unique_ptr<BlockLoop>> open_;
  std::unordered_map<BlockId, BlockId> results_;  // of carried values, by the value inside
  std::map<std::string, BlockId> known_;
  std::unordered_map<BlockId, loop::Constant> constants_;
};

}  // namespace jumar::tile::npu
