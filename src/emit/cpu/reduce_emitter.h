// Folding values: what reductions and scans add up, in lanes and across them.
//
//   Fold fold(b, scalars, ReduceKind::kSum, f32);
//   Values acc = fold.identity(8);                    // <8 x float> zeros
//   acc = fold.step(acc, {x}, mask);
//   Values total = fold.across(acc);                  // one float: ((0+4)+(2+6)) + ((1+5)+(3+7))
//
// A fold's state is one value, or two for arg-reductions: the extreme and its i64 position.
//
// Invariants: the order of folding depends on widths alone. max and min keep a NaN from either side; an
// arg-reduction lets NaN win and of equals the least position.
#pragma once

#include "emit/cpu/scalar_emitter.h"

namespace jumar::emit::cpu {

class Fold {
 public:
  // `type` is the type of the folded values. Where the positions of an arg-reduction are known to ascend,
  // `first` is the least of them: then the first of equals is found without comparing positions.
  Fold(Builder& b, ScalarEmitter& scalars, loop::ReduceKind kind, ir::DType type, Value* first = nullptr)
      : b_(b), scalars_(scalars), kind_(kind), type_(type), first_(first) {}

  static loop::ReduceKind kind_of(loop::ScanKind kind);

  bool is_arg() const { return kind_ == loop::ReduceKind::kArgMax || kind_ == loop::ReduceKind::kArgMin; }
  size_t state_size() const { return is_arg() ? 2 : 1; }
  Values identity(unsigned width);
  // `items` has the shape of a state; lanes where the mask is false keep theirs.
  Values step(const Values& state, const Values& items, Value* mask);
  Values merged(const Values& a, const Values& b);
  // Folds the parts of `width` lanes of a wider state.
  Values narrowed(Values state, unsigned width);
  Values across(const Values& state) { return narrowed(state, 1); }
  // The result of a state of width 1 or of lanes that are points of their own.
  Value* result(const Values& state) const { return state.back(); }

 private:
  Value* combined(Value* a, Value* b);
  Values arg_combined(const Values& a, const Values& b, bool ascending);
  llvm::Constant* identity_value(unsigned width);

  Builder& b_;
  ScalarEmitter& scalars_;
  loop::ReduceKind kind_;
  ir::DType type_;
  Value* first_;
};

}  // namespace jumar::emit::cpu
