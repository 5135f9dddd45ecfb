// TTIR text to linalg text, by triton-adapter-opt.
//
//   JUMAR_ASSIGN(const AdaptReport report, adapt(kernel.ttir, tools, flavor, calls));
//   if (report.failure) ... else report.linalg->text
//
// The text that comes out is what the compiler takes: the attribute mix_mode, which belongs to the launcher,
// is read and removed, and what the adapter does not print although the compiler wants it is added. The
// adapter may succeed and leave operations of Triton in its output; that counts as a failure.
#pragma once

#include <optional>
#include <string>

#include "driver/toolchain/failure.h"
#include "driver/toolchain/flavor.h"

namespace jumar::driver::toolchain {

struct LinalgText {
  std::string text;
  std::string mix_mode;  // "aiv" for vector kernels, "mix" where a matrix product is in it
};

struct AdaptReport {
  std::optional<LinalgText> linalg;
  std::optional<ToolFailure> failure;
  double seconds = 0;
};

// What holds for every call of a program.
struct ToolCalls {
  double limit_seconds = 60;
  std::string temporary_dir = "/tmp";
};

// What every call of a program has: its time limit, and no search for names in the trace of a crash, which
// takes longer than all else.
ProcessRequest tool_request(const ToolCalls& calls);
// Runs a program of the toolchain; one that crashes twice more: with some kernels the adapter does by chance,
// in about one run of sixty. `seconds` are those of all runs.
Result<ProcessResult> run_tool(const ProcessRequest& request);

// Fails where the program is missing or cannot be run; that it refuses the kernel is in the report.
Result<AdaptReport> adapt(const std::string& ttir, const Toolchain& tools, const ToolchainFlavor& flavor,
                          const ToolCalls& calls);

// The parts of it that need no program.
LinalgText prepared_linalg(std::string adapted, bool needs_unsigned_source);
// The first operation of Triton that is left in a text, with its line.
struct LeftOver {
  std::string operation;
  int line = 0;
};
std::optional<LeftOver> left_over(std::string_view linalg);

}  // namespace jumar::driver::toolchain
