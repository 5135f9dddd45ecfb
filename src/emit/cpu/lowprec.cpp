#include "emit/cpu/lowprec.h"

#include <cmath>

#include "support/check.h"

namespace jumar::emit::cpu {

using llvm::Type;
using llvm::Value;

namespace {

Type* like(Value* x, Type* element) { return x->getType()->getWithNewType(element); }

Value* int_constant(Value* x, uint64_t value) { return llvm::ConstantInt::get(x->getType(), value); }

// Trunc towards 0 as cvttps2si and its kin do: what does not fit gives the least integer. fptosi alone would
// be poison there, so it only ever sees values that fit.
Value* truncated(llvm::IRBuilder<>& b, Value* x, unsigned bits) {
  Type* integer = like(x, b.getIntNTy(bits));
  const double end = std::ldexp(1.0, static_cast<int>(bits) - 1);
  // f64 has values between -2^31 - 1 and -2^31, which truncate to -2^31; no other pair has such values.
  const bool fractions = bits == 32 && x->getType()->getScalarType()->isDoubleTy();
  Value* above = fractions ? b.CreateFCmpOGT(x, llvm::ConstantFP::get(x->getType(), -end - 1))
                           : b.CreateFCmpOGE(x, llvm::ConstantFP::get(x->getType(), -end));
  Value* fits = b.CreateAnd(above, b.CreateFCmpOLT(x, llvm::ConstantFP::get(x->getType(), end)));
  Value* safe = b.CreateSelect(fits, x, llvm::ConstantFP::get(x->getType(), 0));
  Value* least = llvm::ConstantInt::get(integer, llvm::APInt::getSignedMinValue(bits));
  return b.CreateSelect(fits, b.CreateFPToSI(safe, integer), least);
}

Value* truncated_unsigned(llvm::IRBuilder<>& b, Value* x, unsigned bits) {
  Value* half = llvm::ConstantFP::get(x->getType(), std::ldexp(1.0, static_cast<int>(bits) - 1));
  Value* upper = b.CreateFCmpOGE(x, half);
  Value* low = truncated(b, b.CreateSelect(upper, b.CreateFSub(x, half), x), bits);
  Value* top = llvm::ConstantInt::get(low->getType(), llvm::APInt::getSignedMinValue(bits));
  return b.CreateSelect(upper, b.CreateXor(low, top), low);
}

Value* widened_f16_by_integers(llvm::IRBuilder<>& b, Value* bits) {
  Value* h = b.CreateZExt(bits, like(bits, b.getInt32Ty()));
  Type* f32 = like(bits, b.getFloatTy());
  Value* sign = b.CreateShl(b.CreateAnd(h, int_constant(h, 0x8000)), 16);
  Value* magnitude = b.CreateAnd(h, int_constant(h, 0x7fff));
  Value* moved = b.CreateShl(magnitude, 13);
  Value* normal = b.CreateAdd(moved, int_constant(h, 112 << 23));
  // A subnormal f16 is the fraction of a number in 2^-14 .. 2^-13, less 2^-14.
  Value* lifted = b.CreateBitCast(b.CreateAdd(moved, int_constant(h, 113 << 23)), f32);
  Value* subnormal = b.CreateBitCast(b.CreateFSub(lifted, llvm::ConstantFP::get(f32, 0x1p-14)), h->getType());
  Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, int_constant(h, 0x400)), subnormal, normal);
  Value* infinite = b.CreateOr(moved, int_constant(h, 0x7f800000));
  result = b.CreateSelect(b.CreateICmpUGE(magnitude, int_constant(h, 0x7c00)), infinite, result);
  Value* quiet = b.CreateOr(infinite, int_constant(h, 0x400000));
  result = b.CreateSelect(b.CreateICmpUGT(magnitude, int_constant(h, 0x7c00)), quiet, result);
  return b.CreateBitCast(b.CreateOr(result, sign), f32);
}

