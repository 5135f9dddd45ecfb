// `jumar compile`: from an exported program to a package.
#pragma once

#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct CompileArguments {
  std::string input;
  std::string output;  // empty: beside the input, with the ending .jumar.pt2
  std::string cpu;     // empty: what the option says
  std::string provider;  // empty: what the option says
  std::string model;     // of an archive that holds several
  std::vector<std::string> options;
  bool time = false;
};

// Prints one line about what was made; progress goes to stderr when that is a terminal.
Status compile_command(const CompileArguments& arguments, const Options& base);

}  // namespace jumar::driver
