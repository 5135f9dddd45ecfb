#include "driver/toolchain/check_kernels.h"

#include "driver/toolchain/test/flavors.h"
#include "driver/toolchain/test/kernels.h"

namespace jumar::driver::toolchain {
namespace {

TEST(CheckKernels, ReachTheLinkerInTheirOrder) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  std::vector<TtirKernel> kernels;
  for (const int block : {256, 512, 1024}) kernels.push_back(add_kernel(block));
  for (const ToolchainFlavor& flavor : {a2_flavor(), a5_flavor()}) {
    CheckOptions options;
    options.threads = 3;
    size_t calls = 0;
    options.progress = [&](const KernelCheck& check, size_t done, size_t total) {
      EXPECT_TRUE(check.is_ok());
      EXPECT_EQ(done, ++calls);
      EXPECT_EQ(total, 3U);
    };
    const auto checks = check_kernels(kernels, tools, flavor, options);
    ASSERT_TRUE(checks.ok()) << checks.error().text();
    ASSERT_EQ(checks->size(), 3U);
    EXPECT_EQ(calls, 3U);
    for (size_t k = 0; k < checks->size(); ++k) {
      const KernelCheck& check = (*checks)[k];
      ASSERT_EQ(check.failure(), nullptr) << check.failure()->text();
      EXPECT_EQ(check.name, kernels[k].name);
      EXPECT_EQ(check.adapted.linalg->mix_mode, "aiv");
      EXPECT_NE(check.compiled.hivm.find("func.func @" + kernels[k].name), std::string::npos);
      EXPECT_GT(check.compiled.seconds, 0);
    }
  }
}

TEST(CheckKernels, OverflowTellsNeedAndLimit) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  const std::vector<TtirKernel> kernels = {add_kernel(65536)};
  const auto a2 = check_kernels(kernels, tools, a2_flavor(), {});
  ASSERT_TRUE(a2.ok()) << a2.error().text();
  const KernelCheck& check = a2->front();
  ASSERT_FALSE(check.is_ok());
  ASSERT_TRUE(check.failure()->overflow) << check.failure()->log;
  EXPECT_EQ(check.failure()->overflow->memory, "ub");
  EXPECT_EQ(check.failure()->overflow->available_bits, 1572864);
  EXPECT_GT(check.failure()->overflow->needs_bits, 1572864);
  EXPECT_EQ(check.failure()->ending, "exit code 1");
  EXPECT_GT(check.failure()->line, 0);
  EXPECT_TRUE(check.compiled.dropped_multi_buffer);
  EXPECT_TRUE(check.compiled.dropped_code_motion);
}

TEST(CheckKernels, RefusalOfTheAdapterHasItsPlace) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  const std::vector<TtirKernel> kernels = {{"broken", "module {\n  tt.func @k() {\n    bogus.op\n  }\n}\n"},
                                           add_kernel(256)};
  const auto checks = check_kernels(kernels, tools, a2_flavor(), {});
  ASSERT_TRUE(checks.ok()) << checks.error().text();
  ASSERT_FALSE(checks->front().is_ok());
  EXPECT_EQ(checks->front().failure()->tool, "triton-adapter-opt");
  EXPECT_EQ(checks->front().failure()->line, 3);
  EXPECT_TRUE(checks->back().is_ok());
}

TEST(CheckKernels, TimeLimitIsAFailureOfTheKernel) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  CheckOptions options;
  options.calls.limit_seconds = 0.001;
  const std::vector<TtirKernel> kernels = {add_kernel(256)};
  const auto checks = check_kernels(kernels, tools, a2_flavor(), options);
  ASSERT_TRUE(checks.ok()) << checks.error().text();
  ASSERT_FALSE(checks->front().is_ok());
  EXPECT_EQ(checks->front().failure()->ending.substr(0, 13), "stopped after");
}

TEST(CheckKernels, MissingProgramIsAnError) {
  const std::vector<TtirKernel> kernels = {add_kernel(256)};
  const auto checks = check_kernels(kernels, Toolchain(), a2_flavor(), {});
  ASSERT_FALSE(checks.ok());
  EXPECT_NE(checks.error().text().find("triton-adapter-opt is not found"), std::string::npos);
}

}  // namespace
}  // namespace jumar::driver::toolchain
