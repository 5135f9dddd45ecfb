// Guards that cut an axis into pieces: joined tensors, padding.
//
//   nest (i0 in 1024, i1 in 896) { load %a[256*i0 + i1] if i1 < 256 ... load %b[512*i0 + i1 - 256] if 255 <
//   i1 ... }
//   ->
//   nest (i0 in 1024, i1 in 256) { load %a[256*i0 + i1] ... }
//   nest (i0 in 1024, i1 in 640) { load %b[512*i0 + i1] ... }
//
// Where all pieces are equally long and few, and the nest only computes point by point, one nest does them
// all for each point of a piece: what several pieces load is loaded once (the halves of a rotary embedding).
#pragma once

#include <vector>

#include "loop/loop.h"

namespace jumar::tile::npu {

// Nests that do together what the nest does; the nest itself where nothing is gained.
std::vector<loop::Nest> pieces_of(loop::Program& program, const loop::Nest& nest);

}  // namespace jumar::tile::npu
