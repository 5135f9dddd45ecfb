// Measures every function of VecMath against a wider type and holds it to the bounds of docs/vecmath.md.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "driver/jit/test/vecmath_harness.h"
#include "driver/jit/test/vecmath_oracle.h"

namespace jumar::driver::jit {
namespace {

// Where a function is sampled evenly, besides all finite numbers with evenly spread bit patterns.
struct Domain {
  const char* name;
  double low;
  double high;
  // Arguments outside give NaN or a constant by definition; they are checked as special values only.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  // The second argument's even range.
  double low_y = 0;
  double high_y = 0;
};

const Domain kDomains[] = {
    {"exp", -110, 95},
    {"exp_nonpositive", -87, 0, -87, 0},
    {"exp2", -155, 135},
    {"expm1", -20, 95},
    {"log", 0, 10, 0},
    {"log2", 0, 10, 0},
    {"log10", 0, 10, 0},
    {"log1p", -1, 3, -1},
    {"pow", 0, 8, -1e30, 1e30, -40, 40},
    {"sqrt", 0, 10, 0},
    {"rsqrt", 0, 10, 0},
    {"sigmoid", -90, 40},
    {"sin", -100, 100},
    {"cos", -100, 100},
    {"tan", -100, 100},
    {"asin", -1, 1, -1, 1},
    {"acos", -1, 1, -1, 1},
    {"atan", -6, 6},
    {"atan2", -4, 4, -1e300, 1e300, -4, 4},
    {"sinh", -90, 90},
    {"cosh", -90, 90},
    {"tanh", -10, 10},
    {"tanh_fast", -10, 10},
    {"asinh", -10, 10},
    {"acosh", 1, 10, 1},
    {"atanh", -1, 1, -1, 1},
    {"erf", -6, 6},
    {"erf_fast", -6, 6},
    {"erfc", -6, 11},
    {"erfinv", -1, 1, -1, 1},
    {"lgamma", -20, 60},
    {"digamma", -20, 60, -100},
    {"floor", -100, 100},
    {"ceil", -100, 100},
    {"trunc", -100, 100},
    {"round_half_even", -100, 100},
    {"abs", -100, 100},
    {"fmod", -100, 100, -1e300, 1e300, -10, 10},
    {"maximum", -100, 100, -1e300, 1e300, -100, 100},
    {"minimum", -100, 100, -1e300, 1e300, -100, 100},
};

template <class T>
T of_bits(uint64_t bits) {
  if constexpr (sizeof(T) == 8) return std::bit_cast<double>(bits);
  return std::bit_cast<float>(static_cast<uint32_t>(bits >> 32));
}

template <class T>
struct Samples {
  std::vector<T> x;
  std::vector<T> y;
};

template <class T>
Samples<T> samples(const Domain& domain, int count) {
  std::mt19937_64 random(12345);
  const auto even = [&](double low, double high) {
    return static_cast<T>(std::uniform_real_distribution<double>(low, high)(random));
  };
  Samples<T> result;
  const auto add = [&](T x, T y) {
    if (!std::isfinite(x) || !std::isfinite(y) || x < domain.least || x > domain.most) return;
    result.x.push_back(x);
    result.y.push_back(y);
  };
  for (int k = 0; k < count; ++k) {
    add(even(domain.low, domain.high), even(domain.low_y, domain.high_y));
    add(of_bits<T>(random()), of_bits<T>(random()));
    // Around 1, where logarithms and powers cancel, and where quotients are near integers.
    add(static_cast<T>(1 + even(-1, 1) / (1 << (k % 24))),
        even(domain.low_y, domain.high_y) * (1 + k % 1000));
  }
  // Multiples of pi/2, where reduction cancels most, and integers and halves.
  for (int k = -2000; k <= 2000; ++k) {
    for (const double base : {k * 1.57079632679489661923, k * 0.5, k * 1e5 * 1.57079632679489661923}) {
      add(static_cast<T>(base), static_cast<T>(k * 0.25));
      add(std::nextafter(static_cast<T>(base), T{1e9}), static_cast<T>(3));
    }
  }
  return result;
}

// Next to zeros that no formula in one precision resolves, errors count relative to the parts whose
// difference is small: to at least 1 for digamma, and to lgamma(1 - x) for negative x.
long double least_scale(const std::string& name, double x) {
  if (name == "digamma") return 1;
  if (name == "lgamma" && x < 0) return std::max(1.0L, std::lgamma(1 - static_cast<long double>(x)));
  return 0;
}

// Functions that may return 0 instead of a subnormal number.
bool flushes(const std::string& name) { return name == "sigmoid" || name == "exp_nonpositive"; }

template <class T>
double error_of(const std::string& name, T x, T got, long double want) {
  const double distance = static_cast<double>(std::fabs(got - want));
  const long double scale = least_scale(name, x);
  if (std::fabs(want) < scale && std::isfinite(got) && std::isfinite(scale)) {
    return distance / (std::numeric_limits<T>::epsilon() * std::exp2(std::floor(std::log2(scale))));
  }
  if (flushes(name) && std::fabs(want) < std::numeric_limits<T>::min() && std::isfinite(got)) {
    return distance / std::numeric_limits<T>::min();
  }
  return ulp_distance(got, want);
}

template <class T>
struct Worst {
  double ulp = 0;
  T x = 0;
  T y = 0;
  T got = 0;
};

template <class T>
Worst<T> measured(Harness& harness, const MathFunction& function, const Domain& domain, int lanes,
                  int count) {
  const Samples<T> points = samples<T>(domain, count);
  const std::vector<T> got = harness.run<T>(function, lanes, points.x, points.y);
  Worst<T> worst;
  for (size_t k = 0; k < got.size(); ++k) {
    const T x = points.x[k];
    const long double want = oracle(function.name, x, points.y[k]);
    const double ulp = error_of(function.name, x, got[k], want);
    if (!(ulp <= worst.ulp)) worst = {ulp, x, points.y[k], got[k]};
  }
  return worst;
}

// The rows of the table in docs/vecmath.md: | `name` | f32 ulp | f64 ulp | ...
std::map<std::string, std::pair<double, double>> documented_bounds() {
  std::ifstream file(JUMAR_SOURCE_DIR "/docs/vecmath.md");
  std::map<std::string, std::pair<double, double>> bounds;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(3));
    std::string name;
    std::string f32;
    std::string f64;
    std::getline(cells, name, '`');
    std::getline(cells, f32, '|');
    std::getline(cells, f32, '|');
    std::getline(cells, f64, '|');
    bounds[name] = {std::stod(f32), f64.find('-') != std::string::npos ? -1 : std::stod(f64)};
  }
  return bounds;
}

