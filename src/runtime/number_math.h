// Arithmetic of host numbers with Python's meaning: where Python raises, the value comes with a problem. Only
// the standard library is used, because written programs (emit/host/wrapper) carry a copy.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace jumar::runtime {

struct NumberValue {
  double value = 0;
  const char* problem = nullptr;
};

// Python's float modulo: the result has the divisor's sign.
inline double python_mod(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return rest == 0 ? std::copysign(0.0, b) : rest;
}

inline double python_floordiv(double a, double b) {
  double quotient = (a - python_mod(a, b)) / b;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

inline NumberValue number_truediv(double a, double b) {
  if (b == 0) return {0, "division by zero"};
  return {a / b};
}
inline NumberValue number_floordiv(double a, double b) {
  if (b == 0) return {0, "division by zero"};
  return {python_floordiv(a, b)};
}
inline NumberValue number_mod(double a, double b) {
  if (b == 0) return {0, "division by zero"};
  return {python_mod(a, b)};
}

inline NumberValue number_pow(double a, double b) {
  if (a == 0 && b < 0) return {0, "0.0 cannot be raised to a negative power"};
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
    return {0, "a negative number raised to a fractional power is complex"};
  double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return {0, "result too large"};
  return {result};
}

inline NumberValue number_sqrt(double a) {
  if (a < 0) return {0, "square root of a negative number"};
  return {std::sqrt(a)};
}
inline NumberValue number_exp(double a) {
  double result = std::exp(a);
  if (std::isinf(result) && std::isfinite(a)) return {0, "result too large"};
  return {result};
}
inline NumberValue number_log(double a) {
  if (a <= 0) return {0, "logarithm of a number that is not positive"};
  return {std::log(a)};
}

// As Python's min and max choose where one is no number.
inline double number_min(double a, double b) { return b < a ? b : a; }
inline double number_max(double a, double b) { return b > a ? b : a; }

// False where `whole` is not within 64 bits.
inline bool number_to_integer(double whole, int64_t& out) {
  if (!(whole >= -0x1p63 && whole < 0x1p63)) return false;
  out = static_cast<int64_t>(whole);
  return true;
}

inline double number_of_bf16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

inline double number_of_f16(uint16_t bits) {
  double sign = bits >> 15 ? -1.0 : 1.0;
  int exponent = bits >> 10 & 0x1f;
  int fraction = bits & 0x3ff;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

}  // namespace jumar::runtime
