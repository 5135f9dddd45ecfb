// Which kept axes may be cut into units that run at once, when stores fold into memory.
#pragma once

#include "loop/loop.h"

namespace jumar::tile {

// Whether points of the nest with different values of the kept axis never store to the same element. Stores
// that set promise it; for the others it must follow from their addresses: in 64*%1 + i1, i1 in 64, different
// i1 are different elements, whatever %1 is.
bool axis_is_safe(const loop::Program& program, const loop::Nest& nest, const loop::Axis& axis);

}  // namespace jumar::tile
