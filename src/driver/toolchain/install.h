// Gets the toolchain from two Python wheels, without installing them.
//
//   InstallRequest request;
//   request.directory = installed_directory(process_environment());
//   JUMAR_ASSIGN(const std::string told, install_toolchain(request));
//
// The wheels are downloaded by `python3 -m pip download`, by name and version, or are files that the user
// has. Only the programs and the bitcode that the device linker takes are unpacked. All of it is made in a
// folder beside the directory, which then takes its place in one step: an install that is interrupted leaves
// what was there before, and the next install removes what it left lying about.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::driver::toolchain {

struct InstallRequest {
  std::string directory;
  std::vector<std::string> from;   // wheel files, or directories that hold them; nothing: download
  std::string python = "python3";  // that has pip, for the download
  std::string index_url;           // of pip; empty means pip's own
  std::function<void(std::string_view step)> progress;
};

// What was installed, a line for each file.
Result<std::string> install_toolchain(const InstallRequest& request);

// What an install wrote about itself; empty when there is none.
std::string installed_from(const std::string& directory);

}  // namespace jumar::driver::toolchain
