// `jumar sim`: one Ascend kernel, as triton-adapter-opt wrote it, on arrays from files.
//
//   jumar sim add.linalg.mlir --grid 7 x.npy y.npy 1000xf32 1000
//
// There is one word for each argument of the kernel: a .npy file or "1000xf32" (so many zeros) for a pointer,
// a number for a scalar. What the kernel writes goes to out_{}.npy with the argument's number.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver {

struct SimArguments {
  std::string file;
  std::vector<std::string> words;
  std::vector<int64_t> grid = {1};  // x, y, z; what is missing is 1
  std::string kernel;               // of a file with several
  std::string output = "out_{}.npy";
  std::vector<std::string> options;
  int threads = 0;
  int repeat = 0;
};

// Without words it prints which arguments there are.
Status sim_command(const SimArguments& arguments, const Options& base);

}  // namespace jumar::driver
