// From a scheduled loop program to the host program that runs it.
//
//   loop   kernel @k0 { nest (i0 in s0, i1 in 256) ... }     launch data of @k0: buffers, sizes, phases
//   plan   launch @k0(%x, %y; s0) units 2*s0 grain 4
//
// Items become steps one to one and in order; storage becomes storage (temp: arena). Added are the steps that
// bind symbols: from int inputs, from sizes and strides of inputs before everything else, and from the sizes
// of results of called ops that define symbols. Tensors and numbers that no step and no output mentions are
// left out, inputs are always kept.
//
// The program must verify and every kernel must have its launch data: nothing is decided here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "plan/plan.h"

namespace jumar::emit::host {

// How one kernel of the program is called; one per kernel item, in order.
struct KernelLaunch {
  std::string symbol;                   // the name the kernel is looked up by
  std::vector<loop::BufferId> buffers;  // pointers, in order
  std::vector<sym::Expr> ints;          // 64-bit integers, in order
  std::vector<loop::NumberId> numbers;  // doubles, in order
  bool checks_indices = false;
  std::vector<plan::LaunchPhase> phases;
};

plan::Plan emit_plan(const loop::Program& program, std::span<const KernelLaunch> launches);

}  // namespace jumar::emit::host
