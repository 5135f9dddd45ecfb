// Host numbers: floats and bools (as 0 and 1), with Python's arithmetic.
#pragma once

#include <cmath>
#include <limits>

#include "emit/host/wrapper/run.h"
#include "runtime/number_math.h"

namespace jumar::wrapper {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// A size among numbers.
inline double real(Int value) { return static_cast<double>(value.value()); }

inline double checked(runtime::NumberValue value) {
  if (value.problem) fail(FailureKind::kNumber, value.problem);
  return value.value;
}
inline double truediv(double a, double b) { return checked(runtime::number_truediv(a, b)); }
inline double floordiv(double a, double b) { return checked(runtime::number_floordiv(a, b)); }
inline double mod(double a, double b) { return checked(runtime::number_mod(a, b)); }
inline double power(double a, double b) { return checked(runtime::number_pow(a, b)); }
inline double square_root(double a) { return checked(runtime::number_sqrt(a)); }
inline double exponential(double a) { return checked(runtime::number_exp(a)); }
inline double logarithm(double a) { return checked(runtime::number_log(a)); }
inline double min(double a, double b) { return runtime::number_min(a, b); }
inline double max(double a, double b) { return runtime::number_max(a, b); }

// The integer that rounding gave.
inline int64_t whole(double value) {
  int64_t out = 0;
  if (!runtime::number_to_integer(value, out)) fail(FailureKind::kNumber, "a number is beyond 63 bits");
  return out;
}

// A symbol of which a step gives the number.
inline Int bound(int64_t number, const Symbol& symbol, Int coefficient = 1, Int rest = 0) {
  int64_t difference = 0;
  const int64_t divisor = coefficient.value();
  if (divisor == 0 || __builtin_sub_overflow(number, rest.value(), &difference) ||
      (difference == INT64_MIN && divisor == -1))
    fail(FailureKind::kNumber, "a symbol cannot be computed from " + std::to_string(number));
  const int64_t value = difference / divisor;
  if (value < symbol.lo || value > symbol.hi)
    fail(FailureKind::kOpResult, std::string(symbol.name) + " = " + std::to_string(value) +
                                     " is outside the range that the plan was compiled for");
  return value;
}

inline void expect_value(int64_t number, Int value, const char* expression) {
  if (number == value.value()) return;
  fail(FailureKind::kNumber, std::to_string(number) + " is no value of " + expression);
}

template <class T>
T element_of(const Tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.data, sizeof value);
  return value;
}

inline bool has_item(const Tensor& tensor) {
  for (int32_t k = 0; k < tensor.rank; ++k)
    if (tensor.sizes[k] != 1) return false;
  return true;
}

inline bool integer_element(const Tensor& tensor, int64_t& out) {
  const int32_t code = tensor.dtype.code;
  if (code == Bool.code)
    out = element_of<uint8_t>(tensor) != 0;
  else if (code == U8.code)
    out = element_of<uint8_t>(tensor);
  else if (code == I8.code)
    out = element_of<int8_t>(tensor);
  else if (code == I16.code)
    out = element_of<int16_t>(tensor);
  else if (code == I32.code)
    out = element_of<int32_t>(tensor);
  else if (code == I64.code)
    out = element_of<int64_t>(tensor);
  else if (code == U16.code)
    out = element_of<uint16_t>(tensor);
  else if (code == U32.code)
    out = element_of<uint32_t>(tensor);
  else if (code == U64.code)
    out = element_of<int64_t>(tensor);
  else
    return false;
  return code != U64.code || out >= 0;
}

// The element of a tensor that has one.
inline int64_t integer_item(const Tensor& tensor, const char* name) {
  if (!has_item(tensor))
    fail(FailureKind::kOpResult,
         std::string("the item of %") + name + ", which is " + type_text(tensor) + ", is asked for");
  int64_t out = 0;
  if (!integer_element(tensor, out)) fail(FailureKind::kNumber, "a number is beyond 63 bits");
  return out;
}

inline double item(const Tensor& tensor, const char* name) {
  const int32_t code = tensor.dtype.code;
  int64_t integer = 0;
  if (has_item(tensor)) {
    if (code == F64.code) return element_of<double>(tensor);
    if (code == F32.code) return element_of<float>(tensor);
    if (code == F16.code) return runtime::number_of_f16(element_of<uint16_t>(tensor));
    if (code == BF16.code) return runtime::number_of_bf16(element_of<uint16_t>(tensor));
    if (integer_element(tensor, integer)) return static_cast<double>(integer);
  }
  fail(FailureKind::kNumber, std::string("%") + name + " is " + type_text(tensor) + ", which has no item");
}

}  // namespace jumar::wrapper
