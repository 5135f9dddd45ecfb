// Addresses of loop bodies -> strided blocks.
//
//   load %x[768*i0 + r0 + 5] with blocks of 8 i0 from 8*t0 on and 768 r0
//     offset 6144*t0 + 5, dims {i0 x 768, r0 x 1}
//
// A loaded integer in an address moves the offset where it is a scalar, and is an index block where it is
// one: then every element has an address of its own.
#pragma once

#include <map>
#include <string>
#include <unordered_set>

#include "tile/npu/arguments.h"
#include "tile/npu/lower_scalar.h"
#include "tile/npu/windows.h"

namespace jumar::tile::npu {

class AccessLowering {
 public:
  using Values = std::map<loop::ValueId, ScalarLowering::Typed>;

  AccessLowering(const loop::Program& program, BlockBuilder& builder, ScalarLowering& scalars,
                 Arguments& arguments, BlockKernel& kernel, const PreparedNest& nest)
      : program_(program),
        cx_(program.cx()),
        b_(builder),
        scalars_(scalars),
        arguments_(arguments),
        kernel_(kernel),
        prepared_(nest) {}

  // Each gives an invalid id or false, with `refusal` set, where it can't be done.
  BlockId index(Expr e, ir::DType dtype, const Values& values);
  // `pinned`: the nest stores to the buffer, so the load must stay where it is.
  BlockId load(const loop::Inst& inst, const Values& values, bool pinned);
  bool store(const loop::Inst& inst, const ScalarLowering::Typed& value, const Values& values);
  const std::string& refusal() const { return refusal_; }

  // A block of bools: where none of these axes is beyond its extent. Invalid if all their blocks are full.
  BlockId inside(AxisSet axes);
  // Whether an integer is 0 at all points beyond the extents of its axes.
  bool is_zero_beyond(BlockId value) const { return zero_beyond_.contains(value); }

 private:
  bool split(Expr address, const Values& values, Access& out);
  bool add_index(Expr term, const Values& values, Access& out);
  Expr resolved(Expr e, const Values& values);
  bool add_masks(Expr guard, const Values& values, Access& out);
  bool keep_inside(bool has_guard, const Values& values, Access& out);
  Expr guarded(Expr offset, BlockId mask);
  std::optional<uint32_t> axis_of(Expr symbol) const;
  const WindowedLoad* windowed(const loop::Inst& inst) const;
  Expr narrowed(Expr predicate) const;
  Expr undivided(Expr predicate) const;
  BlockId mask_of(Expr predicate, const Values& values);
  AxisSet axes_of(const Access& access) const;
  Expr from_first(Expr e) const;
  Expr at_only_points(Expr e) const;
  Expr kept_inside(Expr e) const;
  BlockId places(Expr plain);
  void turn_round(Expr guard, Access& out) const;
  bool refuse(std::string why) {
    if (refusal_.empty()) refusal_ = std::move(why);
    return false;
  }

  const loop::Program& program_;
  sym::Context& cx_;
  BlockBuilder& b_;
  ScalarLowering& scalars_;
  Arguments& arguments_;
  BlockKernel& kernel_;
  const PreparedNest& prepared_;
  std::unordered_set<BlockId> zero_beyond_;
  std::string refusal_;
};

}  // namespace jumar::tile::npu
