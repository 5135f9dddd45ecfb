// Kernels for a device, run on the processor: libjumar_sim.so, opened when it is first needed.
//
//   SimLibrary library;
//   JUMAR_ASSIGN(SimKernels kernels, library.load(objects, options));    // their code is linalg text
//   kernels.find("k0")                                                   // a runtime::KernelFn
//
// docs/sim.md says what is simulated and what is not.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "driver/kernels.h"
#include "runtime/executor.h"
#include "support/options.h"

namespace jumar::driver {

class SimKernel;

class SimKernels {
 public:
  runtime::KernelFn find(std::string_view name) const;  // null when there is none
  // For Engine::fault_text; keeps the kernels alive.
  std::function<std::string(std::string_view, const runtime::IndexStatus&)> fault_texts() const;

 private:
  friend class SimLibrary;
  using Table = std::map<std::string, std::shared_ptr<const SimKernel>, std::less<>>;
  std::shared_ptr<const Table> kernels_;
};

class SimLibrary {
 public:
  // Compiles each kernel; what is loaded already is shared. Fails where the library can't be opened, with what
  // is missing, and where it does not take a kernel.
  Result<SimKernels> load(std::span<const KernelObject> objects, const Options& options);

 private:
  struct Opened;
  Result<std::shared_ptr<const Opened>> opened(const Options& options);
  friend class SimKernel;

  std::mutex mutex_;  // guards all members
  std::shared_ptr<const Opened> library_;
  std::map<Hash128, std::weak_ptr<const SimKernel>> loaded_;
};

}  // namespace jumar::driver
