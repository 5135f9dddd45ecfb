// The passes over graphs and their pipelines: rows of graph/passes/passes.def.
#pragma once

#include "graph/graph.h"
#include "ir/pass.h"

namespace jumar::graph {

#define JUMAR_GRAPH_PASS(function, name, level, summary) \
  ir::PassResult function(Graph& graph, ir::PassContext& context);
#define JUMAR_PROVIDER_PASS JUMAR_GRAPH_PASS
#include "graph/passes/passes.def"
#undef JUMAR_PROVIDER_PASS
#undef JUMAR_GRAPH_PASS

std::span<const ir::Pass<Graph>> graph_passes();
std::span<const std::string_view> default_graph_pipeline();
// For programs whose calls a provider makes.
std::span<const std::string_view> provider_graph_pipeline();

// Runs graph passes by name, with the graph's own verifier and writer.
Result<std::vector<ir::PassRecord>> run_graph_passes(Graph& graph, std::span<const std::string_view> pipeline,
                                                     const ir::PassOptions& options = {});

}  // namespace jumar::graph
