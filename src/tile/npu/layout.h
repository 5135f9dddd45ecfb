// How the values of a nest lie in tensors: what every text form of a block program has to know.
//
//   load %x {x0, r0} with strides 1 and 768  ->  memory_dims: r0, x0; the tensor is turned after the load
//   mask x0 < 1024 of that load              ->  a comparison along dimension 1 of (r0, x0)
//
// Values have the dimensions of their axes, in the order of Nest::axes. Accesses are made in the order in
// which memory lies; masks are made anew in that order where they are only comparisons of places, since a
// tensor of bools is dear to turn.
#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "tile/npu/block.h"

namespace jumar::tile::npu {

// Axes by position, in the order of a tensor's dimensions.
using Dims = std::vector<uint32_t>;

// How a mask is made in another order of dimensions.
enum class MaskForm : uint8_t {
  kPlaces,       // from its expression
  kConstant,     // in any order
  kSame,         // as operands[0], along more dimensions
  kCombination,  // op of operands[0] and operands[1]
  kData,         // by turning what has been computed
};

// How a tensor is laid along more dimensions before it is repeated along them.
struct Spread {
  std::vector<bool> is_new;       // of each dimension: the tensor has none there, and gets one of length one
  std::vector<int64_t> expanded;  // its shape with these
};

class NestLayout {
 public:
  NestLayout(const BlockKernel& kernel, const BlockNest& nest);

  Dims dims_of(AxisSet axes) const;
  Dims dims_of(BlockId id) const { return dims_of(nest_.values[id].axes); }
  std::vector<int64_t> shape(const Dims& dims) const;
  // The dimensions of an access to a block of these axes, in memory order. Axes of an index or a mask that
  // have no stride of their own come first, in their order.
  Dims memory_dims(const Access& access, AxisSet axes) const;
  // A value's dimensions in the order that they have in `dims`; as they are where `dims` lacks the axis of
  // one element.
  Dims ordered_as(BlockId id, const Dims& dims) const;
  // Where dimensions `from` go in `to`, which holds them in the same order.
  Spread spread(const Dims& from, const Dims& to) const;

  // The instruction that makes a value; null for values of loops.
  const BlockInst* definition(BlockId id) const;
  // Values that are more than masks of accesses: those that must be written down.
  bool is_written(const BlockInst& inst) const { return !inst.result || data_.count(inst.result) != 0; }
  MaskForm mask_form(BlockId id) const;

  // Whether an expression moves along a dimension of blocks.
  bool moves(Expr e) const;
  // The axis of this symbol that is a dimension of blocks.
  bool is_axis(Expr symbol) const;
  // Bits in which the distance of elements of a block from its first one is computed.
  int distance_bits(const Access& access) const;

 private:
  const BlockKernel& kernel_;
  const BlockNest& nest_;
  std::unordered_map<BlockId, const BlockInst*> definitions_;
  std::set<BlockId> data_;
};

// A comparison whose left side moves. Bounds are written with < and >= alone, the forms that the toolchain
// knows as bounds of a range: with others it moves points that the mask leaves out.
struct Comparison {
  enum class Order : uint8_t { kEq, kNe, kLt, kGe };
  Order order = Order::kEq;
  Expr left;
  Expr right;
};
Comparison comparison_of(sym::Context& cx, const NestLayout& layout, Expr predicate);

// 64 if the value, or anything on the way to it, may leave 32 bits.
int bits_of(Expr e, const sym::Facts& facts, const std::function<int(Expr)>& bits_of_symbol);

}  // namespace jumar::tile::npu
