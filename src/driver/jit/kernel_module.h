// One kernel as an LLVM module of its own, so that no other file of the driver sees LLVM.
//
//   KernelModule module(codegen, program, kernel, "name");   // writes the IR; uses the program's sym context
//   std::vector<uint8_t> object = module.object(codegen);    // may run in another thread, with its Codegen
//
// The only symbol that the object exports is the function, under the name that is asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/jit/codegen.h"
#include "loop/loop.h"

namespace jumar::driver::jit {

class KernelModule {
 public:
  KernelModule(const Codegen& codegen, const loop::Program& program, const loop::Kernel& kernel,
               const std::string& symbol);
  ~KernelModule();
  KernelModule(KernelModule&&) noexcept;
  KernelModule& operator=(KernelModule&&) noexcept;

  // Each consumes the module.
  std::vector<uint8_t> object(Codegen& codegen);
  std::string assembly(Codegen& codegen);
  std::string optimized_ir(Codegen& codegen);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jumar::driver::jit
