// What a compiled module tells without being launched: the UB it uses and what the host has to provide.
#pragma once

#include <optional>
#include <string_view>

#include "driver/toolchain/hivm_program.h"

namespace jumar::driver::toolchain {

// What the host has to provide for a kernel, as functions of the module for the host say.
struct HostNeeds {
  std::optional<int64_t> task_type;
  std::optional<int64_t> workspace_bytes;  // for each block
  std::optional<int64_t> lock_count;
  std::optional<int64_t> lock_initial;
  bool operator==(const HostNeeds&) const = default;
};

struct HivmFacts {
  HostNeeds needs;
  int64_t ub_bytes = 0;  // the highest end of a buffer with a constant address
};

HivmFacts facts_of(const HivmProgram& program);

}  // namespace jumar::driver::toolchain
