#include "emit/cpu/index_emitter.h"

#include <algorithm>
#include <bit>

#include "support/check.h"
#include "tile/quotients.h"

namespace jumar::emit::cpu {

using sym::Expr;
using sym::Op;

bool IndexEmitter::varies(Expr e) const {
  if (e.is_const()) return false;
  if (e.is_symbol()) {
    if (scope_.lanes.axis && e == scope_.lanes.axis) return scope_.lanes.width > 1;
    const auto found = scope_.bindings.find(e);
    CHECK(found != scope_.bindings.end(), "'{}' has no value here", sym::text(e));
    return Builder::width_of(found->second.value) > 1;
  }
  return std::ranges::any_of(e.operands(), [&](Expr operand) { return varies(operand); });
}

unsigned IndexEmitter::depth(Expr e) const {
  if (e.is_const()) return 0;
  if (e.is_symbol()) {
    if (scope_.lanes.axis && e == scope_.lanes.axis) return b_.depth();
    const auto found = scope_.bindings.find(e);
    CHECK(found != scope_.bindings.end(), "'{}' has no value here", sym::text(e));
    return found->second.depth;
  }
  unsigned deepest = 0;
  for (Expr operand : e.operands()) deepest = std::max(deepest, depth(operand));
  return deepest;
}

std::vector<Expr> IndexEmitter::ordered(std::span<const Expr> operands) const {
  std::vector<Expr> out(operands.begin(), operands.end());
  std::ranges::stable_sort(out, {}, [&](Expr e) { return std::pair(varies(e), depth(e)); });
  return out;
}

Value* IndexEmitter::value(Expr e) {
  switch (e.op()) {
    case Op::kConst:
      return b_.i64(e.const_value());
    case Op::kSymbol:
      return symbol(e);
    case Op::kAdd:
      return sum(e);
    case Op::kMul:
      return product(e);
    case Op::kFloorDiv:
    case Op::kMod:
      return division(e);
    case Op::kMin:
    case Op::kMax:
      return extreme(e);
    default: {
      Value* holds = predicate(e);
      return b_.CreateZExt(holds, Builder::widened(b_.getInt64Ty(), Builder::width_of(holds)));
    }
  }
}

Value* IndexEmitter::symbol(Expr e) {
  const Lanes& lanes = scope_.lanes;
  if (lanes.axis && e == lanes.axis) {
    if (lanes.width == 1) return lanes.base;
    return b_.CreateAdd(b_.spread(lanes.base, lanes.width), b_.lane_numbers(b_.getInt64Ty(), lanes.width));
  }
  return scope_.bindings.at(e).value;
}

Value* IndexEmitter::sum(Expr e) {
  Value* total = nullptr;
  for (Expr term : ordered(e.operands())) {
    Value* pair[2] = {total, value(term)};
    if (total == nullptr) {
      total = pair[1];
      continue;
    }
    b_.spread_alike(pair);
    total = b_.CreateAdd(pair[0], pair[1]);
  }
  return total;
}

Value* IndexEmitter::product(Expr e) {
  Value* total = nullptr;
  for (Expr factor : ordered(e.operands())) {
    Value* pair[2] = {total, value(factor)};
    if (total == nullptr) {
      total = pair[1];
      continue;
    }
    b_.spread_alike(pair);
    total = b_.CreateMul(pair[0], pair[1]);
  }
  return total;
}

// Floor division and modulus of scalars. A divisor that may be zero is replaced by one: the quotient is then
// never used, because it belongs to a point that does not exist, but computing it must not trap.
Value* IndexEmitter::divided(Value* a, Value* b, Expr e) {
  const sym::Range low = sym::bounds(e.operands()[0], facts_);
  const sym::Range divisor = sym::bounds(e.operands()[1], facts_);
  const bool quotient = e.op() == Op::kFloorDiv;
  if (divisor.lo <= 0 && divisor.hi >= 0) b = b_.CreateSelect(b_.CreateICmpEQ(b, b_.i64(0)), b_.i64(1), b);
  if (low.lo >= 0 && divisor.lo >= 0) return quotient ? b_.CreateUDiv(a, b) : b_.CreateURem(a, b);
  Value* rest = b_.CreateSRem(a, b);
  Value* differ = b_.CreateICmpSLT(b_.CreateXor(rest, b), b_.i64(0));
  Value* adjust = b_.CreateAnd(b_.CreateICmpNE(rest, b_.i64(0)), differ);
  if (!quotient) return b_.CreateAdd(rest, b_.CreateSelect(adjust, b, b_.i64(0)));
  return b_.CreateSub(b_.CreateSDiv(a, b), b_.CreateZExt(adjust, b_.getInt64Ty()));
}

Value* IndexEmitter::lane_divided(Value* a, Value* b, Expr e) {
  const unsigned width = std::max(Builder::width_of(a), Builder::width_of(b));
  Value* out = llvm::PoisonValue::get(Builder::widened(b_.getInt64Ty(), width));
  for (unsigned k = 0; k < width; ++k)
    out = b_.CreateInsertElement(out, divided(b_.lane(a, k), b_.lane(b, k), e), static_cast<uint64_t>(k));
  return out;
}

// (x + lane) // d and (x + lane) % d for a scalar x >= 0 and a constant d: one scalar division for lane 0,
// from which the other lanes are r + lane, less d where that is too large. For d below the width a lane may
// be several d further; then the small number r + lane < d + width is divided by a multiplication, which is
// exact as long as (d + width)*d < 2^16: the error of ceil(2^16/d)/2^16 is below 1/2^16 per unit.
Value* IndexEmitter::affine_divided(Expr e) {
  const Lanes& lanes = scope_.lanes;
  const Expr numerator = e.operands()[0];
  const std::optional<int64_t> divisor = e.operands()[1].as_const();
  if (!divisor || *divisor <= 0 || sym::bounds(numerator, facts_).lo < 0) return nullptr;
  if (!lanes.axis || lanes.width == 1) return nullptr;
  const std::optional<sym::Linear> linear = sym::linear_in(cx_, numerator, lanes.axis);
  if (!linear || !linear->coefficient.is_const(1) || varies(linear->rest)) return nullptr;
  const int64_t d = *divisor;
  const int64_t width = lanes.width;
  if (d < width && (d + width) * d >= 65536) return nullptr;

  Value* first = b_.CreateAdd(value(linear->rest), lanes.base);
  Value* quotient = b_.CreateUDiv(first, b_.i64(d));
  Value* rest = b_.CreateSub(first, b_.CreateMul(quotient, b_.i64(d)));
  llvm::Type* vector = Builder::widened(b_.getInt64Ty(), lanes.width);
  Value* reached = b_.CreateAdd(b_.spread(rest, lanes.width), b_.lane_numbers(b_.getInt64Ty(), lanes.width));
  Value* more = nullptr;
  if (d >= width) {
    more = b_.CreateZExt(b_.CreateICmpUGE(reached, b_.int_of(vector, d)), vector);
  } else {
    const int64_t inverse = (65536 + d - 1) / d;
    more = b_.CreateLShr(b_.CreateMul(reached, b_.int_of(vector, inverse)), b_.int_of(vector, 16));
  }
  if (e.op() == Op::kFloorDiv) return b_.CreateAdd(b_.spread(quotient, lanes.width), more);
  return b_.CreateSub(reached, b_.CreateMul(more, b_.int_of(vector, d)));
}

// The quotient of lanes by a constant d, where the numerator has at most 31 bits: (n*m) >> (bits + l) with
// 2^l >= d and m = ceil(2^(bits + l)/d) is exact for all n below 2^bits, and n*m has at most 2*bits + 1 bits.
// A numerator that may be negative is lifted by a multiple of d first.
Value* IndexEmitter::multiplied_quotient(Value* a, Expr e) {
  const std::optional<int64_t> divisor = e.operands()[1].as_const();
  const sym::Range range = sym::bounds(e.operands()[0], facts_);
  constexpr int64_t kLimit = int64_t{1} << 30;
  if (!divisor || *divisor <= 0 || *divisor >= kLimit || range.lo <= -kLimit || range.hi >= kLimit)
    return nullptr;
  const int64_t d = *divisor;
  llvm::Type* type = a->getType();
  const int64_t lift = range.lo < 0 ? (-range.lo + d - 1) / d : 0;
  if (std::has_single_bit(static_cast<uint64_t>(d)) && lift == 0)
    return b_.CreateLShr(a, b_.int_of(type, std::countr_zero(static_cast<uint64_t>(d))));
  const int64_t most = std::max<int64_t>(range.hi, 0) + lift * d;
  if (most >= 2 * kLimit) return nullptr;
  const int bits = std::bit_width(static_cast<uint64_t>(most));
  const int log = std::bit_width(static_cast<uint64_t>(d - 1));
  const __int128 power = static_cast<__int128>(1) << (bits + log);
  const auto inverse = static_cast<int64_t>((power + d - 1) / d);
  Value* lifted = b_.CreateAdd(a, b_.int_of(type, lift * d));
  Value* quotient =
      b_.CreateLShr(b_.CreateMul(lifted, b_.int_of(type, inverse)), b_.int_of(type, bits + log));
  return b_.CreateSub(quotient, b_.int_of(type, lift));
}

Expr IndexEmitter::with_common_quotients(Expr e) {
  const Lanes lanes = scope_.lanes;
  if (!lanes.axis || lanes.width == 1 || !lanes.aligned) return e;
  return tile::with_common_quotients(cx_, e, lanes.axis, lanes.width, facts_, [&](Expr quotient) {
    if (varies_beside_axis(quotient)) return quotient;
    const Expr symbol = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("q{}", scope_.named++));
    scope_.lanes = {lanes.axis, 1, lanes.base, nullptr, false};
    scope_.bindings[symbol] = {value(quotient), b_.depth()};
    scope_.lanes = lanes;
    return symbol;
  });
}

