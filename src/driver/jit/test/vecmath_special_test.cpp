// Special arguments, the slow paths, and the independence of results from lane count and processor.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "driver/jit/test/vecmath_harness.h"
#include "driver/jit/test/vecmath_oracle.h"

namespace jumar::driver::jit {
namespace {

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (const T x : {T{0},
                    Limits::infinity(),
                    Limits::denorm_min(),
                    5 * Limits::denorm_min(),
                    Limits::min(),
                    T{1e-20},
                    T{0.25},
                    T{0.5},
                    T{1},
                    std::nextafter(T{1}, T{2}),
                    std::nextafter(T{1}, T{0}),
                    T{1.5},
                    T{2},
                    T{2.5},
                    T{3},
                    T{8},
                    T{33},
                    T{150},
                    T{800},
                    T{1e9},
                    T(16777217),
                    T(9007199254740993),
                    T{1e30},
                    Limits::max()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  values.push_back(Limits::quiet_NaN());
  return values;
}

// Exactly the same result where the oracle's is NaN, infinite or zero; otherwise close.
template <class T>
void expect_like_oracle(const std::string& name, T x, T y, T got) {
  const long double wide = oracle(name, x, y);
  const T want = static_cast<T>(wide);
  const std::string what = fmt::format("{}({}, {}) = {}, expected {}", name, x, y, got, want);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what;
  } else if (want == 0 && wide == 0) {
    EXPECT_TRUE(got == 0 && std::signbit(got) == std::signbit(want)) << what;
  } else if (name == "sigmoid" && std::fabs(wide) < 2 * std::numeric_limits<T>::min()) {
    EXPECT_TRUE(got >= 0 && got < 2 * std::numeric_limits<T>::min()) << what;
  } else {
    EXPECT_LE(ulp_distance(got, wide), name == "digamma" || name == "lgamma" ? 64 : 8) << what;
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << what;
  }
}

template <class T>
void check_specials(const MathFunction& function) {
  std::vector<T> x;
  std::vector<T> y;
  for (const T a : special_values<T>()) {
    if (function.name == "exp_nonpositive" && (a > 0 || (a < -80 && std::isfinite(a)))) continue;
    // No formula in one precision has a relative error here; the accuracy test bounds the absolute one.
    if (function.name == "digamma" && a < -1e6 && std::isfinite(a)) continue;
    for (const T b : function.arity == 2 ? special_values<T>() : std::vector<T>{1}) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  Harness harness(host_cpu_target().value());
  const std::vector<T> got = harness.run<T>(function, 8, x, y);
  for (size_t k = 0; k < x.size(); ++k) expect_like_oracle<T>(function.name, x[k], y[k], got[k]);
}

class EveryFunction : public testing::TestWithParam<std::string> {
 protected:
  const MathFunction& function() const { return find_function(GetParam()); }
  bool is_fast() const { return function().accuracy != emit::cpu::Accuracy::kDefault; }
};

TEST_P(EveryFunction, TreatsSpecialArgumentsLikeEager) {
  check_specials<float>(function());
  if (!is_fast()) check_specials<double>(function());
}

// Arguments of all sizes, so that lanes in and out of the fast range stand side by side.
template <class T>
std::vector<T> mixed(unsigned seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<T> values = special_values<T>();
  std::uniform_real_distribution<double> exponent(-12, 37);
  while (static_cast<int>(values.size()) < count) {
    const double x = std::pow(10, exponent(random)) * (random() % 2 == 0 ? 1 : -1);
    values.push_back(static_cast<T>(random() % 2 == 0 ? x : std::fmod(x, 3)));
  }
  return values;
}

template <class T>
std::vector<uint64_t> bit_patterns(const std::vector<T>& values) {
  std::vector<uint64_t> result;
  for (const T x : values) {
    if constexpr (sizeof(T) == 8) {
      result.push_back(std::isnan(x) ? ~uint64_t{0} : std::bit_cast<uint64_t>(x));
    } else {
      result.push_back(std::isnan(x) ? ~uint64_t{0} : std::bit_cast<uint32_t>(x));
    }
  }
  return result;
}

template <class T>
void check_lanes(const MathFunction& function) {
  std::vector<T> x = mixed<T>(1, 300);
  std::vector<T> y = mixed<T>(2, 300);
  if (function.name == "exp_nonpositive") {
    for (T& value : x) value = value > 0 ? -value : value;
  }
  std::vector<uint64_t> first;
  for (const char* target : {"host", "x86-64-v3"}) {
    const CpuTarget cpu = cpu_target(target).value();
    if (cpu.is_x86() != host_cpu_target().value().is_x86()) continue;
    Harness harness(cpu);
    for (const int lanes : {1, 2, 4, 8, 16}) {
      const std::vector<uint64_t> got = bit_patterns(harness.run<T>(function, lanes, x, y));
      if (first.empty()) first = got;
      EXPECT_EQ(got, first) << function.name << " " << target << " with " << lanes << " lanes";
    }
  }
}

TEST_P(EveryFunction, GivesTheSameBitsForAnyLaneCountAndProcessor) {
  check_lanes<float>(function());
  if (!is_fast()) check_lanes<double>(function());
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const MathFunction& function : math_functions()) result.push_back(function.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(VecMath, EveryFunction, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(VecMath, SlowRemainderIsExactForAllSizes) {
  std::mt19937_64 random(7);
  std::vector<double> x;
  std::vector<double> y;
  while (x.size() < 20000) {
    const auto a = std::bit_cast<double>(random());
    const auto b = std::bit_cast<double>(random() >> (random() % 14));
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    x.push_back(a);
    y.push_back(b);
  }
  Harness harness(host_cpu_target().value());
  const std::vector<double> got = harness.run<double>(find_function("fmod"), 4, x, y);
  for (size_t k = 0; k < x.size(); ++k) {
    const double want = std::fmod(x[k], y[k]);
    ASSERT_EQ(std::bit_cast<uint64_t>(got[k]), std::bit_cast<uint64_t>(want))
        << fmt::format("{:a} {:a}", x[k], y[k]);
  }
}

TEST(VecMath, NanWinsInMaximumAndMinimum) {
  Harness harness(host_cpu_target().value());
  const std::vector<float> x = {NAN, 1, NAN, 0.0f, -0.0f};
  const std::vector<float> y = {1, NAN, NAN, -0.0f, 0.0f};
  for (const char* name : {"maximum", "minimum"}) {
    const std::vector<float> got = harness.run<float>(find_function(name), 8, x, y);
    EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[1]) && std::isnan(got[2])) << name;
    EXPECT_FALSE(std::signbit(got[3])) << name;
    EXPECT_TRUE(std::signbit(got[4])) << name;
  }
}

}  // namespace
}  // namespace jumar::driver::jit
