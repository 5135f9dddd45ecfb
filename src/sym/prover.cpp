// Proofs that a polynomial is never negative.
//
//   0 <= i0 < s0, 0 <= i1 < s1:   s0*s1 - i0*s1 - i1 - 1 >= 0 ?
//   linear in i1, falling:        least at i1 = s1 - 1:  s0*s1 - i0*s1 - s1
//   linear in i0, falling:        least at i0 = s0 - 1:  0
//
// Interval arithmetic comes first; it loses what terms have in common. Then atoms whose ends depend on other
// atoms are replaced by their worst end, one after the other: a polynomial that is linear in an atom is least
// at one of its ends. What is left is shifted so that every atom counts from its least value: without
// negative coefficients it is never negative. The number of steps is bounded, so "no" only means "not found".
#include <numeric>
#include <vector>

#include "sym/node.h"
#include "sym/polynomial.h"
#include "sym/reasoner.h"

namespace jumar::sym {
namespace {

enum class Sign { kUnknown, kNonnegative, kNonpositive };

class Proof {
 public:
  explicit Proof(Reasoner& reasoner) : reasoner_(reasoner), cx_(reasoner.cx()) {}

  bool nonnegative(Expr p) {
    Range range = reasoner_.bounds(p);
    if (range.lo >= 0) return true;
    if (range.hi < 0 || p.is_const() || steps_left_ == 0) return false;
    --steps_left_;
    if (interval_is_exact(p)) return false;
    if (nonnegative_when_shifted(p)) return true;
    for (int rank = 0; rank < kRanks; ++rank)
      for (Expr atom : atoms_of(p))
        if (rank_of(atom) == rank)
          if (std::optional<Linear> linear = linear_in_atom(cx_, p, atom)) return at_worst(atom, *linear);
    return false;
  }

 private:
  static constexpr int kMaxSteps = 24;
  static constexpr int kRanks = 5;

  // The order in which atoms are taken out; kRanks for those without useful ends.
  int rank_of(Expr atom) {
    switch (atom.op()) {
      case Op::kMin:
      case Op::kMax:
        return 0;
      case Op::kFloorDiv:
        return reasoner_.bounds(atom.operands()[1]).lo >= 0 ? 1 : kRanks;
      case Op::kMod:
        return reasoner_.bounds(atom.operands()[1]).lo >= 0 ? 2 : kRanks;
      case Op::kSymbol: {
        Expr extent = reasoner_.facts().extent(atom);
        if (extent && !extent.is_const()) return 3;
        Range range = reasoner_.bounds(atom);
        return range.lo != Range::kMin && range.hi != Range::kMax ? 4 : kRanks;
      }
      default:
        return kRanks;
    }
  }

  // Sums of atoms that have nothing in common: intervals say all there is.
  bool interval_is_exact(Expr p) {
    uint64_t seen = 0;
    for (Expr summand : summands(p)) {
      Term term = term_of(summand);
      std::span<const Expr> parts = factors(term.monomial);
      if (parts.empty()) continue;
      Op op = parts.front().op();
      if (parts.size() > 1 || op == Op::kMin || op == Op::kMax) return false;
      uint64_t filter = NodeAccess::node(parts.front())->symbol_filter;
      if (parts.front().is_symbol()) {
        if (Expr extent = reasoner_.facts().extent(parts.front()))
          filter |= NodeAccess::node(extent)->symbol_filter;
      } else if (reaches_symbolic_extent(parts.front())) {
        return false;
      }
      if ((filter & seen) != 0) return false;
      seen |= filter;
    }
    return true;
  }

  bool reaches_symbolic_extent(Expr e) {
    for (Expr symbol : symbols_of(e)) {
      Expr extent = reasoner_.facts().extent(symbol);
      if (symbol.symbol_kind() == SymbolKind::kSize || (extent && !extent.is_const())) return true;
    }
    return false;
  }

  // Every atom counted from one of its ends is at least 0.
  bool nonnegative_when_shifted(Expr p) {
    Expr shifted = p;
    for (Expr atom : atoms_of(p)) {
      Range range = reasoner_.bounds(atom);
      bool from_above = range.hi != Range::kMax && only_subtracted(p, atom);
      if (!from_above && range.lo == Range::kMin) return false;
      if (from_above)
        shifted = with_atom(cx_, shifted, atom, cx_.sub(cx_.constant(range.hi), atom));
      else if (range.lo != 0)
        shifted = with_atom(cx_, shifted, atom, cx_.add(atom, range.lo));
    }
    for (Expr summand : summands(shifted)) {
      Term term = term_of(summand);
      if (term.coefficient < 0) return false;
      if (term.monomial && factors(term.monomial).front().is_const()) return false;
    }
    return true;
  }

  static bool only_subtracted(Expr p, Expr atom) {
    for (Expr summand : summands(p)) {
      Term term = term_of(summand);
      for (Expr factor : factors(term.monomial))
        if (factor == atom && term.coefficient > 0) return false;
    }
    return true;
  }

  Sign sign_of(Expr e) {
    if (nonnegative(e)) return Sign::kNonnegative;
    if (nonnegative(cx_.neg(e))) return Sign::kNonpositive;
    return Sign::kUnknown;
  }

