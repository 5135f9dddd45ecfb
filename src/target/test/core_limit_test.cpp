#include "target/core_limit.h"

#include <gtest/gtest.h>

namespace jumar::target {
namespace {

constexpr std::string_view kVariable = "environment variable NPU_DEVICE_LIMIT";

// Limits are documented for Atlas A5 first: every test runs on such a target as well as on an Atlas A2.
class CoreLimits : public ::testing::TestWithParam<const char*> {
 protected:
  Target target_ = find_target(GetParam()).value();

  Result<CoreLimit> parsed(std::string_view text) const { return parse_core_limit(text, target_, kVariable); }
};

INSTANTIATE_TEST_SUITE_P(Devices, CoreLimits, ::testing::Values("Ascend950PR_9589", "Ascend910B1"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CoreLimits, TwoCountsWithBlanksAroundThem) {
  for (const char* text : {"14,28", " 14 , 28 ", "14,\t28"}) {
    const Result<CoreLimit> limit = parsed(text);
    ASSERT_TRUE(limit.ok()) << limit.error().text();
    EXPECT_EQ(limit->cube_cores, 14);
    EXPECT_EQ(limit->vector_cores, 28);
    EXPECT_EQ(limit->mixed_groups(), 14);
    EXPECT_EQ(limit->warning, "");
  }
}

TEST_P(CoreLimits, NothingIsAllCores) {
  for (const char* text : {"", "  "}) {
    const CoreLimit limit = parsed(text).value();
    EXPECT_EQ(limit.cube_cores, target_.cube_cores);
    EXPECT_EQ(limit.vector_cores, target_.vector_cores);
    EXPECT_EQ(limit.mixed_groups(), target_.cube_cores);
    EXPECT_EQ(limit.warning, "");
  }
}

TEST_P(CoreLimits, AllCoresIsAllowedAndOneMoreIsNot) {
  const int64_t cube = target_.cube_cores, vector = target_.vector_cores;
  EXPECT_TRUE(parsed(fmt::format("{},{}", cube, vector)).ok());
  EXPECT_FALSE(parsed(fmt::format("{},{}", cube + 1, vector)).ok());
  EXPECT_FALSE(parsed(fmt::format("{},{}", cube, vector + 1)).ok());
}

TEST_P(CoreLimits, AnotherRatioWarnsOnceAndMixedKernelsTakeTheLess) {
  struct Row {
    int64_t cube, vector, groups;
  };
  for (const Row& row : {Row{10, 10, 5}, Row{3, 20, 3}, Row{4, 7, 3}, Row{1, 1, 0}}) {
    const std::string text = fmt::format("{},{}", row.cube, row.vector);
    const CoreLimit limit = parsed(text).value();
    EXPECT_EQ(limit.mixed_groups(), row.groups) << text;
    EXPECT_EQ(limit.warning,
              fmt::format(
                  "environment variable NPU_DEVICE_LIMIT is '{}': {} has 2 vector cores for each cube core, "
                  "and a limit should keep that; kernels that use both run in {} groups",
                  text, target_.name, row.groups));
  }
}

TEST_P(CoreLimits, WhatIsNoLimitNamesTheVariableTheValueAndTheCounts) {
  for (const char* text :
       {"14", "14,", ",28", ",", "14,28,1", "14;28", "14,28x", "0,28", "14,0", "-14,28", "+14,28", "14.0,28",
        "a,b", "14 28", "99999999999999999999,1", "14,99999999999999999999", "(14,28)"}) {
    const Result<CoreLimit> limit = parsed(text);
    ASSERT_FALSE(limit.ok()) << text;
    EXPECT_EQ(limit.error().code, "option");
    EXPECT_EQ(
        limit.error().message,
        fmt::format("environment variable NPU_DEVICE_LIMIT is '{}', but must be 'cube,vector': two positive "
                    "integers, at most {},{} on {}",
                    text, target_.cube_cores, target_.vector_cores, target_.name));
  }
}

TEST(CoreLimit, CountsAreThoseOfTheTargetAtHand) {
  const Target small =
      read_target(
          "target \"small\" from \"Ascend950PR_9589\" { cube_cores 3 vector_cores 9 vector_per_cube 3 }")
          .value();
  EXPECT_EQ(parse_core_limit("2,6", small, kVariable).value().warning, "");
  EXPECT_EQ(parse_core_limit("2,4", small, kVariable).value().mixed_groups(), 1);
  EXPECT_FALSE(parse_core_limit("4,8", small, kVariable).ok());
}

}  // namespace
}  // namespace jumar::target
