#include "sym/rules_division.h"

#include <algorithm>
#include <vector>

#include "sym/node.h"
#include "sym/polynomial.h"

namespace jumar::sym {
namespace {

const Expr& top(const Expr& e) { return e.operands()[0]; }
const Expr& bottom(const Expr& e) { return e.operands()[1]; }

// A divisor is not 0, so not negative means positive.
bool is_positive_divisor(Reasoner& reasoner, Expr divisor) { return reasoner.bounds(divisor).lo >= 0; }

// The greatest term that divides all terms of `e` and `common`.
Expr common_with_all(Context& cx, Expr e, Expr common) {
  for (Expr summand : summands(e)) {
    if (common.is_const(1)) break;
    common = common_term(cx, summand, common);
  }
  return common;
}

Expr common_factor(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Expr first = summands(bottom(e)).front();
  return common_with_all(cx, top(e), common_with_all(cx, bottom(e), first));
}

// numerator == low + unit*high and divisor == unit*rest, where floor(low/unit) is the constant `carry`.
struct Digits {
  Expr unit;
  Expr rest;
  Expr low;
  Expr high;
  int64_t carry;
};

// Terms that divide the divisor and some terms of the numerator: possible units, the largest first.
std::vector<Expr> units_of(Context& cx, Expr numerator, Expr divisor) {
  std::vector<Expr> units;
  auto add = [&](Expr unit) {
    if (unit.is_const(1) || unit == divisor) return;
    if (std::find(units.begin(), units.end(), unit) == units.end()) units.push_back(unit);
  };
  for (Expr summand : summands(numerator)) add(common_term(cx, summand, divisor));
  size_t direct = units.size();
  for (size_t i = 0; i < direct; ++i)
    for (size_t j = i + 1; j < direct; ++j) add(common_term(cx, units[i], units[j]));
  auto size = [](Expr unit) {
    Term term = term_of(unit);
    return std::pair(factors(term.monomial).size(), term.coefficient);
  };
  std::stable_sort(units.begin(), units.end(), [&](Expr a, Expr b) { return size(a) > size(b); });
  return units;
}

std::optional<Digits> digits_of(Reasoner& reasoner, Expr numerator, Expr divisor) {
  Context& cx = reasoner.cx();
  if (divisor.op() == Op::kAdd) return std::nullopt;
  for (Expr unit : units_of(cx, numerator, divisor)) {
    Expr rest = term_quotient(cx, divisor, unit);
    if (!rest || !is_positive_divisor(reasoner, rest)) continue;
    Division division = divided(cx, numerator, unit);
    if (division.remainder.is_const(0) || division.quotient.is_const(0)) continue;
    if (reasoner.proves_within(division.remainder, unit))
      return Digits{unit, rest, division.remainder, division.quotient, 0};
    Range carry = reasoner.bounds(cx.floordiv(division.remainder, unit));
    if (carry.is_point() && carry.lo != Range::kMin && carry.lo != Range::kMax)
      return Digits{unit, rest, division.remainder, division.quotient, carry.lo};
  }
  return std::nullopt;
}

}  // namespace

Expr divide_split(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Division division = divided(cx, top(e), bottom(e));
  if (division.quotient.is_const(0)) return {};
  return cx.add(division.quotient, cx.floordiv(division.remainder, bottom(e)));
}

Expr divide_by_range(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  if (reasoner.proves_within(top(e), bottom(e))) return cx.constant(0);
  if (reasoner.proves_within(cx.add(top(e), bottom(e)), bottom(e))) return cx.constant(-1);
  return {};
}

Expr divide_nested(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Expr inner = top(e);
  if (inner.op() != Op::kFloorDiv || !is_positive_divisor(reasoner, bottom(e))) return {};
  Expr divisor = cx.mul(bottom(inner), bottom(e));
  return cx.floordiv(top(inner), divisor);
}

Expr divide_cancel(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Expr factor = common_factor(reasoner, e);
  if (factor.is_const(1)) return {};
  return cx.floordiv(exactly_divided(cx, top(e), factor), exactly_divided(cx, bottom(e), factor));
}

Expr divide_inner(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  std::optional<Digits> digits = digits_of(reasoner, top(e), bottom(e));
  if (!digits) return {};
  return cx.floordiv(cx.add(digits->high, digits->carry), digits->rest);
}

Expr divide_remainder(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Expr inner = top(e);
  if (inner.op() != Op::kMod) return {};
  Expr rest = exactly_divided(cx, bottom(inner), bottom(e));
  if (!rest || !is_positive_divisor(reasoner, rest)) return {};
  return cx.mod(cx.floordiv(top(inner), bottom(e)), rest);
}

Expr remainder_split(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Division division = divided(cx, top(e), bottom(e));
  if (division.quotient.is_const(0)) return {};
  return cx.mod(division.remainder, bottom(e));
}

Expr remainder_constants(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  if (!bottom(e).is_const()) return {};
  int64_t divisor = bottom(e).const_value();
  if (divisor < 2) return {};
  std::vector<Expr> terms;
  for (Expr summand : summands(top(e))) {
    Term term = term_of(summand);
    Expr monomial = term.monomial ? term.monomial : cx.constant(1);
    terms.push_back(cx.mul(monomial, cx.constant(term.coefficient % divisor)));
  }
  return cx.mod(cx.add(terms), bottom(e));
}

Expr remainder_by_range(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  if (reasoner.proves_within(top(e), bottom(e))) return top(e);
  Expr above = cx.add(top(e), bottom(e));
  if (reasoner.proves_within(above, bottom(e))) return above;
  Expr below = cx.sub(top(e), bottom(e));
  if (reasoner.proves_within(below, bottom(e))) return below;
  return {};
}

Expr remainder_cancel(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  Expr factor = common_factor(reasoner, e);
  if (factor.is_const(1)) return {};
  Expr inner = cx.mod(exactly_divided(cx, top(e), factor), exactly_divided(cx, bottom(e), factor));
  return cx.mul(factor, inner);
}

Expr remainder_inner(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  std::optional<Digits> digits = digits_of(reasoner, top(e), bottom(e));
  if (!digits) return {};
  Expr carry = cx.constant(digits->carry);
  Expr low = cx.sub(digits->low, cx.mul(carry, digits->unit));
  return cx.add(low, cx.mul(digits->unit, cx.mod(cx.add(digits->high, carry), digits->rest)));
}

Expr remainder_nested(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  std::vector<Expr> terms;
  bool changed = false;
  for (Expr summand : summands(top(e))) {
    Expr replaced = summand;
    Term term = term_of(summand);
    for (Expr factor : factors(term.monomial)) {
      if (factor.op() != Op::kMod) continue;
      // summand == around*(x % m): a multiple of around*m more or less does not matter if bottom(e) divides
      // it.
      Expr around = term_quotient(cx, summand, factor);
      Expr period = cx.mul(around, bottom(factor));
      if (!exactly_divided(cx, period, bottom(e))) continue;
      replaced = cx.mul(around, top(factor));
      changed = true;
      break;
    }
    terms.push_back(replaced);
  }
  return changed ? cx.mod(cx.add(terms), bottom(e)) : Expr();
}

Expr remainder_divisible(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  if (!bottom(e).is_const() || bottom(e).const_value() < 2) return {};
  std::vector<Expr> terms;
  for (Expr summand : summands(top(e)))
    if (reasoner.known_divisor(summand) % bottom(e).const_value() != 0) terms.push_back(summand);
  if (terms.size() == summands(top(e)).size()) return {};
  return cx.mod(cx.add(terms), bottom(e));
}

namespace {

// Calls `attempt(around, factor)` for every factor with operator `op` of a term around*factor of `e`; the
// first result that is smaller than `e`.
template <class Attempt>
Expr first_smaller(Context& cx, Expr e, Op op, Attempt attempt) {
  for (Expr summand : summands(e)) {
    Term term = term_of(summand);
    for (Expr factor : factors(term.monomial)) {
      if (factor.op() != op) continue;
      Expr result = attempt(term_quotient(cx, summand, factor), factor);
      if (result && result.measure() < e.measure()) return result;
    }
  }
  return {};
}

// x//d in its simplest form, as it will be found among other terms.
Expr quotient_of(Reasoner& reasoner, Expr x, Expr d) {
  return reasoner.simplified(reasoner.cx().floordiv(x, d));
}

}  // namespace

Expr sum_quotient_and_remainder(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  return first_smaller(cx, e, Op::kMod, [&](Expr around, Expr factor) {
    Expr quotient = quotient_of(reasoner, top(factor), bottom(factor));
    // x - d*(x//d) - x % d is 0; adding it leaves the value as it is.
    Expr zero = cx.sub(cx.sub(top(factor), cx.mul(bottom(factor), quotient)), factor);
    return cx.add(e, cx.mul(around, zero));
  });
}

Expr sum_digits(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  return first_smaller(cx, e, Op::kMod, [&](Expr around, Expr low) -> Expr {
    Expr unit = bottom(low);
    Expr shifted = quotient_of(reasoner, top(low), unit);
    for (Expr summand : summands(e)) {
      Term term = term_of(summand);
      for (Expr high : factors(term.monomial)) {
        if (high.op() != Op::kMod || top(high) != shifted || !is_positive_divisor(reasoner, bottom(high)))
          continue;
        Expr whole = cx.mod(top(low), cx.mul(unit, bottom(high)));
        Expr zero = cx.sub(cx.sub(whole, cx.mul(unit, high)), low);
        Expr result = cx.add(e, cx.mul(around, zero));
        if (result.measure() < e.measure()) return result;
      }
    }
    return {};
  });
}

Expr sum_to_remainder(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  return first_smaller(cx, e, Op::kFloorDiv, [&](Expr around, Expr factor) -> Expr {
    Expr multiple = term_quotient(cx, around, summands(bottom(factor)).front());
    if (!multiple) return {};
    multiple = cx.neg(multiple);
    Expr zero =
        cx.sub(cx.add(cx.mod(top(factor), bottom(factor)), cx.mul(bottom(factor), factor)), top(factor));
    return cx.add(e, cx.mul(multiple, zero));
  });
}

Expr sum_exact_quotient(Reasoner& reasoner, Expr e) {
  Context& cx = reasoner.cx();
  return first_smaller(cx, e, Op::kFloorDiv, [&](Expr around, Expr factor) -> Expr {
    Expr multiple = term_quotient(cx, around, summands(bottom(factor)).front());
    if (!multiple) return {};
    if (!reasoner.simplified(cx.mod(top(factor), bottom(factor))).is_const(0)) return {};
    Expr zero = cx.sub(top(factor), cx.mul(bottom(factor), factor));
    return cx.add(e, cx.mul(multiple, zero));
  });
}

}  // namespace jumar::sym
