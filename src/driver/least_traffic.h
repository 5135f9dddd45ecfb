// The bytes that a kernel has to move at least, from its loops: what its real traffic is measured against.
//
//   nest (i0 in 1024) { stage (r0 in 768) { load %x[768*i0 + r0] ... load %w[r0] ... store %y[768*i0 + r0] }
//   }
//
//   read_bytes       all of %x and %w, each element once
//   written_bytes    all of %y
//   broadcast_bytes  %w: each core that takes part has to read it by itself
//
// What a nest stored before need not be read. Accesses of one buffer that are written differently count as
// different elements, but no buffer counts as more than it has. A guard counts as far as it names axes of the
// address. Of what is found through an index there are as many elements as points.
#pragma once

#include "driver/memory_map.h"
#include "loop/loop.h"

namespace jumar::driver {

struct LeastTraffic {
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  int64_t broadcast_bytes = 0;  // a part of read_bytes

  int64_t bytes() const { return read_bytes + written_bytes; }
  // With each broadcast operand read by each of so many cores.
  int64_t bytes_on(int64_t cores) const {
    return bytes() + broadcast_bytes * std::max<int64_t>(cores - 1, 0);
  }
};

// Fails where a size of the kernel has no value.
Result<LeastTraffic> least_traffic(const loop::Program& program, const loop::Kernel& kernel,
                                   const SizeValues& sizes);

}  // namespace jumar::driver
