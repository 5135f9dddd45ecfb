// `jumar toolchain`: gets the Ascend toolchain, tells what is there, and runs it on single kernels.
//
//   jumar toolchain install [--from WHEEL ...]
//   jumar toolchain status
//   jumar toolchain compile k.ttir.mlir --target Ascend910B1 -o out
//   jumar toolchain traffic out/k.hivm.mlir --grid 48,1,1 --args 4096,1024
#pragma once

#include <string>
#include <vector>

#include "support/options.h"
#include "support/result.h"

namespace jumar::driver::toolchain {

struct ToolchainArguments {
  // install
  std::vector<std::string> from;
  std::string python = "python3";
  std::string index_url;
  // compile
  std::vector<std::string> files;
  std::string target;
  std::string output = ".";
  // traffic
  std::string file;
  std::vector<int64_t> grid = {1, 1, 1};
  std::vector<int64_t> scalars;
};

// Each gives what is to be printed. Progress goes to stderr.
Result<std::string> install_command(const ToolchainArguments& arguments);
// `all_found` says whether everything is there that `install` installs.
std::string status_command(const Options& options, bool& all_found);
// Writes NAME.linalg.mlir and NAME.hivm.mlir of each file. Kernels that the toolchain refuses are told, and
// `all_ok` is false then.
Result<std::string> compile_command(const ToolchainArguments& arguments, const Options& options,
                                    bool& all_ok);
// JSON. With a target its cores are counted and its constants give a time.
Result<std::string> traffic_command(const ToolchainArguments& arguments);

}  // namespace jumar::driver::toolchain
