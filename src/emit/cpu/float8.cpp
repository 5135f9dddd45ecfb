#include "emit/cpu/float8.h"

#include <cmath>
#include <limits>

#include "support/check.h"

namespace jumar::emit::cpu {
namespace {

using ir::DType;

struct Format {
  int mantissa_bits;
  int bias;
  int greatest;  // the code of the greatest finite value
  int overflow;  // the code of what is greater
  int nan;
  bool has_infinity;
  bool has_negative_zero;
};

Format format_of(DType type) {
  switch (type) {
    case DType::kF8E5M2:
      return {2, 15, 0x7b, 0x7c, 0x7f, true, true};
    case DType::kF8E4M3FN:
      return {3, 7, 0x7e, 0x7f, 0x7f, false, true};
    case DType::kF8E5M2FNUZ:
      return {2, 16, 0x7f, 0x80, 0x80, false, false};
    default:
      CHECK(type == DType::kF8E4M3FNUZ, "{} is no 8-bit float", ir::dtype_name(type));
      return {3, 8, 0x7f, 0x80, 0x80, false, false};
  }
}

}  // namespace

Value* widened_f8(Builder& b, Value* bits, DType type) {
  const Format f = format_of(type);
  const unsigned width = Builder::width_of(bits);
  llvm::Type* i32 = Builder::widened(b.getInt32Ty(), width);
  llvm::Type* f32 = Builder::widened(b.getFloatTy(), width);
  const auto c = [&](int64_t value) { return b.int_of(i32, value); };
  Value* wide = b.CreateZExt(bits, i32);
  Value* code = b.CreateAnd(wide, c(0x7f));
  Value* sign = b.CreateShl(b.CreateAnd(wide, c(0x80)), c(24));
  // Normal numbers by their bits, subnormal ones as a small integer times a power of two.
  Value* normal = b.CreateAdd(b.CreateShl(code, c(23 - f.mantissa_bits)), c((127 - f.bias) << 23));
  Value* small =
      b.CreateFMul(b.CreateSIToFP(code, f32), b.real_of(f32, std::ldexp(1.0, 1 - f.bias - f.mantissa_bits)));
  Value* is_small = b.CreateICmpULT(code, c(1 << f.mantissa_bits));
  Value* magnitude = b.CreateSelect(is_small, b.CreateBitCast(small, i32), normal);
  if (f.has_infinity) {
    Value* special = b.CreateSelect(b.CreateICmpEQ(code, c(f.overflow)), c(0x7f800000), c(0x7fc00000));
    magnitude = b.CreateSelect(b.CreateICmpUGT(code, c(f.greatest)), special, magnitude);
  }
  Value* is_nan = b.CreateICmpEQ(f.has_negative_zero ? code : wide, c(f.nan));
  magnitude = b.CreateSelect(is_nan, c(0x7fc00000), magnitude);
  return b.CreateBitCast(b.CreateOr(magnitude, sign), f32);
}

Value* narrowed_f8(Builder& b, Value* x, DType type) {
  const Format f = format_of(type);
  const unsigned width = Builder::width_of(x);
  llvm::Type* i8 = Builder::widened(b.getInt8Ty(), width);
  llvm::Type* i32 = Builder::widened(b.getInt32Ty(), width);
  llvm::Type* f32 = Builder::widened(b.getFloatTy(), width);
  const auto c = [&](int64_t value) { return b.int_of(i32, value); };
  Value* bits = b.CreateBitCast(x, i32);
  Value* sign = b.CreateAnd(b.CreateLShr(bits, c(24)), c(0x80));
  // Everything from 2^17 on overflows in all formats; the bound keeps the conversion to an integer in range.
  Value* magnitude = b.CreateAnd(bits, c(0x7fffffff));
  Value* is_nan = b.CreateICmpSGT(magnitude, c(0x7f800000));
  magnitude = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, magnitude, c((127 + 17) << 23));
  // A value is quanta * 2^(exponent - mantissa_bits); its code is quanta plus the exponent in its field.
  Value* exponent = b.CreateSub(b.CreateLShr(magnitude, c(23)), c(127));
  exponent = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, exponent, c(1 - f.bias));
  Value* scale = b.CreateShl(b.CreateSub(c(127 + f.mantissa_bits), exponent), c(23));
  Value* quanta = b.CreateFMul(b.CreateBitCast(magnitude, f32), b.CreateBitCast(scale, f32));
  quanta = b.CreateFPToSI(b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, quanta), i32);
  Value* field = b.CreateShl(b.CreateAdd(exponent, c(f.bias - 1)), c(f.mantissa_bits));
  Value* code = b.CreateAdd(quanta, field);
  code = b.CreateSelect(b.CreateICmpSGT(code, c(f.greatest)), c(f.overflow), code);
  Value* whole = b.CreateOr(code, sign);
  if (!f.has_negative_zero) whole = b.CreateSelect(b.CreateICmpEQ(code, c(0)), c(0), whole);
  return b.CreateTrunc(b.CreateSelect(is_nan, c(f.nan), whole), i8);
}

}  // namespace jumar::emit::cpu
