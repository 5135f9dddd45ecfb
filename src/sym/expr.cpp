#include "sym/expr.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "support/check.h"
#include "sym/node.h"

namespace jumar::sym {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Runs of digits compare as numbers. Names that differ only in leading zeros compare as text.
std::strong_ordering compare_names(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      size_t a_end = i, b_end = j;
      while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
      while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
      while (i + 1 < a_end && a[i] == '0') ++i;
      while (j + 1 < b_end && b[j] == '0') ++j;
      if (a_end - i != b_end - j) return (a_end - i) <=> (b_end - j);
      for (; i < a_end; ++i, ++j)
        if (a[i] != b[j]) return a[i] <=> b[j];
    } else {
      if (a[i] != b[j]) return a[i] <=> b[j];
      ++i, ++j;
    }
  }
  if (i < a.size() || j < b.size()) return (a.size() - i) <=> (b.size() - j);
  return a.compare(b) <=> 0;
}

int kind_rank(SymbolKind kind) {
  switch (kind) {
    case SymbolKind::kAxis:
      return 0;
    case SymbolKind::kValue:
      return 1;
    case SymbolKind::kUnbacked:
      return 2;
    default:
      return 3;
  }
}

// Operator evaluation on whole 64-bit integers; nothing when the result does not fit or divides by zero.
std::optional<int64_t> folded(Op op, std::span<const int64_t> v) {
  auto fitted = [](__int128 value) -> std::optional<int64_t> {
    if (!fits_int64(value)) return std::nullopt;
    return static_cast<int64_t>(value);
  };
  __int128 result = op == Op::kMul ? 1 : 0;
  switch (op) {
    case Op::kAdd:
      for (int64_t x : v) result += x;
      return fitted(result);
    case Op::kMul:
      for (int64_t x : v)
        if (__builtin_mul_overflow(result, static_cast<__int128>(x), &result)) return std::nullopt;
      return fitted(result);
    case Op::kFloorDiv:
      if (v[1] == 0 || (v[0] == INT64_MIN && v[1] == -1)) return std::nullopt;
      return floor_quotient(v[0], v[1]);
    case Op::kMod:
      if (v[1] == 0) return std::nullopt;
      return v[1] == -1 ? 0 : floor_remainder(v[0], v[1]);
    case Op::kMin:
      return *std::min_element(v.begin(), v.end());
    case Op::kMax:
      return *std::max_element(v.begin(), v.end());
    case Op::kEq:
      return v[0] == v[1];
    case Op::kNe:
      return v[0] != v[1];
    case Op::kLt:
      return v[0] < v[1];
    case Op::kLe:
      return v[0] <= v[1];
    case Op::kAnd:
      return std::all_of(v.begin(), v.end(), [](int64_t x) { return x != 0; });
    case Op::kOr:
      return std::any_of(v.begin(), v.end(), [](int64_t x) { return x != 0; });
    case Op::kNot:
      return v[0] == 0;
    default:
      CHECK(false, "a leaf has no operands");
  }
}

class Evaluator {
 public:
  explicit Evaluator(const std::function<std::optional<int64_t>(Expr)>& value_of) : value_of_(value_of) {}

  Result<int64_t> operator()(Expr e) {
    if (e.is_const()) return e.const_value();
    if (auto known = values_.find(e); known != values_.end()) return known->second;
    JUMAR_ASSIGN(int64_t value, computed(e));
    values_.emplace(e, value);
    return value;
  }

 private:
  Result<int64_t> computed(Expr e) {
    if (e.is_symbol()) {
      if (std::optional<int64_t> value = value_of_(e)) return *value;
      return diagnostic("input", "'{}' has no value", e.symbol_name());
    }
    std::vector<int64_t> operands;
    operands.reserve(e.operands().size());
    for (Expr operand : e.operands()) {
      JUMAR_ASSIGN(int64_t value, (*this)(operand));
      operands.push_back(value);
    }
    if (std::optional<int64_t> value = folded(e.op(), operands)) return *value;
    bool by_zero = (e.op() == Op::kFloorDiv || e.op() == Op::kMod) && operands[1] == 0;
    if (by_zero) return diagnostic("input", "'{}' divides by zero", text(e));
    return diagnostic("limit", "the value of '{}' does not fit 64 bits", text(e));
  }

  const std::function<std::optional<int64_t>(Expr)>& value_of_;
  std::unordered_map<Expr, int64_t> values_;
};

class Substituter {
 public:
  Substituter(Context& cx, const std::function<Expr(Expr)>& map) : cx_(cx), map_(map) {}

  Expr operator()(Expr e) {
    if (NodeAccess::node(e)->kinds == 0) return e;
    if (auto known = results_.find(e); known != results_.end()) return known->second;
    Expr result = e.is_symbol() ? map_(e) : rebuilt(e);
    if (!result) result = e;
    results_.emplace(e, result);
    return result;
  }

 private:
  Expr rebuilt(Expr e) {
    std::vector<Expr> operands;
    operands.reserve(e.operands().size());
    bool changed = false;
    for (Expr operand : e.operands()) {
      operands.push_back((*this)(operand));
      changed |= operands.back() != operand;
    }
    return changed ? cx_.make(e.op(), operands) : e;
  }

  Context& cx_;
  const std::function<Expr(Expr)>& map_;
  std::unordered_map<Expr, Expr> results_;
};

void collect_symbols(Expr e, std::unordered_set<Expr>& seen, std::vector<Expr>& out) {
  if (NodeAccess::node(e)->kinds == 0 || !seen.insert(e).second) return;
  if (e.is_symbol()) out.push_back(e);
  for (Expr operand : e.operands()) collect_symbols(operand, seen, out);
}

