// Random expressions, facts and small assignments that satisfy the facts: the material of differential tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sym/facts.h"

namespace jumar::sym::testing {

using Assignment = std::map<std::string, int64_t>;

inline std::optional<int64_t> value_in(const Assignment& values, Expr symbol) {
  auto row = values.find(symbol.symbol_name());
  return row == values.end() ? std::nullopt : std::optional<int64_t>(row->second);
}

// The value, or nothing where the expression divides by zero.
inline std::optional<int64_t> value_of(Expr e, const Assignment& values) {
  Result<int64_t> result = evaluate(e, [&](Expr symbol) { return value_in(values, symbol); });
  return result.ok() ? std::optional<int64_t>(*result) : std::nullopt;
}

// Three axes, two sizes and an unbacked number, with facts that are small enough to enumerate.
class World {
 public:
  World(Context& cx, uint32_t seed) : cx_(cx), random_(seed) {
    for (const char* name : {"s0", "s1"}) sizes_.push_back(cx.symbol(SymbolKind::kSize, name));
    for (const char* name : {"i0", "i1", "i2"}) axes_.push_back(cx.symbol(SymbolKind::kAxis, name));
    unbacked_ = cx.symbol(SymbolKind::kUnbacked, "u0");
    for (Expr size : sizes_) {
      int64_t lo = pick(0, 3);
      ranges_.push_back({lo, lo + pick(0, 4)});
      facts_.set_range(size, ranges_.back());
    }
    unbacked_range_ = {pick(-6, 0), pick(1, 5)};
    facts_.set_range(unbacked_, unbacked_range_);
    if (pick(0, 2) == 0) {
      divisor_ = pick(2, 4);
      facts_.set_divisible(unbacked_, divisor_);
    }
    for (Expr axis : axes_) {
      extents_.push_back(extent());
      facts_.set_extent(axis, extents_.back());
    }
  }

