// Element types: rounding, integers at their limits, booleans, and the device's own functions.
#include <cmath>
#include <limits>

#include "runtime/sim/half.h"
#include "runtime/sim/test/simulated.h"

namespace jumar::runtime::sim {
namespace {

template <class In, class Out>
std::vector<Out> run_binary(const char* name, std::vector<In> x, std::vector<In> y) {
  std::vector<Out> o(64);
  x.resize(64, In{1});
  y.resize(64, In{1});
  Simulated k(name);
  k.add(x).add(y).add(o);
  EXPECT_EQ(k.run({1, 1, 1}), "") << name;
  return o;
}

const std::vector<float> kFloats = {
    0.0f, 1.0f,    -1.5f,   1e-8f,     65519.0f, 65520.0f, 1e30f,       3.14159265f, 1e-6f,    -2.71828f,
    0.1f, 1024.5f, 2049.0f, -65504.0f, 6e-8f,    3.4e38f,  1.00390625f, 1.01171875f, INFINITY, -INFINITY};

void expect_same(float value, float wanted) {
  EXPECT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted))) << value << " " << wanted;
}

TEST(Types, RoundingToNearest) {
  std::vector<float> zeros(kFloats.size(), 0.0f);
  auto brain = run_binary<float, uint16_t>("f32_to_bf16", kFloats, zeros);
  auto half = run_binary<float, uint16_t>("f32_to_f16", kFloats, zeros);
  for (size_t i = 0; i < kFloats.size(); ++i) {
    EXPECT_EQ(brain[i], brain_bits(kFloats[i])) << kFloats[i];
    EXPECT_EQ(half[i], half_bits(kFloats[i])) << kFloats[i];
  }
  auto none = run_binary<float, uint16_t>("f32_to_bf16", {NAN}, {0.0f});
  EXPECT_TRUE(std::isnan(brain_value(none[0])));
}

TEST(Types, RoundingTowardsZero) {
  std::vector<float> zeros(kFloats.size(), 0.0f);
  auto brain = run_binary<float, uint16_t>("f32_to_bf16_down", kFloats, zeros);
  for (size_t i = 0; i < kFloats.size(); ++i) {
    EXPECT_EQ(brain[i], std::bit_cast<uint32_t>(kFloats[i]) >> 16) << kFloats[i];
  }
}

TEST(Types, EachOperationOfHalvesRounds) {
  std::vector<uint16_t> halves, brains;
  for (float value : kFloats) {
    halves.push_back(half_bits(value));
    brains.push_back(brain_bits(value));
  }
  auto half = run_binary<uint16_t, uint16_t>("f16_arithmetic", halves,
                                             std::vector<uint16_t>(halves.rbegin(), halves.rend()));
  auto brain = run_binary<uint16_t, uint16_t>("bf16_arithmetic", brains,
                                              std::vector<uint16_t>(brains.rbegin(), brains.rend()));
  for (size_t i = 0; i < kFloats.size(); ++i) {
    size_t j = kFloats.size() - 1 - i;
    float a = half_value(halves[i]), b = half_value(halves[j]);
    float wanted = half_value(half_bits(half_value(half_bits(a * b)) + a));
    expect_same(half_value(half[i]), wanted);
    a = brain_value(brains[i]), b = brain_value(brains[j]);
    wanted = brain_value(brain_bits(brain_value(brain_bits(a * b)) + a));
    expect_same(brain_value(brain[i]), wanted);
  }
}

// What Triton's % of floats becomes.
TEST(Types, RemaindersHaveTheSignOfTheDividend) {
  std::vector<float> divisors(kFloats.rbegin(), kFloats.rend());
  const auto found = run_binary<float, float>("f32_remainder", kFloats, divisors);
  for (size_t i = 0; i < kFloats.size(); ++i) expect_same(found[i], std::fmod(kFloats[i], divisors[i]));
}

TEST(Types, HalvesByTheirBits) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    float value = half_value(static_cast<uint16_t>(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(half_bits(value), bits);
    }
  }
  EXPECT_EQ(half_bits(for_rounding(1.0 + 0x1p-11 + 0x1p-40)), half_bits(1.0f) + 1);
  EXPECT_EQ(half_bits(for_rounding(1.0 + 0x1p-11 - 0x1p-40)), half_bits(1.0f));
}

TEST(Types, DivisionWithoutAQuotientDoesNotStop) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  auto o = run_binary<int64_t, int64_t>("i64_arithmetic", {7, 0, 5, kLeast, 12, -7}, {2, 5, 0, -1, -5, 2});
  // x * y / x + x % y, with a quotient x and a rest 0 where y is 0.
  EXPECT_EQ(o[0], 2 + 1);
  EXPECT_EQ(o[1], 0 + 0);
  EXPECT_EQ(o[2], 0 + 0);
  EXPECT_EQ(o[3], 1 + 0);
  EXPECT_EQ(o[4], -5 + 2);
  EXPECT_EQ(o[5], 2 - 1);
}

TEST(Types, Booleans) {
  auto o = run_binary<int8_t, int8_t>("bool_and", {0, 1, 0, 1, 2, -1}, {0, 0, 1, 1, 1, 4});
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(o[i], i >= 3 ? 1 : 0) << i;
}

TEST(Types, HighHalfOfUnsignedProducts) {
  std::vector<int32_t> x = {-1, 0x40000000, 3}, y = {-1, 8, 5};
  auto o = run_binary<int32_t, int32_t>("multiply_high", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    uint64_t product = uint64_t{static_cast<uint32_t>(x[i])} * static_cast<uint32_t>(y[i]);
    EXPECT_EQ(static_cast<uint32_t>(o[i]), product >> 32);
  }
}

TEST(Types, FunctionsOfTheDevice) {
  auto power = run_binary<float, float>("device_power", {2.0f, 3.0f, 0.5f}, {10.0f, 2.0f, -2.0f});
  EXPECT_EQ(power[0], 1024.0f);
  EXPECT_EQ(power[1], 9.0f);
  EXPECT_EQ(power[2], 4.0f);
  auto rest = run_binary<float, float>("remainder", {7.5f, -7.5f, 1.0f}, {2.0f, 2.0f, 0.3f});
  EXPECT_EQ(rest[0], 1.5f);
  EXPECT_EQ(rest[1], -1.5f);
  EXPECT_EQ(rest[2], std::fmod(1.0f, 0.3f));
}

TEST(Types, Histogram) {
  std::vector<int32_t> x(64), zero(64, 0);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int32_t>(i % 5) + (i == 63 ? 1000 : 0);
  auto o = run_binary<int32_t, int32_t>("histogram", x, zero);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(o[i], i < 3 ? 13 : i < 5 ? 12 : 0) << i;
}

}  // namespace
}  // namespace jumar::runtime::sim
