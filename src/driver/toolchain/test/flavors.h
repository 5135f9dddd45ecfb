// Two families of devices, and the toolchain of this machine, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "driver/toolchain/flavor.h"

namespace jumar::driver::toolchain {

inline std::vector<std::string> adapter_args(const char* a5) {
  const std::string value = a5;
  return {"--discrete-mask-access-conversion=compile-on-910-95=" + value + " force-simt-template=False",
          "--triton-to-annotation",
          "--triton-to-unstructure=compile-on-910-95=" + value + " force-simt-template=False",
          "--triton-to-hivm",
          "--triton-to-hfusion",
          "--triton-to-llvm",
          "--bubble-up-operation",
          "--triton-to-linalg=global-kernel=false named-ops=True enable-nd2nz-on-vector=False "
          "enable-select-analysis=" +
              value + " compile-on-910-95=" + value};
}

inline ToolchainFlavor a2_flavor() {
  ToolchainFlavor out;
  out.adapter_args = adapter_args("False");
  out.compiler = ToolKind::kCompiler;
  out.compiler_args = {"--target=Ascend910B1",
                       "--enable-auto-multi-buffer=true",
                       "--enable-auto-bind-sub-block=true",
                       "--enable-hfusion-compile=true",
                       "--enable-triton-kernel-compile=true",
                       "--enable-hivm-compile=true"};
  return out;
}

inline ToolchainFlavor a5_flavor() {
  ToolchainFlavor out;
  out.adapter_args = adapter_args("True");
  out.compiler = ToolKind::kCompilerA5;
  out.compiler_args = {"--target=Ascend950PR_9589",           "--enable-auto-multi-buffer=false",
                       "--enable-auto-bind-sub-block=false",  "--enable-hfusion-compile=true",
                       "--enable-triton-kernel-compile=true", "--enable-print-memory-allocated-size"};
  out.needs_unsigned_source = true;
  return out;
}

// JUMAR_TOOLCHAIN_DIR, then where `jumar toolchain install` puts it, then CANN.
inline Toolchain toolchain_here() {
  const Environment environment = process_environment();
  const std::string cache =
      environment("XDG_CACHE_HOME").value_or(environment("HOME").value_or("") + "/.cache");
  return find_toolchain(
      {environment("JUMAR_TOOLCHAIN_DIR").value_or(""), cache + "/jumar/toolchain", environment});
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
