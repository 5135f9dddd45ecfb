// Windows: what neighbouring points of a kept axis read in common.
//
//   nest (i in 56) { stage (r in 3) { load %x[128*i + 64*r - 64] if 0 < 2*i + r, reduce max } }
//     window w = 2*i + r:  load %x[64*w - 64] if 0 < w
//
// A block of n points of `i` reads 2*(n - 1) + 3 elements along `w`. They are loaded once, before the loop
// over `r`, which takes every second of them from r on: a slice on chip. Without, each round would load a
// strided block of its own, and each element would be read up to twice.
#pragma once

#include <optional>
#include <vector>

#include "tile/npu/tiling.h"

namespace jumar::tile::npu {

// Finds the windows of a nest's loads, one at most for each kept axis: where points overlap, and the axis is
// not the densest in memory, along which the toolchain takes no slice in vectors.
void add_windows(const loop::Program& program, PreparedNest& nest);

// How a nest loads; null for a load without windows.
const WindowedLoad* windowed_load(const PreparedNest& nest, const loop::Inst& load);

}  // namespace jumar::tile::npu
