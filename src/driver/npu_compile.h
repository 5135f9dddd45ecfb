// Graph to kernels and plan for an NPU.
//
//   JUMAR_ASSIGN(NpuParts parts, compile_for_npu(stages, graph, device, &tools, options, report));
//   parts.kernels.kernels[k]      the code of each kernel of parts.program, in order
//   parts.plan                    launches with grids that are expressions of sizes and of cores(vector)
//
// An operator whose kernel the device can't run is called instead, with the reason. A fused kernel that can't
// be made is taken apart, and what is still refused then is called: every round of this is a note of the
// report.
#pragma once

#include "driver/device.h"
#include "driver/npu_kernels.h"
#include "driver/stages.h"

namespace jumar::driver {

// What options say about compiling for an NPU, and the store that they name.
struct NpuSettings {
  NpuSettings(const Options& options, std::function<void(size_t done, size_t total)> progress);
  NpuSettings(const NpuSettings&) = delete;
  NpuSettings& operator=(const NpuSettings&) = delete;

  std::optional<Store> store;
  NpuOptions npu;
};

struct NpuParts {
  loop::Program program;  // fused
  NpuKernels kernels;
  plan::Plan plan;
};

Result<NpuParts> compile_for_npu(Stages& stages, const graph::Graph& graph, const Device& device,
                                 const toolchain::Toolchain* tools, const NpuOptions& options,
                                 Report& report);

// Lowered as the target asks: what its kernels can't do is called.
Result<loop::Program> lowered_for_npu(Stages& stages, const graph::Graph& graph, const Device& device);

// How a plan calls a kernel: pointers; then its integers, the grid's three sizes and the elements behind each
// pointer; then its numbers.
emit::host::KernelLaunch npu_launch(const loop::Program& program, const NpuKernel& kernel);

// The plan of a program whose kernels are made; checks of sizes that kernels rely on join the program. That a
// kernel was refused is a diagnostic.
Result<plan::Plan> plan_for_npu(Stages& stages, loop::Program& program, const NpuKernels& made,
                                const target::Target& target);

}  // namespace jumar::driver
