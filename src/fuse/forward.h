// After merging: what a later stage loads from an earlier one, stores that nobody reads, and conversions that
// undo each other.
#pragma once

#include <functional>

#include "fuse/merge.h"

namespace jumar::fuse {

// For every buffer that only this nest needs: loads in later stages become a recomputation when that is
// cheap, or local memory when the inner axes are constant and few; otherwise the buffer stays.
void forward_stores(MergeContext& context, loop::Nest& nest,
                    const std::function<bool(loop::BufferId)>& needed_elsewhere);

// Drops plain stores to buffers that this nest doesn't load and nobody else needs.
void drop_dead_stores(loop::Nest& nest, const std::function<bool(loop::BufferId)>& needed_elsewhere);

// cast T (demote U x) is x where x is a T and the program isn't strict; a cast to the same type is its
// operand.
void fold_conversions(loop::Program& program, loop::Nest& nest);

}  // namespace jumar::fuse
