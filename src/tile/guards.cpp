#include "tile/guards.h"

#include <algorithm>

namespace jumar::tile {
namespace {

using sym::Expr;
using sym::Op;

bool is_size(Expr e) {
  return !sym::mentions_kind(e, sym::SymbolKind::kAxis) && !sym::mentions_kind(e, sym::SymbolKind::kValue);
}

// a + c*axis compared with zero: the comparison changes where the sum passes zero.
bool add_flips(sym::Context& cx, Expr comparison, Expr axis, std::vector<Expr>& out) {
  const Expr difference = cx.sub(comparison.operands()[0], comparison.operands()[1]);
  const std::optional<sym::Linear> linear = sym::linear_in(cx, difference, axis);
  if (!linear || !linear->coefficient.is_const() || !is_size(linear->rest)) return false;
  const int64_t c = linear->coefficient.const_value();
  if (c == 0) return true;
  // The least axis value with difference >= 0 (c > 0) or <= 0 (c < 0), and the one after difference == 0.
  const Expr zero = c > 0 ? cx.neg(linear->rest) : linear->rest;
  const Expr divisor = cx.constant(c > 0 ? c : -c);
  const Expr reached = cx.ceildiv(zero, divisor);
  const Expr passed = cx.add(cx.floordiv(zero, divisor), 1);
  const bool equality = comparison.op() == Op::kEq || comparison.op() == Op::kNe;
  // difference < 0 ends where it is reached for rising sums and begins after zero for falling ones.
  const bool strict = comparison.op() == Op::kLt;
  if (equality || strict == (c > 0)) out.push_back(reached);
  if (equality || strict != (c > 0)) out.push_back(passed);
  return true;
}

bool collect(sym::Context& cx, Expr e, Expr axis, std::vector<Expr>& out) {
  if (!sym::mentions(e, axis)) return true;
  switch (e.op()) {
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
      return add_flips(cx, e, axis, out);
    case Op::kAnd:
    case Op::kOr:
    case Op::kNot:
      return std::ranges::all_of(e.operands(), [&](Expr operand) { return collect(cx, operand, axis, out); });
    default:
      return false;
  }
}

}  // namespace

std::optional<std::vector<Expr>> guard_flips(sym::Context& cx, Expr predicate, Expr axis) {
  std::vector<Expr> out;
  if (!collect(cx, predicate, axis, out)) return std::nullopt;
  std::ranges::sort(out, [](Expr a, Expr b) { return sym::compare(a, b) < 0; });
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool is_decided(sym::Context& cx, Expr predicate, Expr axis, Expr extent, const std::vector<Expr>& cuts,
                const sym::Facts& facts) {
  if (!sym::mentions(predicate, axis)) return true;
  const std::optional<std::vector<Expr>> flips = guard_flips(cx, predicate, axis);
  if (!flips) return false;
  return std::ranges::all_of(*flips, [&](Expr flip) {
    return std::ranges::find(cuts, flip) != cuts.end() || sym::proves_le(cx, flip, cx.constant(0), facts) ||
           sym::proves_le(cx, extent, flip, facts);
  });
}

}  // namespace jumar::tile
