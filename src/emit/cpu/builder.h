// An IRBuilder with what vector kernels need: values that are scalars or vectors, and structured loops.
//
//   Values sums = b.loop(lo, hi, 8, {zero}, [&](Value* i, Values& carried) {
//     carried[0] = b.CreateFAdd(carried[0], load(i));
//   });
//
// A value is either a scalar, the same for every lane, or a vector with one element per lane. Arithmetic on
// values that do not depend on the lane stays scalar; `spread` makes a vector where one is needed.
//
// Invariants: loops test before the first round, carried values keep their types, and a loop whose bounds are
// constants emits only what runs.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>

namespace jumar::emit::cpu {

using llvm::Value;
using Values = llvm::SmallVector<Value*, 4>;

class Builder : public llvm::IRBuilder<> {
 public:
  Builder(llvm::Function& function, llvm::BasicBlock* at);

  llvm::Function& function() const { return function_; }
  // How many loops surround the point of insertion.
  unsigned depth() const { return depth_; }

  static unsigned width_of(const llvm::Type* type);
  static unsigned width_of(const Value* value) { return width_of(value->getType()); }
  // `scalar` itself for width 1, else a vector of it.
  static llvm::Type* widened(llvm::Type* scalar, unsigned width);

  llvm::ConstantInt* i64(int64_t value) { return getInt64(static_cast<uint64_t>(value)); }
  // A constant of an integer type or a vector of one.
  llvm::Constant* int_of(llvm::Type* type, int64_t value);
  llvm::Constant* real_of(llvm::Type* type, double value);

  // `value` with `width` lanes; a vector must have that width already.
  Value* spread(Value* value, unsigned width);
  // Spreads scalars so that all have the width of the widest.
  void spread_alike(llvm::MutableArrayRef<Value*> values);
  Value* lane(Value* vector, unsigned index);
  // The vector's elements [first, first + count).
  Value* part(Value* vector, unsigned first, unsigned count);
  // <0, 1, ..., width - 1>
  llvm::Constant* lane_numbers(llvm::Type* scalar, unsigned width);

  // Of scalar i64 values; constants are folded, because loops with constant bounds are written shorter.
  Value* smin(Value* a, Value* b);
  Value* smax(Value* a, Value* b);

  // Stack memory of the function, allocated once.
  llvm::AllocaInst* stack(llvm::Type* element, uint64_t count, unsigned align = 64);

  using LoopBody = std::function<void(Value* index, Values& carried)>;
  Values loop(Value* lo, Value* hi, int64_t step, Values carried, const LoopBody& body);
  // What `then` makes where the condition holds, else `otherwise`; `then` may be a chain of blocks.
  Value* when(Value* condition, const std::function<Value*()>& then, Value* otherwise);
  void when(Value* condition, const std::function<void()>& then);

 private:
  Values counted_loop(Value* lo, Value* hi, int64_t step, const Values& carried, const LoopBody& body);

  llvm::Function& function_;
  unsigned depth_ = 0;
};

}  // namespace jumar::emit::cpu
