// Work units of a tiled nest: how many pieces of it threads may take (loop/tiling.h says what a unit is).
//
//   nest (i0 in s0, i1 in 256) tile(parallel 1, block 128, grain 4)     units 2*s0
#pragma once

#include "loop/loop.h"

namespace jumar::tile {

// The nest must have a tiling.
sym::Expr units_of(sym::Context& cx, const loop::Nest& nest);

}  // namespace jumar::tile