  int64_t pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random_); }

  const Facts& facts() const { return facts_; }

  // Integers and predicates alike, of at most `depth` operators above each other.
  Expr expression(int depth) {
    if (depth == 0 || pick(0, 9) == 0) return leaf();
    // Operands are drawn one after the other, so that a seed means the same with every compiler.
    Expr a = expression(depth - 1);
    int64_t kind = pick(0, 15);
    if (kind == 15) return predicate(depth);
    if (kind == 14) return digits(a);
    if (kind == 13) return packed(a);
    if (kind >= 9) return nonzero(a, &Context::mod, divisor());
    if (kind >= 6) return nonzero(a, &Context::floordiv, divisor());
    if (kind >= 4) return cx_.mul(a, leaf());
    Expr b = expression(depth - 1);
    if (kind == 3) return pick(0, 1) ? cx_.min(a, b) : cx_.max(a, b);
    return kind == 2 ? cx_.sub(a, b) : cx_.add(a, b);
  }

  Expr predicate(int depth) {
    if (depth < 1) {
      Expr a = leaf();
      return cx_.lt(a, leaf());
    }
    int64_t kind = pick(0, 7);
    if (kind >= 5) {
      Expr p = predicate(depth - 1);
      if (kind == 7) return cx_.logical_not(p);
      Expr q = predicate(depth - 1);
      return kind == 5 ? cx_.logical_and(p, q) : cx_.logical_or(p, q);
    }
    Expr a = expression(depth - 1);
    Expr b = expression(depth - 1);
    if (kind == 0) return cx_.eq(a, b);
    if (kind == 1) return cx_.ne(a, b);
    return kind == 4 ? cx_.le(a, b) : cx_.lt(a, b);
  }

  // All assignments that the facts admit.
  std::vector<Assignment> assignments() const {
    std::vector<Assignment> out;
    for (int64_t s0 = ranges_[0].lo; s0 <= ranges_[0].hi; ++s0)
      for (int64_t s1 = ranges_[1].lo; s1 <= ranges_[1].hi; ++s1)
        for (int64_t u0 = unbacked_range_.lo; u0 <= unbacked_range_.hi; ++u0)
          if (u0 % divisor_ == 0) add_axes({{"s0", s0}, {"s1", s1}, {"u0", u0}}, out);
    return out;
  }

 private:
  Expr extent() {
    switch (pick(0, 5)) {
      case 0:
      case 1:
        return sizes_[static_cast<size_t>(pick(0, 1))];
      case 2:
        return cx_.mul(sizes_[0], 2);
      default:
        return cx_.constant(pick(1, 4));
    }
  }

  Expr leaf() {
    switch (pick(0, 9)) {
      case 0:
      case 1:
        return cx_.constant(pick(-4, 9));
      case 2:
      case 3:
        return sizes_[static_cast<size_t>(pick(0, 1))];
      case 4:
        return unbacked_;
      default:
        return axes_[static_cast<size_t>(pick(0, 2))];
    }
  }

  Expr divisor() {
    switch (pick(0, 7)) {
      case 0:
        return sizes_[0];
      case 1:
        return sizes_[1];
      case 2:
        return cx_.mul(sizes_[0], pick(0, 1) ? sizes_[1] : cx_.constant(pick(2, 3)));
      case 3:
        return cx_.add(sizes_[1], 1);
      case 4:
        return pick(0, 3) == 0 ? unbacked_ : cx_.constant(-pick(1, 4));
      default:
        return cx_.constant(pick(2, 8));
    }
  }

  Expr nonzero(Expr a, Expr (Context::*divide)(Expr, Expr), Expr b) {
    return b.is_const(0) ? a : (cx_.*divide)(a, b);
  }

  // What splitting a flattened index into digits, and putting them together again, looks like.
  Expr digits(Expr x) {
    Expr n = divisor();
    Expr m = divisor();
    if (n.is_const(0) || m.is_const(0)) return x;
    Expr low = cx_.mod(x, n), next = cx_.floordiv(x, n);
    Expr high = pick(0, 1) ? next : cx_.mod(next, m);
    return cx_.add(cx_.mul(pick(0, 3) == 0 ? m : n, high), low);
  }

  // An axis as the lowest digit below x, taken apart at a higher place.
  Expr packed(Expr x) {
    size_t axis = static_cast<size_t>(pick(0, 2));
    Expr number = cx_.add(axes_[axis], cx_.mul(x, extents_[axis]));
    int64_t kind = pick(0, 3);
    Expr rest = kind == 0 ? sizes_[1] : kind == 1 ? unbacked_ : cx_.constant(pick(2, 3));
    Expr place = cx_.mul(extents_[axis], rest);
    return pick(0, 1) ? nonzero(number, &Context::floordiv, place) : nonzero(number, &Context::mod, place);
  }

  void add_axes(const Assignment& outer, std::vector<Assignment>& out) const {
    int64_t lengths[3];
    for (size_t i = 0; i < 3; ++i) lengths[i] = value_of(extents_[i], outer).value();
    for (int64_t i0 = 0; i0 < lengths[0]; ++i0)
      for (int64_t i1 = 0; i1 < lengths[1]; ++i1)
        for (int64_t i2 = 0; i2 < lengths[2]; ++i2) {
          Assignment all = outer;
          all["i0"] = i0, all["i1"] = i1, all["i2"] = i2;
          out.push_back(std::move(all));
        }
  }

  Context& cx_;
  std::mt19937 random_;
  Facts facts_;
  std::vector<Expr> sizes_, axes_, extents_;
  std::vector<Range> ranges_;
  Expr unbacked_;
  Range unbacked_range_;
  int64_t divisor_ = 1;
};

inline std::string describe(const Assignment& values) {
  std::string out;
  for (const auto& [name, value] : values) out += fmt::format("{}={} ", name, value);
  return out;
}

}  // namespace jumar::sym::testing
