#include "emit/cpu/vecmath_slow.h"

#include <llvm/IR/MDBuilder.h>

#include <cmath>
#include <string>

#include "emit/cpu/vecmath_coeffs.h"
#include "support/check.h"

namespace jumar::emit::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Type;
using llvm::Value;

constexpr double kHalfPi = 0x1.921fb54442d18p+0;
constexpr double kHalfPiLo = 0x1.1a62633145c07p-54;

// Memory for the lanes of one vector, in the entry block so that loops do not grow the stack.
llvm::AllocaInst* lane_memory(llvm::IRBuilder<>& b, Type* type, const char* name) {
  BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  return at_entry.CreateAlloca(type, nullptr, name);
}

Function* new_slow_function(llvm::Module& module, const std::string& name, llvm::ArrayRef<Type*> parameters) {
  auto* type = llvm::FunctionType::get(Type::getVoidTy(module.getContext()), parameters, false);
  Function* function = Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  return function;
}

// A loop over `count` lanes in a function that has no block yet; `body` gets the lane's number. Ends the
// function.
void emit_lane_loop(llvm::IRBuilder<>& b, Function* function, Value* count,
                    const std::function<void(Value*)>& body) {
  llvm::LLVMContext& context = function->getContext();
  BasicBlock* entry = BasicBlock::Create(context, "entry", function);
  BasicBlock* loop = BasicBlock::Create(context, "lane", function);
  b.SetInsertPoint(entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* lane = b.CreatePHI(b.getInt64Ty(), 2);
  lane->addIncoming(b.getInt64(0), entry);
  body(lane);
  Value* next = b.CreateAdd(lane, b.getInt64(1));
  lane->addIncoming(next, b.GetInsertBlock());
  BasicBlock* exit = BasicBlock::Create(context, "exit", function);
  b.CreateCondBr(b.CreateICmpULT(next, count), loop, exit);
  b.SetInsertPoint(exit);
  b.CreateRetVoid();
}

Value* load_as_f64(llvm::IRBuilder<>& b, Type* element, Value* lanes, Value* lane) {
  Value* value = b.CreateLoad(element, b.CreateInBoundsGEP(element, lanes, lane));
  return element->isDoubleTy() ? value : b.CreateFPExt(value, b.getDoubleTy());
}

void store_as(llvm::IRBuilder<>& b, Type* element, Value* value, Value* lanes, Value* lane) {
  if (!element->isDoubleTy()) value = b.CreateFPTrunc(value, element);
  b.CreateStore(value, b.CreateInBoundsGEP(element, lanes, lane));
}

llvm::GlobalVariable* digits_of_two_over_pi(llvm::Module& module) {
  const char* name = "jumar.two_over_pi";
  if (llvm::GlobalVariable* made = module.getGlobalVariable(name, true)) return made;
  llvm::Constant* words = llvm::ConstantDataArray::get(
      module.getContext(), llvm::ArrayRef<uint64_t>(reinterpret_cast<const uint64_t*>(coeffs::kTwoOverPi),
                                                    std::size(coeffs::kTwoOverPi)));
  auto* global = new llvm::GlobalVariable(module, words->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          words, name);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

// The 192 bits of 2/pi that start at bit `start`, as a 256-bit integer.
Value* window(llvm::IRBuilder<>& b, llvm::GlobalVariable* digits, Value* start) {
  Type* wide = b.getIntNTy(256);
  Value* first = b.CreateLShr(start, 6);
  Value* joined = llvm::ConstantInt::get(wide, 0);
  for (int k = 0; k < 4; ++k) {
    Value* address = b.CreateInBoundsGEP(b.getInt64Ty(), digits, b.CreateAdd(first, b.getInt64(k)));
    Value* word = b.CreateZExt(b.CreateLoad(b.getInt64Ty(), address), wide);
    joined = b.CreateOr(joined, b.CreateShl(word, llvm::ConstantInt::get(wide, 64 * (3 - k))));
  }
  Value* shift = b.CreateZExt(b.CreateAnd(start, b.getInt64(63)), wide);
  return b.CreateLShr(b.CreateShl(joined, shift), llvm::ConstantInt::get(wide, 64));
}

// A signed 256-bit fraction of a quadrant (scaled by 2^254) times pi/2, as f64.
Value* angle_of_fraction(llvm::IRBuilder<>& b, Value* fraction) {
  Type* wide = fraction->getType();
  Value* negative = b.CreateICmpSLT(fraction, llvm::ConstantInt::get(wide, 0));
  Value* magnitude = b.CreateSelect(negative, b.CreateNeg(fraction), fraction);
  Value* zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {wide}, {magnitude, b.getFalse()});
  // A finite number is never so close to a multiple of pi/2 that more than 64 bits cancel.
  Value* count = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, zeros, llvm::ConstantInt::get(wide, 160));
  // The 62 leading bits as hi + lo, times pi/2 as a pair.
  Value* aligned = b.CreateLShr(b.CreateShl(magnitude, count), llvm::ConstantInt::get(wide, 194));
  Value* top = b.CreateTrunc(aligned, b.getInt64Ty());
  Type* f64 = b.getDoubleTy();
  Value* hi = b.CreateSIToFP(top, f64);
  Value* lo = b.CreateSIToFP(b.CreateSub(top, b.CreateFPToSI(hi, b.getInt64Ty())), f64);
  const auto fma = [&](Value* x, double y, Value* z) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {f64}, {x, llvm::ConstantFP::get(f64, y), z});
  };
  Value* product = b.CreateFMul(hi, llvm::ConstantFP::get(f64, kHalfPi));
  Value* rest = fma(hi, kHalfPiLo, fma(lo, kHalfPi, fma(hi, kHalfPi, b.CreateFNeg(product))));
  // top * 2^(194 - count - 254) = top * 2^(-60 - count).
  Value* field = b.CreateSub(b.getInt64(1023 - 60), b.CreateTrunc(count, b.getInt64Ty()));
  Value* scale = b.CreateBitCast(b.CreateShl(field, 52), f64);
  Value* r = b.CreateFMul(b.CreateFAdd(product, rest), scale);
  return b.CreateSelect(negative, b.CreateFNeg(r), r);
}

