#include "driver/device.h"

#include <gtest/gtest.h>

#include "driver/targets_command.h"
#include "ir/dtype.h"

namespace jumar::driver {
namespace {

Options options(std::string_view text, std::map<std::string, std::string> variables = {}) {
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
  return Options::from_environment(environment).value().with(text).value();
}

TEST(Device, WhatIsSaidAboutDevicesDoesNotMatterForTheCpu) {
  EXPECT_FALSE(device_of(options("")).value().has_value());
  EXPECT_FALSE(device_of(options("device_limit=nonsense\ncostmodel_ratio=7")).value().has_value());
}

class Devices : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Targets, Devices, ::testing::Values("Ascend950PR_9589", "Ascend910B1"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Devices, TheLimitIsThatOfTheOptionAndElseOfTheVariable) {
  const std::string target = fmt::format("target={}\n", GetParam());
  const Device all = **device_of(options(target));
  EXPECT_EQ(all.target.name, GetParam());
  EXPECT_EQ(all.limit.vector_cores, all.target.vector_cores);
  EXPECT_TRUE(all.warnings.empty());
  const std::map<std::string, std::string> variables = {{"NPU_DEVICE_LIMIT", "14,28"}};
  EXPECT_EQ((**device_of(options(target, variables))).limit.vector_cores, 28);
  const Device both = **device_of(options(target + "device_limit=7,14", variables));
  EXPECT_EQ(both.limit.cube_cores, 7);
  EXPECT_EQ(both.limit.vector_cores, 14);
  // An empty option takes the variable's limit away.
  EXPECT_EQ((**device_of(options(target + "device_limit=", variables))).limit.vector_cores,
            all.target.vector_cores);
}

TEST_P(Devices, ABadLimitNamesWhereItIsFrom) {
  const std::string target = fmt::format("target={}\n", GetParam());
  const auto by_variable = device_of(options(target, {{"NPU_DEVICE_LIMIT", "14,280"}}));
  ASSERT_FALSE(by_variable.ok());
  EXPECT_EQ(
      by_variable.error().message.find("environment variable NPU_DEVICE_LIMIT is '14,280', but must be"), 0u);
  const auto by_option = device_of(options(target + "device_limit=14"));
  ASSERT_FALSE(by_option.ok());
  EXPECT_EQ(by_option.error().message.find("option device_limit is '14', but must be"), 0u);
}

TEST_P(Devices, WarningsAreCollected) {
  const std::string target = fmt::format("target={}\n", GetParam());
  const Device device =
      **device_of(options(target + "device_limit=3,3", {{"INDUCTOR_ASCEND_COSTMODEL_RATIO", "2"}}));
  ASSERT_EQ(device.warnings.size(), 2u);
  EXPECT_NE(device.warnings[0].find("INDUCTOR_ASCEND_COSTMODEL_RATIO is '2'"), std::string::npos);
  EXPECT_NE(device.warnings[1].find("run in 1 groups"), std::string::npos);
}

TEST(Device, AnUnknownTargetSaysWhoNamedIt) {
  const auto device = device_of(options("", {{"JUMAR_TARGET", "npu"}}));
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().message.find("there is no target 'npu'"), 0u);
  EXPECT_NE(device.error().text().find("environment variable JUMAR_TARGET is 'npu'"), std::string::npos);
}

TEST(Device, ElementTypesOfTargetsAreThoseOfPrograms) {
  for (const std::string& name : target::known_targets()) {
    const target::Target target = target::find_target(name).value();
    for (const target::Dtypes* list : {&target.loads, &target.stores}) {
      for (const std::string& dtype : list->names())
        EXPECT_TRUE(ir::dtype_from_name(dtype).has_value()) << name << " has " << dtype;
    }
  }
}

TEST(TargetsCommand, ListsAndPrints) {
  const std::string list = targets_text("").value();
  EXPECT_NE(list.find("\nAscend910B1        atlas-a2     24      48  192 KiB\n"), std::string::npos) << list;
  EXPECT_NE(list.find("\nAscend950PR_9589   atlas-a5     32      64  248 KiB\n"), std::string::npos) << list;
  const std::string text = targets_text("Ascend950PR_9589").value();
  EXPECT_EQ(text, target::write_target(target::find_target("Ascend950PR_9589").value()));
  EXPECT_FALSE(targets_text("Ascend950").ok());
}

}  // namespace
}  // namespace jumar::driver
