#include "tile/npu/block_builder.h"

#include <algorithm>
#include <cstring>

#include "loop/walk.h"
#include "support/check.h"

namespace jumar::tile::npu {

using ir::DType;

namespace {

// The identity of an instruction for finding an equal one: expressions by their text-free node hash would not
// do, so handles are written as they are; equal expressions have equal handles.
class Key {
 public:
  template <class T>
  Key& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Key& add(const Access& access) {
    add(access.buffer)
        .add(access.offset)
        .add(access.index)
        .add(access.mask)
        .add(access.is_backward)
        .add(access.dims.size());
    for (const Access::Dim& dim : access.dims) add(dim.axis).add(dim.stride);
    return *this;
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

std::string key_of(const BlockInst& inst, const BlockType& type) {
  Key key;
  key.add(inst.kind)
      .add(inst.op)
      .add(type.dtype)
      .add(type.axes)
      .add(inst.operands)
      .add(inst.constant.integer);
  key.add(inst.has_other).add(inst.expr).add(inst.number).add(inst.reduce).add(inst.scan).add(inst.axis);
  key.add(inst.to_axis).add(inst.step);
  if (inst.kind == BlockKind::kLoad) key.add(inst.access);
  return std::move(key).text();
}

bool computes_floats(BlockOp op) {
  return op <= BlockOp::kPow || (op >= BlockOp::kEqF && op <= BlockOp::kGeF);
}

}  // namespace

Expr vector_cores(sym::Context& cx) { return cx.symbol(sym::SymbolKind::kSize, "vector_cores"); }
Expr program_id(sym::Context& cx) { return cx.symbol(sym::SymbolKind::kAxis, "pid"); }
Expr scalar_symbol(sym::Context& cx, BlockId value) { return cx.value(value.index()); }
BlockId value_of_scalar(Expr symbol) { return BlockId(loop::value_of_symbol(symbol).index()); }

Expr at_first(sym::Context& cx, const BlockNest& nest, Expr e) {
  return cx.substituted(e, [&](Expr symbol) {
    for (const BlockAxis& axis : nest.axes)
      if (axis.symbol == symbol) return axis.first;
    return Expr();
  });
}

std::vector<int64_t> shape_of(const BlockNest& nest, AxisSet axes) {
  std::vector<int64_t> shape;
  for (size_t k = 0; k < nest.axes.size(); ++k)
    if (axes >> k & 1) shape.push_back(nest.axes[k].size);
  return shape;
}

int64_t elements_of(const BlockNest& nest, AxisSet axes) {
  int64_t count = 1;
  for (int64_t size : shape_of(nest, axes)) count *= size;
  return count;
}

BlockBuilder::BlockBuilder(sym::Context& cx, BlockNest& nest) : cx_(cx), nest_(nest) {
  CHECK(nest.axes.size() < 31, "{} axes", nest.axes.size());
  unit_ = AxisSet{1} << nest.axes.size();
  BlockAxis unit;
  unit.symbol = cx.symbol(sym::SymbolKind::kAxis, "unit");
  unit.extent = cx.constant(1);
  unit.first = cx.constant(0);
  unit.is_exact = true;
  nest.axes.push_back(unit);
  nest.values.resize(nest.first_value);
  levels_.resize(nest.first_value, 0);
}

Region& BlockBuilder::region(uint32_t level) { return level == 0 ? nest_.body : open_[level - 1]->body; }

void BlockBuilder::open_loop(Expr variable, Expr begin, Expr end) {
  auto loop = std::make_unique<BlockLoop>();
  loop->variable = variable;
  loop->begin = begin;
  loop->end = end;
  open_.push_back(std::move(loop));
  symbol_levels_[variable] = open_loops();
}

BlockId BlockBuilder::carry(uint32_t level, BlockId init) {
  const BlockId inside = new_value(type(init), level);
  open_[level - 1]->carried.push_back({init, inside, {}, {}});
  return inside;
}

void BlockBuilder::set_next(BlockId inside, BlockId next) {
  for (BlockLoop::Carried& carried : open_.back()->carried)
    if (carried.inside == inside) carried.next = broadcast(next, type(inside).axes);
}

void BlockBuilder::close_loop() {
  const uint32_t level = open_loops();
  std::unique_ptr<BlockLoop> loop = std::move(open_.back());
  open_.pop_back();
  for (BlockLoop::Carried& carried : loop->carried) {
    CHECK(carried.next, "a carried value has no next");
    carried.result = new_value(type(carried.init), open_loops());
    results_[carried.inside] = carried.result;
  }
  region(open_loops()).push_back(std::move(loop));
  std::erase_if(known_, [&](const auto& entry) { return level_of(entry.second) >= level; });
}

BlockId BlockBuilder::carried_result(BlockId inside) const { return results_.at(inside); }

BlockId BlockBuilder::new_value(BlockType type, uint32_t level) {
  levels_.push_back(level);
  return nest_.values.add(type);
}

BlockId BlockBuilder::add(BlockInst inst, BlockType type, uint32_t level) {
  const std::string key = key_of(inst, type);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  inst.result = new_value(type, level);
  const BlockId result = inst.result;
  region(level).push_back(std::move(inst));
  known_.emplace(key, result);
  return result;
}

uint32_t BlockBuilder::level_of(Expr e) const {
  uint32_t level = 0;
  for (Expr symbol : sym::symbols_of(e)) {
    const auto found = symbol_levels_.find(symbol);
    if (found != symbol_levels_.end()) level = std::max(level, found->second);
    if (symbol.is_symbol(sym::SymbolKind::kValue)) level = std::max(level, level_of(value_of_scalar(symbol)));
  }
  return level;
}

AxisSet BlockBuilder::axes_of(Expr e) const {
  AxisSet axes = 0;
  for (size_t k = 0; k < nest_.axes.size(); ++k) {
    const BlockAxis& axis = nest_.axes[k];
    if (!axis.is_scalar && sym::mentions(e, axis.symbol)) axes |= AxisSet{1} << k;
  }
  return axes;
}

BlockId BlockBuilder::constant(DType dtype, loop::Constant value, AxisSet axes) {
  BlockInst inst;
  inst.kind = BlockKind::kConst;
  inst.constant = value;
  const BlockId result = add(std::move(inst), {dtype, axes}, 0);
  constants_.emplace(result, value);
  return result;
}

BlockId BlockBuilder::real(double value, DType dtype) {
  loop::Constant constant{0};
  constant.real = value;
  return this->constant(dtype, constant);
}

BlockId BlockBuilder::integer(int64_t value, DType dtype) { return constant(dtype, loop::Constant{value}); }

BlockId BlockBuilder::index(Expr e, DType dtype) {
  if (const std::optional<int64_t> value = e.as_const()) return integer(*value, dtype);
  BlockInst inst;
  inst.kind = BlockKind::kIndex;
  inst.expr = e;
  return add(std::move(inst), {dtype, axes_of(e)}, level_of(e));
}

BlockId BlockBuilder::param(uint32_t number, DType dtype) {
  BlockInst inst;
  inst.kind = BlockKind::kParam;
  inst.number = number;
  return add(std::move(inst), {dtype, 0}, 0);
}

AxisSet BlockBuilder::joined(AxisSet a, AxisSet b) const {
  const AxisSet all = a | b;
  return (all & ~unit_) != 0 ? all & ~unit_ : all;
}

BlockId BlockBuilder::broadcast(BlockId value, AxisSet axes) {
  const BlockType from = type(value);
  if (from.axes == axes) return value;
  CHECK((from.axes & ~unit_ & ~axes) == 0, "axes {:#x} don't hold {:#x}", axes, from.axes);
  // A constant has any shape from the beginning.
  if (const auto known = constants_.find(value); known != constants_.end())
    return constant(from.dtype, known->second, axes);
  BlockInst inst;
  inst.kind = BlockKind::kBroadcast;
  inst.operands = {value};
  return add(std::move(inst), {from.dtype, axes}, level_of(value));
}

BlockId BlockBuilder::op(BlockOp op, BlockId a, BlockId b, BlockId c) {
  CHECK(!is_conversion(op), "a conversion needs a type");
  BlockInst inst;
  inst.kind = BlockKind::kOp;
  inst.op = op;
  const std::array<BlockId, 3> given = {a, b, c};
  const auto count = static_cast<size_t>(arity_of(op));
  AxisSet axes = 0;
  for (size_t k = 0; k < count; ++k) axes = joined(axes, type(given[k]).axes);
  const DType operand = type(given[op == BlockOp::kSelect ? 1 : 0]).dtype;
  if (axes == 0 && (computes_floats(op) || ir::is_float(operand))) axes = unit_;
  uint32_t level = 0;
  for (size_t k = 0; k < count; ++k) {
    inst.operands[k] = broadcast(given[k], axes);
    level = std::max(level, level_of(inst.operands[k]));
  }
  return add(std::move(inst), {is_comparison(op) ? DType::kBool : operand, axes}, level);
}

BlockId BlockBuilder::convert(BlockOp op, BlockId a, DType to) {
  BlockInst inst;
  inst.kind = BlockKind::kOp;
  inst.op = op;
  AxisSet axes = type(a).axes;
  if (axes == 0 && (ir::is_float(type(a).dtype) || ir::is_float(to))) axes = unit_;
  const BlockId operand = broadcast(a, axes);
  inst.operands = {operand};
  return add(std::move(inst), {to, axes}, level_of(operand));
}

BlockId BlockBuilder::reduce(loop::ReduceKind kind, BlockId value, uint32_t axis) {
  BlockInst inst;
  inst.kind = BlockKind::kReduce;
  inst.reduce = kind;
  inst.axis = axis;
  inst.operands = {value};
  const BlockType from = type(value);
  CHECK(from.axes >> axis & 1, "the value has no such axis");
  return add(std::move(inst), {from.dtype, from.axes & ~(AxisSet{1} << axis)}, level_of(value));
}

BlockId BlockBuilder::scan(loop::ScanKind kind, BlockId value, uint32_t axis) {
  BlockInst inst;
  inst.kind = BlockKind::kScan;
  inst.scan = kind;
  inst.axis = axis;
  inst.operands = {value};
  return add(std::move(inst), type(value), level_of(value));
}

BlockId BlockBuilder::slice(BlockId value, uint32_t axis, uint32_t to_axis, Expr first, int64_t step) {
  BlockInst inst;
  inst.kind = BlockKind::kSlice;
  inst.operands = {value};
  inst.axis = axis;
  inst.to_axis = to_axis;
  inst.expr = first;
  inst.step = step;
  const BlockType from = type(value);
  const AxisSet others = from.axes & ~(AxisSet{1} << axis);
  const uint32_t level = std::max(level_of(value), level_of(first));
  return add(std::move(inst), {from.dtype, others | AxisSet{1} << to_axis}, level);
}

BlockId BlockBuilder::load(DType dtype, Access access, std::optional<loop::Constant> other, bool pinned) {
  BlockInst inst;
  inst.kind = BlockKind::kLoad;
  BlockType type{dtype, 0};
  uint32_t level = level_of(access.offset);
  for (const Access::Dim& dim : access.dims) {
    type.axes |= AxisSet{1} << dim.axis;
    level = std::max({level, level_of(dim.stride), level_of(nest_.axes[dim.axis].first)});
  }
  if (access.index) {
    type.axes |= this->type(access.index).axes;
    level = std::max(level, level_of(access.index));
  }
  if (access.mask) {
    access.mask = broadcast(access.mask, type.axes);
    level = std::max(level, level_of(access.mask));
  }
  inst.has_other = other.has_value();
  if (other) inst.constant = *other;
  inst.access = std::move(access);
  if (!pinned) return add(std::move(inst), type, level);
  inst.result = new_value(type, open_loops());
  const BlockId result = inst.result;
  region(open_loops()).push_back(std::move(inst));
  return result;
}

void BlockBuilder::store(Access access, BlockId value, loop::StoreMode mode) {
  BlockInst inst;
  inst.kind = BlockKind::kStore;
  inst.access = std::move(access);
  inst.operands = {value};
  inst.mode = mode;
  region(open_loops()).push_back(std::move(inst));
}

}  // namespace jumar::tile::npu
