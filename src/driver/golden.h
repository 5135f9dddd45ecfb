// Golden tests: files that hold a command, its input and the whole of its expected output.
//
//   # RUN: jumar opt --to=loop
//   graph @main {
//     ...
//   }
//   # EXPECT
//   loop @main {
//     ...
//   }
//
// The input is the file up to the EXPECT line (comments are comments to every reader), the expected output
// all that follows. A command that fails is expected to print its diagnostic.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::driver {

// Runs a command line, without the program's name, on the input; gives what it prints.
using GoldenCommand =
    std::function<std::string(const std::vector<std::string>& arguments, std::string_view input)>;

struct GoldenSummary {
  size_t passed = 0;
  size_t failed = 0;
  size_t blessed = 0;  // rewritten
  std::string text;    // what differs, file by file
};

// The golden files below the given files and folders: those whose first line begins with "# RUN:". With
// `bless` files that differ are rewritten.
Result<GoldenSummary> run_golden(const std::vector<std::string>& paths, bool bless,
                                 const GoldenCommand& command);

}  // namespace jumar::driver
