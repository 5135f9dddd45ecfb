// From an LLVM module to object code or assembly text.
//
//   Codegen codegen(host_cpu_target().value());
//   codegen.prepare(module);                              // data layout and triple, before IR is built
//   ... emit kernels into module ...
//   std::vector<uint8_t> object = codegen.object(module);
//
// The pipeline is fixed and short, because the emitters write vectors out themselves: early-cse, licm on
// memory SSA, then code generation at level 2 with the small code model and position independent code.
// Objects serve the JIT and ahead-of-time packages alike.
//
// Invariants: a module is verified before anything else runs; a broken one is a bug of the emitter and raises
// InternalError with the verifier's message and the module's text. A Codegen belongs to one thread at a time.
// A module is consumed: after object() or assembly() its IR is in no documented state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/jit/cpu_target.h"

namespace llvm {
class Module;
}

namespace jumar::driver::jit {

struct CodegenOptions {
  int level = 2;  // 0 compiles 2.5 times as fast and makes vector code up to 1.7 times as slow
};

class Codegen {
 public:
  explicit Codegen(const CpuTarget& target, CodegenOptions options = {});
  ~Codegen();
  Codegen(Codegen&&) noexcept;
  Codegen& operator=(Codegen&&) noexcept;

  const CpuTarget& target() const;

  // Sets the data layout and the triple of `module`.
  void prepare(llvm::Module& module) const;
  std::vector<uint8_t> object(llvm::Module& module);
  std::string assembly(llvm::Module& module);
  // The module's text after the IR passes, for dumps and tests.
  std::string optimized_ir(llvm::Module& module);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jumar::driver::jit
