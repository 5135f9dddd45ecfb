// Constructors of min, max, comparisons and logical operators.
#include <algorithm>
#include <numeric>

#include "support/check.h"
#include "sym/node.h"

namespace jumar::sym {
namespace {

bool holds(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::kEq:
      return a == b;
    case Op::kNe:
      return a != b;
    case Op::kLt:
      return a < b;
    default:
      return a <= b;
  }
}

// What `op` gives for equal operands.
bool holds_when_equal(Op op) { return op == Op::kEq || op == Op::kLe; }

bool expr_less(Expr a, Expr b) { return compare(a, b) < 0; }

void sort_and_deduplicate(std::vector<Expr>& operands) {
  std::sort(operands.begin(), operands.end(), expr_less);
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
}

void append_flattened(std::vector<Expr>& out, Op op, Expr e) {
  if (e.op() == op)
    out.insert(out.end(), e.operands().begin(), e.operands().end());
  else
    out.push_back(e);
}

// A comparison `difference op 0`, divided by the common factor of its terms. For kLt and kLe the constant is
// that of the strict form.
struct Difference {
  int64_t constant = 0;
  std::vector<Term> terms;  // without the constant
};

// Nothing when some constant has been left unfolded, so that signs and divisibility can't be read off.
std::optional<Difference> split(Expr difference) {
  Difference out;
  for (Expr summand : summands(difference)) {
    Term term = term_of(summand);
    if (term.coefficient == INT64_MIN) return std::nullopt;
    if (!term.monomial) {
      if (out.constant != 0) return std::nullopt;
      out.constant = term.coefficient;
    } else {
      if (factors(term.monomial).front().is_const()) return std::nullopt;
      out.terms.push_back(term);
    }
  }
  return out;
}

// Divides by the greatest common divisor. False when kEq or kNe is decided by it: the difference is never 0.
bool reduce(Difference& difference, Op op) {
  int64_t divisor = 0;
  for (const Term& term : difference.terms) divisor = std::gcd(divisor, term.coefficient);
  bool equality = op == Op::kEq || op == Op::kNe;
  if (equality && difference.constant % divisor != 0) return false;
  for (Term& term : difference.terms) term.coefficient /= divisor;
  // d*p + c < 0 is p < -c/d, so p < ceil(-c/d), so p + floor(c/d) < 0.
  difference.constant = floor_quotient(difference.constant, divisor);
  if (equality && difference.terms.front().coefficient < 0) {
    for (Term& term : difference.terms) term.coefficient = -term.coefficient;
    difference.constant = -difference.constant;
  }
  return true;
}

// A comparison with a predicate p on one side and a constant on the other, by its truth for p = 0 and p = 1.
Expr of_predicate(Context& cx, Op op, Expr a, Expr b) {
  Expr predicate = a.is_const() ? b : a;
  auto at = [&](int64_t value) {
    return holds(op, a.is_const() ? a.const_value() : value, b.is_const() ? b.const_value() : value);
  };
  bool for_false = at(0), for_true = at(1);
  if (for_false == for_true) return cx.constant(for_true ? 1 : 0);
  return for_true ? predicate : cx.logical_not(predicate);
}

Expr compared(Context& cx, Context::Impl& impl, Op op, Expr a, Expr b) {
  if (a == b) return cx.constant(holds_when_equal(op) ? 1 : 0);
  if (a.is_const() && b.is_const()) return cx.constant(holds(op, a.const_value(), b.const_value()) ? 1 : 0);
  if ((b.is_const() && is_predicate(a)) || (a.is_const() && is_predicate(b)))
    return of_predicate(cx, op, a, b);
  Expr result = impl.comparison(op, a, b);
  if (!is_comparison(result.op())) return result;
  Expr left = result.operands()[0], right = result.operands()[1];
  if ((right.is_const() && is_predicate(left)) || (left.is_const() && is_predicate(right)))
    return of_predicate(cx, result.op(), left, right);
  return result;
}

// What and, or and not take: a predicate; any other integer counts as true when it isn't 0.
Expr as_predicate(Context& cx, Expr e) { return is_predicate(e) ? e : cx.ne(e, cx.constant(0)); }

Expr extremum(Context::Impl& impl, Op op, Expr a, Expr b) {
  if (a == b) return a;
  std::vector<Expr> operands;
  append_flattened(operands, op, a);
  append_flattened(operands, op, b);
  sort_and_deduplicate(operands);
  // Constants sort first, in ascending order.
  size_t constants = 0;
  while (constants < operands.size() && operands[constants].is_const()) ++constants;
  if (constants > 1) {
    Expr kept = op == Op::kMin ? operands.front() : operands[constants - 1];
    operands.erase(operands.begin(), operands.begin() + static_cast<ptrdiff_t>(constants - 1));
    operands.front() = kept;
  }
  return operands.size() == 1 ? operands.front() : impl.node(op, operands);
}

Expr junction(Context& cx, Context::Impl& impl, Op op, Expr a, Expr b) {
  int64_t neutral = op == Op::kAnd ? 1 : 0;
  std::vector<Expr> operands;
  for (Expr e : {as_predicate(cx, a), as_predicate(cx, b)}) {
    if (e.is_const(1 - neutral)) return e;
    if (!e.is_const()) append_flattened(operands, op, e);
  }
  sort_and_deduplicate(operands);
  if (operands.empty()) return cx.constant(neutral);
  return operands.size() == 1 ? operands.front() : impl.node(op, operands);
}

}  // namespace

