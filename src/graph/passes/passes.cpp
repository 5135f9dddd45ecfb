#include "graph/passes/passes.h"

namespace jumar::graph {
namespace {

constexpr ir::Pass<Graph> kPasses[] = {
#define JUMAR_GRAPH_PASS(function, name, level, summary) {name, function, level, summary},
#define JUMAR_PROVIDER_PASS JUMAR_GRAPH_PASS
#include "graph/passes/passes.def"
#undef JUMAR_PROVIDER_PASS
#undef JUMAR_GRAPH_PASS
};

constexpr std::string_view kPipeline[] = {
#define JUMAR_GRAPH_PASS(function, name, level, summary) name,
#define JUMAR_PROVIDER_PASS(function, name, level, summary)
#include "graph/passes/passes.def"
#undef JUMAR_PROVIDER_PASS
#undef JUMAR_GRAPH_PASS
};

constexpr std::string_view kProviderPipeline[] = {
#define JUMAR_GRAPH_PASS(function, name, level, summary) name,
#define JUMAR_PROVIDER_PASS JUMAR_GRAPH_PASS
#include "graph/passes/passes.def"
#undef JUMAR_PROVIDER_PASS
#undef JUMAR_GRAPH_PASS
};

}  // namespace

std::span<const ir::Pass<Graph>> graph_passes() { return kPasses; }
std::span<const std::string_view> default_graph_pipeline() { return kPipeline; }
std::span<const std::string_view> provider_graph_pipeline() { return kProviderPipeline; }

Result<std::vector<ir::PassRecord>> run_graph_passes(Graph& graph, std::span<const std::string_view> pipeline,
                                                     const ir::PassOptions& options) {
  ir::PassHooks<Graph> hooks{[](const Graph& g) { return verify(g); },
                             [](const Graph& g) { return write_graph(g); }};
  return ir::run_passes<Graph>(graph, kPasses, pipeline, hooks, options);
}

}  // namespace jumar::graph
