// Pointwise kernels: values, grids, threads, element types, and accesses outside of arguments.
#include <cmath>
#include <numeric>

#include "runtime/sim/half.h"
#include "runtime/sim/test/simulated.h"

namespace jumar::runtime::sim {
namespace {

std::vector<float> ramp(int64_t size, float step = 0.01f) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i) values[i] = step * static_cast<float>(static_cast<int64_t>(i * 7 % 101) - 50);
  return values;
}

void expect_close(float value, float wanted, float tolerance = 1e-6f) {
  EXPECT_LE(std::fabs(value - wanted), tolerance * (1 + std::fabs(wanted))) << value << " " << wanted;
}

TEST(Pointwise, MaskedTailOnGridsAndThreads) {
  for (int64_t n : {int64_t{1}, int64_t{63}, int64_t{64}, int64_t{65}, int64_t{3000}}) {
    std::vector<float> x = ramp(n), y = ramp(n, 0.02f), o(x.size(), -1.0f);
    Simulated k("add_mask");
    k.add(x).add(y).add(o).add(n);
    EXPECT_EQ(k.run({(n + 63) / 64, 1, 1}, 3), "");
    for (size_t i = 0; i < x.size(); ++i) expect_close(o[i], std::exp(x[i] + y[i]));
  }
}

TEST(Pointwise, PersistentBlocksForEveryCoreLimit) {
  for (int64_t cores : {1, 7, 48}) {
    std::vector<float> x = ramp(5000), o(x.size());
    Simulated k("persistent");
    k.add(x).add(o).add(int64_t{5000});
    EXPECT_EQ(k.run({cores, 1, 1}, 4), "");
    for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(o[i], x[i] * x[i]);
  }
}

TEST(Pointwise, BlockNumbersAreTheDevicesOrder) {
  std::vector<int32_t> o(3 * 4 * 5);
  Simulated k("grid3");
  k.add(o);
  EXPECT_EQ(k.run({3, 4, 5}, 2), "");
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y < 4; ++y) {
      for (int z = 0; z < 5; ++z) EXPECT_EQ(o[static_cast<size_t>((x * 4 + y) * 5 + z)], (x * 100 + y) * 100 + z);
    }
  }
}

TEST(Pointwise, OneBlockAlone) {
  std::vector<int32_t> o(3 * 4 * 5, -1);
  Simulated k("grid3");
  k.add(o);
  jumar_sim_fault fault = {};
  int64_t words[] = {reinterpret_cast<int64_t>(o.data()), reinterpret_cast<int64_t>(&fault), 3, 4, 5, 60};
  jumar_sim_kernel* kernel = nullptr;
  ASSERT_EQ(compile(kernel_text("grid3"), &kernel), "");
  jumar_sim_function(kernel)(33, 34, reinterpret_cast<void**>(words));
  jumar_sim_destroy(kernel);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(o[static_cast<size_t>(i)], i == 33 ? 10203 : -1);
}

TEST(Pointwise, ScalarArgumentsOfEveryFloatType) {
  for (const char* name : {"axpy_f32", "axpy_f16", "axpy_bf16"}) {
    for (int floats_last : {0, 1}) {
      jumar_sim_options options = {};
      options.floats_last = floats_last;
      std::vector<float> x = ramp(100), o(x.size());
      Simulated k(name, &options);
      double factor = 1.0 / 3;
      k.add(x).add(o).add(factor).add(int64_t{100});
      EXPECT_EQ(k.run({2, 1, 1}), "");
      float rounded = static_cast<float>(factor);
      if (k.info().arguments[2].type == std::string("f16")) rounded = half_value(half_bits(rounded));
      if (k.info().arguments[2].type == std::string("bf16")) rounded = brain_value(brain_bits(rounded));
      for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(o[i], x[i] * rounded);
    }
  }
}

}  // namespace
}  // namespace jumar::runtime::sim
