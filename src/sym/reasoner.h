// One set of facts with everything that has been concluded from it so far: what the rewrite rules ask, and
// the engine that applies them. For the files of src/sym only; facts.h is the door for everybody else.
#pragma once

#include <unordered_map>

#include "sym/bounds.h"
#include "sym/facts.h"

namespace jumar::sym {

class Reasoner {
 public:
  Reasoner(Context& cx, const Facts& facts) : cx_(cx), facts_(facts), bounds_(facts) {}

  Context& cx() { return cx_; }
  const Facts& facts() const { return facts_; }
  Range bounds(Expr e) { return bounds_(e); }

  // True when e >= 0 for all values; the prover behind every proof (prover.cpp).
  bool proves_nonnegative(Expr e);
  bool proves_le(Expr a, Expr b) { return proves_nonnegative(cx_.sub(b, a)); }
  bool proves_lt(Expr a, Expr b) { return proves_nonnegative(cx_.sub(cx_.sub(b, a), 1)); }
  // 0 <= e < limit.
  bool proves_within(Expr e, Expr limit) { return proves_nonnegative(e) && proves_lt(e, limit); }
  bool proves_eq(Expr a, Expr b);
  bool proves_divisible(Expr e, Expr divisor);
  std::optional<bool> proves(Expr predicate);

  // A number that divides every value of `e`: 0 when `e` is always 0.
  int64_t known_divisor(Expr e);

  Expr simplified(Expr e);

 private:
  Expr with_simplified_operands(Expr e);
  bool has_constant_symbol(Expr polynomial);
  // The result of the first rule that applies and makes `e` smaller; empty when there is none.
  Expr rewritten(Expr e);

  Context& cx_;
  const Facts& facts_;
  Bounds bounds_;
  std::unordered_map<Expr, bool> nonnegative_;
  std::unordered_map<Expr, Expr> simplified_;
};

}  // namespace jumar::sym
