#include "runtime/cores.h"

#include "runtime/test/support.h"

namespace jumar::runtime {
namespace {

// Each of c0 units writes how many there are: args y; ints c0, c1.
void kernel_counts(int64_t begin, int64_t end, void** args) {
  float* y = static_cast<float*>(args[0]);
  int64_t counts[2];
  std::memcpy(counts, &args[1], sizeof counts);
  for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(100 * counts[0] + counts[1]);
}

constexpr const char* kCounts = R"(plan @m symbols(s0 in [0, 99], c0 in [1, 64], c1 in [1, 64]) {
  %x: f32[s0] = input 0
  %t: f32[c0] = arena
  %y: f32[c0] = output
  bind s0 = size(%x, 0)
  bind c0 = cores(vector)
  bind c1 = cores(cube)
  launch @counts(%t; c0, c1) units c0 grain 1
  launch @double(%t, %y) units c0 grain 1
  return %y, min(c0, s0)
})";

Result<std::shared_ptr<const PreparedPlan>> prepared_for(const char* text,
                                                         std::shared_ptr<const Cores> cores) {
  Result<plan::Plan> plan = plan::read_plan(text);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  Engine engine;
  engine.pool = Pool::create(1 << 20);
  engine.cores = std::move(cores);
  const auto kernels = [](std::string_view name) {
    return name == "counts" ? kernel_counts : test_kernel(name);
  };
  return PreparedPlan::prepare(std::move(*plan), kernels, engine);
}

// Limits as a user would give them to an Ascend950PR_9589 (32 and 64 cores) and to an Ascend910B1 (24 and
// 48).
TEST(Cores, ACallUsesTheCountsOfItsBegin) {
  auto cores = std::make_shared<Cores>(CoreCounts{32, 64});
  auto plan = prepared_for(kCounts, cores);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  HostData x = HostData::f32({5}, {1, 2, 3, 4, 5});
  for (const CoreCounts counts :
       {CoreCounts{32, 64}, CoreCounts{14, 28}, CoreCounts{1, 1}, CoreCounts{24, 48}, CoreCounts{14, 28}}) {
    cores->set(counts);
    for (int round = 0; round < 2; ++round) {
      Ran run = ran(**plan, {x.input()});
      ASSERT_FALSE(run.error) << run.error->message;
      const auto each = static_cast<float>(2 * (100 * counts.vector + counts.cube));
      EXPECT_EQ(elements<float>(run.outputs[0]),
                std::vector<float>(static_cast<size_t>(counts.vector), each));
      EXPECT_EQ(run.outputs[1].integer, std::min<int64_t>(counts.vector, 5));
    }
  }
}

TEST(Cores, WithoutATargetAPlanThatAsksForThemIsRefused) {
  const auto plan = prepared_for(kCounts, nullptr);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, "target");
  EXPECT_EQ(plan.error().message, "the plan asks for cores(vector), but no target is set that has cores");
  EXPECT_TRUE(prepared_for("plan @m { return }", nullptr).ok());
}

TEST(Cores, CountsThatThePlanWasNotMadeForAreNamed) {
  auto cores = std::make_shared<Cores>(CoreCounts{32, 65});
  auto plan = prepared_for(kCounts, cores);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  HostData x = HostData::f32({1}, {1});
  expect_error(ran(**plan, {x.input()}), RunError::Kind::kInput,
               "cores(vector): c0 = 65 is outside the range that the plan was compiled for, [1, 64]");
  cores->set({32, 64});
  EXPECT_FALSE(ran(**plan, {x.input()}).error);
  auto even = prepared_for("plan @m symbols(c0 in [0, 9]) { bind 2*c0 = cores(cube) return c0 }",
                           std::make_shared<Cores>(CoreCounts{3, 6}));
  ASSERT_TRUE(even.ok()) << even.error().text();
  expect_error(ran(**even, {}), RunError::Kind::kInput,
               "cores(cube): their count is 3, which no value of 2*c0 gives");
}

TEST(Cores, BothCountsChangeAtOnce) {
  Cores cores({1, 2});
  EXPECT_EQ(cores.get().cube, 1);
  EXPECT_EQ(cores.get().vector, 2);
  cores.set({INT32_MAX, INT32_MAX});
  EXPECT_EQ(cores.get().cube, INT32_MAX);
  EXPECT_EQ(cores.get().vector, INT32_MAX);
  EXPECT_THROW(cores.set({0, 1}), InternalError);
  EXPECT_THROW(cores.set({1, int64_t{1} << 32}), InternalError);
}

}  // namespace
}  // namespace jumar::runtime