// x = m 2^e with a 53-bit integer m. Digits of 2/pi whose product with m 2^e is a multiple of 4 are skipped;
// of the rest 192 bits are enough to leave more than 64 bits after the worst cancellation.
Angle reduce_scalar(llvm::IRBuilder<>& b, llvm::GlobalVariable* digits, Value* x) {
  Type* wide = b.getIntNTy(256);
  Value* raw = b.CreateBitCast(x, b.getInt64Ty());
  Value* magnitude = b.CreateAnd(raw, b.getInt64(0x7fffffffffffffff));
  Value* exponent = b.CreateSub(b.CreateLShr(magnitude, 52), b.getInt64(1075));
  // An infinity would read beyond the digits.
  Value* skip =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(exponent, b.getInt64(2)), b.getInt64(969));
  Value* start = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, skip, b.getInt64(0));
  Value* m = b.CreateOr(b.CreateAnd(raw, b.getInt64(0xfffffffffffff)), b.getInt64(int64_t{1} << 52));
  Value* product = b.CreateMul(b.CreateZExt(m, wide), window(b, digits, start));
  // Aligned so that the top two bits are the quadrant.
  Value* shift =
      b.CreateAdd(b.getInt64(64), b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, skip, b.getInt64(0)));
  Value* turns = b.CreateShl(product, b.CreateZExt(shift, wide));
  Value* half = b.CreateShl(llvm::ConstantInt::get(wide, 1), llvm::ConstantInt::get(wide, 253));
  Value* quadrant = b.CreateLShr(b.CreateAdd(turns, half), llvm::ConstantInt::get(wide, 254));
  Value* fraction = b.CreateSub(turns, b.CreateShl(quadrant, llvm::ConstantInt::get(wide, 254)));
  Value* r = angle_of_fraction(b, fraction);
  Value* q = b.CreateTrunc(quadrant, b.getInt64Ty());
  Value* negative = b.CreateICmpSLT(raw, b.getInt64(0));
  Value* finite = b.CreateICmpULT(magnitude, b.getInt64(0x7ff0000000000000));
  r = b.CreateSelect(negative, b.CreateFNeg(r), r);
  return {b.CreateSelect(finite, r, llvm::ConstantFP::getQNaN(b.getDoubleTy())),
          b.CreateSelect(negative, b.CreateNeg(q), q)};
}

