// Computing a pointwise producer where its buffer is loaded.
#pragma once

#include <string>

#include "fuse/merge.h"

namespace jumar::fuse {

// What one point of a pointwise nest costs to compute again, in simple operations.
int body_weight(const loop::Nest& nest);

// Replaces each load of `buffer` in `consumer` by the producer's computation. Empty on success; else the
// reason, and the consumer is as it was.
std::string inline_producer(MergeContext& context, const loop::Nest& producer, loop::BufferId buffer,
                            loop::Nest& consumer);

}  // namespace jumar::fuse
