// `jumar run` of a package, through the interface that C++ programs use (include/jumar/package.h), or by the
// simulator where its kernels are for a device.
#pragma once

#include <span>

#include "driver/run_command.h"

namespace jumar::driver {

// `bytes` are the file's, of which only the record for people is read here. Without inputs it prints which
// ones there are, and loads nothing.
Status run_package(const RunArguments& arguments, const Options& base, std::span<const uint8_t> bytes);

}  // namespace jumar::driver
