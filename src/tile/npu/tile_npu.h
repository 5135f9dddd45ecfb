// Kernels for an NPU: loop kernels cut into blocks.
//
//   TiledKernel tiled = tile_npu(program, kernel, model);
//   if (tiled.refusal.empty()) emit_ttir(program, tiled.choices[0])
#pragma once

#include <string>
#include <vector>

#include "tile/npu/candidates.h"

namespace jumar::tile::npu {

struct Choice {
  BlockKernel kernel;
  std::vector<NestTiling> tilings;  // of each nest
  double us = 0;                    // by the model
  int64_t buffer_bytes = 0;         // that it needs
  int64_t unshared_bytes = 0;       // memory.h
};

struct TiledKernel {
  std::vector<Choice> choices;  // the best first
  std::string refusal;          // why there are none
};

TiledKernel tile_npu(loop::Program& program, const loop::Kernel& kernel, const NpuModel& model,
                     size_t most = 10);

}  // namespace jumar::tile::npu
