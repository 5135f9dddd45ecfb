// The system's C++ compiler, as a process.
//
//   std::optional<CxxCompiler> compiler = CxxCompiler::find(options.cxx());
//   Result<std::string> library = compiler->library(source, kernels, scratch);
//
// Nothing in Jumar needs one but programs written as C++ (emit/host/emit_cpp.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/kernels.h"
#include "driver/scratch_directory.h"
#include "support/result.h"

namespace jumar::driver {

class CxxCompiler {
 public:
  // The first that answers: `wanted`, a command with arguments that may be empty, then c++, g++, clang++.
  static std::optional<CxxCompiler> find(const std::string& wanted, const ScratchDirectory& scratch);

  // What it says of itself, and how it is called: part of cache keys.
  const std::string& identity() const { return identity_; }

  // A shared library of a written program and its kernels, as bytes. What the compiler says goes into the
  // diagnostic.
  Result<std::string> library(const std::string& source, std::span<const KernelObject> kernels,
                              const ScratchDirectory& scratch) const;

 private:
  std::vector<std::string> command_;
  std::string identity_;
};

}  // namespace jumar::driver
