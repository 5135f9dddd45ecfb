// Decides how the nests of a kernel run on a CPU: loops, vectors, work units.
//
//   nest (i0 in s0, i1 in 128) { stage { ... %x[128*i0 + i1] ... } }
//   ->
//   nest (i0 in 128*s0) tile(parallel 0, block 4096, vector i0 x 8, registers 2, tail none, grain 8) { ... }
//
// The nest's axes are brought into order first (tile/axes.h). Then the cheapest of these is taken, by the
// model of tile/nest_cost.h: neighbours of a kept axis in the lanes, or for each stage neighbours of an inner
// axis, or scalars. Outer kept axes, and blocks of the next one, become work units, as many as leave each
// unit enough work; nests whose stores may collide keep the colliding points in one unit, which makes them
// deterministic.
//
// What a nest computes does not depend on the number of threads, nor on hints except through the order of
// folding.
#pragma once

#include "loop/loop.h"
#include "tile/cpu_model.h"

namespace jumar::tile {

void tile_cpu(const loop::Program& program, loop::Kernel& kernel, const CpuModel& model);
// All kernels of the program, after long reductions with few results are split in two kernels. Small kernels
// are joined afterwards (tile/join_kernels.h).
void tile_cpu(loop::Program& program, const CpuModel& model);

}  // namespace jumar::tile
