#include "emit/cpu/vecmath_ops.h"

#include <llvm/IR/Intrinsics.h>

#include <limits>

#include "support/check.h"

namespace jumar::emit::cpu {

VecOps::VecOps(llvm::IRBuilder<>& builder, llvm::Type* type) : b_(builder), guard_(builder), type_(type) {
  llvm::Type* element = type->getScalarType();
  CHECK(element->isFloatTy() || element->isDoubleTy(), "vector mathematics works on f32 and f64");
  CHECK(!type->isVectorTy() || llvm::isa<llvm::FixedVectorType>(type), "scalable vectors are not supported");
  CHECK(b_.GetInsertBlock() != nullptr && b_.GetInsertBlock()->getParent() != nullptr,
        "the builder must stand inside a function");
  f64_ = element->isDoubleTy();
  int_type_ = type->getWithNewType(llvm::Type::getIntNTy(type->getContext(), f64_ ? 64 : 32));
  b_.clearFastMathFlags();
}

int VecOps::lanes() const {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

llvm::Value* VecOps::c(double value) { return llvm::ConstantFP::get(type_, value); }

llvm::Value* VecOps::ci(int64_t value) {
  return llvm::ConstantInt::get(int_type_, static_cast<uint64_t>(value));
}

llvm::Value* VecOps::inf() { return llvm::ConstantFP::getInfinity(type_); }

llvm::Value* VecOps::nan() { return llvm::ConstantFP::getQNaN(type_); }

llvm::Value* VecOps::fma(Value* a, Value* b, Value* c) {
  return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {a, b, c});
}

llvm::Value* VecOps::abs(Value* a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a); }

llvm::Value* VecOps::sqrt(Value* a) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a); }

llvm::Value* VecOps::copysign(Value* magnitude, Value* sign) {
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
}

llvm::Value* VecOps::poly(Value* x, std::span<const double> coefficients) {
  CHECK(!coefficients.empty());
  Value* result = c(coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) result = fma(result, x, c(coefficients[k]));
  return result;
}

llvm::Value* VecOps::at_most(Value* x, double high) { return select(lt(c(high), x), c(high), x); }

llvm::Value* VecOps::at_least(Value* x, double low) { return select(gt(c(low), x), c(low), x); }

llvm::Value* VecOps::bit_set(Value* a, int index) {
  return b_.CreateICmpSLT(shl(a, width_bits() - 1 - index), ci(0));
}

llvm::Value* VecOps::sign_bit(Value* a) {
  return iand(bits(a), ci(f64_ ? std::numeric_limits<int64_t>::min() : int64_t{1} << 31));
}

llvm::Value* VecOps::float_of_small(Value* integer, int64_t offset) {
  // The bits of 2^mantissa with the integer in the low part read 2^mantissa + integer.
  const double base = f64_ ? 0x1p52 : 0x1p23;
  const int64_t base_bits = static_cast<int64_t>(bias() + mantissa_bits()) << mantissa_bits();
  return sub(from_bits(ior(integer, ci(base_bits))), c(base - static_cast<double>(offset)));
}

llvm::Value* VecOps::min_normal() { return c(0x1p-126, 0x1p-1022); }

Pair two_sum(VecOps& o, llvm::Value* a, llvm::Value* b) {
  llvm::Value* sum = o.add(a, b);
  llvm::Value* b_part = o.sub(sum, a);
  llvm::Value* a_part = o.sub(sum, b_part);
  return {sum, o.add(o.sub(a, a_part), o.sub(b, b_part))};
}

Pair fast_two_sum(VecOps& o, llvm::Value* a, llvm::Value* b) {
  llvm::Value* sum = o.add(a, b);
  return {sum, o.sub(b, o.sub(sum, a))};
}

Pair two_product(VecOps& o, llvm::Value* a, llvm::Value* b) {
  llvm::Value* product = o.mul(a, b);
  return {product, o.fma(a, b, o.neg(product))};
}

Pair pair_product(VecOps& o, Pair a, Pair b) {
  const Pair main = two_product(o, a.hi, b.hi);
  return fast_two_sum(o, main.hi, o.fma(a.hi, b.lo, o.fma(a.lo, b.hi, main.lo)));
}

}  // namespace jumar::emit::cpu
