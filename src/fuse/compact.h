// Changing which buffers a program mentions.
#pragma once

#include "loop/loop.h"

namespace jumar::fuse {

// Removes temps, results and views that no item and no output mentions, and renumbers the others in order.
// Inputs, parameters and outputs stay.
void drop_unused_buffers(loop::Program& program);

// Whatever mentions `from`, a view's base included, mentions `to`, which has the same type.
void replace_buffer(loop::Program& program, loop::BufferId from, loop::BufferId to);

}  // namespace jumar::fuse
