// `jumar compile`: from an exported program to a package, to C++ source, or to the kernels of a device.
#pragma once

#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct CompileArguments {
  std::string input;
  // "package", "cpp", or stages of a device's kernels (device_project.h). Empty: a package; or for a device,
  // where the output does not end with .pt2, all stages.
  std::vector<std::string> emit;
  // Empty: beside the input, with the ending .jumar.pt2, .cpp for the folder of sources, .npu for a device's.
  std::string output;
  std::string name;          // of a C++ program; empty: the input's
  std::string page;          // of html_report; empty: none
  std::string cpu;           // empty: what the option says
  std::string target;        // empty: what the option says
  std::string device_limit;  // empty: what the option says
  std::string provider;      // empty: what the option says
  std::string model;         // of an archive that holds several
  std::vector<std::string> options;
  bool time = false;
};

// All words of --emit.
std::vector<std::string> emit_words();

// Prints one line about what was made; progress goes to stderr when that is a terminal.
Status compile_command(const CompileArguments& arguments, const Options& base);

}  // namespace jumar::driver
