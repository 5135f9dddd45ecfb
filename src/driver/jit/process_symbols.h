// The functions of the process that kernels may call: scalar libm by its plain names, and the three memory
// functions that LLVM's code generator may itself introduce.
#pragma once

#include <span>

namespace jumar::driver::jit {

struct ProcessSymbol {
  const char* name;
  void* address;
};

std::span<const ProcessSymbol> process_symbols();

}  // namespace jumar::driver::jit
