#include "driver/toolchain/check_kernels.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "driver/toolchain/check_cache.h"

namespace jumar::driver::toolchain {
namespace {

// The kernels of one call, shared by its threads.
class Batch {
 public:
  Batch(std::span<const TtirKernel> kernels, const Toolchain& tools, const ToolchainFlavor& flavor,
        const CheckOptions& options)
      : kernels_(kernels), tools_(tools), flavor_(flavor), options_(options), checks_(kernels.size()) {
    if (options_.store == nullptr) return;
    Toolchain asked = tools_;
    asked.ask_versions();
    identity_ = asked.identity();
    flavor_text_ = flavor_.text();
  }

  // What each thread does. A broken invariant is kept for the caller's thread.
  void work() {
    try {
      for (size_t k = next_++; k < kernels_.size() && !is_over_; k = next_++) {
        Result<KernelCheck> check = checked(kernels_[k]);
        const std::lock_guard lock(mutex_);
        if (check.ok()) {
          checks_[k] = std::move(*check);
          ++done_;
          if (options_.progress) options_.progress(checks_[k], done_, kernels_.size());
          continue;
        }
        is_over_ = true;
        if (!error_) error_ = std::move(check.error());
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      bug_ = std::current_exception();
    }
  }

  Result<std::vector<KernelCheck>> take() {
    if (bug_) std::rethrow_exception(bug_);
    if (error_) return std::move(*error_);
    return std::move(checks_);
  }

 private:
  Result<KernelCheck> checked(const TtirKernel& kernel) const {
    constexpr std::string_view kKind = "npu";
    if (options_.store == nullptr) return check_kernel(kernel, tools_, flavor_, options_);
    const Hash128 key = check_key(kernel, identity_, flavor_text_);
    if (const std::optional<std::string> bytes = options_.store->get(kKind, key)) {
      if (std::optional<KernelCheck> found = check_from(*bytes)) {
        found->is_from_store = true;
        return std::move(*found);
      }
    }
    Result<KernelCheck> check = check_kernel(kernel, tools_, flavor_, options_);
    // What cannot be kept is made again the next time.
    if (check.ok() && is_lasting(*check)) (void)options_.store->put(kKind, key, bytes_of(*check)).ok();
    return check;
  }

  std::span<const TtirKernel> kernels_;
  const Toolchain& tools_;
  const ToolchainFlavor& flavor_;
  const CheckOptions& options_;
  std::string identity_;
  std::string flavor_text_;
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;  // guards all below
  std::vector<KernelCheck> checks_;
  size_t done_ = 0;
  std::optional<Diagnostic> error_;
  std::exception_ptr bug_;
};

}  // namespace

const ToolFailure* KernelCheck::failure() const {
  if (adapted.failure) return &*adapted.failure;
  return compiled.failure ? &*compiled.failure : nullptr;
}

Result<KernelCheck> check_kernel(const TtirKernel& kernel, const Toolchain& tools,
                                 const ToolchainFlavor& flavor, const CheckOptions& options) {
  KernelCheck out;
  out.name = kernel.name;
  JUMAR_ASSIGN(out.adapted, adapt(kernel.ttir, tools, flavor, options.calls));
  if (!out.adapted.linalg) return out;
  JUMAR_ASSIGN(out.compiled, compile_hivm(out.adapted.linalg->text, tools, flavor, options.calls));
  return out;
}

Result<std::vector<KernelCheck>> check_kernels(std::span<const TtirKernel> kernels, const Toolchain& tools,
                                               const ToolchainFlavor& flavor, const CheckOptions& options) {
  for (const ToolKind needed : {ToolKind::kAdapter, flavor.compiler})
    if (tools.find(needed) == nullptr) return tools.missing(needed);
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const size_t wanted = options.threads > 0 ? static_cast<size_t>(options.threads) : processors;
  Batch batch(kernels, tools, flavor, options);
  std::vector<std::thread> threads;
  for (size_t k = 1; k < std::min(wanted, kernels.size()); ++k) threads.emplace_back([&] { batch.work(); });
  batch.work();
  for (std::thread& thread : threads) thread.join();
  return batch.take();
}

}  // namespace jumar::driver::toolchain
