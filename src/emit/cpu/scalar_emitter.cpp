#include "emit/cpu/scalar_emitter.h"

#include "support/check.h"

namespace jumar::emit::cpu {

using ir::DType;
using llvm::ArrayRef;
using llvm::Intrinsic::ID;
using loop::ScalarOp;
namespace Intrinsic = llvm::Intrinsic;

llvm::Type* register_type(llvm::LLVMContext& context, DType dtype) {
  if (dtype == DType::kF32) return llvm::Type::getFloatTy(context);
  if (dtype == DType::kF64) return llvm::Type::getDoubleTy(context);
  if (dtype == DType::kBool) return llvm::Type::getInt1Ty(context);
  CHECK(!ir::is_complex(dtype), "complex values have no registers");
  return llvm::Type::getIntNTy(context, static_cast<unsigned>(8 * ir::dtype_bytes(dtype)));
}

llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype) {
  if (dtype == DType::kBool) return llvm::Type::getInt8Ty(context);
  return register_type(context, dtype);
}

Value* ScalarEmitter::op(ScalarOp op, DType in, DType out, ArrayRef<Value*> v) {
  switch (op) {
    case ScalarOp::kSelect:
      return b_.CreateSelect(v[0], v[1], v[2]);
    case ScalarOp::kCast:
    case ScalarOp::kDemote:
      return cast(v[0], in, out);
    case ScalarOp::kBitcast: {
      Value* bits = v[0];
      llvm::Type* to = Builder::widened(memory_type(b_.getContext(), out), Builder::width_of(bits));
      if (in == DType::kBool)
        bits = b_.CreateZExt(bits, Builder::widened(b_.getInt8Ty(), Builder::width_of(bits)));
      bits = b_.CreateBitCast(bits, to);
      return out == DType::kBool ? b_.CreateICmpNE(bits, b_.int_of(to, 0)) : bits;
    }
    case ScalarOp::kEq:
    case ScalarOp::kNe:
    case ScalarOp::kLt:
    case ScalarOp::kLe:
    case ScalarOp::kGt:
    case ScalarOp::kGe:
      return compare(op, in, v[0], v[1]);
    default:
      break;
  }
  CHECK(!ir::is_low_precision(in), "'{}' does not take {}", loop::scalar_op_name(op), ir::dtype_name(in));
  return ir::is_float(in) ? float_op(op, v) : integer_op(op, in, v);
}

Value* ScalarEmitter::compare(ScalarOp op, DType type, Value* a, Value* b) {
  using P = llvm::CmpInst::Predicate;
  if (ir::is_low_precision(type)) {
    a = widened_float(a, type);
    b = widened_float(b, type);
  }
  const bool is_float = ir::is_float(type);
  const bool is_signed = ir::dtype_class(type) == ir::DTypeClass::kSigned;
  const auto pick = [&](P real, P with_sign, P without) {
    return is_float ? real : is_signed ? with_sign : without;
  };
  switch (op) {
    case ScalarOp::kEq:
      return b_.CreateCmp(pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ), a, b);
    case ScalarOp::kNe:
      return b_.CreateCmp(pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE), a, b);
    case ScalarOp::kLt:
      return b_.CreateCmp(pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT), a, b);
    case ScalarOp::kLe:
      return b_.CreateCmp(pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE), a, b);
    case ScalarOp::kGt:
      return b_.CreateCmp(pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT), a, b);
    default:
      return b_.CreateCmp(pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE), a, b);
  }
}

Value* ScalarEmitter::maximum(Value* a, Value* b, DType type) {
  if (ir::is_float(type)) return math_.maximum(a, b);
  if (ir::is_bool(type)) return b_.CreateOr(a, b);
  return b_.CreateBinaryIntrinsic(ir::is_unsigned(type) ? Intrinsic::umax : Intrinsic::smax, a, b);
}