// Runs `body` for the lanes for which `condition` holds.
void if_lane(llvm::IRBuilder<>& b, Value* condition, const std::function<void()>& body) {
  Function* function = b.GetInsertBlock()->getParent();
  BasicBlock* taken = BasicBlock::Create(b.getContext(), "taken", function);
  BasicBlock* after = BasicBlock::Create(b.getContext(), "after", function);
  b.CreateCondBr(condition, taken, after);
  b.SetInsertPoint(taken);
  body();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

// jumar.reduce.<type>(x, r, quadrant, lanes, bound)
Function* reduce_function(llvm::Module& module, Type* element) {
  const std::string name = element->isDoubleTy() ? "jumar.reduce.f64" : "jumar.reduce.f32";
  if (Function* made = module.getFunction(name)) return made;
  llvm::LLVMContext& context = module.getContext();
  Type* ptr = llvm::PointerType::get(context, 0);
  Type* f64 = Type::getDoubleTy(context);
  Function* function = new_slow_function(module, name, {ptr, ptr, ptr, Type::getInt64Ty(context), f64});
  llvm::IRBuilder<> b(context);
  llvm::GlobalVariable* digits = digits_of_two_over_pi(module);
  emit_lane_loop(b, function, function->getArg(3), [&](Value* lane) {
    Value* x = load_as_f64(b, element, function->getArg(0), lane);
    Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    if_lane(b, b.CreateFCmpOGT(magnitude, function->getArg(4)), [&] {
      const Angle angle = reduce_scalar(b, digits, x);
      store_as(b, element, angle.r, function->getArg(1), lane);
      Type* int_type = b.getIntNTy(element->isDoubleTy() ? 64 : 32);
      b.CreateStore(b.CreateZExtOrTrunc(angle.quadrant, int_type),
                    b.CreateInBoundsGEP(int_type, function->getArg(2), lane));
    });
  });
  return function;
}

// The exponent field that v > 0 would have if subnormal numbers went on counting below 1.
Value* exponent_field(llvm::IRBuilder<>& b, Value* v) {
  Value* raw = b.CreateBitCast(v, b.getInt64Ty());
  Value* zeros = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {b.getInt64Ty()}, {raw, b.getFalse()});
  Value* field = b.CreateLShr(raw, 52);
  return b.CreateSelect(b.CreateICmpEQ(field, b.getInt64(0)), b.CreateSub(b.getInt64(12), zeros), field);
}

// One step of the long division: x - q y 2^k, where k is such that the quotient q stays below 2^52 and is
// exact.
Value* fmod_step(llvm::IRBuilder<>& b, Value* x, Value* y) {
  Type* f64 = b.getDoubleTy();
  Value* distance = b.CreateSub(exponent_field(b, x), exponent_field(b, y));
  Value* k =
      b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateSub(distance, b.getInt64(51)), b.getInt64(0));
  // k is at most 2046, which two factors reach.
  Value* first = b.CreateLShr(k, 1);
  const auto power = [&](Value* n) {
    return b.CreateBitCast(b.CreateShl(b.CreateAdd(n, b.getInt64(1023)), 52), f64);
  };
  Value* divisor = b.CreateFMul(b.CreateFMul(y, power(first)), power(b.CreateSub(k, first)));
  Value* quotient = b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, b.CreateFDiv(x, divisor));
  Value* rest = b.CreateIntrinsic(llvm::Intrinsic::fma, {f64}, {b.CreateFNeg(quotient), divisor, x});
  // The quotient may have been rounded up across an integer; the rest is then one divisor too small.
  Value* below = b.CreateFCmpOLT(rest, llvm::ConstantFP::get(f64, 0));
  return b.CreateSelect(below, b.CreateFAdd(rest, divisor), rest);
}

