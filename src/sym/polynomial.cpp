#include "sym/polynomial.h"

#include <algorithm>
#include <numeric>

#include "sym/node.h"

namespace jumar::sym {

std::vector<Expr> atoms_of(Expr e) {
  std::vector<Expr> out;
  for (Expr summand : summands(e)) {
    Term term = term_of(summand);
    for (Expr factor : factors(term.monomial))
      if (!factor.is_const() && std::find(out.begin(), out.end(), factor) == out.end()) out.push_back(factor);
  }
  return out;
}

namespace {

// The product of the coefficient and of the factors other than `atom`; `power` counts those.
Expr without(Context& cx, const Term& term, Expr atom, int& power) {
  std::vector<Expr> others{cx.constant(term.coefficient)};
  power = 0;
  for (Expr factor : factors(term.monomial)) {
    if (factor == atom)
      ++power;
    else
      others.push_back(factor);
  }
  return cx.mul(others);
}

bool has_factor(const Term& term, Expr atom) {
  std::span<const Expr> parts = factors(term.monomial);
  return std::find(parts.begin(), parts.end(), atom) != parts.end();
}

// Both are sorted, so this is whether `parts` divides `whole`.
bool is_subsequence(std::span<const Expr> parts, std::span<const Expr> whole) {
  size_t taken = 0;
  for (Expr factor : whole)
    if (taken < parts.size() && factor == parts[taken]) ++taken;
  return taken == parts.size();
}

// Of highest degree; the first of those.
Expr leading_term(Expr e) {
  Expr best;
  size_t best_degree = 0;
  for (Expr summand : summands(e)) {
    Term term = term_of(summand);
    size_t degree = factors(term.monomial).size();
    if (best && degree <= best_degree) continue;
    best = summand;
    best_degree = degree;
  }
  return best;
}

}  // namespace

std::optional<Linear> linear_in_atom(Context& cx, Expr e, Expr atom) {
  std::vector<Expr> coefficient, rest;
  for (Expr summand : summands(e)) {
    Term term = term_of(summand);
    if (!has_factor(term, atom)) {
      rest.push_back(summand);
      continue;
    }
    int power = 0;
    coefficient.push_back(without(cx, term, atom, power));
    if (power > 1) return std::nullopt;
  }
  if (coefficient.empty()) return std::nullopt;
  return Linear{cx.add(coefficient), cx.add(rest)};
}

Expr with_atom(Context& cx, Expr e, Expr atom, Expr replacement) {
  std::vector<Expr> terms;
  for (Expr summand : summands(e)) {
    Term term = term_of(summand);
    if (!has_factor(term, atom)) {
      terms.push_back(summand);
      continue;
    }
    int power = 0;
    Expr product = without(cx, term, atom, power);
    for (; power > 0; --power) product = cx.mul(product, replacement);
    terms.push_back(product);
  }
  return cx.add(terms);
}

Expr term_quotient(Context& cx, Expr term, Expr divisor) {
  Term top = term_of(term), bottom = term_of(divisor);
  if (bottom.coefficient == 0 || (bottom.coefficient == -1 && top.coefficient == INT64_MIN)) return {};
  if (top.coefficient % bottom.coefficient != 0) return {};
  Expr coefficient = cx.constant(top.coefficient / bottom.coefficient);
  if (!bottom.monomial) return top.monomial ? cx.mul(top.monomial, coefficient) : coefficient;
  std::span<const Expr> parts = factors(bottom.monomial);
  if (!is_subsequence(parts, factors(top.monomial))) return {};
  std::vector<Expr> left{coefficient};
  size_t taken = 0;
  for (Expr factor : factors(top.monomial)) {
    if (taken < parts.size() && factor == parts[taken])
      ++taken;
    else
      left.push_back(factor);
  }
  return cx.mul(left);
}

Expr common_term(Context& cx, Expr a, Expr b) {
  Term left = term_of(a), right = term_of(b);
  std::vector<Expr> common;
  if (left.coefficient != INT64_MIN && right.coefficient != INT64_MIN)
    common.push_back(cx.constant(std::gcd(left.coefficient, right.coefficient)));
  std::vector<Expr> available(factors(right.monomial).begin(), factors(right.monomial).end());
  for (Expr factor : factors(left.monomial)) {
    auto found = std::find(available.begin(), available.end(), factor);
    if (found == available.end() || factor.is_const()) continue;
    common.push_back(factor);
    available.erase(found);
  }
  return cx.mul(common);
}

Division divided(Context& cx, Expr numerator, Expr divisor) {
  std::vector<Expr> quotient, remainder;
  if (divisor.op() != Op::kAdd) {
    for (Expr summand : summands(numerator)) {
      Expr part = term_quotient(cx, summand, divisor);
      (part ? quotient : remainder).push_back(part ? part : summand);
    }
    if (quotient.empty()) return {cx.constant(0), numerator};
    return {cx.add(quotient), cx.add(remainder)};
  }
  Expr leading = leading_term(divisor);
  Expr left = numerator;
  bool taken = true;
  while (taken) {
    taken = false;
    for (Expr summand : summands(left)) {
      Expr part = term_quotient(cx, summand, leading);
      if (!part || part.is_const(0)) continue;
      Expr next = cx.sub(left, cx.mul(part, divisor));
      // A step that does not make the numerator smaller moves terms around without end.
      if (next.measure().weight >= left.measure().weight) continue;
      quotient.push_back(part);
      left = next;
      taken = true;
      break;
    }
  }
  return {cx.add(quotient), left};
}

Expr exactly_divided(Context& cx, Expr e, Expr divisor) {
  Division division = divided(cx, e, divisor);
  return division.remainder.is_const(0) ? division.quotient : Expr();
}

}  // namespace jumar::sym
