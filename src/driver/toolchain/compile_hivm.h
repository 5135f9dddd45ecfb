// Linalg text to optimized HIVM and, where the device linker is there, to a device binary.
//
//   JUMAR_ASSIGN(const CompileReport report, compile_hivm(linalg, tools, flavor, calls));
//   report.stage                    // kFailed, kChecked (not linked: no linker here), kLinked
//   report.failure->overflow        // how many bits it needs and how many there are
//   report.hivm                     // the text of module.hivm.opt.mlir
//
// bishengir-compile ends by calling hivmc, which comes with CANN only. Where it is missing, a program of that
// name is put into a directory of the call and in front of PATH: it does nothing and succeeds, so that the
// exit code tells whether all that is ours to check went well.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver/toolchain/adapt.h"
#include "driver/toolchain/hivm_facts.h"

namespace jumar::driver::toolchain {

struct CompileReport {
  enum class Stage : uint8_t { kFailed, kChecked, kLinked };
  Stage stage = Stage::kFailed;
  std::optional<ToolFailure> failure;  // there when it failed, and when the linker did after a good check
  // The compiler gave up one of its optimizations because the kernel did not fit with it.
  bool dropped_code_motion = false;
  bool dropped_multi_buffer = false;
  std::string hivm;
  std::string device_binary;
  HostNeeds needs;
  int64_t ub_bytes = 0;
  double seconds = 0;
};

std::string_view stage_text(CompileReport::Stage stage);

// Fails where a program is missing or cannot be run; that it refuses the kernel is in the report.
Result<CompileReport> compile_hivm(const std::string& linalg, const Toolchain& tools,
                                   const ToolchainFlavor& flavor, const ToolCalls& calls);

}  // namespace jumar::driver::toolchain