Value* ScalarEmitter::minimum(Value* a, Value* b, DType type) {
  if (ir::is_float(type)) return math_.minimum(a, b);
  if (ir::is_bool(type)) return b_.CreateAnd(a, b);
  return b_.CreateBinaryIntrinsic(ir::is_unsigned(type) ? Intrinsic::umin : Intrinsic::smin, a, b);
}

Value* ScalarEmitter::float_sign(Value* x) {
  llvm::Type* type = x->getType();
  Value* zero = b_.real_of(type, 0.0);
  Value* negative = b_.CreateSelect(b_.CreateFCmpOLT(x, zero), b_.real_of(type, -1.0), zero);
  return b_.CreateSelect(b_.CreateFCmpOGT(x, zero), b_.real_of(type, 1.0), negative);
}

Value* ScalarEmitter::float_remainder(Value* a, Value* b) {
  Value* zero = b_.real_of(a->getType(), 0.0);
  Value* rest = math_.fmod(a, b);
  Value* differ = b_.CreateXor(b_.CreateFCmpOLT(b, zero), b_.CreateFCmpOLT(rest, zero));
  Value* adjust = b_.CreateAnd(b_.CreateFCmpUNE(rest, zero), differ);
  return b_.CreateSelect(adjust, b_.CreateFAdd(rest, b), rest);
}

Value* ScalarEmitter::float_floor_div(Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* zero = b_.real_of(type, 0.0);
  Value* one = b_.real_of(type, 1.0);
  Value* rest = math_.fmod(a, b);
  Value* ratio = b_.CreateFDiv(a, b);
  Value* quotient = b_.CreateFDiv(b_.CreateFSub(a, rest), b);
  Value* differ = b_.CreateXor(b_.CreateFCmpOLT(b, zero), b_.CreateFCmpOLT(rest, zero));
  Value* adjust = b_.CreateAnd(b_.CreateFCmpUNE(rest, zero), differ);
  quotient = b_.CreateSelect(adjust, b_.CreateFSub(quotient, one), quotient);
  Value* floor = math_.floor(quotient);
  Value* above = b_.CreateFCmpOGT(b_.CreateFSub(quotient, floor), b_.real_of(type, 0.5));
  floor = b_.CreateSelect(above, b_.CreateFAdd(floor, one), floor);
  Value* signed_zero = b_.CreateBinaryIntrinsic(Intrinsic::copysign, zero, ratio);
  floor = b_.CreateSelect(b_.CreateFCmpUNE(quotient, zero), floor, signed_zero);
  return b_.CreateSelect(b_.CreateFCmpOEQ(b, zero), ratio, floor);
}

Value* ScalarEmitter::float_op(ScalarOp op, ArrayRef<Value*> v) {
  llvm::Type* type = v[0]->getType();
  switch (op) {
    case ScalarOp::kAdd:
      return b_.CreateFAdd(v[0], v[1]);
    case ScalarOp::kSub:
      return b_.CreateFSub(v[0], v[1]);
    case ScalarOp::kMul:
      return b_.CreateFMul(v[0], v[1]);
    case ScalarOp::kDiv:
      return b_.CreateFDiv(v[0], v[1]);
    case ScalarOp::kTruncDiv:
      return math_.trunc(b_.CreateFDiv(v[0], v[1]));
    case ScalarOp::kFloorDiv:
      return float_floor_div(v[0], v[1]);
    case ScalarOp::kFmod:
      return math_.fmod(v[0], v[1]);
    case ScalarOp::kRemainder:
      return float_remainder(v[0], v[1]);
    case ScalarOp::kNeg:
      return b_.CreateFNeg(v[0]);
    case ScalarOp::kAbs:
      return math_.abs(v[0]);
    case ScalarOp::kSign:
      return float_sign(v[0]);
    case ScalarOp::kMax:
      return math_.maximum(v[0], v[1]);
    case ScalarOp::kMin:
      return math_.minimum(v[0], v[1]);
    case ScalarOp::kFmax:
      return b_.CreateBinaryIntrinsic(Intrinsic::maxnum, v[0], v[1]);
    case ScalarOp::kFmin:
      return b_.CreateBinaryIntrinsic(Intrinsic::minnum, v[0], v[1]);
    case ScalarOp::kIsNan:
      return b_.CreateFCmpUNO(v[0], v[0]);
    case ScalarOp::kIsInf:
      return b_.CreateFCmpOEQ(math_.abs(v[0]), b_.real_of(type, std::numeric_limits<double>::infinity()));
    case ScalarOp::kSignBit: {
      llvm::Type* bits = Builder::widened(b_.getIntNTy(type->getScalarSizeInBits()), Builder::width_of(type));
      return b_.CreateICmpSLT(b_.CreateBitCast(v[0], bits), b_.int_of(bits, 0));
    }
    case ScalarOp::kCopySign:
      return b_.CreateBinaryIntrinsic(Intrinsic::copysign, v[0], v[1]);
    case ScalarOp::kReciprocal:
      return b_.CreateFDiv(b_.real_of(type, 1.0), v[0]);
    default:
      return math_op(op, v);
  }
}

