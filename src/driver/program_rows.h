// A compiled program as people read it: its kernels and calls in order, each with the plan's step, what it
// reads and writes, and the graph's operators that it covers.
//
//   %2 = aten.mm(%x, %1)      row 0: call of aten.mm, covers mm and the transposition that gave %1
//   %3 = aten.add(%2, %b)     row 1: kernel @gelu, covers add (which has no buffer) and gelu
//   %4 = aten.gelu(%3)
//
// An operator is covered by the item that writes its result. One whose result has no buffer, as it was fused
// or is only a view, is covered by all items that need it, by way of the operators that use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "loop/loop.h"
#include "plan/plan.h"

namespace jumar::driver {

struct ProgramRow {
  enum class Kind : uint8_t { kKernel, kCall, kPython, kHost, kCheck } kind = Kind::kKernel;
  size_t item = 0;                    // in loop::Program::items
  uint32_t step = 0;                  // in plan::Plan::steps
  std::vector<loop::BufferId> reads;  // no views: what they are views of; each once, in order of first use
  std::vector<loop::BufferId> writes;
  std::vector<graph::NodeId> nodes;  // covered, in the graph's order
  std::vector<std::string> modules;  // of the parameters that covered operators take: "encoder.layer.0.attn"
};

// One row for each item of the program. `plan` is the one that was made of the program, and the program of
// the graph.
std::vector<ProgramRow> program_rows(const graph::Graph& graph, const loop::Program& program,
                                     const plan::Plan& plan);

}  // namespace jumar::driver