// jumar.fmod.<type>(x, y, rest, lanes)
Function* fmod_function(llvm::Module& module, Type* element) {
  const std::string name = element->isDoubleTy() ? "jumar.fmod.f64" : "jumar.fmod.f32";
  if (Function* made = module.getFunction(name)) return made;
  llvm::LLVMContext& context = module.getContext();
  Type* ptr = llvm::PointerType::get(context, 0);
  Function* function = new_slow_function(module, name, {ptr, ptr, ptr, Type::getInt64Ty(context)});
  llvm::IRBuilder<> b(context);
  emit_lane_loop(b, function, function->getArg(3), [&](Value* lane) {
    const auto magnitude = [&](int argument) {
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs,
                                    load_as_f64(b, element, function->getArg(argument), lane));
    };
    Value* x = magnitude(0);
    Value* y = magnitude(1);
    // x is finite and y neither 0 nor NaN, or the division would not end.
    Value* usable = b.CreateAnd(b.CreateFCmpOGT(y, llvm::ConstantFP::get(b.getDoubleTy(), 0)),
                                b.CreateFCmpOLT(x, llvm::ConstantFP::getInfinity(b.getDoubleTy())));
    if_lane(b, b.CreateAnd(usable, b.CreateFCmpOGE(x, y)), [&] {
      BasicBlock* before = b.GetInsertBlock();
      BasicBlock* loop = BasicBlock::Create(context, "divide", function);
      BasicBlock* done = BasicBlock::Create(context, "done", function);
      b.CreateBr(loop);
      b.SetInsertPoint(loop);
      llvm::PHINode* rest = b.CreatePHI(b.getDoubleTy(), 2);
      rest->addIncoming(x, before);
      Value* next = fmod_step(b, rest, y);
      rest->addIncoming(next, loop);
      b.CreateCondBr(b.CreateFCmpOGE(next, y), loop, done);
      b.SetInsertPoint(done);
      store_as(b, element, next, function->getArg(2), lane);
    });
  });
  return function;
}

}  // namespace

std::vector<Value*> unless_any_lane(llvm::IRBuilder<>& b, Value* condition, llvm::ArrayRef<Value*> values,
                                    const std::function<std::vector<Value*>()>& slow) {
  Value* any = condition->getType()->isVectorTy() ? b.CreateOrReduce(condition) : condition;
  BasicBlock* head = b.GetInsertBlock();
  Function* function = head->getParent();
  BasicBlock* rest = nullptr;
  if (b.GetInsertPoint() == head->end()) {
    rest = BasicBlock::Create(b.getContext(), "joined", function, head->getNextNode());
  } else {
    rest = head->splitBasicBlock(b.GetInsertPoint(), "joined");
    head->getTerminator()->eraseFromParent();
  }
  BasicBlock* aside = BasicBlock::Create(b.getContext(), "out_of_range", function);
  b.SetInsertPoint(head);
  b.CreateCondBr(any, aside, rest, llvm::MDBuilder(b.getContext()).createBranchWeights(1, 1 << 20));
  b.SetInsertPoint(aside);
  const std::vector<Value*> replaced = slow();
  CHECK(replaced.size() == values.size());
  BasicBlock* aside_end = b.GetInsertBlock();
  b.CreateBr(rest);
  b.SetInsertPoint(rest, rest->begin());
  std::vector<Value*> results;
  for (size_t k = 0; k < replaced.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(values[k]->getType(), 2);
    phi->addIncoming(values[k], head);
    phi->addIncoming(replaced[k], aside_end);
    results.push_back(phi);
  }
  return results;
}

// Everything goes through memory, so that no vector has to live across the call on the way around it.
Angle reduced_by_half_pi_slow(VecOps& o, Value* x, Angle fast, double bound) {
  llvm::IRBuilder<>& b = o.builder();
  Function* function = reduce_function(*b.GetInsertBlock()->getModule(), o.type()->getScalarType());
  Value* x_memory = lane_memory(b, o.type(), "x.lanes");
  Value* r_memory = lane_memory(b, o.type(), "r.lanes");
  Value* q_memory = lane_memory(b, o.int_type(), "q.lanes");
  b.CreateStore(x, x_memory);
  b.CreateStore(fast.r, r_memory);
  b.CreateStore(fast.quadrant, q_memory);
  b.CreateCall(function, {x_memory, r_memory, q_memory, b.getInt64(o.lanes()),
                          llvm::ConstantFP::get(b.getDoubleTy(), bound)});
  return {b.CreateLoad(o.type(), r_memory), b.CreateLoad(o.int_type(), q_memory)};
}

Value* fmod_slow(VecOps& o, Value* x, Value* y, Value* fast) {
  llvm::IRBuilder<>& b = o.builder();
  Function* function = fmod_function(*b.GetInsertBlock()->getModule(), o.type()->getScalarType());
  Value* x_memory = lane_memory(b, o.type(), "x.lanes");
  Value* y_memory = lane_memory(b, o.type(), "y.lanes");
  Value* r_memory = lane_memory(b, o.type(), "r.lanes");
  b.CreateStore(x, x_memory);
  b.CreateStore(y, y_memory);
  b.CreateStore(fast, r_memory);
  b.CreateCall(function, {x_memory, y_memory, r_memory, b.getInt64(o.lanes())});
  return b.CreateLoad(o.type(), r_memory);
}

}  // namespace jumar::emit::cpu
