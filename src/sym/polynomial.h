// Sums of products as polynomials over atoms: symbols, and quotients, remainders, minima and predicates taken
// as a whole.
//
//   4*i0*s0 + s0*(i1//8) - 3   has the atoms  i0, s0, i1//8
//
// For the files of src/sym only.
#pragma once

#include <optional>
#include <vector>

#include "sym/expr.h"

namespace jumar::sym {

// The atoms of `e`, each once, in order of first occurrence.
std::vector<Expr> atoms_of(Expr e);

// e == coefficient*atom + rest, where neither has `atom` as a factor; it may occur inside other atoms.
// Nothing if the atom occurs in a higher power, or not at all.
std::optional<Linear> linear_in_atom(Context& cx, Expr e, Expr atom);

// `e` with the factor `atom` replaced, other atoms left alone.
Expr with_atom(Context& cx, Expr e, Expr atom, Expr replacement);

// term / divisor for two single terms, if the division leaves nothing over; otherwise empty.
Expr term_quotient(Context& cx, Expr term, Expr divisor);

// The largest term that divides both of two terms; its constant is positive.
Expr common_term(Context& cx, Expr a, Expr b);

// numerator == quotient*divisor + remainder as polynomials, with the terms that a division by the divisor's
// leading term takes out of the numerator. `divisor` is not the constant 0.
struct Division {
  Expr quotient;
  Expr remainder;
};
Division divided(Context& cx, Expr numerator, Expr divisor);

// e / divisor, if it leaves nothing over; otherwise empty.
Expr exactly_divided(Context& cx, Expr e, Expr divisor);

}  // namespace jumar::sym
