// What an NPU's vector unit can't do: asked for each kernel of one operator, before fusion.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "loop/loop.h"

namespace jumar::tile::npu {

// Which element types are loaded and stored, by their names.
using TakesType = std::function<bool(ir::DType)>;

// Why the kernel can't be run there, or nothing. What this lets through may still be refused when it is cut.
std::optional<std::string> unsupported(const loop::Program& program, const loop::Kernel& kernel,
                                       const TakesType& takes);

}  // namespace jumar::tile::npu
