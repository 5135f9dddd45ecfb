// Many kernels through the toolchain, in parallel.
//
//   CheckOptions options;
//   options.threads = 8;
//   options.progress = [](const KernelCheck& check, size_t done, size_t total) { ... };
//   JUMAR_ASSIGN(const std::vector<KernelCheck> checks, check_kernels(kernels, tools, flavor, options));
//   for (const KernelCheck& check : checks) if (!check.is_ok()) ... check.failure()->text() ...
//
// The results stand in the order of the kernels, however many threads there are. A kernel that the toolchain
// refuses is a result like any other; an error is that the toolchain cannot be run at all.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/store.h"
#include "driver/toolchain/compile_hivm.h"

namespace jumar::driver::toolchain {

struct TtirKernel {
  std::string name;
  std::string ttir;
};

struct KernelCheck {
  std::string name;
  AdaptReport adapted;
  CompileReport compiled;  // as it begins, when the adapter refused the kernel
  bool is_from_store = false;

  bool is_ok() const { return compiled.stage != CompileReport::Stage::kFailed; }
  // Of the first program that failed; null when none did.
  const ToolFailure* failure() const;
};

struct CheckOptions {
  ToolCalls calls;
  int threads = 0;  // 0 means one for each processor
  // Where results are kept and found again; null: nowhere.
  const Store* store = nullptr;

  // Called after each kernel, by one thread at a time.
  std::function<void(const KernelCheck& check, size_t done, size_t total)> progress;
};

Result<KernelCheck> check_kernel(const TtirKernel& kernel, const Toolchain& tools,
                                 const ToolchainFlavor& flavor, const CheckOptions& options);
Result<std::vector<KernelCheck>> check_kernels(std::span<const TtirKernel> kernels, const Toolchain& tools,
                                               const ToolchainFlavor& flavor, const CheckOptions& options);

}  // namespace jumar::driver::toolchain
