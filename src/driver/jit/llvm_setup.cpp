#include "driver/jit/llvm_setup.h"

#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TargetSelect.h>

#include <cstdio>
#include <mutex>

#include "support/check.h"

namespace jumar::driver::jit {
namespace {

// LLVM's frames have no cleanups, so what the failed run allocated is lost; the Codegen that ran must not be
// used again. The text goes to stderr first because a noexcept frame in between would end the process.
void on_fatal_error(void*, const char* reason, bool) {
  std::fprintf(stderr, "jumar: LLVM error: %s\n", reason);
  raise_internal_error(__FILE__, __LINE__, "LLVM fatal error", reason);
}

void set_option(llvm::StringRef name, llvm::StringRef value) {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto it = options.find(name);
  CHECK(it != options.end(), "LLVM has no option named '{}'", name.str());
  CHECK(!it->second->addOccurrence(0, name, value), "LLVM refuses {}={}", name.str(), value.str());
}

void initialize() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeX86AsmParser();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  LLVMInitializeAArch64AsmParser();
  set_option("disable-lsr", "true");
  llvm::install_fatal_error_handler(on_fatal_error);
}

}  // namespace

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, initialize);
}

}  // namespace jumar::driver::jit
