#include "emit/cpu/scalar_emitter.h"
#include "support/check.h"

namespace jumar::emit::cpu {

using ir::DType;
using llvm::ArrayRef;
using loop::ScalarOp;
namespace Intrinsic = llvm::Intrinsic;

Value* ScalarEmitter::bits_op(ScalarOp op, Value* a, Value* b) {
  switch (op) {
    case ScalarOp::kAnd:
      return b_.CreateAnd(a, b);
    case ScalarOp::kOr:
      return b_.CreateOr(a, b);
    case ScalarOp::kXor:
      return b_.CreateXor(a, b);
    default:
      return b_.CreateNot(a);
  }
}

Value* ScalarEmitter::integer_op(ScalarOp op, DType type, ArrayRef<Value*> v) {
  const bool is_signed = ir::dtype_class(type) == ir::DTypeClass::kSigned;
  switch (op) {
    case ScalarOp::kAdd:
      return b_.CreateAdd(v[0], v[1]);
    case ScalarOp::kSub:
      return b_.CreateSub(v[0], v[1]);
    case ScalarOp::kMul:
      return b_.CreateMul(v[0], v[1]);
    case ScalarOp::kTruncDiv:
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFmod:
    case ScalarOp::kRemainder:
      return integer_division(op, is_signed, v[0], v[1]);
    case ScalarOp::kNeg:
      return b_.CreateNeg(v[0]);
    case ScalarOp::kAbs:
      return is_signed ? b_.CreateBinaryIntrinsic(Intrinsic::abs, v[0], b_.getFalse()) : v[0];
    case ScalarOp::kSign: {
      llvm::Type* t = v[0]->getType();
      Value* one = b_.CreateZExt(b_.CreateICmpNE(v[0], b_.int_of(t, 0)), t);
      if (!is_signed) return one;
      return b_.CreateOr(b_.CreateAShr(v[0], b_.int_of(t, t->getScalarSizeInBits() - 1)), one);
    }
    case ScalarOp::kMax:
    case ScalarOp::kFmax:
      return maximum(v[0], v[1], type);
    case ScalarOp::kMin:
    case ScalarOp::kFmin:
      return minimum(v[0], v[1], type);
    case ScalarOp::kAnd:
    case ScalarOp::kOr:
    case ScalarOp::kXor:
    case ScalarOp::kNot:
      return bits_op(op, v[0], v.size() > 1 ? v[1] : nullptr);
    case ScalarOp::kShl:
    case ScalarOp::kShr:
      return shift(op, is_signed, v[0], v[1]);
    case ScalarOp::kPow:
      return integer_power(is_signed, v[0], v[1]);
    default:
      CHECK(false, "'{}' does not take {}", loop::scalar_op_name(op), ir::dtype_name(type));
      return nullptr;
  }
}

// Divisors 0 and -1 would trap; they are replaced by 1 and their results selected afterwards.
Value* ScalarEmitter::integer_division(ScalarOp op, bool is_signed, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* zero = b_.int_of(type, 0);
  Value* one = b_.int_of(type, 1);
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  const bool quotient = op == ScalarOp::kTruncDiv || op == ScalarOp::kFloorDiv;
  if (!is_signed) {
    Value* safe = b_.CreateSelect(by_zero, one, b);
    Value* result = quotient ? b_.CreateUDiv(a, safe) : b_.CreateURem(a, safe);
    return b_.CreateSelect(by_zero, zero, result);
  }
  Value* by_minus = b_.CreateICmpEQ(b, b_.int_of(type, -1));
  Value* safe = b_.CreateSelect(b_.CreateOr(by_zero, by_minus), one, b);
  Value* divided = b_.CreateSDiv(a, safe);
  Value* rest = b_.CreateSub(a, b_.CreateMul(divided, safe));
  if (quotient) divided = b_.CreateSelect(by_minus, b_.CreateNeg(a), divided);
  if (op == ScalarOp::kFloorDiv || op == ScalarOp::kRemainder) {
    Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, b), zero);
    Value* adjust = b_.CreateAnd(b_.CreateICmpNE(rest, zero), differ);
    if (quotient) divided = b_.CreateSub(divided, b_.CreateZExt(adjust, type));
    if (!quotient) rest = b_.CreateAdd(rest, b_.CreateSelect(adjust, b, zero));
  }
  return b_.CreateSelect(by_zero, zero, quotient ? divided : rest);
}

Value* ScalarEmitter::shift(ScalarOp op, bool is_signed, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* zero = b_.int_of(type, 0);
  const unsigned bits = type->getScalarSizeInBits();
  // As unsigned numbers, negative shifts are beyond the width too.
  Value* inside = b_.CreateICmpULT(b, b_.int_of(type, bits));
  if (op == ScalarOp::kShr && is_signed)
    return b_.CreateAShr(a, b_.CreateSelect(inside, b, b_.int_of(type, bits - 1)));
  Value* by = b_.CreateSelect(inside, b, zero);
  Value* shifted = op == ScalarOp::kShl ? b_.CreateShl(a, by) : b_.CreateLShr(a, by);
  return b_.CreateSelect(inside, shifted, zero);
}

// Square and multiply until no lane has exponent bits left.
Value* ScalarEmitter::integer_power(bool is_signed, Value* base, Value* exponent) {
  llvm::Type* type = base->getType();
  Value* zero = b_.int_of(type, 0);
  Value* one = b_.int_of(type, 1);
  Value* left = exponent;
  if (is_signed) left = b_.CreateBinaryIntrinsic(Intrinsic::smax, exponent, zero);
  const unsigned bits = type->getScalarSizeInBits();
  const Values end = b_.loop(b_.i64(0), b_.i64(bits), 1, {one, base, left}, [&](Value*, Values& v) {
    llvm::Type* mask = Builder::widened(b_.getInt1Ty(), Builder::width_of(type));
    Value* odd = b_.CreateTrunc(v[2], mask);
    v[0] = b_.CreateSelect(odd, b_.CreateMul(v[0], v[1]), v[0]);
    v[1] = b_.CreateMul(v[1], v[1]);
    v[2] = b_.CreateLShr(v[2], one);
  });
  if (!is_signed) return end[0];
  // base^-n is 1 for base 1, 1 or -1 for base -1, else 0.
  Value* is_odd = b_.CreateICmpNE(b_.CreateAnd(exponent, one), zero);
  Value* minus = b_.CreateSelect(is_odd, b_.int_of(type, -1), one);
  Value* inverse = b_.CreateSelect(b_.CreateICmpEQ(base, b_.int_of(type, -1)), minus, zero);
  inverse = b_.CreateSelect(b_.CreateICmpEQ(base, one), one, inverse);
  return b_.CreateSelect(b_.CreateICmpSLT(exponent, zero), inverse, end[0]);
}

}  // namespace jumar::emit::cpu
