// Dropping buffers that nothing mentions.
#pragma once

#include "loop/loop.h"

namespace jumar::fuse {

// Removes temps, results and views that no item and no output mentions, and renumbers the others in order.
// Inputs, parameters and outputs stay.
void drop_unused_buffers(loop::Program& program);

}  // namespace jumar::fuse
