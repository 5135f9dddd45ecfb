// `jumar inspect`: what is in a package or an exported program, without running anything of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/result.h"

namespace jumar::driver {

struct InspectArguments {
  std::string file;
  std::string model;                 // of an archive that holds several
  std::vector<std::string> kernels;  // whose loops to print
  std::vector<std::string> sizes;    // "s0=8": instead of hints
  bool all_kernels = false;
  bool plan = false;
  bool refusals = false;
  bool memory = false;
  bool at_load = false;  // kernels, plan and memory of what is computed at load
  bool json = false;
};

// The text to print: an overview, or only what is asked for.
Result<std::string> inspect(const InspectArguments& arguments);
// The same of a file's bytes; arguments.file names them.
Result<std::string> inspect(const InspectArguments& arguments, std::span<const uint8_t> bytes);

}  // namespace jumar::driver
