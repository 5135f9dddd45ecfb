// A time for a launch from what its HIVM does: a model to rank candidates with, not a promise.
//
//   const HivmTime time = estimated_time(traffic, costs);
//   time.seconds, time.bound          // "read"
//
// A core reads, computes and writes at the same time as far as its buffers allow, which `overlap` says (1:
// fully, 0: one after another); its scalar work, its waits and the start of its
// blocks come on top. The launch takes as long as its
// busiest core, and not less than all bytes take through global memory. The constants belong to a target;
// where they come from stands there.
#pragma once

#include <string_view>

#include "driver/toolchain/hivm_traffic.h"

namespace jumar::driver::toolchain {

struct HivmCosts {
  double device_bytes_per_second = 0;  // of global memory, for all cores together
  double core_bytes_per_second = 0;    // of one core, in each direction
  double transfer_seconds = 0;         // for each call that moves data
  double burst_bytes = 0;          // a contiguous piece that is shorter takes as long as one of this length
  double vector_call_seconds = 0;  // to issue a call or an instruction
  double vector_bytes_per_second = 0;  // of one core
  double scalar_element_seconds = 0;   // for an access of the scalar unit to local memory
  double gm_scalar_seconds = 0;        // to global memory
  double barrier_seconds = 0;
  double flag_seconds = 0;
  double block_sync_seconds = 0;
  double program_seconds = 0;  // for each block that a core runs
  double launch_seconds = 0;
  double overlap = 1;
};

struct HivmTime {
  double seconds = 0;
  // Of the busiest core.
  double read_seconds = 0;
  double write_seconds = 0;
  double vector_seconds = 0;
  double scalar_seconds = 0;
  double sync_seconds = 0;
  double start_seconds = 0;
  std::string_view bound;  // "read", "write", "vector", "scalar", "sync", "start", "memory"
};

HivmTime estimated_time(const HivmTraffic& traffic, const HivmCosts& costs);

}  // namespace jumar::driver::toolchain