class Accuracy : public testing::TestWithParam<Domain> {};

TEST_P(Accuracy, StaysWithinTheDocumentedBound) {
  const Domain domain = GetParam();
  const MathFunction& function = find_function(domain.name);
  const auto bounds = documented_bounds();
  ASSERT_TRUE(bounds.contains(domain.name)) << "docs/vecmath.md has no row for " << domain.name;
  const auto [bound_f32, bound_f64] = bounds.at(domain.name);
  Harness harness(host_cpu_target().value());
  constexpr int kCount = 100000;
  const Worst<float> f32 = measured<float>(harness, function, domain, 8, kCount);
  EXPECT_LE(f32.ulp, bound_f32) << fmt::format("f32 {}({}, {}) = {}", domain.name, f32.x, f32.y, f32.got);
  std::string line = fmt::format("{:16} f32 {:6.3f} (bound {})", domain.name, f32.ulp, bound_f32);
  if (bound_f64 >= 0) {
    const Worst<double> f64 = measured<double>(harness, function, domain, 4, kCount);
    EXPECT_LE(f64.ulp, bound_f64) << fmt::format("f64 {}({}, {}) = {}", domain.name, f64.x, f64.y, f64.got);
    line += fmt::format("  f64 {:6.3f} (bound {})", f64.ulp, bound_f64);
  }
  fmt::print("{}\n", line);
}

INSTANTIATE_TEST_SUITE_P(VecMath, Accuracy, testing::ValuesIn(kDomains),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace jumar::driver::jit
