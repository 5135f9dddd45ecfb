// How many cores of a device the kernels of this process may use.
//
//   JUMAR_ASSIGN(const CoreLimit limit, parse_core_limit("14,28", target, "environment variable
//   NPU_DEVICE_LIMIT")); limit.vector_cores;        // 28: programs of a fused kernel that run at once
//   limit.mixed_groups();      // 14: a cube core and its vector cores, for kernels that use both
//   limit.warning;             // empty; else one text to show once
//
// A limit is a value beside the target, read when a plan is launched: grids are expressions of it, so that
// another limit needs no other kernels. It counts cores and does not say which.
#pragma once

#include <string>
#include <string_view>

#include "target/target.h"

namespace jumar::target {

struct CoreLimit {
  int64_t cube_cores = 0;
  int64_t vector_cores = 0;
  int64_t vector_per_cube = 1;
  std::string warning;

  // 0 where fewer vector cores are allowed than work with one cube core: then no mixed kernel can run.
  int64_t mixed_groups() const { return std::min(cube_cores, vector_cores / vector_per_cube); }
};

// All cores of the target.
CoreLimit all_cores(const Target& target);

// 'cube,vector': two positive integers, blanks around them allowed, each at most the target's count. Anything
// else is a diagnostic with code "option" that names `source` ("environment variable NPU_DEVICE_LIMIT",
// "option device_limit"), the value and the target's counts. Empty text is no limit.
Result<CoreLimit> parse_core_limit(std::string_view text, const Target& target, std::string_view source);

}  // namespace jumar::target
