#include "tile/npu/layout.h"

#include <algorithm>

#include "tile/npu/walk.h"

namespace jumar::tile::npu {

NestLayout::NestLayout(const BlockKernel& kernel, const BlockNest& nest)
    : kernel_(kernel), nest_(nest), data_(data_values(nest)) {
  for_each_inst(nest.body, [&](const BlockInst& inst) {
    if (inst.result) definitions_[inst.result] = &inst;
  });
}

Dims NestLayout::dims_of(AxisSet axes) const {
  Dims dims;
  for (uint32_t k = 0; k < nest_.axes.size(); ++k)
    if (axes >> k & 1) dims.push_back(k);
  return dims;
}

std::vector<int64_t> NestLayout::shape(const Dims& dims) const {
  std::vector<int64_t> out;
  for (uint32_t axis : dims) out.push_back(nest_.axes[axis].size);
  return out;
}

Dims NestLayout::memory_dims(const Access& access, AxisSet axes) const {
  if (access.index) return dims_of(axes);
  Dims dims;
  AxisSet strided = 0;
  for (const Access::Dim& dim : access.dims) strided |= AxisSet{1} << dim.axis;
  for (uint32_t axis : dims_of(axes & ~strided)) dims.push_back(axis);
  for (const Access::Dim& dim : access.dims) dims.push_back(dim.axis);
  return dims;
}

Spread NestLayout::spread(const Dims& from, const Dims& to) const {
  // The axis of one element stands for any that is missing.
  const bool is_unit =
      from.size() == 1 && nest_.axes[from[0]].size == 1 && std::ranges::find(to, from[0]) == to.end();
  Spread out;
  size_t next = is_unit ? from.size() : 0;
  for (size_t k = 0; k < to.size(); ++k) {
    const bool is_own = (is_unit && k == 0) || (next < from.size() && to[k] == from[next]);
    if (is_own && !is_unit) ++next;
    out.is_new.push_back(!is_own);
    out.expanded.push_back(is_own && !is_unit ? nest_.axes[to[k]].size : 1);
  }
  return out;
}

const BlockInst* NestLayout::definition(BlockId id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? nullptr : found->second;
}

MaskForm NestLayout::mask_form(BlockId id) const {
  const BlockInst* inst = definition(id);
  if (!inst) return MaskForm::kData;
  if (inst->kind == BlockKind::kIndex) return MaskForm::kPlaces;
  if (inst->kind == BlockKind::kConst) return MaskForm::kConstant;
  if (inst->kind == BlockKind::kBroadcast) return MaskForm::kSame;
  const bool combines =
      inst->kind == BlockKind::kOp && ir::is_bool(nest_.values[id].dtype) &&
      (inst->op == BlockOp::kAndI || inst->op == BlockOp::kOrI || inst->op == BlockOp::kXorI);
  return combines && data_.count(id) == 0 ? MaskForm::kCombination : MaskForm::kData;
}

bool NestLayout::is_axis(Expr symbol) const {
  return std::ranges::any_of(nest_.axes,
                             [&](const BlockAxis& axis) { return axis.symbol == symbol && !axis.is_scalar; });
}

bool NestLayout::moves(Expr e) const {
  return std::ranges::any_of(sym::symbols_of(e), [&](Expr symbol) { return is_axis(symbol); });
}

Dims NestLayout::ordered_as(BlockId id, const Dims& dims) const {
  const Dims own = dims_of(id);
  Dims order;
  for (uint32_t axis : dims)
    if (std::ranges::find(own, axis) != own.end()) order.push_back(axis);
  return order.size() == own.size() ? order : own;
}

int NestLayout::distance_bits(const Access& access) const {
  if (access.index && nest_.values[access.index].dtype == ir::DType::kI64) return 64;
  for (const Access::Dim& dim : access.dims) {
    const sym::Range stride = sym::bounds(dim.stride, kernel_.facts);
    const int64_t longest = INT32_MAX / nest_.axes[dim.axis].size;
    if (stride.hi > longest || stride.lo < -longest) return 64;
  }
  return 32;
}

Comparison comparison_of(sym::Context& cx, const NestLayout& layout, Expr predicate) {
  using Order = Comparison::Order;
  Expr left = predicate.operands()[0];
  Expr right = predicate.operands()[1];
  const bool swapped = !layout.moves(left);
  if (swapped) std::swap(left, right);
  if (predicate.op() == sym::Op::kEq) return {Order::kEq, left, right};
  if (predicate.op() == sym::Op::kNe) return {Order::kNe, left, right};
  // a <= b is a < b + 1, and b < a is a >= b + 1.
  const bool moves_bound = swapped == (predicate.op() == sym::Op::kLt);
  return {swapped ? Order::kGe : Order::kLt, left, moves_bound ? cx.add(right, 1) : right};
}

int bits_of(Expr e, const sym::Facts& facts, const std::function<int(Expr)>& bits_of_symbol) {
  const sym::Range range = sym::bounds(e, facts);
  if (range.lo < INT32_MIN || range.hi > INT32_MAX) return 64;
  if (e.is_const()) return 32;
  if (e.is_symbol()) return bits_of_symbol(e);
  for (Expr operand : e.operands())
    if (bits_of(operand, facts, bits_of_symbol) == 64) return 64;
  return 32;
}

}  // namespace jumar::tile::npu
