// `jumar inspect`: what is in a package, an exported program or a folder of a device's kernels, without
// running anything of it. With a target, an exported program is compiled for that device, and its kernels are
// told.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/options.h"
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
  std::string target;        // a device
  std::string device_limit;  // empty: what the option says
};

// The text to print: an overview, or only what is asked for.
Result<std::string> inspect(const InspectArguments& arguments, const Options& base);
// The same of a file's bytes; arguments.file names them.
Result<std::string> inspect(const InspectArguments& arguments, std::span<const uint8_t> bytes);

}  // namespace jumar::driver
