// A program run to its end as a child process, without a shell.
//
//   ProcessRequest request;
//   request.command = {"/opt/tools/triton-adapter-opt", "-", "--triton-to-linalg"};
//   request.input = ttir;
//   JUMAR_ASSIGN(const ProcessResult done, run_process(request));
//   if (!done.is_ok()) ... done.ending() ...            // "killed by SIGABRT"
//
// The child has a process group of its own: when the time limit passes, or when the child ends and leaves
// children behind, the whole group is killed. Both streams are read while the input is written, so that
// neither side waits for the other. Any number of threads may run processes at once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace jumar::driver::toolchain {

struct ProcessRequest {
  std::vector<std::string> command;  // the program's path first; a plain name is looked up in PATH
  std::string input;                 // what the child reads
  std::string directory;             // where it runs; empty means here
  // Variables that replace or join those of this process.
  std::vector<std::pair<std::string, std::string>> variables;
  double limit_seconds = 0;  // 0 means none
};

struct ProcessResult {
  enum class End : uint8_t { kExit, kSignal, kTimeLimit };
  End end = End::kExit;
  int code = 0;  // the exit code, or the signal's number
  std::string output;
  std::string errors;
  double seconds = 0;

  bool is_ok() const { return end == End::kExit && code == 0; }
  // "exit code 1", "killed by SIGABRT", "stopped after 60 s".
  std::string ending() const;
};

// Fails only where the child cannot be started or watched.
Result<ProcessResult> run_process(const ProcessRequest& request);

}  // namespace jumar::driver::toolchain
