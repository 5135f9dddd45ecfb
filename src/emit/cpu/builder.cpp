#include "emit/cpu/builder.h"

#include "support/check.h"

namespace jumar::emit::cpu {

Builder::Builder(llvm::Function& function, llvm::BasicBlock* at) : IRBuilder(at), function_(function) {}

unsigned Builder::width_of(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

llvm::Type* Builder::widened(llvm::Type* scalar, unsigned width) {
  return width == 1 ? scalar : llvm::FixedVectorType::get(scalar, width);
}

llvm::Constant* Builder::int_of(llvm::Type* type, int64_t value) {
  return llvm::ConstantInt::getSigned(type, value);
}

llvm::Constant* Builder::real_of(llvm::Type* type, double value) {
  return llvm::ConstantFP::get(type, value);
}

Value* Builder::spread(Value* value, unsigned width) {
  const unsigned have = width_of(value);
  if (have == width) return value;
  CHECK(have == 1, "a vector of {} lanes where {} are wanted", have, width);
  return CreateVectorSplat(width, value);
}

void Builder::spread_alike(llvm::MutableArrayRef<Value*> values) {
  unsigned width = 1;
  for (Value* value : values) width = std::max(width, width_of(value));
  for (Value*& value : values) value = spread(value, width);
}

Value* Builder::lane(Value* vector, unsigned index) {
  return width_of(vector) == 1 ? vector : CreateExtractElement(vector, static_cast<uint64_t>(index));
}

Value* Builder::part(Value* vector, unsigned first, unsigned count) {
  if (count == 1) return lane(vector, first);
  if (first == 0 && count == width_of(vector)) return vector;
  llvm::SmallVector<int, 32> picks;
  for (unsigned k = 0; k < count; ++k) picks.push_back(static_cast<int>(first + k));
  return CreateShuffleVector(vector, picks);
}

llvm::Constant* Builder::lane_numbers(llvm::Type* scalar, unsigned width) {
  if (width == 1) return llvm::ConstantInt::get(scalar, 0);
  llvm::SmallVector<llvm::Constant*, 32> numbers;
  for (unsigned k = 0; k < width; ++k) numbers.push_back(llvm::ConstantInt::get(scalar, k));
  return llvm::ConstantVector::get(numbers);
}

Value* Builder::smin(Value* a, Value* b) {
  const auto* x = llvm::dyn_cast<llvm::ConstantInt>(a);
  const auto* y = llvm::dyn_cast<llvm::ConstantInt>(b);
  if (x && y) return x->getSExtValue() < y->getSExtValue() ? a : b;
  return a == b ? a : CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
}

Value* Builder::smax(Value* a, Value* b) {
  const auto* x = llvm::dyn_cast<llvm::ConstantInt>(a);
  const auto* y = llvm::dyn_cast<llvm::ConstantInt>(b);
  if (x && y) return x->getSExtValue() < y->getSExtValue() ? b : a;
  return a == b ? a : CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
}

llvm::AllocaInst* Builder::stack(llvm::Type* element, uint64_t count, unsigned align) {
  InsertPointGuard guard(*this);
  llvm::BasicBlock& entry = function_.getEntryBlock();
  SetInsertPoint(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* memory = CreateAlloca(llvm::ArrayType::get(element, count));
  memory->setAlignment(llvm::Align(align));
  return memory;
}

Values Builder::loop(Value* lo, Value* hi, int64_t step, Values carried, const LoopBody& body) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(lo);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(hi);
  if (first && last) {
    const int64_t distance = last->getSExtValue() - first->getSExtValue();
    if (distance <= 0) return carried;
    if (distance <= step) {
      body(lo, carried);
      return carried;
    }
  }
  return counted_loop(lo, hi, step, carried, body);
}

Values Builder::counted_loop(Value* lo, Value* hi, int64_t step, const Values& carried,
                             const LoopBody& body) {
  llvm::BasicBlock* before = GetInsertBlock();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(getContext(), "loop", &function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(getContext(), "done", &function_);
  CreateCondBr(CreateICmpSLT(lo, hi), head, after);
  SetInsertPoint(head);
  llvm::PHINode* index = CreatePHI(getInt64Ty(), 2);
  index->addIncoming(lo, before);
  llvm::SmallVector<llvm::PHINode*, 4> phis;
  Values current;
  for (Value* value : carried) {
    phis.push_back(CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
    current.push_back(phis.back());
  }
  ++depth_;
  body(index, current);
  --depth_;
  Value* next = CreateAdd(index, i64(step), "", true, true);
  llvm::BasicBlock* latch = GetInsertBlock();
  CreateCondBr(CreateICmpSLT(next, hi), head, after);
  index->addIncoming(next, latch);
  SetInsertPoint(after);
  Values results;
  for (size_t k = 0; k < carried.size(); ++k) {
    CHECK(current[k]->getType() == phis[k]->getType(), "a carried value changed its type");
    phis[k]->addIncoming(current[k], latch);
    llvm::PHINode* result = CreatePHI(phis[k]->getType(), 2);
    result->addIncoming(carried[k], before);
    result->addIncoming(current[k], latch);
    results.push_back(result);
  }
  return results;
}

Value* Builder::when(Value* condition, const std::function<Value*()>& then, Value* otherwise) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    return known->isZero() ? otherwise : then();
  }
  llvm::BasicBlock* before = GetInsertBlock();
  llvm::BasicBlock* yes = llvm::BasicBlock::Create(getContext(), "then", &function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(getContext(), "join", &function_);
  CreateCondBr(condition, yes, after);
  SetInsertPoint(yes);
  Value* made = then();
  llvm::BasicBlock* end = GetInsertBlock();
  CreateBr(after);
  SetInsertPoint(after);
  llvm::PHINode* result = CreatePHI(made->getType(), 2);
  result->addIncoming(otherwise, before);
  result->addIncoming(made, end);
  return result;
}

void Builder::when(Value* condition, const std::function<void()>& then) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (!known->isZero()) then();
    return;
  }
  llvm::BasicBlock* yes = llvm::BasicBlock::Create(getContext(), "then", &function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(getContext(), "join", &function_);
  CreateCondBr(condition, yes, after);
  SetInsertPoint(yes);
  then();
  CreateBr(after);
  SetInsertPoint(after);
}

}  // namespace jumar::emit::cpu
