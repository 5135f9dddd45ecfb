#include "driver/compile_graph.h"

#include <algorithm>
#include <thread>

#include "driver/build_id.h"

namespace jumar::driver {
namespace {

constexpr int kMaxThreads = 8;

}  // namespace

int compile_thread_count(const Options& options) {
  if (options.compile_threads() > 0) return static_cast<int>(options.compile_threads());
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

Result<CompiledParts> compile_graph(Stages& stages, const graph::Graph& graph, const jit::CpuTarget& target,
                                    const Options& options, const Store* store, Report& report) {
  JUMAR_ASSIGN(loop::Program program, stages.lower(graph));
  stages.fuse(program);
  stages.tile(program, target);
  DistinctKernels kernels;
  std::vector<KernelObject> objects;
  {
    const StageTimer timer(report, "code");
    kernels = distinct_kernels(program, target.text(), build_id());
    objects = compiled_kernels(program, kernels.sources, target, store, compile_thread_count(options));
  }
  return CompiledParts{std::move(objects), stages.plan(program, kernels)};
}

}  // namespace jumar::driver