bool may_mention(Expr e, Expr symbol) {
  return (NodeAccess::node(e)->symbol_filter & NodeAccess::node(symbol)->symbol_filter) != 0;
}

}  // namespace

Op Expr::op() const { return node_->op; }
bool Expr::is_const() const { return node_->op == Op::kConst; }
bool Expr::is_const(int64_t value) const { return node_->op == Op::kConst && node_->value == value; }
std::optional<int64_t> Expr::as_const() const {
  return is_const() ? std::optional<int64_t>(node_->value) : std::nullopt;
}
bool Expr::is_symbol() const { return node_->op == Op::kSymbol; }
bool Expr::is_symbol(SymbolKind kind) const { return is_symbol() && node_->kind == kind; }
int64_t Expr::const_value() const {
  CHECK(is_const(), "no constant");
  return node_->value;
}
SymbolKind Expr::symbol_kind() const {
  CHECK(is_symbol(), "no symbol");
  return node_->kind;
}
const std::string& Expr::symbol_name() const {
  CHECK(is_symbol(), "no symbol");
  return *node_->name;
}
std::span<const Expr> Expr::operands() const { return {node_->operands, node_->count}; }
uint64_t Expr::structural_hash() const { return node_->hash; }
Measure Expr::measure() const { return node_->measure; }

Term term_of(Expr e) {
  if (e.is_const()) return {e.const_value(), Expr()};
  if (e.op() != Op::kMul) return {1, e};
  Expr first = e.operands().front();
  return {first.is_const() ? first.const_value() : 1, NodeAccess::expr(NodeAccess::node(e)->monomial)};
}

std::strong_ordering compare(Expr a, Expr b) {
  if (a == b) return std::strong_ordering::equal;
  if (a.op() != b.op()) return a.op() <=> b.op();
  if (a.is_const()) return a.const_value() <=> b.const_value();
  if (a.is_symbol()) {
    int left = kind_rank(a.symbol_kind()), right = kind_rank(b.symbol_kind());
    return left != right ? left <=> right : compare_names(a.symbol_name(), b.symbol_name());
  }
  std::span<const Expr> left = a.operands(), right = b.operands();
  size_t common = std::min(left.size(), right.size());
  for (size_t i = 0; i < common; ++i)
    if (auto order = compare(left[i], right[i]); order != 0) return order;
  return left.size() <=> right.size();
}

Expr Context::substituted(Expr e, const std::function<Expr(Expr)>& map) { return Substituter(*this, map)(e); }

Expr Context::make(Op op, std::span<const Expr> operands) {
  auto folded_over = [&](Expr (Context::*combine)(Expr, Expr)) {
    CHECK(!operands.empty(), "an operator without operands");
    Expr result = operands.front();
    for (Expr e : operands.subspan(1)) result = (this->*combine)(result, e);
    return result;
  };
  auto binary = [&](Expr (Context::*combine)(Expr, Expr)) {
    CHECK(operands.size() == 2, "{} operands where two are needed", operands.size());
    return (this->*combine)(operands[0], operands[1]);
  };
  switch (op) {
    case Op::kAdd:
      return add(operands);
    case Op::kMul:
      return mul(operands);
    case Op::kFloorDiv:
      return binary(&Context::floordiv);
    case Op::kMod:
      return binary(&Context::mod);
    case Op::kMin:
      return folded_over(&Context::min);
    case Op::kMax:
      return folded_over(&Context::max);
    case Op::kEq:
      return binary(&Context::eq);
    case Op::kNe:
      return binary(&Context::ne);
    case Op::kLt:
      return binary(&Context::lt);
    case Op::kLe:
      return binary(&Context::le);
    case Op::kAnd:
      return folded_over(&Context::logical_and);
    case Op::kOr:
      return folded_over(&Context::logical_or);
    case Op::kNot:
      CHECK(operands.size() == 1, "{} operands where one is needed", operands.size());
      return logical_not(operands[0]);
    default:
      CHECK(false, "constants and symbols have no operands");
  }
}

std::vector<Expr> symbols_of(Expr e) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> out;
  collect_symbols(e, seen, out);
  std::sort(out.begin(), out.end(), [](Expr a, Expr b) { return compare(a, b) < 0; });
  return out;
}

bool mentions(Expr e, Expr symbol) {
  if (e == symbol) return true;
  if (!may_mention(e, symbol)) return false;
  return std::any_of(e.operands().begin(), e.operands().end(),
                     [&](Expr operand) { return mentions(operand, symbol); });
}

bool mentions_kind(Expr e, SymbolKind kind) {
  return (NodeAccess::node(e)->kinds & (1u << static_cast<unsigned>(kind))) != 0;
}

std::optional<Linear> linear_in(Context& cx, Expr e, Expr symbol) {
  std::vector<Expr> coefficient, rest;
  for (Expr summand : summands(e)) {
    if (!mentions(summand, symbol)) {
      rest.push_back(summand);
      continue;
    }
    Term term = term_of(summand);
    std::vector<Expr> others{cx.constant(term.coefficient)};
    bool found = false;
    for (Expr factor : factors(term.monomial)) {
      if (factor == symbol && !found)
        found = true;
      else if (mentions(factor, symbol))
        return std::nullopt;
      else
        others.push_back(factor);
    }
    if (!found) return std::nullopt;
    coefficient.push_back(cx.mul(others));
  }
  return Linear{cx.add(coefficient), cx.add(rest)};
}

Result<int64_t> evaluate(Expr e, const std::function<std::optional<int64_t>(Expr)>& value_of) {
  return Evaluator(value_of)(e);
}

}  // namespace jumar::sym
