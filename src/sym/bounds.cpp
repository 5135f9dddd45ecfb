#include "sym/bounds.h"

#include <algorithm>

#include "sym/node.h"

namespace jumar::sym {
namespace {

using Wide = __int128;
constexpr Wide kInfinity = static_cast<Wide>(1) << 126;

// The same interval with infinities far outside of what 64-bit ends can reach by one operation.
struct WideRange {
  Wide lo;
  Wide hi;
};

WideRange widened(Range range) {
  return {range.lo == Range::kMin ? -kInfinity : range.lo, range.hi == Range::kMax ? kInfinity : range.hi};
}

// An end beyond 64 bits on its own side becomes infinite; on the other side it stops at the last finite
// value, which only makes the interval larger.
Range narrowed(WideRange wide) {
  Range out;
  if (wide.lo > Range::kMin)
    out.lo = wide.lo >= Range::kMax ? Range::kMax - 1 : static_cast<int64_t>(wide.lo);
  if (wide.hi < Range::kMax)
    out.hi = wide.hi <= Range::kMin ? Range::kMin + 1 : static_cast<int64_t>(wide.hi);
  return out;
}

bool infinite(Wide x) { return x >= kInfinity || x <= -kInfinity; }

Wide product(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return a * b;
}

Range product(Range a, Range b) {
  WideRange x = widened(a), y = widened(b);
  Wide ends[] = {product(x.lo, y.lo), product(x.lo, y.hi), product(x.hi, y.lo), product(x.hi, y.hi)};
  return narrowed({*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)});
}

Range sum(Range a, Range b) {
  WideRange x = widened(a), y = widened(b);
  return narrowed({infinite(x.lo) || infinite(y.lo) ? -kInfinity : x.lo + y.lo,
                   infinite(x.hi) || infinite(y.hi) ? kInfinity : x.hi + y.hi});
}

Range negated(Range a) {
  WideRange x = widened(a);
  return narrowed({-x.hi, -x.lo});
}

Range united(Range a, Range b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Wide quotient(Wide a, Wide b) {
  if (infinite(a)) return a;
  if (infinite(b)) return a < 0 ? -1 : 0;
  Wide q = a / b;
  return q - (a % b != 0 && a < 0);
}

// For divisors that are at least 1.
Range quotient_by_positive(Range a, Range b) {
  WideRange x = widened(a), y = widened(b);
  return narrowed({std::min(quotient(x.lo, y.lo), quotient(x.lo, y.hi)),
                   std::max(quotient(x.hi, y.lo), quotient(x.hi, y.hi))});
}

Range remainder_by_positive(Range a, Range b) {
  bool nonnegative = a.lo >= 0;
  if (nonnegative && a.hi < b.lo) return a;
  if (b.is_point() && a.lo != Range::kMin && a.hi != Range::kMax &&
      floor_quotient(a.lo, b.lo) == floor_quotient(a.hi, b.lo))
    return {floor_remainder(a.lo, b.lo), floor_remainder(a.hi, b.lo)};
  Range out{0, b.hi == Range::kMax ? Range::kMax : b.hi - 1};
  if (nonnegative) out.hi = std::min(out.hi, a.hi);
  return out;
}

// `of_positive` for the positive divisors and, mirrored, for the negative ones; there is no division by zero.
// `mirrors` tells whether the result changes its sign with the operands'.
Range by_divisor(Range a, Range b, Range (*of_positive)(Range, Range), bool mirrors) {
  Range positive{std::max<int64_t>(b.lo, 1), b.hi};
  Range negative{b.lo, std::min<int64_t>(b.hi, -1)};
  std::optional<Range> out;
  if (positive.lo <= positive.hi) out = of_positive(a, positive);
  if (negative.lo <= negative.hi) {
    Range mirrored = of_positive(negated(a), negated(negative));
    if (mirrors) mirrored = negated(mirrored);
    out = out ? united(*out, mirrored) : mirrored;
  }
  return out.value_or(Range());
}

Range of_comparison(Op op, Range a, Range b) {
  constexpr Range kTrue{1, 1}, kFalse{0, 0}, kEither{0, 1};
  bool apart = a.hi < b.lo || b.hi < a.lo;
  bool same_point = a.is_point() && a == b && a.lo != Range::kMin && a.lo != Range::kMax;
  switch (op) {
    case Op::kEq:
      return apart ? kFalse : same_point ? kTrue : kEither;
    case Op::kNe:
      return apart ? kTrue : same_point ? kFalse : kEither;
    case Op::kLt:
      if (a.hi < b.lo) return kTrue;
      return a.lo >= b.hi && a.lo != Range::kMin && b.hi != Range::kMax ? kFalse : kEither;
    default:
      if (a.hi <= b.lo && a.hi != Range::kMax && b.lo != Range::kMin) return kTrue;
      return a.lo > b.hi ? kFalse : kEither;
  }
}

bool surely_true(Range r) { return r.lo > 0 || r.hi < 0; }
bool surely_false(Range r) { return r == Range{0, 0}; }

// `of` gives the range of an operand.
template <class Of>
Range of_junction(Op op, std::span<const Expr> operands, Of of) {
  bool all_true = true, all_false = true, any_true = false, any_false = false;
  for (Expr e : operands) {
    Range r = of(e);
    all_true &= surely_true(r);
    all_false &= surely_false(r);
    any_true |= surely_true(r);
    any_false |= surely_false(r);
  }
  bool is_true = op == Op::kAnd ? all_true : any_true;
  bool is_false = op == Op::kAnd ? any_false : all_false;
  return is_true ? Range{1, 1} : is_false ? Range{0, 0} : Range{0, 1};
}

template <class Of>
Range of_product(std::span<const Expr> operands, Of of) {
  Range out{1, 1};
  for (size_t i = 0; i < operands.size();) {
    size_t end = i;
    Range power{1, 1};
    Range base = of(operands[i]);
    for (; end < operands.size() && operands[end] == operands[i]; ++end) power = product(power, base);
    // Interval products do not know that the factors are equal.
    if ((end - i) % 2 == 0) power.lo = std::max<int64_t>(power.lo, 0);
    out = product(out, power);
    i = end;
  }
  return out;
}

}  // namespace

Range Bounds::operator()(Expr e) {
  if (e.is_const()) return {e.const_value(), e.const_value()};
  if (auto known = known_.find(e); known != known_.end()) return known->second;
  Range out = e.is_symbol() ? of_symbol(e) : of_operator(e);
  known_[e] = out;
  return out;
}

Range Bounds::of_symbol(Expr symbol) {
  Range out = facts_.range(symbol);
  if (Expr extent = facts_.extent(symbol)) {
    out.lo = std::max<int64_t>(out.lo, 0);
    out.hi = std::max(out.hi, out.lo);
    known_[symbol] = out;  // should the extent mention the axis, this is what is known of it
    Range length = (*this)(extent);
    // An empty loop has no values to talk about; keeping 0 in the interval is as good as any.
    if (length.hi != Range::kMax) out.hi = std::max(out.lo, std::min(out.hi, length.hi - 1));
  }
  int64_t divisor = facts_.divisor(symbol);
  if (divisor > 1) {
    Wide lo = out.lo == Range::kMin ? -kInfinity : -(quotient(-static_cast<Wide>(out.lo), divisor) * divisor);
    Wide hi = out.hi == Range::kMax ? kInfinity : quotient(out.hi, divisor) * divisor;
    if (lo <= hi) out = narrowed({lo, hi});
  }
  return out;
}

Range Bounds::of_operator(Expr e) {
  std::span<const Expr> operands = e.operands();
  auto of = [&](Expr operand) { return (*this)(operand); };
  switch (e.op()) {
    case Op::kMul:
      return of_product(operands, of);
    case Op::kAdd: {
      Range out{0, 0};
      for (Expr operand : operands) out = sum(out, of(operand));
      return out;
    }
    case Op::kFloorDiv:
      return by_divisor(of(operands[0]), of(operands[1]), quotient_by_positive, false);
    case Op::kMod:
      return by_divisor(of(operands[0]), of(operands[1]), remainder_by_positive, true);
    case Op::kMin:
    case Op::kMax: {
      Range out = of(operands[0]);
      for (Expr operand : operands.subspan(1)) {
        Range next = of(operand);
        out = e.op() == Op::kMin ? Range{std::min(out.lo, next.lo), std::min(out.hi, next.hi)}
                                 : Range{std::max(out.lo, next.lo), std::max(out.hi, next.hi)};
      }
      return out;
    }
    case Op::kAnd:
    case Op::kOr:
      return of_junction(e.op(), operands, of);
    case Op::kNot: {
      Range r = of(operands[0]);
      return surely_true(r) ? Range{0, 0} : surely_false(r) ? Range{1, 1} : Range{0, 1};
    }
    default:
      return of_comparison(e.op(), of(operands[0]), of(operands[1]));
  }
}

}  // namespace jumar::sym
