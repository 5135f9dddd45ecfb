// `jumar run`: an exported program or a package on arrays from files, without Python. Which of both a file is
// follows from what is in it. Exported programs run without libtorch unless one is named, packages as they
// were compiled. With `sim`, the kernels of an exported program are made for a device and run by the
// simulator.
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
  std::string torch_library;  // to call operators of; a package may need it
  std::string target;         // empty: what the option says
  std::string device_limit;   // empty: what the option says
  bool sim = false;
  int threads = 0;
  int repeat = 0;
};

// Without inputs it prints which ones there are.
Status run_command(const RunArguments& arguments, const Options& base);

}  // namespace jumar::driver
