#include <algorithm>
#include <cstring>
#include <numeric>

#include "support/check.h"
#include "sym/node.h"

namespace jumar::sym {
namespace {

constexpr size_t kFirstSlots = 1024;

uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

uint64_t combined(uint64_t hash, uint64_t part) { return mixed(hash * 0x9e3779b97f4a7c15u + part); }

uint64_t saturated(unsigned __int128 value) {
  return value > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(value);
}

uint64_t bit_count(int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  uint64_t bits = 1;
  while (magnitude >>= 1) ++bits;
  return bits;
}

// The polynomial interpretation that docs/sym.md calls the measure.
Measure measure_of(Op op, std::span<const Expr> operands) {
  unsigned __int128 sum = 0;
  unsigned __int128 product = 1;
  unsigned __int128 bits = 0;
  for (Expr e : operands) {
    Measure part = e.measure();
    sum = saturated(sum + part.weight);
    product = saturated(product * part.weight);
    bits = saturated(bits + part.bits);
  }
  switch (op) {
    case Op::kAdd:
      return {saturated(sum), saturated(bits)};
    case Op::kMul:
      return {saturated(product), saturated(bits)};
    case Op::kFloorDiv:
      return {saturated(2 * product), saturated(2 * bits)};
    case Op::kMod:
      return {saturated(2 * product + 1), saturated(2 * bits)};
    default:
      return {saturated(sum + 1), saturated(bits)};
  }
}

std::strong_ordering compare_monomials(Expr a, Expr b) {
  if (a == b) return std::strong_ordering::equal;
  std::span<const Expr> left = factors(a), right = factors(b);
  size_t common = std::min(left.size(), right.size());
  for (size_t i = 0; i < common; ++i)
    if (auto order = compare(left[i], right[i]); order != 0) return order;
  return left.size() <=> right.size();
}

bool term_less(const Term& a, const Term& b) {
  auto order = compare_monomials(a.monomial, b.monomial);
  return order != 0 ? order < 0 : a.coefficient < b.coefficient;
}

}  // namespace

Context::Impl::Impl() : arena(1 << 16), slots(kFirstSlots, nullptr) {}

Context::Impl::Scratch::Scratch(Impl& impl)
    : impl_(impl), terms_([&]() -> std::vector<Term>& {
        if (impl.scratch_depth == impl.scratch.size())
          impl.scratch.push_back(std::make_unique<std::vector<Term>>());
        return *impl.scratch[impl.scratch_depth];
      }()) {
  ++impl_.scratch_depth;
  terms_.clear();
}

const Node** Context::Impl::find_slot(uint64_t hash, Op op, std::span<const Expr> operands, int64_t value) {
  size_t mask = slots.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Node* node = slots[i];
    if (!node) return &slots[i];
    if (node->hash == hash && node->op == op && node->value == value && node->count == operands.size() &&
        std::equal(operands.begin(), operands.end(), node->operands))
      return &slots[i];
  }
}

void Context::Impl::grow() {
  std::vector<const Node*> old(slots.size() * 2, nullptr);
  old.swap(slots);
  size_t mask = slots.size() - 1;
  for (const Node* node : old) {
    if (!node) continue;
    size_t i = node->hash & mask;
    while (slots[i]) i = (i + 1) & mask;
    slots[i] = node;
  }
}

Node* Context::Impl::insert(const Node** slot, size_t operand_count) {
  Node* node = new (arena.allocate(sizeof(Node), alignof(Node))) Node();
  if (operand_count > 0)
    node->operands = static_cast<Expr*>(arena.allocate(operand_count * sizeof(Expr), alignof(Expr)));
  node->count = static_cast<uint32_t>(operand_count);
  *slot = node;
  ++used;
  return node;
}

const Node* Context::Impl::intern_constant(int64_t value) {
  uint64_t hash = combined(static_cast<uint64_t>(Op::kConst), static_cast<uint64_t>(value));
  const Node** slot = find_slot(hash, Op::kConst, {}, value);
  if (*slot) return *slot;
  Node* node = insert(slot, 0);
  node->op = Op::kConst;
  node->hash = hash;
  node->value = value;
  node->measure = {1, bit_count(value)};
  if (used * 2 > slots.size()) grow();
  return node;
}

const Node* Context::Impl::intern_symbol(SymbolKind kind, std::string_view name) {
  uint64_t hash = combined(static_cast<uint64_t>(Op::kSymbol), static_cast<uint64_t>(kind));
  for (char c : name) hash = combined(hash, static_cast<unsigned char>(c));
  size_t mask = slots.size() - 1;
  size_t i = hash & mask;
  for (; slots[i]; i = (i + 1) & mask)
    if (slots[i]->op == Op::kSymbol && slots[i]->kind == kind && *slots[i]->name == name) return slots[i];
  CHECK(!name.empty(), "a symbol without a name");
  Node* node = insert(&slots[i], 0);
  names.push_back(std::make_unique<std::string>(name));
  node->op = Op::kSymbol;
  node->kind = kind;
  node->kinds = static_cast<uint8_t>(1u << static_cast<unsigned>(kind));
  node->hash = hash;
  node->value = symbol_count++;
  node->symbol_filter = uint64_t{1} << (node->value % 64);
  node->measure = {2, 1};
  node->name = names.back().get();
  if (used * 2 > slots.size()) grow();
  return node;
}

