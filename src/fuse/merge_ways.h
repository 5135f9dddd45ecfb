// The two ways of merging behind merged_nest (fuse/merge.h). Axes of the two nests are named apart.
#pragma once

#include "fuse/merge.h"

namespace jumar::fuse {

Merged merged_into_stage(MergeContext& context, loop::Nest producer, loop::Nest consumer);
Merged merged_in_stages(MergeContext& context, loop::Nest producer, loop::Nest consumer);

}  // namespace jumar::fuse
