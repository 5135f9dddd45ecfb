// Sizes: 64-bit integers whose arithmetic fails instead of leaving 64 bits.
//
//   Int s0 = 128;
//   Int blocks = floordiv(s0 + 63, 64);
//
// floordiv rounds to minus infinity and mod has the divisor's sign. Comparisons give 0 or 1, and both sides
// of
// && and || are computed.
#pragma once

#include <cstdint>

#include "emit/host/wrapper/failure.h"

namespace jumar::wrapper {

class Int {
 public:
  Int() = default;
  constexpr Int(int64_t value) : value_(value) {}
  constexpr Int(int value) : value_(value) {}
  constexpr int64_t value() const { return value_; }

  friend Int operator+(Int a, Int b) {
    Int out;
    if (__builtin_add_overflow(a.value_, b.value_, &out.value_)) fail_number();
    return out;
  }
  friend Int operator-(Int a, Int b) {
    Int out;
    if (__builtin_sub_overflow(a.value_, b.value_, &out.value_)) fail_number();
    return out;
  }
  friend Int operator*(Int a, Int b) {
    Int out;
    if (__builtin_mul_overflow(a.value_, b.value_, &out.value_)) fail_number();
    return out;
  }
  friend Int operator-(Int a) { return Int(0) - a; }
  friend Int operator==(Int a, Int b) { return int64_t{a.value_ == b.value_}; }
  friend Int operator!=(Int a, Int b) { return int64_t{a.value_ != b.value_}; }
  friend Int operator<(Int a, Int b) { return int64_t{a.value_ < b.value_}; }
  friend Int operator<=(Int a, Int b) { return int64_t{a.value_ <= b.value_}; }
  friend Int operator&&(Int a, Int b) { return int64_t{a.value_ != 0 && b.value_ != 0}; }
  friend Int operator||(Int a, Int b) { return int64_t{a.value_ != 0 || b.value_ != 0}; }
  friend Int operator!(Int a) { return int64_t{a.value_ == 0}; }

 private:
  int64_t value_ = 0;
};

struct Quotient {
  int64_t quotient;
  int64_t rest;
};
inline Quotient divided(Int a, Int b) {
  if (b.value() == 0 || (a.value() == INT64_MIN && b.value() == -1)) fail_number();
  Quotient out{a.value() / b.value(), a.value() % b.value()};
  if (out.rest != 0 && (out.rest < 0) != (b.value() < 0)) {
    --out.quotient;
    out.rest += b.value();
  }
  return out;
}
inline Int floordiv(Int a, Int b) { return divided(a, b).quotient; }
inline Int mod(Int a, Int b) { return divided(a, b).rest; }
inline Int min(Int a, Int b) { return b.value() < a.value() ? b : a; }
inline Int max(Int a, Int b) { return b.value() > a.value() ? b : a; }

// Raises when the condition of the graph does not hold.
inline void check_holds(Int condition, const char* message) {
  if (condition.value() == 0) fail(FailureKind::kCheck, message);
}

}  // namespace jumar::wrapper
