// A plan as a program that the system's C++ compiler made of its source: the option `cpp_wrapper`.
//
//   Result<std::shared_ptr<const CppProgram>> program = CppProgram::create(plan, kernels, request);
//   if (program.ok()) error = (*program)->run(inputs, outputs);
//
// It takes what runtime::PreparedPlan takes and gives what that gives, but for operators that fail: nobody
// repeats them in Python. The library is kept in the cache by its source and the compiler's version.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "driver/kernels.h"
#include "driver/store.h"
#include "runtime/executor.h"
#include "support/options.h"
#include "support/spares.h"

namespace jumar::wrapper {
struct Entry;
}

namespace jumar::driver {

struct CppProgramRequest {
  const Options& options;
  const Store* store = nullptr;  // null: no cache
  runtime::Engine engine;        // with libtorch
};

class CppProgram {
 public:
  // A "wrapper" diagnostic says why the plan has to be executed as it is: no compiler, steps that only Python
  // can take. A source that a compiler refuses is a bug.
  static Result<std::shared_ptr<const CppProgram>> create(const plan::Plan& plan,
                                                          std::span<const KernelObject> kernels,
                                                          CppProgramRequest request);
  ~CppProgram();
  CppProgram(const CppProgram&) = delete;
  CppProgram& operator=(const CppProgram&) = delete;

  // As PreparedPlan::run, without a host.
  std::optional<runtime::RunError> run(std::span<const runtime::InputValue> inputs,
                                       std::span<runtime::Output> outputs) const;
  int64_t last_arena_bytes() const;

 private:
  struct Scratch;

  explicit CppProgram(runtime::Engine engine);
  Status load(const std::string& bytes, const std::string& name, const std::string& directory);

  const runtime::Engine engine_;
  void* library_ = nullptr;
  const wrapper::Entry* entry_ = nullptr;
  void* model_ = nullptr;
  mutable Spares<Scratch> scratches_;
};

}  // namespace jumar::driver