bool IndexEmitter::varies_beside_axis(Expr e) const {
  if (e.is_const() || e == scope_.lanes.axis) return false;
  if (e.is_symbol()) return varies(e);
  return std::ranges::any_of(e.operands(), [&](Expr operand) { return varies_beside_axis(operand); });
}

Value* IndexEmitter::division(Expr e) {
  if (!varies(e)) return divided(value(e.operands()[0]), value(e.operands()[1]), e);
  if (Value* fast = affine_divided(e)) return fast;
  Value* numerator = value(e.operands()[0]);
  if (Builder::width_of(numerator) > 1) {
    if (Value* quotient = multiplied_quotient(numerator, e)) {
      if (e.op() == Op::kFloorDiv) return quotient;
      return b_.CreateSub(
          numerator, b_.CreateMul(quotient, b_.int_of(numerator->getType(), e.operands()[1].const_value())));
    }
  }
  return lane_divided(numerator, value(e.operands()[1]), e);
}

Value* IndexEmitter::extreme(Expr e) {
  const llvm::Intrinsic::ID id = e.op() == Op::kMin ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
  Value* best = nullptr;
  for (Expr operand : ordered(e.operands())) {
    Value* pair[2] = {best, value(operand)};
    if (best == nullptr) {
      best = pair[1];
      continue;
    }
    b_.spread_alike(pair);
    best = b_.CreateBinaryIntrinsic(id, pair[0], pair[1]);
  }
  return best;
}

