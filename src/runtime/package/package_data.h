// What the compiler links into a package's library beside this runtime: one constant, `jumar_package`.
//
// The structures have C layout and their pointers are relocations of the library, so that nothing but the
// plan and the manifest has to be read at load. `format` changes when a member does.
#pragma once

#include <cstdint>
#include <cstring>

#include "runtime/executor.h"

namespace jumar::runtime::package {

inline constexpr uint64_t kPackageFormat = 3;

struct PackageKernel {
  const char* name;  // as the plans call it
  KernelFn function;
};

struct PackageBytes {
  const uint8_t* data;
  uint64_t size;
  uint64_t checksum;  // checksum_of(data, size)
};

// Of bytes that were checked when they were made: what has not changed since need not be checked again. Words
// of 8 bytes, each mixed in by an exclusive or, a rotation and a multiplication; every single changed bit
// changes it.
inline uint64_t checksum_of(const uint8_t* data, uint64_t size) {
  uint64_t sum = size;
  for (uint64_t at = 0; at < size; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data + at, size - at < 8 ? size - at : 8);
    sum ^= word;
    sum = (sum << 29 | sum >> 35) * 0x9e3779b97f4a7c15u;  // odd, so that no two sums become one
  }
  return sum;
}

struct PackageData {
  uint64_t format;
  PackageBytes plan;
  PackageBytes folding_plan;  // empty where nothing is folded
  PackageBytes manifest;
  const PackageKernel* kernels;
  uint64_t kernel_count;
  // The device that kernels are for, which then are not linked in; null: this processor.
  const char* device;
};

}  // namespace jumar::runtime::package

extern "C" __attribute__((visibility("hidden"))) const jumar::runtime::package::PackageData jumar_package;
