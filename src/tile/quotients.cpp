#include "tile/quotients.h"

#include <vector>

namespace jumar::tile {

using sym::Expr;
using sym::Op;

namespace {

// c*axis + rest with rest a multiple of c*lanes stays between two multiples of c*lanes for all lanes, so it
// passes no multiple of the divisor if that is a multiple of c*lanes too.
bool is_common(sym::Context& cx, Expr numerator, Expr divisor, Expr axis, int64_t lanes,
               const sym::Facts& facts) {
  const std::optional<sym::Linear> linear = sym::linear_in(cx, numerator, axis);
  if (!linear || !divisor.is_const() || !linear->coefficient.is_const()) return false;
  const int64_t c = linear->coefficient.const_value();
  if (c <= 0 || divisor.const_value() <= 0 || divisor.const_value() % (c * lanes) != 0) return false;
  return sym::proves_divisible(cx, linear->rest, cx.constant(c * lanes), facts);
}

}  // namespace

Expr with_common_quotients(sym::Context& cx, Expr e, Expr axis, int64_t lanes, const sym::Facts& facts,
                           const std::function<Expr(Expr)>& name) {
  if (e.is_const() || e.is_symbol() || !sym::mentions(e, axis)) return e;
  std::vector<Expr> operands;
  for (Expr operand : e.operands())
    operands.push_back(with_common_quotients(cx, operand, axis, lanes, facts, name));
  const bool divides = e.op() == Op::kFloorDiv || e.op() == Op::kMod;
  if (divides && sym::mentions(operands[0], axis) &&
      is_common(cx, operands[0], operands[1], axis, lanes, facts)) {
    const Expr quotient = name(cx.floordiv(operands[0], operands[1]));
    if (e.op() == Op::kFloorDiv) return quotient;
    return cx.sub(operands[0], cx.mul(operands[1], quotient));
  }
  return cx.make(e.op(), operands);
}

}  // namespace jumar::tile
