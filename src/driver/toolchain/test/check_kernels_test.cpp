#include "driver/toolchain/check_kernels.h"

#include <sys/stat.h>

#include "driver/scratch_directory.h"
#include "driver/toolchain/check_cache.h"
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

// An adapter that is killed by this signal in its first runs.
Toolchain with_crashing_adapter(const ScratchDirectory& scratch, int crashes, const char* signal) {
  const std::string script = fmt::format(R"(#!/bin/sh
if [ $(cat {0}/runs 2>/dev/null | wc -c) -lt {1} ]; then
  printf x >> {0}/runs
  kill -{2} $$
fi
echo 'module {{}}'
)",
                                         scratch.path(), crashes, signal);
  EXPECT_TRUE(scratch.write("adapter", script).ok());
  const std::string path = scratch.path() + "/adapter";
  EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
  Toolchain tools;
  tools.set(ToolKind::kAdapter, {path, "given", "", script.size()});
  return tools;
}

TEST(CheckKernels, CrashesByChanceAreTriedAgain) {
  const auto adapted = [](int crashes, const char* signal) {
    const ScratchDirectory scratch = std::move(ScratchDirectory::create("/tmp").value());
    return adapt("module {}", with_crashing_adapter(scratch, crashes, signal), a2_flavor(), {}).value();
  };
  EXPECT_FALSE(adapted(2, "SEGV").failure);
  const AdaptReport always = adapted(3, "SEGV");
  ASSERT_TRUE(always.failure);
  EXPECT_EQ(always.failure->ending, "killed by SIGSEGV");
  // What was killed for its memory is not.
  EXPECT_TRUE(adapted(1, "KILL").failure);
}

// A linker of CANN's name: what it does is in `script`.
Toolchain with_linker(Toolchain tools, const ScratchDirectory& scratch, const std::string& script) {
  EXPECT_TRUE(scratch.write("hivmc", script).ok());
  const std::string path = scratch.path() + "/hivmc";
  EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
  tools.set(ToolKind::kLinker, {path, "given", "", script.size()});
  return tools;
}

TEST(CheckKernels, LinkerMakesTheDeviceBinary) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  const ScratchDirectory scratch = std::move(ScratchDirectory::create("/tmp").value());
  const Toolchain linking = with_linker(tools, scratch, R"(#!/bin/sh
if [ "$1" = --version ]; then echo hivmc 1.2.0; exit 0; fi
while [ "$1" != -o ]; do shift; done
echo device code > "$2"
)");
  const KernelCheck check = check_kernel(add_kernel(256), linking, a2_flavor(), {}).value();
  EXPECT_EQ(check.compiled.stage, CompileReport::Stage::kLinked);
  EXPECT_EQ(check.compiled.device_binary, "device code\n");
  EXPECT_FALSE(check.compiled.hivm.empty());
}

TEST(CheckKernels, LinkerThatFailsLeavesTheCheck) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  const ScratchDirectory scratch = std::move(ScratchDirectory::create("/tmp").value());
  const Toolchain linking = with_linker(tools, scratch, R"(#!/bin/sh
if [ "$1" = --version ]; then echo hivmc 1.2.0; exit 0; fi
echo "hivmc: error: no register left" >&2
exit 1
)");
  const KernelCheck check = check_kernel(add_kernel(256), linking, a2_flavor(), {}).value();
  EXPECT_EQ(check.compiled.stage, CompileReport::Stage::kChecked);
  ASSERT_NE(check.failure(), nullptr);
  EXPECT_EQ(check.failure()->tool, "hivmc");
  EXPECT_NE(check.failure()->message.find("no register left"), std::string::npos) << check.failure()->log;
  EXPECT_FALSE(check.compiled.hivm.empty());
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

TEST(CheckKernels, ResultsAreKept) {
  const Toolchain tools = toolchain_here();
  JUMAR_NEEDS_TOOLCHAIN(tools);
  const ScratchDirectory scratch = std::move(ScratchDirectory::create("/tmp").value());
  const Store store(scratch.path(), 1 << 30);
  CheckOptions options;
  options.store = &store;
  // One that is refused is kept too.
  const std::vector<TtirKernel> kernels = {add_kernel(256), add_kernel(65536)};
  const auto first = check_kernels(kernels, tools, a2_flavor(), options).value();
  const auto second = check_kernels(kernels, tools, a2_flavor(), options).value();
  for (size_t k = 0; k < kernels.size(); ++k) {
    EXPECT_FALSE(first[k].is_from_store);
    EXPECT_TRUE(second[k].is_from_store);
    EXPECT_EQ(bytes_of(first[k]), bytes_of(second[k]));
  }
  // Another target is another result.
  EXPECT_FALSE(check_kernels(kernels, tools, a5_flavor(), options).value()[0].is_from_store);
  options.calls.limit_seconds = 0.001;
  const std::vector<TtirKernel> late = {add_kernel(128)};
  EXPECT_FALSE(check_kernels(late, tools, a2_flavor(), options).value()[0].is_ok());
  EXPECT_FALSE(check_kernels(late, tools, a2_flavor(), options).value()[0].is_from_store);
}

TEST(CheckCache, EveryMemberComesBack) {
  KernelCheck check;
  check.name = "k";
  check.adapted.linalg = LinalgText{"module {}", "aiv"};
  check.adapted.seconds = 0.25;
  check.compiled.stage = CompileReport::Stage::kChecked;
  check.compiled.failure.emplace();
  check.compiled.failure->tool = "hivmc";
  check.compiled.failure->overflow = Overflow{"ub", 10, 5};
  check.compiled.failure->line = 3;
  check.compiled.dropped_multi_buffer = true;
  check.compiled.hivm = std::string("a\0b", 3);
  check.compiled.needs.workspace_bytes = 4096;
  check.compiled.ub_bytes = 77;
  const std::string bytes = bytes_of(check);
  const std::optional<KernelCheck> back = check_from(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(bytes_of(*back), bytes);
  EXPECT_EQ(back->adapted.linalg->mix_mode, "aiv");
  EXPECT_EQ(back->adapted.seconds, 0.25);
  EXPECT_EQ(back->compiled.failure->overflow, check.compiled.failure->overflow);
  EXPECT_EQ(back->compiled.hivm, check.compiled.hivm);
  EXPECT_EQ(back->compiled.needs, check.compiled.needs);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(check_from(std::string_view(bytes).substr(0, size))) << size;
  check.compiled.failure->is_time_limit = true;
  EXPECT_FALSE(is_lasting(check));
}

TEST(CheckKernels, MissingProgramIsAnError) {
  const std::vector<TtirKernel> kernels = {add_kernel(256)};
  const auto checks = check_kernels(kernels, Toolchain(), a2_flavor(), {});
  ASSERT_FALSE(checks.ok());
  EXPECT_NE(checks.error().text().find("triton-adapter-opt is not found"), std::string::npos);
}

}  // namespace
}  // namespace jumar::driver::toolchain