  // Whether coefficient*x + rest >= 0 for all x from `lo` to `hi`.
  bool between(Expr coefficient, Expr rest, Expr lo, Expr hi) {
    Sign sign = sign_of(coefficient);
    auto at = [&](Expr end) { return nonnegative(cx_.add(cx_.mul(coefficient, end), rest)); };
    if (sign != Sign::kNonpositive && !at(lo)) return false;
    return sign == Sign::kNonnegative || at(hi);
  }

  bool at_worst(Expr atom, const Linear& linear) {
    std::span<const Expr> operands = atom.operands();
    switch (atom.op()) {
      case Op::kMin:
      case Op::kMax:
        return at_extremum(atom, linear);
      case Op::kFloorDiv:
        return at_quotient(operands[0], operands[1], linear);
      case Op::kMod:
        return between(linear.coefficient, linear.rest, cx_.constant(0), cx_.sub(operands[1], 1));
      default: {
        Range range = reasoner_.bounds(atom);
        Expr extent = reasoner_.facts().extent(atom);
        Expr hi = extent && !extent.is_const() ? cx_.sub(extent, 1) : cx_.constant(range.hi);
        return between(linear.coefficient, linear.rest, cx_.constant(range.lo), hi);
      }
    }
  }

  // The value of a maximum is one of its operands' and at least any of them.
  bool at_extremum(Expr atom, const Linear& linear) {
    Sign helpful = atom.op() == Op::kMax ? Sign::kNonnegative : Sign::kNonpositive;
    bool any_will_do = sign_of(linear.coefficient) == helpful;
    for (Expr operand : atom.operands()) {
      bool holds = nonnegative(cx_.add(cx_.mul(linear.coefficient, operand), linear.rest));
      if (holds == any_will_do) return holds;
    }
    return !any_will_do;
  }

  // q = a//d with d > 0 has a - d + 1 <= d*q <= a. A coefficient that d does not divide is multiplied by it:
  // for integers, p >= 0 exactly when d*p + d - 1 >= 0.
  bool at_quotient(Expr a, Expr d, const Linear& linear) {
    Expr lo = cx_.add(cx_.sub(a, d), 1);
    if (Expr part = exactly_divided(cx_, linear.coefficient, d)) return between(part, linear.rest, lo, a);
    Expr rest = cx_.sub(cx_.add(cx_.mul(linear.rest, d), d), 1);
    return between(linear.coefficient, rest, lo, a);
  }

  Reasoner& reasoner_;
  Context& cx_;
  int steps_left_ = kMaxSteps;
};

}  // namespace

bool Reasoner::proves_nonnegative(Expr e) {
  Range range = bounds(e);
  if (range.lo >= 0) return true;
  if (range.hi < 0 || e.is_const()) return false;
  if (auto known = nonnegative_.find(e); known != nonnegative_.end()) return known->second;
  bool result = Proof(*this).nonnegative(e);
  nonnegative_.emplace(e, result);
  return result;
}

bool Reasoner::proves_eq(Expr a, Expr b) {
  Expr difference = simplified(cx_.sub(a, b));
  if (difference.is_const()) return difference.is_const(0);
  return proves_nonnegative(difference) && proves_nonnegative(cx_.neg(difference));
}

bool Reasoner::proves_divisible(Expr e, Expr divisor) {
  e = simplified(e);
  divisor = simplified(divisor);
  if (divisor.is_const(0)) return false;
  if (std::optional<int64_t> d = divisor.as_const(); d && *d != INT64_MIN && known_divisor(e) % *d == 0)
    return true;
  return simplified(cx_.mod(e, divisor)).is_const(0);
}

std::optional<bool> Reasoner::proves(Expr predicate) {
  std::optional<int64_t> value = simplified(predicate).as_const();
  if (!value) return std::nullopt;
  return *value != 0;
}

int64_t Reasoner::known_divisor(Expr e) {
  std::span<const Expr> operands = e.operands();
  switch (e.op()) {
    case Op::kConst:
      return e.is_const(INT64_MIN) ? 1 : std::abs(e.const_value());
    case Op::kSymbol:
      return facts_.divisor(e);
    case Op::kMul: {
      int64_t product = 1;
      for (Expr operand : operands) {
        int64_t next = 0;
        // Leaving a factor out still gives a divisor.
        if (!__builtin_mul_overflow(product, known_divisor(operand), &next)) product = next;
      }
      return product;
    }
    case Op::kAdd:
    case Op::kMin:
    case Op::kMax: {
      int64_t common = 0;
      for (Expr operand : operands) common = std::gcd(common, known_divisor(operand));
      return common;
    }
    case Op::kFloorDiv: {
      std::optional<int64_t> d = operands[1].as_const();
      int64_t top = known_divisor(operands[0]);
      return d && *d > 0 && top % *d == 0 ? top / *d : 1;
    }
    case Op::kMod:
      return std::gcd(known_divisor(operands[0]), known_divisor(operands[1]));
    default:
      return 1;
  }
}

}  // namespace jumar::sym