bool is_predicate(Expr e) {
  if (e.op() >= Op::kEq) return true;
  return e.is_const(0) || e.is_const(1);
}

Expr Context::Impl::comparison(Op op, Expr a, Expr b) {
  Scratch all(*this);
  append(*all, a, 1);
  append(*all, b, -1);
  Expr whole = sum(*all);
  if (whole.is_const()) return constant(holds(op, whole.const_value(), 0) ? 1 : 0);
  std::optional<Difference> difference = split(whole);
  bool strict = op == Op::kLt;
  if (difference && op == Op::kLe) {
    // d <= 0 is d - 1 < 0.
    if (difference->constant == INT64_MIN + 1)
      difference.reset();
    else
      difference->constant -= 1, strict = true;
  }
  if (!difference) {
    bool swapped = (op == Op::kEq || op == Op::kNe) && compare(b, a) < 0;
    return swapped ? node(op, b, a) : node(op, a, b);
  }
  if (!reduce(*difference, op)) return constant(op == Op::kNe ? 1 : 0);
  int64_t rest = difference->constant;
  if (strict) op = Op::kLt;
  if (strict && rest == -1) op = Op::kLe, rest = 0;
  Scratch left(*this);
  Scratch right(*this);
  for (const Term& term : difference->terms) {
    if (term.coefficient > 0)
      left->push_back(term);
    else
      right->push_back({-term.coefficient, term.monomial});
  }
  bool to_right = right->empty() || (!left->empty() && rest < 0);
  if (rest != 0 && to_right) right->push_back({-rest, Expr()});
  if (rest != 0 && !to_right) left->push_back({rest, Expr()});
  return node(op, sum(*left), sum(*right));
}

Expr Context::eq(Expr a, Expr b) { return compared(*this, *impl_, Op::kEq, a, b); }
Expr Context::ne(Expr a, Expr b) { return compared(*this, *impl_, Op::kNe, a, b); }
Expr Context::lt(Expr a, Expr b) { return compared(*this, *impl_, Op::kLt, a, b); }
Expr Context::le(Expr a, Expr b) { return compared(*this, *impl_, Op::kLe, a, b); }

Expr Context::min(Expr a, Expr b) { return extremum(*impl_, Op::kMin, a, b); }
Expr Context::max(Expr a, Expr b) { return extremum(*impl_, Op::kMax, a, b); }

Expr Context::logical_and(Expr a, Expr b) { return junction(*this, *impl_, Op::kAnd, a, b); }
Expr Context::logical_or(Expr a, Expr b) { return junction(*this, *impl_, Op::kOr, a, b); }

Expr Context::logical_not(Expr a) {
  a = as_predicate(*this, a);
  switch (a.op()) {
    case Op::kConst:
      return constant(1 - a.const_value());
    case Op::kEq:
      return ne(a.operands()[0], a.operands()[1]);
    case Op::kNe:
      return eq(a.operands()[0], a.operands()[1]);
    case Op::kLt:
      return le(a.operands()[1], a.operands()[0]);
    case Op::kLe:
      return lt(a.operands()[1], a.operands()[0]);
    case Op::kNot:
      return a.operands()[0];
    default:
      return impl_->node(Op::kNot, {&a, 1});
  }
}

}  // namespace jumar::sym
