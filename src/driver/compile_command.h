// `jumar compile`: from an exported program to a package, or to C++ source.
#pragma once

#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct CompileArguments {
  std::string input;
  std::string emit = "package";  // or "cpp"
  // Empty: beside the input, with the ending .jumar.pt2, or .cpp for the folder of sources.
  std::string output;
  std::string name;      // of a C++ program; empty: the input's
  std::string page;      // of html_report; empty: none
  std::string cpu;       // empty: what the option says
  std::string provider;  // empty: what the option says
  std::string model;     // of an archive that holds several
  std::vector<std::string> options;
  bool time = false;
};

// Prints one line about what was made; progress goes to stderr when that is a terminal.
Status compile_command(const CompileArguments& arguments, const Options& base);

}  // namespace jumar::driver
