// The scalar operators of loop bodies (loop/ops.def) as IR, on scalars and on vectors alike.
//
// Values in registers have these LLVM types, or vectors of them: bool i1; integers their width; f32 and f64
// themselves; bf16, f16 and the 8-bit floats integers of their width that hold the bits. In memory a bool is
// a byte.
//
// Invariants: nothing here traps or is poison, whatever the operands: division by zero, shifts beyond the
// width and conversions out of range give what the table says.
#pragma once

#include "emit/cpu/builder.h"
#include "emit/cpu/emit_options.h"
#include "loop/ops.h"

namespace jumar::emit::cpu {

llvm::Type* register_type(llvm::LLVMContext& context, ir::DType dtype);
llvm::Type* memory_type(llvm::LLVMContext& context, ir::DType dtype);

class ScalarEmitter {
 public:
  ScalarEmitter(Builder& b, const EmitOptions& options)
      : b_(b), options_(options), math_(b, options.accuracy) {}

  // `operands` have equal widths. `in` is the operands' type (of the last two for a select), `out` the
  // result's.
  Value* op(loop::ScalarOp op, ir::DType in, ir::DType out, llvm::ArrayRef<Value*> operands);
  Value* cast(Value* x, ir::DType from, ir::DType to);
  // Of integers, floats from 32 bits on, and bools; NaN if either is NaN.
  Value* maximum(Value* a, Value* b, ir::DType type);
  Value* minimum(Value* a, Value* b, ir::DType type);
  // exp of an argument that is <= 0 or NaN.
  Value* exp_nonpositive(Value* x) { return math_.exp_nonpositive(x); }

 private:
  Value* float_op(loop::ScalarOp op, llvm::ArrayRef<Value*> v);
  Value* math_op(loop::ScalarOp op, llvm::ArrayRef<Value*> v);
  Value* integer_op(loop::ScalarOp op, ir::DType type, llvm::ArrayRef<Value*> v);
  Value* bits_op(loop::ScalarOp op, Value* a, Value* b);
  Value* compare(loop::ScalarOp op, ir::DType type, Value* a, Value* b);
  Value* float_floor_div(Value* a, Value* b);
  Value* float_remainder(Value* a, Value* b);
  Value* float_sign(Value* x);
  Value* integer_division(loop::ScalarOp op, bool is_signed, Value* a, Value* b);
  Value* shift(loop::ScalarOp op, bool is_signed, Value* a, Value* b);
  Value* integer_power(bool is_signed, Value* base, Value* exponent);
  Value* widened_float(Value* x, ir::DType from);
  Value* narrowed_float(Value* x, ir::DType to);

  Builder& b_;
  EmitOptions options_;
  VecMath math_;
};

}  // namespace jumar::emit::cpu
