#include "driver/jit/test/vecmath_oracle.h"

#include <gtest/gtest.h>

#include "support/check.h"

namespace jumar::driver::jit {
namespace {

using Wide = long double;

constexpr Wide kPi = 3.14159265358979323846264338327950288L;

// Newton's method on erf, or on erfc where x is close to 1 so that no digits are lost.
Wide inverse_erf(Wide x) {
  if (x == 0 || std::isnan(x)) return x;
  if (std::fabs(x) > 1) return std::numeric_limits<Wide>::quiet_NaN();
  if (std::fabs(x) == 1) return std::copysign(std::numeric_limits<Wide>::infinity(), x);
  const Wide a = std::fabs(x);
  const Wide w = -std::log((1 - a) * (1 + a));
  Wide y = a < 0.5L ? a * std::sqrt(kPi) / 2 : std::sqrt(w) * 0.9L;
  for (int k = 0; k < 100; ++k) {
    const Wide error = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const Wide step = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= step / (1 + step * y);
    if (std::fabs(step) < y * 1e-19L) break;
  }
  return std::copysign(y, x);
}

Wide digamma(Wide x) {
  if (x == 0) return std::copysign(std::numeric_limits<Wide>::infinity(), -x);
  if (x < 0) {
    const Wide fraction = x - std::round(x);
    if (fraction == 0) return std::numeric_limits<Wide>::quiet_NaN();
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  Wide sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  const Wide u = 1 / (x * x);
  const Wide series = u * (1 / 12.0L - u * (1 / 120.0L - u * (1 / 252.0L - u * (1 / 240.0L - u / 132.0L))));
  return sum + std::log(x) - 0.5L / x - series;
}

struct Row {
  const char* name;
  Wide (*value)(Wide, Wide);
};

const Row kRows[] = {
    {"exp", [](Wide x, Wide) { return std::exp(x); }},
    {"exp_nonpositive", [](Wide x, Wide) { return std::exp(x); }},
    {"exp2", [](Wide x, Wide) { return std::exp2(x); }},
    {"expm1", [](Wide x, Wide) { return std::expm1(x); }},
    {"log", [](Wide x, Wide) { return std::log(x); }},
    {"log2", [](Wide x, Wide) { return std::log2(x); }},
    {"log10", [](Wide x, Wide) { return std::log10(x); }},
    {"log1p", [](Wide x, Wide) { return std::log1p(x); }},
    {"pow", [](Wide x, Wide y) { return std::pow(x, y); }},
    {"sqrt", [](Wide x, Wide) { return std::sqrt(x); }},
    {"rsqrt", [](Wide x, Wide) { return 1 / std::sqrt(x); }},
    {"sigmoid", [](Wide x, Wide) { return 1 / (1 + std::exp(-x)); }},
    {"sin", [](Wide x, Wide) { return std::sin(x); }},
    {"cos", [](Wide x, Wide) { return std::cos(x); }},
    {"tan", [](Wide x, Wide) { return std::tan(x); }},
    {"asin", [](Wide x, Wide) { return std::asin(x); }},
    {"acos", [](Wide x, Wide) { return std::acos(x); }},
    {"atan", [](Wide x, Wide) { return std::atan(x); }},
    {"atan2", [](Wide x, Wide y) { return std::atan2(x, y); }},
    {"sinh", [](Wide x, Wide) { return std::sinh(x); }},
    {"cosh", [](Wide x, Wide) { return std::cosh(x); }},
    {"tanh", [](Wide x, Wide) { return std::tanh(x); }},
    {"tanh_fast", [](Wide x, Wide) { return std::tanh(x); }},
    {"asinh", [](Wide x, Wide) { return std::asinh(x); }},
    {"acosh", [](Wide x, Wide) { return std::acosh(x); }},
    {"atanh", [](Wide x, Wide) { return std::atanh(x); }},
    {"erf", [](Wide x, Wide) { return std::erf(x); }},
    {"erf_fast", [](Wide x, Wide) { return std::erf(x); }},
    {"erfc", [](Wide x, Wide) { return std::erfc(x); }},
    {"erfinv", [](Wide x, Wide) { return inverse_erf(x); }},
    {"lgamma", [](Wide x, Wide) { return std::lgamma(x); }},
    {"digamma", [](Wide x, Wide) { return digamma(x); }},
    {"floor", [](Wide x, Wide) { return std::floor(x); }},
    {"ceil", [](Wide x, Wide) { return std::ceil(x); }},
    {"trunc", [](Wide x, Wide) { return std::trunc(x); }},
    {"round_half_even", [](Wide x, Wide) { return std::nearbyint(x); }},
    {"abs", [](Wide x, Wide) { return std::fabs(x); }},
    {"fmod", [](Wide x, Wide y) { return std::fmod(x, y); }},
    {"maximum", [](Wide x, Wide y) { return std::isnan(y) || y > x ? y : x; }},
    {"minimum", [](Wide x, Wide y) { return std::isnan(y) || y < x ? y : x; }},
};

}  // namespace

long double oracle(const std::string& name, long double x, long double y) {
  for (const Row& row : kRows) {
    if (name == row.name) return row.value(x, y);
  }
  CHECK(false, "no oracle for '{}'", name);
}

namespace {

TEST(Oracle, InversesAndRecurrences) {
  for (const Wide x : {1e-10L, 0.1L, 0.5L, 0.9L, 1 - 0x1p-53L}) {
    const Wide y = inverse_erf(x);
    EXPECT_LT(std::fabs(std::erf(y) / x - 1), 1e-18L) << static_cast<double>(x);
  }
  EXPECT_LT(std::fabs(digamma(1) + 0.57721566490153286060651209008240243L), 1e-18L);
  EXPECT_LT(std::fabs(digamma(0.3L) + 1 / 0.3L - digamma(1.3L)), 1e-17L);
}

TEST(Oracle, UlpDistance) {
  EXPECT_EQ(ulp_distance(1.0f, 1.0L), 0);
  EXPECT_EQ(ulp_distance(1.0f + 0x1p-22f, 1.0L), 2);
  EXPECT_EQ(ulp_distance(0x1p-149f, 0x1p-148L), 1);
  EXPECT_TRUE(std::isinf(ulp_distance(std::nanf(""), 1.0L)));
  EXPECT_EQ(ulp_distance(std::numeric_limits<float>::infinity(), 1e39L), 0);
  EXPECT_NEAR(ulp_distance(1.0f, 1.0L + 0x1p-25L), 0.25, 1e-9);
}

}  // namespace
}  // namespace jumar::driver::jit
