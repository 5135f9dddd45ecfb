// Why a program of the toolchain did not take a kernel.
#pragma once

#include <optional>
#include <string>

#include "driver/toolchain/messages.h"
#include "driver/toolchain/process.h"

namespace jumar::driver::toolchain {

struct ToolFailure {
  std::string tool;    // "bishengir-compile"
  std::string ending;  // "exit code 1", "killed by SIGABRT"
  std::string message;
  int line = 0;  // of the text that the program was given; 0 where none is told
  int column = 0;
  std::optional<Overflow> overflow;
  bool is_time_limit = false;
  std::string log;  // all that it printed but for stack traces and repeated warnings, shortened

  // "bishengir-compile: 2:3: ub overflow, requires ... (exit code 1)"
  std::string text() const;
};

ToolFailure failure_of(std::string tool, const ProcessResult& done, const Messages& said);

}  // namespace jumar::driver::toolchain
