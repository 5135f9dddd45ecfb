#include "emit/cpu/reduce_emitter.h"

#include <limits>

#include "support/check.h"

namespace jumar::emit::cpu {

using ir::DType;
using loop::ReduceKind;

ReduceKind Fold::kind_of(loop::ScanKind kind) {
  switch (kind) {
    case loop::ScanKind::kSum:
      return ReduceKind::kSum;
    case loop::ScanKind::kProd:
      return ReduceKind::kProd;
    case loop::ScanKind::kMax:
      return ReduceKind::kMax;
    default:
      return ReduceKind::kMin;
  }
}

llvm::Constant* Fold::identity_value(unsigned width) {
  llvm::Type* type = Builder::widened(register_type(b_.getContext(), type_), width);
  const bool greatest = kind_ == ReduceKind::kMin || kind_ == ReduceKind::kArgMin;
  switch (kind_) {
    case ReduceKind::kSum:
      return llvm::Constant::getNullValue(type);
    case ReduceKind::kProd:
      return ir::is_float(type_) ? b_.real_of(type, 1.0) : b_.int_of(type, 1);
    case ReduceKind::kAny:
      return b_.int_of(type, 0);
    case ReduceKind::kAll:
      return llvm::Constant::getAllOnesValue(type);
    default:
      break;
  }
  if (ir::is_float(type_)) {
    const double inf = std::numeric_limits<double>::infinity();
    return b_.real_of(type, greatest ? inf : -inf);
  }
  const unsigned bits = type->getScalarSizeInBits();
  const bool no_sign = !ir::is_integer(type_) || ir::is_unsigned(type_);
  llvm::APInt least = no_sign ? llvm::APInt::getMinValue(bits) : llvm::APInt::getSignedMinValue(bits);
  llvm::APInt most = no_sign ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return llvm::ConstantInt::get(type, greatest ? most : least);
}

Values Fold::identity(unsigned width) {
  CHECK(!ir::is_low_precision(type_), "a reduction of {}", ir::dtype_name(type_));
  Values state = {identity_value(width)};
  if (!is_arg()) return state;
  // If no value beats the identity, all are equal to it, and the first position is the answer.
  if (first_) {
    state.push_back(b_.spread(first_, width));
    return state;
  }
  llvm::Type* position = Builder::widened(b_.getInt64Ty(), width);
  state.push_back(b_.int_of(position, std::numeric_limits<int64_t>::max()));
  return state;
}

namespace {

// A product that is summed need not be rounded by itself: the order of a sum is free as well. Nothing else
// may be contracted, since operators that follow each other round one after another in eager.
void allow_contraction(Value* sum, Value* term) {
  auto* add = llvm::dyn_cast<llvm::Instruction>(sum);
  auto* product = llvm::dyn_cast<llvm::Instruction>(term);
  if (add == nullptr || product == nullptr || product->getOpcode() != llvm::Instruction::FMul) return;
  add->setHasAllowContract(true);
  product->setHasAllowContract(true);
}

}  // namespace

Value* Fold::combined(Value* a, Value* b) {
  using loop::ScalarOp;
  switch (kind_) {
    case ReduceKind::kSum: {
      Value* sum = scalars_.op(ScalarOp::kAdd, type_, type_, {a, b});
      if (ir::is_float(type_)) allow_contraction(sum, b);
      return sum;
    }
    case ReduceKind::kProd:
      return scalars_.op(ScalarOp::kMul, type_, type_, {a, b});
    case ReduceKind::kMax:
      return scalars_.maximum(a, b, type_);
    case ReduceKind::kMin:
      return scalars_.minimum(a, b, type_);
    case ReduceKind::kAny:
      return b_.CreateOr(a, b);
    case ReduceKind::kAll:
      return b_.CreateAnd(a, b);
    default:
      CHECK(false, "arg-reductions have two values");
      return nullptr;
  }
}

// b replaces a where it is the stronger value, or as strong with a lesser position, which is never the case
// where positions ascend.
Values Fold::arg_combined(const Values& a, const Values& b, bool ascending) {
  Value* stronger = nullptr;
  Value* equal = nullptr;
  const bool most = kind_ == ReduceKind::kArgMax;
  if (ir::is_float(type_)) {
    Value* b_nan = b_.CreateFCmpUNO(b[0], b[0]);
    Value* a_nan = b_.CreateFCmpUNO(a[0], a[0]);
    Value* beats = most ? b_.CreateFCmpOGT(b[0], a[0]) : b_.CreateFCmpOLT(b[0], a[0]);
    stronger = b_.CreateOr(beats, b_.CreateAnd(b_nan, b_.CreateNot(a_nan)));
    if (!ascending) equal = b_.CreateOr(b_.CreateFCmpOEQ(b[0], a[0]), b_.CreateAnd(b_nan, a_nan));
  } else {
    const bool no_sign = !ir::is_integer(type_) || ir::is_unsigned(type_);
    if (no_sign) stronger = most ? b_.CreateICmpUGT(b[0], a[0]) : b_.CreateICmpULT(b[0], a[0]);
    if (!no_sign) stronger = most ? b_.CreateICmpSGT(b[0], a[0]) : b_.CreateICmpSLT(b[0], a[0]);
    if (!ascending) equal = b_.CreateICmpEQ(b[0], a[0]);
  }
  Value* take = stronger;
  if (!ascending) take = b_.CreateOr(take, b_.CreateAnd(equal, b_.CreateICmpSLT(b[1], a[1])));
  return {b_.CreateSelect(take, b[0], a[0]), b_.CreateSelect(take, b[1], a[1])};
}

Values Fold::merged(const Values& a, const Values& b) {
  if (is_arg()) return arg_combined(a, b, false);
  return {combined(a[0], b[0])};
}

Values Fold::step(const Values& state, const Values& items, Value* mask) {
  Values wide;
  const unsigned width = Builder::width_of(state[0]);
  for (Value* item : items) wide.push_back(b_.spread(item, width));
  Values next = first_ ? arg_combined(state, wide, true) : merged(state, wide);
  if (!mask) return next;
  for (size_t k = 0; k < next.size(); ++k) next[k] = b_.CreateSelect(mask, next[k], state[k]);
  return next;
}

Values Fold::narrowed(Values state, unsigned width) {
  for (unsigned have = Builder::width_of(state[0]); have > width; have /= 2) {
    CHECK(have % 2 == 0 && have / 2 >= width, "{} lanes do not fold to {}", have, width);
    Values low;
    Values high;
    for (Value* value : state) {
      low.push_back(b_.part(value, 0, have / 2));
      high.push_back(b_.part(value, have / 2, have / 2));
    }
    state = merged(low, high);
  }
  return state;
}

}  // namespace jumar::emit::cpu
