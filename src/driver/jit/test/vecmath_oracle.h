// Reference values in a wider type, and the distance to them in units in the last place.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace jumar::driver::jit {

// The value of the function that VecMath calls `name` at (x, y); y matters for functions of two arguments.
// long double keeps at least 11 bits more than f64.
long double oracle(const std::string& name, long double x, long double y);

// |got - want| in ulps of T at `want`. Equal infinities and two NaNs are 0 apart, a NaN against a number is
// infinitely far. A finite `want` that rounds to infinity accepts infinity and the largest number.
template <class T>
double ulp_distance(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(rounded) || std::isnan(got)) {
    return std::isnan(rounded) && std::isnan(got) ? 0 : std::numeric_limits<double>::infinity();
  }
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    const bool same_sign = std::signbit(got) == std::signbit(rounded);
    const T other = std::isinf(got) ? rounded : got;
    const bool edge = std::fabs(other) == std::numeric_limits<T>::max();
    return same_sign && edge ? 1 : std::numeric_limits<double>::infinity();
  }
  const int exponent = want == 0 ? std::numeric_limits<T>::min_exponent - 1 : std::ilogb(want);
  const int clamped = std::max(exponent, std::numeric_limits<T>::min_exponent - 1);
  const long double ulp = std::ldexp(1.0L, clamped - (std::numeric_limits<T>::digits - 1));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want) / ulp);
}

}  // namespace jumar::driver::jit
