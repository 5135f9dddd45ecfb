// Scalar operators of loop bodies (loop/ops.def) on blocks.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sym/facts.h"
#include "tile/npu/block_builder.h"

namespace jumar::tile::npu {

// What a value of an integer type can be; everything for i64 and other types.
sym::Range range_of_type(ir::DType dtype);

// Composes operators that vector units lack of those that they have. Booleans are i1. Integers below 32 bits
// are computed in 32 bits and wrapped. i64 values that are known to fit are held in 32 bits: they have a
// range.
class ScalarLowering {
 public:
  // `divides_i32`: the device's division of i32 is that of integers, not of f32 (targets: inexact_division).
  ScalarLowering(BlockBuilder& builder, bool divides_i32) : b_(builder), divides_i32_(divides_i32) {}

  struct Typed {
    BlockId value;
    ir::DType dtype = ir::DType::kF32;  // what it is in the loop body
  };
  // Invalid, with `refusal` set, where the operator can't be computed on blocks.
  BlockId lowered(loop::ScalarOp op, std::span<const Typed> operands, ir::DType result);
  const std::string& refusal() const { return refusal_; }

  // An i64 value in 64 bits, whatever it was held in.
  BlockId wide(BlockId value);
  void set_range(BlockId value, sym::Range range) { ranges_[value] = range; }
  sym::Range range_of(BlockId value) const;
  // A constant of a type as it is held in blocks.
  BlockId constant(ir::DType dtype, loop::Constant value);
  // select(condition, value, identity)
  BlockId identity(loop::ReduceKind kind, ir::DType dtype);
  BlockId combined(loop::ReduceKind kind, BlockId a, BlockId b);

  BlockId is_nan(BlockId x) { return b_.op(BlockOp::kNeF, x, x); }

 private:
  BlockId refuse(std::string why);
  BlockId cast(BlockId value, ir::DType from, ir::DType to);
  BlockId integer_of_float(BlockId value, ir::DType to);
  BlockId float_op(loop::ScalarOp op, BlockId a, BlockId b);
  BlockId float_binary(loop::ScalarOp op, BlockId a, BlockId b);
  BlockId hyperbolic(loop::ScalarOp op, BlockId x);
  BlockId inverse(loop::ScalarOp op, BlockId x);
  BlockId atan2(BlockId y, BlockId x);
  BlockId rounded(BlockId x);
  BlockId sign_bit(BlockId x);
  BlockId copy_sign(BlockId magnitude, BlockId sign);
  BlockId integer_op(loop::ScalarOp op, BlockId a, BlockId b, ir::DType dtype);
  BlockId narrow_or_wide(loop::ScalarOp op, BlockId a, BlockId b);
  BlockId plain_integer(loop::ScalarOp op, BlockId a, BlockId b, ir::DType dtype);
  BlockId unwrapped(loop::ScalarOp op, BlockId a, BlockId b, ir::DType dtype);
  BlockId divided(loop::ScalarOp op, BlockId a, BlockId b);
  struct Division {
    BlockId quotient;
    BlockId remainder;
  };
  BlockId signs_differ(BlockId remainder, BlockId b, sym::Range divisor);
  Division truncated(BlockId a, BlockId b, sym::Range dividend, sym::Range divisor);
  Division by_floats(BlockId a, BlockId b, sym::Range dividend, sym::Range divisor);
  Division with_signs(const Division& whole, BlockId a, BlockId b, sym::Range dividend, sym::Range divisor);
  BlockId shifted(loop::ScalarOp op, BlockId a, BlockId b, ir::DType dtype);
  BlockId bool_op(loop::ScalarOp op, BlockId a, BlockId b);
  BlockId compared(loop::ScalarOp op, BlockId a, BlockId b, ir::DType dtype);
  BlockId select(BlockId condition, BlockId a, BlockId b) { return b_.op(BlockOp::kSelect, condition, a, b); }

  BlockBuilder& b_;
  bool divides_i32_;
  std::unordered_map<BlockId, sym::Range> ranges_;
  std::string refusal_;
};

}  // namespace jumar::tile::npu
