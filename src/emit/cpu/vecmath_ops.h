// Typed shorthand for building IR on float values: what the vector mathematics is written in.
//
//   VecOps o(builder, x->getType());
//   Value* s = o.mul(x, x);
//   Value* p = o.poly(s, o.pick(kSinF32, kSinF64));
//   return o.select(o.lt(x, o.c(0)), o.neg(p), p);
//
// One VecOps serves one type: f32 or f64, a scalar or a fixed vector. Constants are splatted to it.
// `int_type()` is the integer type of the same lanes and width; int constants (`ci`) have that type.
//
// Invariants: while a VecOps lives, the builder has no fast-math flags at all, so no operation is fused,
// reordered or cancelled unless it is written as fma(). The flags come back when it dies. The error-free
// transformations (magic-number rounding, two-sums, splitting) depend on it.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <span>

namespace jumar::emit::cpu {

class VecOps {
 public:
  using Value = llvm::Value;

  VecOps(llvm::IRBuilder<>& builder, llvm::Type* type);

  bool is_f64() const { return f64_; }
  int mantissa_bits() const { return f64_ ? 52 : 23; }
  int bias() const { return f64_ ? 1023 : 127; }
  int width_bits() const { return f64_ ? 64 : 32; }
  int lanes() const;
  llvm::Type* type() const { return type_; }
  llvm::Type* int_type() const { return int_type_; }
  llvm::IRBuilder<>& builder() { return b_; }

  // The f32 or the f64 variant of something.
  double pick(double f32, double f64) const { return f64_ ? f64 : f32; }
  std::span<const double> pick(std::span<const double> f32, std::span<const double> f64) const {
    return f64_ ? f64 : f32;
  }

  Value* c(double value);
  Value* c(double f32, double f64) { return c(pick(f32, f64)); }
  Value* ci(int64_t value);
  Value* inf();
  Value* nan();

  Value* add(Value* a, Value* b) { return b_.CreateFAdd(a, b); }
  Value* sub(Value* a, Value* b) { return b_.CreateFSub(a, b); }
  Value* mul(Value* a, Value* b) { return b_.CreateFMul(a, b); }
  Value* div(Value* a, Value* b) { return b_.CreateFDiv(a, b); }
  Value* neg(Value* a) { return b_.CreateFNeg(a); }
  Value* fma(Value* a, Value* b, Value* c);
  Value* abs(Value* a);
  Value* sqrt(Value* a);
  Value* copysign(Value* magnitude, Value* sign);
  // Horner's scheme; `coefficients` are lowest power first.
  Value* poly(Value* x, std::span<const double> coefficients);

  // Ordered comparisons are false for NaN; is_nan and not_lt are true for it.
  Value* lt(Value* a, Value* b) { return b_.CreateFCmpOLT(a, b); }
  Value* le(Value* a, Value* b) { return b_.CreateFCmpOLE(a, b); }
  Value* gt(Value* a, Value* b) { return b_.CreateFCmpOGT(a, b); }
  Value* ge(Value* a, Value* b) { return b_.CreateFCmpOGE(a, b); }
  Value* eq(Value* a, Value* b) { return b_.CreateFCmpOEQ(a, b); }
  Value* ne(Value* a, Value* b) { return b_.CreateFCmpUNE(a, b); }
  Value* is_nan(Value* a) { return b_.CreateFCmpUNO(a, a); }
  Value* either_nan(Value* a, Value* b) { return b_.CreateFCmpUNO(a, b); }
  Value* both(Value* a, Value* b) { return b_.CreateAnd(a, b); }
  Value* either(Value* a, Value* b) { return b_.CreateOr(a, b); }
  Value* negation(Value* a) { return b_.CreateNot(a); }
  Value* select(Value* condition, Value* a, Value* b) { return b_.CreateSelect(condition, a, b); }
  // Clamps that let NaN pass; each is one instruction on x86.
  Value* at_most(Value* x, double high);
  Value* at_least(Value* x, double low);

  Value* bits(Value* a) { return b_.CreateBitCast(a, int_type_); }
  Value* from_bits(Value* a) { return b_.CreateBitCast(a, type_); }
  Value* iadd(Value* a, Value* b) { return b_.CreateAdd(a, b); }
  Value* isub(Value* a, Value* b) { return b_.CreateSub(a, b); }
  Value* iand(Value* a, Value* b) { return b_.CreateAnd(a, b); }
  Value* ior(Value* a, Value* b) { return b_.CreateOr(a, b); }
  Value* ixor(Value* a, Value* b) { return b_.CreateXor(a, b); }
  Value* shl(Value* a, int by) { return b_.CreateShl(a, ci(by)); }
  Value* lshr(Value* a, int by) { return b_.CreateLShr(a, ci(by)); }
  // True where bit `index` of an integer is set, by way of the sign bit, which blends read directly.
  Value* bit_set(Value* a, int index);
  Value* sign_bit(Value* a);  // the sign bit alone, as an integer
  Value* xor_sign(Value* a, Value* sign_bits) { return from_bits(ixor(bits(a), sign_bits)); }

  // 1.5 * 2^mantissa: t = x + magic() rounds x to an integer n; the low bits of t hold n.
  double magic() const { return f64_ ? 6755399441055744.0 : 12582912.0; }
  int64_t magic_bits() const { return f64_ ? 0x4338000000000000 : 0x4b400000; }
  // 2^(field - bias) for an exponent field in 1 .. 2*bias + 1 (the last one is infinity).
  Value* pow2_of_field(Value* field) { return from_bits(shl(field, mantissa_bits())); }
  // A small non-negative integer (below 2^mantissa) plus `offset`, as a float.
  Value* float_of_small(Value* integer, int64_t offset);

  Value* min_normal();

 private:
  llvm::IRBuilder<>& b_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
  llvm::Type* type_;
  llvm::Type* int_type_;
  bool f64_;
};

// An exact sum or product: hi is the rounded result and hi + lo the exact value.
struct Pair {
  llvm::Value* hi;
  llvm::Value* lo;
};

Pair two_sum(VecOps& o, llvm::Value* a, llvm::Value* b);
Pair fast_two_sum(VecOps& o, llvm::Value* a, llvm::Value* b);  // needs |a| >= |b|, or a = 0
Pair two_product(VecOps& o, llvm::Value* a, llvm::Value* b);
// The product of two pairs, to about twice the working precision.
Pair pair_product(VecOps& o, Pair a, Pair b);

}  // namespace jumar::emit::cpu