Value* IndexEmitter::compared(Expr e) {
  Value* sides[2] = {value(e.operands()[0]), value(e.operands()[1])};
  b_.spread_alike(sides);
  if (sides[0] == sides[1]) return b_.getInt1(e.op() == Op::kEq || e.op() == Op::kLe);
  switch (e.op()) {
    case Op::kEq:
      return b_.CreateICmpEQ(sides[0], sides[1]);
    case Op::kNe:
      return b_.CreateICmpNE(sides[0], sides[1]);
    case Op::kLt:
      return b_.CreateICmpSLT(sides[0], sides[1]);
    default:
      return b_.CreateICmpSLE(sides[0], sides[1]);
  }
}

// Constants are folded, because a constant guard removes code.
Value* IndexEmitter::logical(Expr e) {
  const bool is_and = e.op() == Op::kAnd;
  Value* all = b_.getInt1(is_and);
  for (Expr operand : ordered(e.operands())) {
    Value* pair[2] = {all, predicate(operand)};
    if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(pair[1])) {
      if (known->isOne() != is_and) return pair[1];
      continue;
    }
    b_.spread_alike(pair);
    if (llvm::isa<llvm::ConstantInt>(all)) {
      all = pair[1];
      continue;
    }
    all = is_and ? b_.CreateAnd(pair[0], pair[1]) : b_.CreateOr(pair[0], pair[1]);
  }
  return all;
}

Value* IndexEmitter::predicate(Expr e) {
  switch (e.op()) {
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
      return compared(e);
    case Op::kNot:
      return b_.CreateNot(predicate(e.operands()[0]));
    case Op::kAnd:
    case Op::kOr:
      return logical(e);
    default: {
      Value* number = value(e);
      return b_.CreateICmpNE(number, b_.int_of(number->getType(), 0));
    }
  }
}

}  // namespace jumar::emit::cpu
