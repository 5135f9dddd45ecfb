// What the compiler links into a package's library beside this runtime: one constant, `jumar_package`.
//
// The structures have C layout and their pointers are relocations of the library, so that nothing but the
// plan and the manifest has to be read at load. `format` changes when a member does.
#pragma once

#include <cstdint>

#include "runtime/executor.h"

namespace jumar::runtime::package {

inline constexpr uint64_t kPackageFormat = 1;

struct PackageKernel {
  const char* name;  // as the plans call it
  KernelFn function;
};

struct PackageBytes {
  const uint8_t* data;
  uint64_t size;
};

struct PackageData {
  uint64_t format;
  PackageBytes plan;
  PackageBytes folding_plan;  // empty where nothing is folded
  PackageBytes manifest;
  const PackageKernel* kernels;
  uint64_t kernel_count;
};

}  // namespace jumar::runtime::package

extern "C" __attribute__((visibility("hidden"))) const jumar::runtime::package::PackageData jumar_package;