Value* ScalarEmitter::math_op(ScalarOp op, ArrayRef<Value*> v) {
  switch (op) {
    case ScalarOp::kAtan2:
      return math_.atan2(v[0], v[1]);
    case ScalarOp::kPow:
      return math_.pow(v[0], v[1]);
    default:
      break;
  }
  using Unary = Value* (VecMath::*)(Value*);
  struct Row {
    ScalarOp op;
    Unary function;
  };
  static constexpr Row kRows[] = {
      {ScalarOp::kFloor, &VecMath::floor},     {ScalarOp::kCeil, &VecMath::ceil},
      {ScalarOp::kTrunc, &VecMath::trunc},     {ScalarOp::kRound, &VecMath::round_half_even},
      {ScalarOp::kSqrt, &VecMath::sqrt},       {ScalarOp::kRsqrt, &VecMath::rsqrt},
      {ScalarOp::kExp, &VecMath::exp},         {ScalarOp::kExp2, &VecMath::exp2},
      {ScalarOp::kExpm1, &VecMath::expm1},     {ScalarOp::kLog, &VecMath::log},
      {ScalarOp::kLog2, &VecMath::log2},       {ScalarOp::kLog10, &VecMath::log10},
      {ScalarOp::kLog1p, &VecMath::log1p},     {ScalarOp::kSin, &VecMath::sin},
      {ScalarOp::kCos, &VecMath::cos},         {ScalarOp::kTan, &VecMath::tan},
      {ScalarOp::kAsin, &VecMath::asin},       {ScalarOp::kAcos, &VecMath::acos},
      {ScalarOp::kAtan, &VecMath::atan},       {ScalarOp::kSinh, &VecMath::sinh},
      {ScalarOp::kCosh, &VecMath::cosh},       {ScalarOp::kTanh, &VecMath::tanh},
      {ScalarOp::kAsinh, &VecMath::asinh},     {ScalarOp::kAcosh, &VecMath::acosh},
      {ScalarOp::kAtanh, &VecMath::atanh},     {ScalarOp::kErf, &VecMath::erf},
      {ScalarOp::kErfc, &VecMath::erfc},       {ScalarOp::kErfinv, &VecMath::erfinv},
      {ScalarOp::kLgamma, &VecMath::lgamma},   {ScalarOp::kDigamma, &VecMath::digamma},
      {ScalarOp::kSigmoid, &VecMath::sigmoid},
  };
  for (const Row& row : kRows) {
    if (row.op == op) return (math_.*row.function)(v[0]);
  }
  CHECK(false, "'{}' does not take floats", loop::scalar_op_name(op));
  return nullptr;
}

}  // namespace jumar::emit::cpu
