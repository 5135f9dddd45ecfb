// `jumar run`: an exported program on arrays from files, without libtorch and without Python.
#pragma once

#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct RunArguments {
  std::string program;
  std::vector<std::string> inputs;  // .npy files
  std::string output = "out_{}.npy";
  std::string model;  // of an archive that holds several
  std::vector<std::string> options;
  int threads = 0;
  int repeat = 0;
};

// Without inputs it prints which ones there are.
Status run_command(const RunArguments& arguments, const Options& base);

}  // namespace jumar::driver
