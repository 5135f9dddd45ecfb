#include <cmath>
#include <limits>
#include <numbers>

#include "loop/scalar_eval.h"

namespace jumar::loop {

// Solves erf(y) = x by Halley's method from Winitzki's estimate, on the upper tail through erfc, which keeps
// its digits there: with f = erf(y) - x, f' = 2/sqrt(pi)*exp(-y*y) and f'' = -2*y*f', the step is (f/f')/(1 +
// y*(f/f')).
double erfinv(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return std::numeric_limits<double>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (x == 0) return x;
  double magnitude = std::fabs(x);
  double tail = 1 - magnitude;  // exact from 1/2 on
  double log_term = std::log(tail * (1 + magnitude));
  double a = 0.147;
  double half = 2 / (std::numbers::pi * a) + log_term / 2;
  double y = std::sqrt(std::sqrt(half * half - log_term / a) - half);
  for (int step = 0; step < 4; ++step) {
    double error = magnitude < 0.5 ? std::erf(y) - magnitude : tail - std::erfc(y);
    double ratio = error / (2 * std::numbers::inv_sqrtpi * std::exp(-y * y));
    y -= ratio / (1 + y * ratio);
  }
  return std::copysign(y, x);
}

// The asymptotic series log(x) - 1/(2x) - sum B(2k)/(2k*x^(2k)) from x = 12 on; below, digamma(x) is
// digamma(x + 1) - 1/x; negative arguments are reflected: digamma(1 - x) - digamma(x) = pi/tan(pi*x).
double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0) {
    double whole = std::trunc(x);
    if (x == whole) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * (x - whole));
  }
  double result = 0;
  while (x < 12) {
    result -= 1 / x;
    x += 1;
  }
  if (std::isinf(x)) return x;
  double inverse = 1 / (x * x);
  constexpr double kCoefficients[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                      1.0 / 132, -691.0 / 32760, 1.0 / 12};
  double series = 0;
  for (int k = 6; k >= 0; --k) series = inverse * (kCoefficients[k] + series);
  return result + std::log(x) - 0.5 / x - series;
}

}  // namespace jumar::loop
