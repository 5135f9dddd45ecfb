// Loads that are contiguous along one kept axis while another runs in the lanes.
//
//   nest (i0 in 768, i1 in 128) { ... load %x[768*i1 + i0] ... store %y[128*i0 + i1] }
//
// With i1 in the lanes, the load of %x is transposed by i0: a tile of lanes x lanes of it can be read as rows
// along i0 and turned in registers.
#pragma once

#include "loop/loop.h"

namespace jumar::tile {

// Whether the load is unguarded, moves by 1 along `by` and by any other amount but 1, 0 and -1 along
// `vector`, and depends on nothing that the body computes.
bool is_transposed_load(sym::Context& cx, const loop::Inst& inst, sym::Expr vector, sym::Expr by);

// The kept axis by which most loads of the nest are transposed, or nothing. The nest must be pointwise: one
// stage without inner axes.
sym::Expr best_transpose_axis(sym::Context& cx, const loop::Nest& nest, sym::Expr vector);

}  // namespace jumar::tile
