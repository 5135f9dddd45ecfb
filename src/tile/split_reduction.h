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

#include <map>
#include <string>

#include "loop/loop.h"

namespace jumar::tile {

// What is worth it; the defaults are for processors.
struct SplitPolicy {
  int64_t parallel = 32;          // chunks, where they are the only parallel work
  int64_t results_per_unit = 4;   // as many results are parallel work of one unit
  int64_t most_units = 1;         // with more units of results there is parallel work enough
  int64_t least_points = 131072;  // of one unit: fewer are done sooner than a second one has begun
  int64_t chunk_multiple = 64;    // chunks of the only inner axis are a multiple of it
};

// Splits every kernel of the program that gains from it. Kernels are not tiled yet. Gives the new kernels'
// names, with the kernel that each is cut from.
std::map<std::string, std::string> split_reductions(loop::Program& program, const SplitPolicy& policy = {});

}  // namespace jumar::tile
