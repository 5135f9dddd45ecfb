#include "sym/rules.h"

#include <vector>

#include "sym/node.h"
#include "sym/polynomial.h"
#include "sym/rules_division.h"

namespace jumar::sym {
namespace {

Expr constant_by_range(Reasoner& reasoner, Expr e) {
  Range range = reasoner.bounds(e);
  if (!range.is_point() || range.lo == Range::kMin || range.lo == Range::kMax) return {};
  return reasoner.cx().constant(range.lo);
}

Expr extremum_drop(Reasoner& reasoner, Expr e) {
  std::vector<Expr> kept(e.operands().begin(), e.operands().end());
  for (size_t i = 0; i < kept.size(); ++i) {
    for (size_t j = 0; j < kept.size(); ++j) {
      if (i == j) continue;
      bool decided =
          e.op() == Op::kMin ? reasoner.proves_le(kept[j], kept[i]) : reasoner.proves_le(kept[i], kept[j]);
      if (!decided) continue;
      kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
      return reasoner.cx().make(e.op(), kept);
    }
  }
  return {};
}

Expr compare_decide(Reasoner& reasoner, Expr e) {
  Expr a = e.operands()[0], b = e.operands()[1];
  Context& cx = reasoner.cx();
  switch (e.op()) {
    case Op::kLt:
      if (reasoner.proves_lt(a, b)) return cx.constant(1);
      return reasoner.proves_le(b, a) ? cx.constant(0) : Expr();
    case Op::kLe:
      if (reasoner.proves_le(a, b)) return cx.constant(1);
      return reasoner.proves_lt(b, a) ? cx.constant(0) : Expr();
    default: {
      int64_t when_equal = e.op() == Op::kEq ? 1 : 0;
      if (reasoner.proves_lt(a, b) || reasoner.proves_lt(b, a)) return cx.constant(1 - when_equal);
      if (reasoner.proves_le(a, b) && reasoner.proves_le(b, a)) return cx.constant(when_equal);
      return {};
    }
  }
}

// Removes a positive divisor from one side of a comparison; `quotient` is that side.
Expr compare_without_divisor(Reasoner& reasoner, Op op, Expr quotient, Expr other, bool quotient_left) {
  if (quotient.op() != Op::kFloorDiv) return {};
  Context& cx = reasoner.cx();
  Expr a = quotient.operands()[0], d = quotient.operands()[1];
  if (reasoner.bounds(d).lo < 0) return {};
  // a//d < b is a < b*d, and a//d <= b is a < (b + 1)*d; b <= a//d and b < a//d are their opposites.
  bool next_multiple = (op == Op::kLe) == quotient_left;
  Expr limit = cx.mul(next_multiple ? cx.add(other, 1) : other, d);
  return quotient_left ? cx.lt(a, limit) : cx.le(limit, a);
}

Expr compare_quotient(Reasoner& reasoner, Expr e) {
  Expr a = e.operands()[0], b = e.operands()[1];
  if (Expr result = compare_without_divisor(reasoner, e.op(), a, b, true)) return result;
  return compare_without_divisor(reasoner, e.op(), b, a, false);
}

// The expression that is not negative exactly when the comparison holds; empty for other predicates.
Expr margin(Context& cx, Expr predicate) {
  if (predicate.op() == Op::kLt) return cx.sub(cx.sub(predicate.operands()[1], predicate.operands()[0]), 1);
  if (predicate.op() == Op::kLe) return cx.sub(predicate.operands()[1], predicate.operands()[0]);
  return {};
}

bool implies(Reasoner& reasoner, Expr p, Expr q) {
  Context& cx = reasoner.cx();
  Expr from = margin(cx, p), to = margin(cx, q);
  return from && to && reasoner.proves_nonnegative(cx.sub(to, from));
}

// Whether p and q are never both true, or never both false.
bool exclude(Reasoner& reasoner, Expr p, Expr q, bool value) {
  Context& cx = reasoner.cx();
  if (cx.logical_not(p) == q) return true;
  Expr first = margin(cx, p), second = margin(cx, q);
  if (!first || !second) return false;
  Expr both = cx.add(first, second);
  return reasoner.proves_nonnegative(value ? cx.sub(cx.neg(both), 1) : cx.add(both, 1));
}

Expr junction_contradiction(Reasoner& reasoner, Expr e) {
  bool is_and = e.op() == Op::kAnd;
  std::span<const Expr> operands = e.operands();
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j)
      if (exclude(reasoner, operands[i], operands[j], is_and)) return reasoner.cx().constant(is_and ? 0 : 1);
  return {};
}

Expr junction_implied(Reasoner& reasoner, Expr e) {
  std::vector<Expr> kept(e.operands().begin(), e.operands().end());
  for (size_t i = 0; i < kept.size(); ++i) {
    for (size_t j = 0; j < kept.size(); ++j) {
      if (i == j) continue;
      bool idle =
          e.op() == Op::kAnd ? implies(reasoner, kept[j], kept[i]) : implies(reasoner, kept[i], kept[j]);
      if (!idle) continue;
      kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
      return reasoner.cx().make(e.op(), kept);
    }
  }
  return {};
}

Expr not_junction(Reasoner& reasoner, Expr e) {
  Expr inner = e.operands()[0];
  if (inner.op() != Op::kAnd && inner.op() != Op::kOr) return {};
  std::vector<Expr> opposites;
  for (Expr operand : inner.operands()) opposites.push_back(reasoner.cx().logical_not(operand));
  return reasoner.cx().make(inner.op() == Op::kAnd ? Op::kOr : Op::kAnd, opposites);
}

constexpr uint32_t kAnyOp = ~0u;
constexpr uint32_t kDiv = bit(Op::kFloorDiv);
constexpr uint32_t kRem = bit(Op::kMod);
constexpr uint32_t kSum = bit(Op::kAdd) | bit(Op::kMul);
constexpr uint32_t kOrder = bit(Op::kLt) | bit(Op::kLe);
constexpr uint32_t kCompare = bit(Op::kEq) | bit(Op::kNe) | kOrder;
constexpr uint32_t kJunction = bit(Op::kAnd) | bit(Op::kOr);

constexpr Rule kRules[] = {
    {"constant-by-range", kAnyOp, "a  ->  k", "intervals leave one value", "the value lies in its interval",
     constant_by_range},

    {"div-split", kDiv, "(a*d + r)//d  ->  a + r//d", "none; d any sum of products",
     "a*d/d is an integer, so it leaves the floor", divide_split},
    {"div-by-range", kDiv, "r//d  ->  0 or -1", "0 <= r < d, or -d <= r < 0",
     "r/d lies in [0, 1), or in [-1, 0)", divide_by_range},
    {"div-nested", kDiv, "(a//b)//c  ->  a//(b*c)", "c > 0",
     "k <= floor(y)/c for integers k is k*c <= y, so the inner floor does not matter", divide_nested},
    {"div-cancel", kDiv, "(k*a)//(k*b)  ->  a//b", "none", "the fractions are equal", divide_cancel},
    {"div-inner", kDiv, "(a + n*b)//(n*m)  ->  (a//n + b)//m", "a//n is a known constant, m > 0",
     "div-nested backwards, then div-split by n", divide_inner},
    {"div-remainder", kDiv, "(x % (c*d))//c  ->  (x//c) % d", "d > 0",
     "x % (c*d) = x - c*d*(x//(c*d)); over c: x//c - d*((x//c)//d)", divide_remainder},

    {"mod-split", kRem, "(a*d + r) % d  ->  r % d", "none; d any sum of products",
     "multiples of d do not change the remainder", remainder_split},
    {"mod-constants", kRem, "(k*a + r) % d  ->  ((k rem d)*a + r) % d", "k and d constant",
     "k and (k rem d) differ by a multiple of d", remainder_constants},
    {"mod-by-range", kRem, "r % d  ->  r, r + d or r - d", "the result lies in [0, d)",
     "it differs from r by a multiple of d", remainder_by_range},
    {"mod-cancel", kRem, "(k*a) % (k*b)  ->  k*(a % b)", "none", "k*a - k*b*floor(a/b)", remainder_cancel},
    {"mod-inner", kRem, "(a + n*b) % (n*m)  ->  a - n*q + n*((b + q) % m)",
     "q = a//n is a known constant, m > 0", "a + n*b - n*m*((b + q)//m), by div-inner", remainder_inner},
    {"mod-nested", kRem, "(k*(x % m) + r) % d  ->  (k*x + r) % d", "d divides k*m",
     "k*(x % m) and k*x differ by a multiple of k*m", remainder_nested},
    {"mod-divisible", kRem, "(a + r) % d  ->  r % d", "facts make a a multiple of the constant d",
     "as mod-split", remainder_divisible},

    {"sum-quotient-remainder", kSum, "k*d*(x//d) + k*(x % d)  ->  k*x", "none", "the definition of x % d",
     sum_quotient_and_remainder},
    {"sum-digits", kSum, "k*n*((x//n) % m) + k*(x % n)  ->  k*(x % (n*m))", "m > 0",
     "x % (n*m) = x - n*m*((x//n)//m), and x = n*(x//n) + x % n", sum_digits},
    {"sum-to-remainder", kSum, "k*x - k*d*(x//d)  ->  k*(x % d)", "none", "the definition of x % d",
     sum_to_remainder},
    {"sum-exact-quotient", kSum, "k*d*(x//d)  ->  k*x", "x % d is 0", "the definition of x % d",
     sum_exact_quotient},

    {"extremum-drop", bit(Op::kMin) | bit(Op::kMax), "min(a, b)  ->  a, max(a, b)  ->  b", "a <= b",
     "the definition", extremum_drop},
    {"compare-decide", kCompare, "a < b  ->  0 or 1, and so on", "proved or disproved", "the definition",
     compare_decide},
    {"compare-quotient", kOrder, "a//d < b  ->  a < b*d, and so on", "d > 0",
     "floor(y) < b for integers b is y < b", compare_quotient},
    {"junction-contradiction", kJunction, "p and q  ->  0, p or q  ->  1",
     "never both true, or never both false", "the definition", junction_contradiction},
    {"junction-implied", kJunction, "p and q  ->  p, p or q  ->  q", "p implies q", "the definition",
     junction_implied},
    {"not-junction", bit(Op::kNot), "not (p and q)  ->  not p or not q, and the other way", "none",
     "De Morgan", not_junction},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace jumar::sym
