// The rewrite rules behind `simplified`, as rows of one table.
//
// A row says for which operators it is tried, what it turns into what and when, and why the two are equal.
// Its function returns the new expression, or an empty one where the row does not apply. Operands have been
// simplified before. The engine takes a result only if its measure is smaller (docs/sym.md), so that
// rewriting ends; a row need not care. Rows of one operator are tried in table order.
//
// In patterns, a, b, r, x are expressions, c, d, k, m, n divisors and factors. A divisor is never 0: where it
// is, the expression has no value that a rewrite could change.
#pragma once

#include <cstdint>
#include <span>

#include "sym/reasoner.h"

namespace jumar::sym {

constexpr uint32_t bit(Op op) { return 1u << static_cast<unsigned>(op); }

struct Rule {
  const char* id;
  uint32_t ops;  // bits of the operators on top of the pattern
  const char* pattern;
  const char* condition;
  const char* proof;
  Expr (*apply)(Reasoner& reasoner, Expr e);
};

std::span<const Rule> rules();

}  // namespace jumar::sym
