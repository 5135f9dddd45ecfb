// Graph to kernels and plan: the middle of every compilation.
#pragma once

#include <vector>

#include "driver/kernels.h"
#include "driver/stages.h"

namespace jumar::driver {

struct CompiledParts {
  std::vector<KernelObject> kernels;
  plan::Plan plan;
};

// `store` may be null. The graph has been optimized.
Result<CompiledParts> compile_graph(Stages& stages, const graph::Graph& graph, const jit::CpuTarget& target,
                                    const Options& options, const Store* store, Report& report);

// Threads that make code at once: what the option says, or one per core up to a limit.
int compile_thread_count(const Options& options);

}  // namespace jumar::driver
