// Two families of devices, and the toolchain of this machine, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "driver/toolchain/check_kernels.h"

namespace jumar::driver::toolchain {

inline ToolchainFlavor flavor_for(const char* target) {
  return flavor_of(target::find_target(target).value()).value();
}
inline ToolchainFlavor a2_flavor() { return flavor_for("Ascend910B1"); }
inline ToolchainFlavor a5_flavor() { return flavor_for("Ascend950PR_9589"); }

inline Toolchain toolchain_here() {
  const Environment environment = process_environment();
  return toolchain_of(Options::from_environment(environment).value(), environment);
}

// What is missing for tests that need it; empty when nothing is.
inline std::string missing_here(const Toolchain& tools) {
  for (const ToolKind kind : {ToolKind::kAdapter, ToolKind::kCompiler, ToolKind::kCompilerA5})
    if (tools.find(kind) == nullptr) return tools.missing(kind).text();
  return "";
}

// Ends a test without the tools: skipped, or failed where they are required.
#define JUMAR_NEEDS_TOOLCHAIN(tools)                                                             \
  if (const std::string missing = missing_here(tools); !missing.empty()) {                       \
    if (process_environment()("JUMAR_REQUIRE_TOOLCHAIN").value_or("") == "1") FAIL() << missing; \
    GTEST_SKIP() << missing;                                                                     \
  }

}  // namespace jumar::driver::toolchain
