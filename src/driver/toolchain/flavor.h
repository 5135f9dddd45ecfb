// How the programs of the toolchain are called for one family of devices.
//
//   JUMAR_ASSIGN(const ToolchainFlavor flavor, flavor_of(target));
//   flavor.adapter_args          // TTIR to linalg: {"--triton-to-annotation", ...}
//   flavor.compiler_args         // linalg to HIVM: {"--target=Ascend910B1", ...}
#pragma once

#include <string>
#include <vector>

#include "driver/toolchain/hivm_time.h"
#include "driver/toolchain/toolchain.h"
#include "target/target.h"

namespace jumar::driver::toolchain {

struct ToolchainFlavor {
  std::vector<std::string> adapter_args;
  ToolKind compiler = ToolKind::kCompiler;
  std::vector<std::string> compiler_args;
  // The compiler wants every reduction that breaks ties to say whether its source is unsigned, which the
  // adapter does not print.
  bool needs_unsigned_source = false;

  // All of it, for cache keys.
  std::string text() const;
};

// Fails where the target names programs or changes that are not known here.
Result<ToolchainFlavor> flavor_of(const target::Target& target);
// The target's constants, as the model of HIVM takes them.
HivmCosts costs_of(const target::Target& target);

}  // namespace jumar::driver::toolchain
