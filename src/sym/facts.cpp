#include "sym/facts.h"

#include <algorithm>
#include <numeric>

#include "support/check.h"
#include "sym/reasoner.h"

namespace jumar::sym {

void Facts::set_range(Expr symbol, Range range) {
  CHECK(symbol.is_symbol(), "a range of '{}', which is no symbol", text(symbol));
  CHECK(range.lo <= range.hi, "an empty range for '{}'", text(symbol));
  auto [row, inserted] = ranges_.try_emplace(symbol, range);
  if (inserted) return;
  Range both{std::max(row->second.lo, range.lo), std::min(row->second.hi, range.hi)};
  // Facts that contradict each other admit no value, so any statement holds; the newer one is kept.
  row->second = both.lo <= both.hi ? both : range;
}

void Facts::set_extent(Expr axis, Expr extent) {
  CHECK(axis.is_symbol(), "an extent of '{}', which is no symbol", text(axis));
  extents_.insert_or_assign(axis, extent);
}

void Facts::set_divisible(Expr symbol, int64_t divisor) {
  CHECK(symbol.is_symbol(), "a divisor of '{}', which is no symbol", text(symbol));
  CHECK(divisor > 0, "{} as divisor of '{}'", divisor, text(symbol));
  int64_t& known = divisors_.try_emplace(symbol, 1).first->second;
  int64_t both = 0;
  if (__builtin_mul_overflow(known / std::gcd(known, divisor), divisor, &both)) both = divisor;
  known = both;
}

Range Facts::range(Expr symbol) const {
  auto row = ranges_.find(symbol);
  return row == ranges_.end() ? Range() : row->second;
}

Expr Facts::extent(Expr axis) const {
  auto row = extents_.find(axis);
  return row == extents_.end() ? Expr() : row->second;
}

int64_t Facts::divisor(Expr symbol) const {
  auto row = divisors_.find(symbol);
  return row == divisors_.end() ? 1 : row->second;
}

Range bounds(Expr e, const Facts& facts) { return Bounds(facts)(e); }

bool proves_le(Context& cx, Expr a, Expr b, const Facts& facts) {
  return Reasoner(cx, facts).proves_le(a, b);
}

bool proves_lt(Context& cx, Expr a, Expr b, const Facts& facts) {
  return Reasoner(cx, facts).proves_lt(a, b);
}

bool proves_eq(Context& cx, Expr a, Expr b, const Facts& facts) {
  return Reasoner(cx, facts).proves_eq(a, b);
}

bool proves_divisible(Context& cx, Expr e, Expr divisor, const Facts& facts) {
  return Reasoner(cx, facts).proves_divisible(e, divisor);
}

std::optional<bool> proves(Context& cx, Expr predicate, const Facts& facts) {
  return Reasoner(cx, facts).proves(predicate);
}

Expr simplified(Context& cx, Expr e, const Facts& facts) { return Reasoner(cx, facts).simplified(e); }

Simplifier::Simplifier(Context& cx, const Facts& facts) : reasoner_(std::make_unique<Reasoner>(cx, facts)) {}
Simplifier::~Simplifier() = default;

Expr Simplifier::operator()(Expr e) { return reasoner_->simplified(e); }
Range Simplifier::bounds(Expr e) { return reasoner_->bounds(e); }
bool Simplifier::proves_le(Expr a, Expr b) { return reasoner_->proves_le(a, b); }
bool Simplifier::proves_lt(Expr a, Expr b) { return reasoner_->proves_lt(a, b); }
bool Simplifier::proves_eq(Expr a, Expr b) { return reasoner_->proves_eq(a, b); }
bool Simplifier::proves_divisible(Expr e, Expr divisor) { return reasoner_->proves_divisible(e, divisor); }
std::optional<bool> Simplifier::proves(Expr predicate) { return reasoner_->proves(predicate); }

}  // namespace jumar::sym
