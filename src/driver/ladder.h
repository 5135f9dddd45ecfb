// A graph on every level, with the same made-up inputs: the loop interpreter on the lowered, the fused and
// the tiled program, and the kernels of this processor by way of the plan.
//
//   Status same = climb(graph, options, LadderRequest{});
//
// Nothing, or a diagnostic that begins with the level that differs from the one before it. Called operators
// are imitated on every level (loop/check.h), so they are no part of what is compared, and there is no need
// for libtorch. What a correct program may raise for its inputs must be raised on every level.
#pragma once

#include "graph/graph.h"
#include "loop/check.h"
#include "support/options.h"

namespace jumar::driver {

struct LadderRequest {
  uint64_t seed = 1;
  // Each round draws other inputs and other sizes; the first takes the sizes that the graph gives as hints.
  int rounds = 3;
  double special_share = 0;
  double tolerance = 1e-4;  // relative, of f32
};

Status climb(const graph::Graph& graph, const Options& options, const LadderRequest& request);

}  // namespace jumar::driver
