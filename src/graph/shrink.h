// A smaller graph of which the same can be said.
//
//   Result<Shrunk> small = shrunk(graph, [&](const Graph& smaller) -> Result<bool> { return
//   still_fails(smaller); }); small->graph, small->tries
//
// Results are left out, runs of nodes are cut away (their results become inputs), values are replaced by
// others of the same type, symbols by numbers, and sizes by smaller ones, as long as `holds` does. What
// `holds` is asked about is a graph that verifies, but sizes need not be what its operators make: `holds` is
// to tell a graph that makes no sense from one that fails. The same graph gives the same answer as long as
// `holds` does.
#pragma once

#include <functional>

#include "graph/graph.h"

namespace jumar::graph {

struct Shrunk {
  Graph graph;
  size_t tries = 0;
};

using Holds = std::function<Result<bool>(const Graph&)>;

// `holds(graph)` is given. An error of `holds` ends the search.
Result<Shrunk> shrunk(Graph graph, const Holds& holds);

}  // namespace jumar::graph
