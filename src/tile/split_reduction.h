// Cuts a long reduction with few results into chunks, so that it has work for more than one thread.
//
//   nest () { stage (r0 in 1000003) { ... reduce sum ... } stage { store %y[0] ... } }
//   ->
//   kernel @k_chunks { nest (c in 32) { stage (r0 in 31232) ... store %k_chunks[c] }
//                      nest ()        { stage (r0 in 579) ... store %k_chunks[32] } }
//   kernel @k        { nest ()        { stage (r0 in 33) { load %k_chunks[r0], reduce sum }  stage { ... } }
//   }
//
// The cut depends on the program alone, so results are the same for every number of threads.
#pragma once

#include "loop/loop.h"

namespace jumar::tile {

// Splits every kernel of the program that gains from it. Kernels are not tiled yet.
void split_reductions(loop::Program& program);

}  // namespace jumar::tile
