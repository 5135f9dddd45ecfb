// Conversions that hardware or LLVM alone would get wrong or slow: 16-bit floats, and floats to integers.
//
//   Value* wide = widened_bf16(b, load_of_i16);      // <8 x i16> -> <8 x float>
//   Value* half = narrowed_f16(b, wide, F16Unit::kNative);
//   Value* index = float_to_int(b, wide, {8, false}); // -> <8 x i8>
//
// 16-bit floats travel as i16: LLVM's own bfloat and half types turn into a library call per lane where the
// processor lacks the instructions. Scalars and fixed vectors of any lane count are taken.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace jumar::emit::cpu {

// bf16 is the upper half of an f32. Narrowing rounds to nearest even; every NaN becomes 0x7fc0, as in
// PyTorch.
llvm::Value* widened_bf16(llvm::IRBuilder<>& b, llvm::Value* bits);
llvm::Value* narrowed_bf16(llvm::IRBuilder<>& b, llvm::Value* x);

// Whether the processor converts between f16 and f32 (F16C, or any aarch64).
enum class F16Unit { kNative, kInteger };

// Exact, and rounding to nearest even with subnormal numbers and overflow to infinity. A NaN keeps its sign
// and its upper payload bits and becomes quiet, in both forms.
llvm::Value* widened_f16(llvm::IRBuilder<>& b, llvm::Value* bits, F16Unit unit);
llvm::Value* narrowed_f16(llvm::IRBuilder<>& b, llvm::Value* x, F16Unit unit);

struct IntType {
  unsigned bits;  // 8, 16, 32, 64
  bool is_signed;
};

// f32 or f64 to an integer, truncated towards 0, never poison. For values that the integer cannot hold, and
// NaN, the result is what eager PyTorch gives on x86-64, which is what the processor's conversions give:
//   i32, i64       the least integer
//   i8, i16, u16   by way of i32: its low bits
//   u8             by way of i64: its low bits
//   u32, u64       by way of the signed type; from 2^31 or 2^63 on what exceeds it, with the top bit flipped
llvm::Value* float_to_int(llvm::IRBuilder<>& b, llvm::Value* x, IntType to);

}  // namespace jumar::emit::cpu