const Node* Context::Impl::intern(Op op, std::span<const Expr> operands) {
  uint64_t hash = combined(static_cast<uint64_t>(op), operands.size());
  for (Expr e : operands) hash = combined(hash, e.structural_hash());
  const Node** slot = find_slot(hash, op, operands, 0);
  if (*slot) return *slot;
  Node* node = insert(slot, operands.size());
  std::copy(operands.begin(), operands.end(), const_cast<Expr*>(node->operands));
  node->op = op;
  node->hash = hash;
  node->measure = measure_of(op, operands);
  node->overflows = (op == Op::kMul || op == Op::kAdd) && operands[1].is_const();
  node->is_polynomial = op == Op::kMul || op == Op::kAdd;
  for (Expr e : operands) {
    node->is_polynomial &= NodeAccess::node(e)->is_polynomial;
    node->kinds |= NodeAccess::node(e)->kinds;
    node->symbol_filter |= NodeAccess::node(e)->symbol_filter;
    node->overflows |= NodeAccess::node(e)->overflows;
  }
  if (used * 2 > slots.size()) grow();
  if (op == Op::kMul) {
    if (!operands.front().is_const())
      node->monomial = node;
    else if (operands.size() == 2)
      node->monomial = NodeAccess::node(operands[1]);
    else
      node->monomial = intern(Op::kMul, {node->operands + 1, operands.size() - 1});
  }
  return node;
}

Expr Context::Impl::node(Op op, Expr a, Expr b) {
  Expr operands[] = {a, b};
  return node(op, operands);
}

Expr Context::Impl::term(const Term& term) {
  if (!term.monomial) return constant(term.coefficient);
  if (term.coefficient == 1) return term.monomial;
  if (term.coefficient == 0) return constant(0);
  std::span<const Expr> parts = factors(term.monomial);
  constexpr size_t kInline = 8;
  if (parts.size() < kInline) {
    Expr operands[kInline];
    operands[0] = constant(term.coefficient);
    std::copy(parts.begin(), parts.end(), operands + 1);
    return node(Op::kMul, {operands, parts.size() + 1});
  }
  std::vector<Expr> operands{constant(term.coefficient)};
  operands.insert(operands.end(), parts.begin(), parts.end());
  return node(Op::kMul, operands);
}

Expr Context::Impl::sum(std::vector<Term>& terms) {
  if (!std::is_sorted(terms.begin(), terms.end(), term_less))
    std::sort(terms.begin(), terms.end(), term_less);
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    size_t end = i;
    __int128 coefficient = 0;
    for (; end < terms.size() && terms[end].monomial == terms[i].monomial; ++end)
      coefficient += terms[end].coefficient;
    if (fits_int64(coefficient)) {
      if (coefficient != 0) terms[kept++] = {static_cast<int64_t>(coefficient), terms[i].monomial};
    } else {
      // Constants that do not fit 64 bits are not folded: the value stays right, the form is not canonical.
      for (size_t j = i; j < end; ++j) terms[kept++] = terms[j];
    }
    i = end;
  }
  if (kept == 0) return constant(0);
  if (kept == 1) return term(terms[0]);
  constexpr size_t kInline = 16;
  if (kept <= kInline) {
    Expr operands[kInline];
    for (size_t i = 0; i < kept; ++i) operands[i] = term(terms[i]);
    return node(Op::kAdd, {operands, kept});
  }
  std::vector<Expr> operands(kept);
  for (size_t i = 0; i < kept; ++i) operands[i] = term(terms[i]);
  return node(Op::kAdd, operands);
}

void Context::Impl::append(std::vector<Term>& terms, Expr e, int64_t scale) {
  for (Expr summand : summands(e)) {
    Term term = term_of(summand);
    terms.push_back(scale == 1 ? term : product({scale, Expr()}, term));
  }
}

Expr Context::Impl::monomial_product(Expr a, Expr b) {
  if (!a) return b;
  if (!b) return a;
  std::span<const Expr> left = factors(a), right = factors(b);
  auto less = [](Expr x, Expr y) { return compare(x, y) < 0; };
  constexpr size_t kInline = 8;
  size_t count = left.size() + right.size();
  if (count <= kInline) {
    Expr operands[kInline];
    std::merge(left.begin(), left.end(), right.begin(), right.end(), operands, less);
    return node(Op::kMul, {operands, count});
  }
  std::vector<Expr> operands(count);
  std::merge(left.begin(), left.end(), right.begin(), right.end(), operands.begin(), less);
  return node(Op::kMul, operands);
}

