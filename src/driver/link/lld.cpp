// A file of its own because lld's headers define macros under common names.
#include "driver/link/lld.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

LLD_HAS_DRIVER(elf)

// lld initialises every target that LLVM was built for, to be able to optimise bitcode for it. It never gets
// any here, so that the targets that Jumar does not generate code for need not be linked in: their
// initialisers do nothing.
#define JUMAR_OTHER_TARGET(name)             \
  extern "C" {                               \
  void LLVMInitialize##name##TargetInfo() {} \
  void LLVMInitialize##name##Target() {}     \
  void LLVMInitialize##name##TargetMC() {}   \
  void LLVMInitialize##name##AsmPrinter() {} \
  void LLVMInitialize##name##AsmParser() {}  \
  }

JUMAR_OTHER_TARGET(AMDGPU)
JUMAR_OTHER_TARGET(ARM)
JUMAR_OTHER_TARGET(AVR)
JUMAR_OTHER_TARGET(BPF)
JUMAR_OTHER_TARGET(Hexagon)
JUMAR_OTHER_TARGET(Lanai)
JUMAR_OTHER_TARGET(LoongArch)
JUMAR_OTHER_TARGET(Mips)
JUMAR_OTHER_TARGET(MSP430)
JUMAR_OTHER_TARGET(NVPTX)
JUMAR_OTHER_TARGET(PowerPC)
JUMAR_OTHER_TARGET(RISCV)
JUMAR_OTHER_TARGET(Sparc)
JUMAR_OTHER_TARGET(SystemZ)
JUMAR_OTHER_TARGET(VE)
JUMAR_OTHER_TARGET(WebAssembly)
JUMAR_OTHER_TARGET(XCore)
JUMAR_OTHER_TARGET(M68k)
JUMAR_OTHER_TARGET(Xtensa)
#undef JUMAR_OTHER_TARGET

// Nor does bitcode get to Polly, which Debian's LLVM knows as an extension and packages apart.
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }

namespace jumar::driver::link {

bool run_lld(const std::vector<std::string>& arguments, std::string& messages) {
  static std::mutex mutex;  // one per process: lld keeps its state in globals
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  llvm::raw_string_ostream out(messages);
  const bool linked = lld::elf::link(words, out, out, false, false);
  lld::CommonLinkerContext::destroy();
  return linked;
}

}  // namespace jumar::driver::link
