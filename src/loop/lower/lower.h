// Lowering: a tensor graph becomes a loop program.
//
//   %1: bf16[s0, 256] = aten.mul.Tensor(%x, %y)
//
// becomes
//
//   %1: bf16[s0, 256] = temp
//   kernel @1 {
//     nest (i0 in s0, i1 in 256) {
//       stage {
//         %0: bf16 = load %x[256*i0 + i1]     %1: f32 = cast %0
//         %2: bf16 = load %y[256*i0 + i1]     %3: f32 = cast %2
//         %4: f32 = mul %1, %3
//         %5: bf16 = demote %4                store %1[256*i0 + i1], %5
//       }
//     }
//   }
//
// Every operator becomes kernels of its own, one nest for each buffer or group of buffers that it writes, or
// a call with the reason why; nothing is fused, inlined or shared here. What an operator computes follows
// eager PyTorch on the CPU. An operator that only says how memory is seen (a permute, a slice) makes no
// kernel: its result is a view, and a load through a view is an address in the buffer below it. The rows are
// in loop/lower/pointwise.def (functions of one element of each operand), loop/lower/aten.def (everything
// else) and loop/lower/calls.def (operators that are called, with the reason).
//
// A graph's value keeps its name, its type and its strides as the buffer of the program. Outputs are values
// whose memory the program returns; buffers of inputs are never written.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "loop/loop.h"

namespace jumar::loop {

struct LowerOptions {
  bool strict = false;            // every demote rounds (Program::strict)
  std::vector<std::string> call;  // operators to call although there is a lowering: "aten.mul.Tensor"
  // Operators to call, by the name of a kernel that their lowering makes, with the reason.
  std::map<std::string, std::string> call_kernels;
  // Whether what eager accumulates in double is. Devices without doubles accumulate in float, as their own
  // eager does.
  bool has_f64 = true;
  // What the target can't run: the reason why an operator that lowers to this kernel has to be called.
  std::function<std::optional<std::string>(const Program&, const Kernel&)> refuses;
};

// A diagnostic only for graphs that no program can express; an operator without lowering is a call.
Result<Program> lower(const graph::Graph& graph, const LowerOptions& options = {});

}  // namespace jumar::loop
