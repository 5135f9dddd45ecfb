#pragma once
#include <string>
#include "tile/npu/block.h"
namespace jumar::emit::triton { inline std::string emit_triton(const loop::Program&, const tile::npu::BlockKernel& k) { return k.name; } }