Value* narrowed_f16_by_integers(llvm::IRBuilder<>& b, Value* x) {
  Value* bits = b.CreateBitCast(x, like(x, b.getInt32Ty()));
  Value* a = b.CreateAnd(bits, int_constant(bits, 0x7fffffff));
  Value* sign = b.CreateAnd(b.CreateLShr(bits, 16), int_constant(bits, 0x8000));
  // Normal results: round to nearest even at bit 13, then rebias. A carry into the exponent is right.
  Value* odd = b.CreateAnd(b.CreateLShr(a, 13), int_constant(bits, 1));
  Value* rounded = b.CreateAdd(b.CreateAdd(a, int_constant(bits, 0xfff)), odd);
  Value* result = b.CreateLShr(b.CreateSub(rounded, int_constant(bits, 112 << 23)), 13);
  // Subnormal results: the sum with 1/2, whose last place is 2^-24, rounds to a multiple of that.
  Value* sum = b.CreateFAdd(b.CreateBitCast(a, x->getType()), llvm::ConstantFP::get(x->getType(), 0.5));
  Value* subnormal = b.CreateSub(b.CreateBitCast(sum, bits->getType()), int_constant(bits, 0x3f000000));
  result = b.CreateSelect(b.CreateICmpULT(a, int_constant(bits, 0x38800000)), subnormal, result);
  // 65520 is half-way between the largest number and what would come next.
  result =
      b.CreateSelect(b.CreateICmpUGE(a, int_constant(bits, 0x477ff000)), int_constant(bits, 0x7c00), result);
  Value* payload = b.CreateAnd(b.CreateLShr(a, 13), int_constant(bits, 0x3ff));
  Value* nan = b.CreateOr(payload, int_constant(bits, 0x7e00));
  result = b.CreateSelect(b.CreateICmpUGT(a, int_constant(bits, 0x7f800000)), nan, result);
  return b.CreateTrunc(b.CreateOr(result, sign), like(x, b.getInt16Ty()));
}

}  // namespace

Value* widened_bf16(llvm::IRBuilder<>& b, Value* bits) {
  Value* wide = b.CreateZExt(bits, like(bits, b.getInt32Ty()));
  return b.CreateBitCast(b.CreateShl(wide, 16), like(bits, b.getFloatTy()));
}

Value* narrowed_bf16(llvm::IRBuilder<>& b, Value* x) {
  Value* bits = b.CreateBitCast(x, like(x, b.getInt32Ty()));
  Value* odd = b.CreateAnd(b.CreateLShr(bits, 16), int_constant(bits, 1));
  Value* rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, int_constant(bits, 0x7fff)), odd), 16);
  Value* result = b.CreateSelect(b.CreateFCmpUNO(x, x), int_constant(bits, 0x7fc0), rounded);
  return b.CreateTrunc(result, like(x, b.getInt16Ty()));
}

Value* widened_f16(llvm::IRBuilder<>& b, Value* bits, F16Unit unit) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  if (unit == F16Unit::kInteger) return widened_f16_by_integers(b, bits);
  return b.CreateFPExt(b.CreateBitCast(bits, like(bits, b.getHalfTy())), like(bits, b.getFloatTy()));
}

Value* narrowed_f16(llvm::IRBuilder<>& b, Value* x, F16Unit unit) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  if (unit == F16Unit::kInteger) return narrowed_f16_by_integers(b, x);
  return b.CreateBitCast(b.CreateFPTrunc(x, like(x, b.getHalfTy())), like(x, b.getInt16Ty()));
}

Value* float_to_int(llvm::IRBuilder<>& b, Value* x, IntType to) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  b.clearFastMathFlags();
  CHECK(to.bits == 8 || to.bits == 16 || to.bits == 32 || to.bits == 64, "no integer has {} bits", to.bits);
  if (to.bits >= 32) return to.is_signed ? truncated(b, x, to.bits) : truncated_unsigned(b, x, to.bits);
  const unsigned by = to.bits == 8 && !to.is_signed ? 64 : 32;
  return b.CreateTrunc(truncated(b, x, by), like(x, b.getIntNTy(to.bits)));
}

}  // namespace jumar::emit::cpu
