// Kernels for a device that are run by the simulator (driver/sim_library.h), compiled once.
//
//   SimKernelCache cache;
//   JUMAR_ASSIGN(SimKernels kernels, cache.load(objects, options));    // their code is linalg text
//   kernels.find("k0")                                                 // a runtime::KernelFn
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "driver/kernels.h"
#include "driver/sim_library.h"
#include "runtime/executor.h"
#include "support/options.h"
#include "target/core_limit.h"

namespace jumar::driver {

class SimKernels {
 public:
  runtime::KernelFn find(std::string_view name) const;  // null when there is none
  // Makes an engine one that runs plans with these kernels, on as many cores as the limit says.
  void equip(runtime::Engine& engine, const target::CoreLimit& limit) const;
  // Whether the plan passes to each kernel what it takes; kernels of the same compilation fit.
  Status check(const plan::Plan& plan) const;

 private:
  friend class SimKernelCache;
  // For Engine::fault_text; keeps the kernels alive.
  std::function<std::string(std::string_view, const runtime::IndexStatus&)> fault_texts() const;
  using Table = std::map<std::string, std::shared_ptr<const SimKernel>, std::less<>>;
  std::shared_ptr<const Table> kernels_;
};

class SimKernelCache {
 public:
  // Compiles each kernel; what is loaded already is shared. Fails where the library can't be opened, with
  // what is missing, and where it does not take a kernel.
  Result<SimKernels> load(std::span<const KernelObject> objects, const Options& options);

 private:
  std::mutex mutex_;                                                    // guards all members
  std::map<std::string, std::shared_ptr<const SimLibrary>> libraries_;  // by the option sim_library
  std::map<std::pair<std::string, Hash128>, std::weak_ptr<const SimKernel>> loaded_;
};

}  // namespace jumar::driver
