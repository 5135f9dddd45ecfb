// The engine of `simplified`: operands first, then the rows of the table, until none applies.
//
// It ends because every step makes the expression smaller by the measure, and operands are smaller than what
// they are operands of.
#include <vector>

#include "sym/node.h"
#include "sym/reasoner.h"
#include "sym/rules.h"

namespace jumar::sym {

Expr Reasoner::with_simplified_operands(Expr e) {
  std::vector<Expr> operands(e.operands().begin(), e.operands().end());
  bool changed = false;
  for (Expr& operand : operands) {
    Expr result = simplified(operand);
    changed |= result != operand;
    operand = result;
  }
  if (!changed) return e;
  bool divides = e.op() == Op::kFloorDiv || e.op() == Op::kMod;
  // A divisor that turns out to be 0 has no result; the expression stays for whoever evaluates it.
  if (divides && operands[1].is_const(0)) return e;
  return cx_.make(e.op(), operands);
}

Expr Reasoner::rewritten(Expr e) {
  for (const Rule& rule : rules()) {
    if ((rule.ops & bit(e.op())) == 0) continue;
    Expr result = rule.apply(*this, e);
    if (!result || result.measure() >= e.measure()) continue;
    // A divisor multiplied out may leave 64 bits where the steps did not.
    if (NodeAccess::node(result)->overflows && !NodeAccess::node(e)->overflows) continue;
    return result;
  }
  return {};
}

bool Reasoner::has_constant_symbol(Expr polynomial) {
  for (Expr summand : summands(polynomial)) {
    Term term = term_of(summand);
    for (Expr factor : factors(term.monomial))
      if (factor.is_symbol() && bounds(factor).is_point()) return true;
  }
  return false;
}

Expr Reasoner::simplified(Expr e) {
  if (e.is_const()) return e;
  // Most sizes and indices are plain; no other row turns those into anything.
  if (NodeAccess::node(e)->is_polynomial && !has_constant_symbol(e)) return e;
  if (auto known = simplified_.find(e); known != simplified_.end()) return known->second;
  Expr result = e;
  while (!result.is_const()) {
    Expr next = with_simplified_operands(result);
    if (Expr smaller = next.is_const() ? Expr() : rewritten(next)) next = smaller;
    if (next == result) break;
    result = next;
    if (auto known = simplified_.find(result); known != simplified_.end()) {
      result = known->second;
      break;
    }
  }
  simplified_.insert_or_assign(e, result);
  simplified_.insert_or_assign(result, result);
  return result;
}

}  // namespace jumar::sym
