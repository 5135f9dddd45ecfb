// What a launch of a compiled kernel of an NPU does at given sizes, counted in its HIVM.
//
//   JUMAR_ASSIGN(const LaunchNumbers numbers, launch_numbers(program, kernel.choice.kernel, cores, sizes));
//   numbers.grid, numbers.scalars                       // what the launcher passes
//   JUMAR_ASSIGN(const toolchain::HivmTraffic traffic, counted(kernel.check, numbers, target, cores));
//
// The scalar part of the compiled code is run for every block of the launch, for as many steps as take a few
// seconds. Cores are the vector cores that a launch may use.
#pragma once

#include <array>
#include <vector>

#include "driver/memory_map.h"
#include "driver/toolchain/check_kernels.h"
#include "driver/toolchain/hivm_traffic.h"
#include "target/core_limit.h"
#include "tile/npu/block.h"

namespace jumar::driver {

struct LaunchNumbers {
  std::array<int64_t, 3> grid = {0, 1, 1};
  std::vector<int64_t> scalars;  // in order
};

// Fails where the grid or an argument has no value at these sizes.
Result<LaunchNumbers> launch_numbers(const loop::Program& program, const tile::npu::BlockKernel& kernel,
                                     int64_t vector_cores, const SizeValues& sizes);

// Of a kernel that the toolchain has compiled.
Result<toolchain::HivmTraffic> counted(const toolchain::KernelCheck& check, const LaunchNumbers& numbers,
                                       const target::CoreLimit& cores);

}  // namespace jumar::driver
