// Making a producer nest and a consumer nest one.
//
// Two ways, by what the producer is:
//   - a pointwise producer (one stage, no inner axes) is moved into the first stage of the consumer that
//   loads
//     from it, at the points where it is loaded: one stage, element by element;
//   - any other producer keeps its stages, and the consumer's stages follow them over the same kept points,
//   or
//     join one of them where the consumer only needs what is known there.
// Either way loads whose value is at hand become that value; loads that read another inner point of the same
// kept point stay loads, since an earlier stage has stored it by then.
#pragma once

#include <set>
#include <string>
#include <variant>

#include "fuse/fuse.h"
#include "fuse/rewrite.h"

namespace jumar::fuse {

// The merged nest, or why there is none.
using Merged = std::variant<loop::Nest, std::string>;

// A name counter shared by all merges of one program, so that axes never meet.
struct MergeContext {
  loop::Program& program;
  const FuseOptions& options;
  // Buffers that several items write (a fill, then a scatter): their elements are not one kernel's.
  std::set<loop::BufferId> written_in_parts = {};
  uint32_t axis_counter = 0;
  // Whether anything but the consumer needs what the producer of the merge at hand stores.
  bool others_need_producer = true;
};

Merged merged_nest(MergeContext& context, const loop::Nest& producer, const loop::Nest& consumer);
// Two nests that don't depend on each other, over the same points, that load from a common buffer.
Merged merged_siblings(MergeContext& context, const loop::Nest& first, const loop::Nest& second);

// One stage without inner axes, whose stores are plain.
bool is_pointwise(const loop::Nest& nest);
// What one point of a count expression comes to, by the symbols' hints; for deciding what pays, never what is
// right.
int64_t estimated(const loop::Program& program, Expr count);

}  // namespace jumar::fuse
