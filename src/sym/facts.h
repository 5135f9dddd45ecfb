// What is known about symbols, and what follows from it.
//
//   Facts facts;
//   facts.set_range(s0, {2, 4096});
//   facts.set_extent(i0, s0);  facts.set_extent(i1, cx.constant(256));
//   simplified(cx, (256*i0 + i1)//256, facts)  ->  i0
//   proves_lt(cx, i0, s0, facts)               ->  true
//
// "proves" functions answer true only when the statement holds for every value that the facts admit; false
// means "not known". The rewrite rules are rows of one table (sym/rules.h), each with an id and a proof note.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

#include "sym/expr.h"

namespace jumar::sym {

// A closed interval; the extreme int64 values stand for minus and plus infinity.
struct Range {
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  int64_t lo = kMin;
  int64_t hi = kMax;
  bool operator==(const Range&) const = default;
  bool is_point() const { return lo == hi; }
};

class Facts {
 public:
  // Ranges of one symbol are intersected with what is known already.
  void set_range(Expr symbol, Range range);
  // 0 <= axis < extent.
  void set_extent(Expr axis, Expr extent);
  // symbol == 0 mod divisor.
  void set_divisible(Expr symbol, int64_t divisor);

  Range range(Expr symbol) const;      // everything, when nothing is known
  Expr extent(Expr axis) const;        // empty, when none is known
  int64_t divisor(Expr symbol) const;  // 1, when nothing is known

 private:
  std::unordered_map<Expr, Range> ranges_;
  std::unordered_map<Expr, Expr> extents_;
  std::unordered_map<Expr, int64_t> divisors_;
};

// An interval that holds every value of `e`; arithmetic that leaves 64 bits widens to infinity.
Range bounds(Expr e, const Facts& facts);

bool proves_le(Context& cx, Expr a, Expr b, const Facts& facts);
bool proves_lt(Context& cx, Expr a, Expr b, const Facts& facts);
bool proves_eq(Context& cx, Expr a, Expr b, const Facts& facts);
bool proves_divisible(Context& cx, Expr e, Expr divisor, const Facts& facts);
// For a predicate: 1 proved true, 0 proved false, nothing when not known.
std::optional<bool> proves(Context& cx, Expr predicate, const Facts& facts);

// The same value for every admitted assignment, in the smallest form the rules reach. Idempotent.
Expr simplified(Context& cx, Expr e, const Facts& facts);

// All of the above with memory: for many questions about the same facts, which must not change meanwhile.
class Simplifier {
 public:
  Simplifier(Context& cx, const Facts& facts);
  ~Simplifier();
  Simplifier(const Simplifier&) = delete;
  Simplifier& operator=(const Simplifier&) = delete;

  Expr operator()(Expr e);
  Range bounds(Expr e);
  bool proves_le(Expr a, Expr b);
  bool proves_lt(Expr a, Expr b);
  bool proves_eq(Expr a, Expr b);
  bool proves_divisible(Expr e, Expr divisor);
  std::optional<bool> proves(Expr predicate);

 private:
  std::unique_ptr<class Reasoner> reasoner_;
};

}  // namespace jumar::sym
