#include "emit/cpu/vecmath.h"

#include <llvm/IR/Module.h>

#include "emit/cpu/vecmath_ops.h"
#include "emit/cpu/vecmath_slow.h"

namespace jumar::emit::cpu {

using llvm::Value;

Value* VecMath::through_f64(Unary function, Value* x) {
  llvm::Type* wide = x->getType()->getWithNewType(b_.getDoubleTy());
  return b_.CreateFPTrunc((this->*function)(b_.CreateFPExt(x, wide)), x->getType());
}

Value* VecMath::outlined(const std::string& name, llvm::ArrayRef<Value*> arguments,
                         const std::function<Value*(VecMath&, llvm::ArrayRef<Value*>)>& build) {
  const VecOps o(b_, arguments[0]->getType());
  const std::string full = "jumar." + name + (o.lanes() > 1 ? ".v" + std::to_string(o.lanes()) : ".") +
                           (o.is_f64() ? "f64" : "f32");
  llvm::Function* caller = b_.GetInsertBlock()->getParent();
  llvm::Module& module = *caller->getParent();
  llvm::Function* function = module.getFunction(full);
  if (function == nullptr) {
    std::vector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    function = llvm::Function::Create(llvm::FunctionType::get(o.type(), types, false),
                                      llvm::GlobalValue::InternalLinkage, full, module);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->setDoesNotAccessMemory();
    // Vectors are passed in registers, so both sides must agree on what registers there are.
    for (const char* attribute : {"target-cpu", "target-features"}) {
      if (caller->hasFnAttribute(attribute)) function->addFnAttr(caller->getFnAttribute(attribute));
    }
    llvm::IRBuilder<> inner(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    VecMath math(inner, accuracy_);
    std::vector<Value*> parameters;
    for (llvm::Argument& parameter : function->args()) parameters.push_back(&parameter);
    inner.CreateRet(build(math, parameters));
  }
  return b_.CreateCall(function, arguments);
}

Value* VecMath::unary_intrinsic(llvm::Intrinsic::ID id, Value* x) {
  const VecOps o(b_, x->getType());
  return b_.CreateUnaryIntrinsic(id, x);
}

Value* VecMath::sqrt(Value* x) { return unary_intrinsic(llvm::Intrinsic::sqrt, x); }
Value* VecMath::floor(Value* x) { return unary_intrinsic(llvm::Intrinsic::floor, x); }
Value* VecMath::ceil(Value* x) { return unary_intrinsic(llvm::Intrinsic::ceil, x); }
Value* VecMath::trunc(Value* x) { return unary_intrinsic(llvm::Intrinsic::trunc, x); }
Value* VecMath::round_half_even(Value* x) { return unary_intrinsic(llvm::Intrinsic::roundeven, x); }
Value* VecMath::abs(Value* x) { return unary_intrinsic(llvm::Intrinsic::fabs, x); }

Value* VecMath::rsqrt(Value* x) {
  VecOps o(b_, x->getType());
  return o.div(o.c(1), o.sqrt(x));
}

Value* VecMath::fmod(Value* x, Value* y) {
  VecOps o(b_, x->getType());
  Value* a = o.abs(x);
  Value* m = o.abs(y);
  // The quotient is exact while it is small: it may round up across an integer, which one correction repairs.
  Value* ratio = o.div(a, m);
  Value* quotient = trunc(ratio);
  Value* rest = o.fma(o.neg(quotient), m, a);
  rest = o.select(o.lt(rest, o.c(0)), o.add(rest, m), rest);
  // An infinite ratio is either y = 0 or x infinite, whose result is NaN as computed here, or an overflow.
  Value* divisible = o.both(o.gt(m, o.c(0)), o.lt(a, o.inf()));
  Value* outside = o.both(o.gt(ratio, o.c(0x1p22, 0x1p51)), divisible);
  rest = unless_any_lane(b_, outside, {rest},
                         [&]() -> std::vector<Value*> { return {fmod_slow(o, x, y, rest)}; })[0];
  rest = o.select(o.both(o.eq(m, o.inf()), o.lt(a, o.inf())), a, rest);
  return o.copysign(rest, x);
}

// Of equal operands the first: that is how clamping keeps the sign of a zero. Where the second is a constant,
// as bounds are, nothing is compared with NaN.
Value* VecMath::maximum(Value* a, Value* b) {
  VecOps o(b_, a->getType());
  return o.select(o.is_nan(b), b, o.select(o.gt(b, a), b, a));
}

Value* VecMath::minimum(Value* a, Value* b) {
  VecOps o(b_, a->getType());
  return o.select(o.is_nan(b), b, o.select(o.lt(b, a), b, a));
}

}  // namespace jumar::emit::cpu
