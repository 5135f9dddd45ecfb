// The harness's code. It ends in _test.cpp so that it becomes part of the test binary.
#include <llvm/IR/IRBuilder.h>

#include "driver/jit/test/vecmath_harness.h"
#include "support/check.h"

namespace jumar::driver::jit {

const std::vector<MathFunction>& math_functions() {
#define UNARY(name)                                                                \
  {                                                                                \
#name, 1, [](VecMath & m, llvm::Value * x, llvm::Value*) { return m.name(x); } \
  }
#define BINARY(name)                                                                     \
  {                                                                                      \
#name, 2, [](VecMath & m, llvm::Value * x, llvm::Value * y) { return m.name(x, y); } \
  }
  static const std::vector<MathFunction> functions = {
      UNARY(exp),
      UNARY(exp_nonpositive),
      UNARY(exp2),
      UNARY(expm1),
      UNARY(log),
      UNARY(log2),
      UNARY(log10),
      UNARY(log1p),
      BINARY(pow),
      UNARY(sqrt),
      UNARY(rsqrt),
      UNARY(sigmoid),
      UNARY(sin),
      UNARY(cos),
      UNARY(tan),
      UNARY(asin),
      UNARY(acos),
      UNARY(atan),
      BINARY(atan2),
      UNARY(sinh),
      UNARY(cosh),
      UNARY(tanh),
      UNARY(asinh),
      UNARY(acosh),
      UNARY(atanh),
      UNARY(erf),
      UNARY(erfc),
      UNARY(erfinv),
      UNARY(lgamma),
      UNARY(digamma),
      UNARY(floor),
      UNARY(ceil),
      UNARY(trunc),
      UNARY(round_half_even),
      UNARY(abs),
      BINARY(fmod),
      BINARY(maximum),
      BINARY(minimum),
      {"erf_fast", 1, [](VecMath& m, llvm::Value* x, llvm::Value*) { return m.erf(x); }, Accuracy::kFast},
      {"tanh_fast", 1, [](VecMath& m, llvm::Value* x, llvm::Value*) { return m.tanh(x); }, Accuracy::kFast},
  };
#undef UNARY
#undef BINARY
  return functions;
}

const MathFunction& find_function(const std::string& name) {
  for (const MathFunction& function : math_functions()) {
    if (function.name == name) return function;
  }
  CHECK(false, "no function '{}'", name);
}

void add_array_function(llvm::Module& module, const std::string& symbol, const MathFunction& function,
                        bool is_f64, int lanes) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* ptr = b.getPtrTy();
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr, ptr, b.getInt64Ty()}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addParamAttr(2, llvm::Attribute::NoAlias);
  auto* entry = llvm::BasicBlock::Create(context, "entry", f);
  auto* loop = llvm::BasicBlock::Create(context, "loop", f);
  b.SetInsertPoint(entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), entry);
  llvm::Type* element = is_f64 ? b.getDoubleTy() : b.getFloatTy();
  llvm::Type* value = lanes > 1 ? llvm::FixedVectorType::get(element, lanes) : element;
  const llvm::Align align(is_f64 ? 8 : 4);
  const auto load = [&](int argument) {
    return b.CreateAlignedLoad(value, b.CreateInBoundsGEP(element, f->getArg(argument), i), align);
  };
  VecMath math(b, function.accuracy);
  llvm::Value* x = load(0);
  llvm::Value* y = function.arity == 2 ? load(1) : nullptr;
  llvm::Value* result = function.emit(math, x, y);
  b.CreateAlignedStore(result, b.CreateInBoundsGEP(element, f->getArg(2), i), align);
  llvm::Value* next = b.CreateAdd(i, b.getInt64(lanes));
  i->addIncoming(next, b.GetInsertBlock());
  auto* exit = llvm::BasicBlock::Create(context, "exit", f);
  b.CreateCondBr(b.CreateICmpSLT(next, f->getArg(3)), loop, exit);
  b.SetInsertPoint(exit);
  b.CreateRetVoid();
}

Harness::Harness(const CpuTarget& target) : codegen_(target), jit_(Jit::create().value()) {}

ArrayFunction Harness::compiled(const MathFunction& function, bool is_f64, int lanes) {
  llvm::LLVMContext context;
  llvm::Module module("vecmath", context);
  codegen_.prepare(module);
  add_array_function(module, "f", function, is_f64, lanes);
  const ObjectHandle handle = jit_->add_object(codegen_.object(module)).value();
  return reinterpret_cast<ArrayFunction>(jit_->lookup(handle, "f").value());
}

}  // namespace jumar::driver::jit
