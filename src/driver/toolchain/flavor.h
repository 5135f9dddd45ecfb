// How the programs of the toolchain are called for one family of devices: rows of a target's file.
//
//   ToolchainFlavor flavor;
//   flavor.adapter_args = {"--triton-to-annotation", ...};      // TTIR to linalg
//   flavor.compiler = ToolKind::kCompiler;
//   flavor.compiler_args = {"--target=Ascend910B1", ...};       // linalg to HIVM
#pragma once

#include <string>
#include <vector>

#include "driver/toolchain/toolchain.h"

namespace jumar::driver::toolchain {

struct ToolchainFlavor {
  std::vector<std::string> adapter_args;
  ToolKind compiler = ToolKind::kCompiler;
  std::vector<std::string> compiler_args;
  // The compiler wants every reduction that breaks ties to say whether its source is unsigned, which the
  // adapter does not print.
  bool needs_unsigned_source = false;
};

}  // namespace jumar::driver::toolchain
