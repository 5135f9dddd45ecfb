// A nest and the decision how to cut it -> a nest of a block program.
#pragma once

#include <string>
#include <variant>

#include "tile/npu/arguments.h"
#include "tile/npu/tiling.h"

namespace jumar::tile::npu {

// Adds the nest to `kernel`; or says why blocks can't compute it when it is cut so. The kernel is spoilt
// then.
std::optional<std::string> add_nest(const loop::Program& program, const PreparedNest& nest,
                                    const NestTiling& tiling, Arguments& arguments, BlockKernel& kernel);

}  // namespace jumar::tile::npu