Term Context::Impl::product(const Term& a, const Term& b) {
  Expr monomial = monomial_product(a.monomial, b.monomial);
  int64_t coefficient = 0;
  if (!__builtin_mul_overflow(a.coefficient, b.coefficient, &coefficient)) return {coefficient, monomial};
  // As in `sum`: one of the constants stays a factor of its own.
  int64_t low = std::min(a.coefficient, b.coefficient), high = std::max(a.coefficient, b.coefficient);
  return {low, monomial_product(constant(high), monomial)};
}

Expr Context::Impl::exact_quotient(Expr e, int64_t divisor) {
  for (Expr summand : summands(e))
    if (term_of(summand).coefficient % divisor != 0) return {};
  Scratch terms(*this);
  for (Expr summand : summands(e)) {
    Term part = term_of(summand);
    terms->push_back({part.coefficient / divisor, part.monomial});
  }
  return sum(*terms);
}

Context::Context() : impl_(std::make_unique<Impl>()) {}
Context::~Context() = default;

Expr Context::constant(int64_t value) { return impl_->constant(value); }

Expr Context::symbol(SymbolKind kind, std::string_view name) {
  return NodeAccess::expr(impl_->intern_symbol(kind, name));
}

Expr Context::value(uint32_t index) { return symbol(SymbolKind::kValue, fmt::format("%{}", index)); }

Expr Context::add(Expr a, Expr b) {
  if (a.is_const(0)) return b;
  if (b.is_const(0)) return a;
  Impl::Scratch terms(*impl_);
  impl_->append(*terms, a, 1);
  impl_->append(*terms, b, 1);
  return impl_->sum(*terms);
}

Expr Context::add(std::span<const Expr> operands) {
  Impl::Scratch terms(*impl_);
  for (Expr e : operands) impl_->append(*terms, e, 1);
  return impl_->sum(*terms);
}

Expr Context::sub(Expr a, Expr b) {
  if (a == b) return constant(0);
  if (b.is_const(0)) return a;
  Impl::Scratch terms(*impl_);
  impl_->append(*terms, a, 1);
  impl_->append(*terms, b, -1);
  return impl_->sum(*terms);
}

Expr Context::neg(Expr a) { return mul(a, constant(-1)); }

Expr Context::mul(Expr a, Expr b) {
  if (a.is_const(1)) return b;
  if (b.is_const(1)) return a;
  if (a.is_const(0)) return a;
  if (b.is_const(0)) return b;
  if (a.op() != Op::kAdd && b.op() != Op::kAdd) return impl_->term(impl_->product(term_of(a), term_of(b)));
  Impl::Scratch terms(*impl_);
  for (Expr x : summands(a))
    for (Expr y : summands(b)) terms->push_back(impl_->product(term_of(x), term_of(y)));
  return impl_->sum(*terms);
}

Expr Context::mul(std::span<const Expr> operands) {
  Expr product = constant(1);
  for (Expr e : operands) product = mul(product, e);
  return product;
}

Expr Context::floordiv(Expr a, Expr b) {
  CHECK(!b.is_const(0), "division by the constant zero");
  if (b.is_const(1) || a.is_const(0)) return a;
  if (a == b) return constant(1);
  if (!b.is_const()) return impl_->node(Op::kFloorDiv, a, b);
  int64_t divisor = b.const_value();
  if (divisor == -1) return neg(a);
  if (divisor == INT64_MIN) return impl_->node(Op::kFloorDiv, a, b);
  if (a.is_const()) return constant(floor_quotient(a.const_value(), divisor));
  if (divisor < 0) return floordiv(neg(a), constant(-divisor));
  if (Expr quotient = impl_->exact_quotient(a, divisor)) return quotient;
  // A constant beside other terms keeps its remainder only, so that (s0 - 1)//2 + 1 is (s0 + 1)//2: one atom,
  // which products of sizes keep together.
  for (Expr summand : summands(a)) {
    if (!summand.is_const() || summand == a) continue;
    const int64_t whole = floor_quotient(summand.const_value(), divisor);
    int64_t taken = 0;
    if (whole == 0 || __builtin_mul_overflow(whole, -divisor, &taken)) break;
    return add(impl_->node(Op::kFloorDiv, add(a, constant(taken)), b), constant(whole));
  }
  return impl_->node(Op::kFloorDiv, a, b);
}

Expr Context::ceildiv(Expr a, Expr b) { return neg(floordiv(neg(a), b)); }

Expr Context::mod(Expr a, Expr b) {
  CHECK(!b.is_const(0), "remainder by the constant zero");
  if (b.is_const(1) || b.is_const(-1) || a.is_const(0) || a == b) return constant(0);
  if (!b.is_const()) return impl_->node(Op::kMod, a, b);
  int64_t divisor = b.const_value();
  if (divisor == INT64_MIN) return impl_->node(Op::kMod, a, b);
  if (a.is_const()) return constant(floor_remainder(a.const_value(), divisor));
  if (divisor < 0) return neg(mod(neg(a), constant(-divisor)));
  if (impl_->exact_quotient(a, divisor)) return constant(0);
  return impl_->node(Op::kMod, a, b);
}

}  // namespace jumar::sym
