// A block program as TTIR text, Triton's IR: what triton-adapter-opt takes.
//
//   tt.func public @k0(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n0: i32) { ... tt.load ... tt.store ... }
//
// Arguments are the kernel's pointers, then its integers, then its numbers as f32. Nothing is decided here:
// operators are written one to one, accesses as splat pointers plus strided ranges, masks as comparisons of
// ranges, which is the form that the adapter turns into strided copies.
#pragma once

#include <string>

#include "tile/npu/block.h"

namespace jumar::emit::ttir {

std::string emit_ttir(const loop::Program& program, const tile::npu::BlockKernel& kernel);

}  // namespace jumar::emit::ttir
