// Kernels that run one after the other become one launch of several phases.
//
//   kernel @mean { nest () ... store %m[0] }          kernel @norm phased {
//   call aten.mm.default(%a, %b) -> (%c)                nest () ... store %m[0]
//   kernel @norm { nest () ... load %m[0] ... }   ->    nest () ... load %m[0] ...
//                                                     }
//                                                     call aten.mm.default(%a, %b) -> (%c)
//
// First small kernels, which run on one thread anyway, are gathered. A kernel is small if its work units are
// proved to be no more than its grain. Everything else keeps its place; a small kernel may stand in any gap
// between the fixed items from the first one where all that it needs has been done to the last one before
// somebody needs it. Groups are the fewest gaps that serve all small kernels.
//
// What orders two items: one writes a buffer that the other touches (views stand for their buffers), one
// defines a number that the other reads, or both have effects: checks of indices, random operators, calls
// that may do anything. Nothing moves across a check or across a call that may do anything: what is below may
// rely on it. Kernels that mention numbers which a call defines don't move at all.
//
// Then a kernel joins the one right above it, if both are single nests or phased: nothing moves. Kernels of
// nests side by side stay as they are, since phases would make these wait for each other.
#pragma once

#include "loop/loop.h"

namespace jumar::tile {

// Every kernel must be tiled.
void join_kernels(loop::Program& program);

}  // namespace jumar::tile
