// Indices that are numbers of a nest's axes: the address is written out, and nothing is read to find it.
//
//   %0: i64 = index i1                      over i1 in 128
//   %1: i64 = wrap_index %0 in 128
//   %2: f32 = load %x[4*%1]            =>   load %x[4*i1]
//
// An index that is proved to be inside needs no check. One that is not stays, with its check.
#pragma once

#include "loop/loop.h"

namespace jumar::fuse {

// Whether anything changed. Lines that nothing needs any more stay, for loop::tidy.
bool write_out_indices(loop::Program& program, loop::Nest& nest);

}  // namespace jumar::fuse
