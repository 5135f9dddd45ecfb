// Accesses outside of arguments are found, named and not made.
#include <cmath>

#include "runtime/sim/test/simulated.h"

namespace jumar::runtime::sim {
namespace {

TEST(Faults, MissingMaskReads) {
  std::vector<float> x(1000, 1.0f), o(1024, 0.0f);
  Simulated k("add_no_mask");
  k.add_pointer(x.data(), 1000).add(o);
  EXPECT_EQ(
      k.run({16, 1, 1}),
      "kernel add_no_mask, block 15: reads elements 960 to 1023 of argument 0 (f32), which has 1000 elements "
      "(line 9 of its linalg)");
  EXPECT_EQ(k.fault().size, 1000);
}

TEST(Faults, MissingMaskWritesNothing) {
  std::vector<float> x(1024, 1.0f), o(1024, -1.0f);
  Simulated k("add_no_mask");
  k.add(x).add_pointer(o.data(), 1000);
  std::string text = k.run({16, 1, 1}, 4);
  EXPECT_NE(text.find("block 15: writes elements 960 to 1023 of argument 1 (f32), which has 1000"),
            std::string::npos)
      << text;
  EXPECT_EQ(k.fault().kind, JUMAR_SIM_WRITE);
  for (size_t i = 960; i < o.size(); ++i) EXPECT_EQ(o[i], -1.0f);
}

TEST(Faults, WrongLimitOfAMask) {
  std::vector<float> x(100), y(100), o(100);
  Simulated k("add_mask");
  k.add(x).add(y).add(o).add(int64_t{101});
  std::string text = k.run({2, 1, 1});
  EXPECT_NE(text.find("block 1: reads elements 64 to 100 of argument 0"), std::string::npos) << text;
}

// A load backwards becomes a loop over single elements that reads what its mask excludes, too.
TEST(Faults, NegativeAddress) {
  std::vector<float> x(200), o(200);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  Simulated k("reversed");
  k.add(x).add(o).add(int64_t{128});
  EXPECT_EQ(k.run({2, 1, 1}), "");
  for (size_t i = 0; i < 128; ++i) EXPECT_EQ(o[i], static_cast<float>(127 - i));
  Simulated tail("reversed");
  tail.add(x).add(o).add(int64_t{130});
  std::string text = tail.run({3, 1, 1});
  EXPECT_NE(text.find("block 2: reads element -1 of argument 0 (f32), which has 200"), std::string::npos)
      << text;
}

TEST(Faults, IndexOfAGather) {
  std::vector<float> x(10), o(64);
  std::vector<int64_t> index(64, 3);
  index[40] = 10;
  Simulated k("gather");
  k.add(x).add(index).add(o).add(int64_t{64});
  std::string text = k.run({1, 1, 1});
  EXPECT_NE(text.find("reads element 10 of argument 0 (f32), which has 10"), std::string::npos) << text;
  index[40] = -1;
  text = k.run({1, 1, 1});
  EXPECT_NE(text.find("reads element -1 of argument 0"), std::string::npos) << text;
}

TEST(Faults, AFaultEndsTheBlock) {
  // The loop after the load never ends with what lies behind the argument.
  std::vector<float> x(64, 1.0f), o(1);
  Simulated k("endless");
  k.add_pointer(x.data(), 63).add(o);
  std::string text = k.run({1, 1, 1});
  EXPECT_NE(text.find("reads elements 0 to 63 of argument 0"), std::string::npos) << text;
}

TEST(Faults, UnsetLanesAreNaN) {
  std::vector<float> x(64, 1.0f), o(64);
  Simulated k("unset_lanes");
  k.add(x).add(o).add(int64_t{40});
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_EQ(k.run({1, 1, 1}), "");
    for (size_t i = 0; i < o.size(); ++i) EXPECT_EQ(std::isnan(o[i]), i >= 40) << i;
  }
}

TEST(Faults, DeviceAssertion) {
  std::vector<float> x(64, 1.0f), y(64, 2.0f), o(64);
  Simulated k("asserts");
  k.add(x).add(y).add(o);
  EXPECT_EQ(k.run({1, 1, 1}), "");
  EXPECT_EQ(o[0], 1.0f);
  y[50] = 0;
  std::string text = k.run({1, 1, 1});
  EXPECT_NE(text.find("kernel asserts, block 0: a device assertion failed"), std::string::npos) << text;
}

TEST(Faults, ErrorsOfTextsNameThePlace) {
  jumar_sim_kernel* kernel = nullptr;
  EXPECT_NE(compile("module { func.func @k() {", &kernel).find("can't be read"), std::string::npos);
  EXPECT_NE(compile("module {}", &kernel).find("no kernel"), std::string::npos);
  std::string text = kernel_text("add_no_mask");
  std::string other = text;
  other.replace(text.find("arith.addf"), 10, "hfusion.no");
  std::string error = compile(other, &kernel);
  EXPECT_NE(error.find("hfusion.no"), std::string::npos) << error;
  EXPECT_EQ(kernel, nullptr);
}

}  // namespace
}  // namespace jumar::runtime::sim
