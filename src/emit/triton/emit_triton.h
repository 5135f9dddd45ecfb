// A block program as Triton source: one Python file with one kernel, for Ascend's triton.
//
//   import triton
//   import triton.language as tl
//
//   @triton.jit(do_not_specialize=["n0"])
//   def k0(x_ptr, y_ptr, n0):
//       pid = tl.program_id(0)
//       x0 = tl.arange(0, 8)  # i0 of 1024
//       for t0 in range(n0*pid, tl.minimum(128, n0*pid + n0)):
//           x = tl.load(x_ptr + 8*t0 + x0)
//           ...
//
//   SIGNATURE = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n0": "i32"}
//
// It says what emit_ttir says, from the same decisions, in the words of the DSL: scripts/triton_to_ttir.py
// turns it into TTIR that computes the same values and moves the same bytes. Arguments stand in the same
// order. libdevice.expm1 is exp(x) - 1 in Ascend's triton; the other functions have an operation of their
// own.
#pragma once

#include <string>

#include "tile/npu/block.h"

namespace jumar::emit::triton {

std::string emit_triton(const loop::Program& program, const tile::npu::BlockKernel& kernel);

}  // namespace jumar::emit::triton
