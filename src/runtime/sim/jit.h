// Machine code in this process, from an LLVM module.
//
//   Result<std::unique_ptr<Code>> code = Code::make(std::move(module), level);
//   auto entry = reinterpret_cast<jumar_sim_fn>((*code)->entry());
//
// The code lives as long as the object. It finds runtime_symbols() and nothing else.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <memory>

#include "support/result.h"

namespace jumar::runtime::sim {

class Code {
 public:
  static Result<std::unique_ptr<Code>> make(llvm::orc::ThreadSafeModule module, int level);
  void* entry() const { return entry_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  void* entry_ = nullptr;
};

// Sets what the emitter of a module has to know of the processor: its triple and data layout.
Status prepare_for_host(llvm::Module& module);

}  // namespace jumar::runtime::sim
