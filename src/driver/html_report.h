// A compiled graph as a page to look at (docs/report.md): one file of HTML that needs no network.
//
//   std::string page = html_report({"model.graph", "jumar 0.1.0", target.text(), graph, program, plan,
//   report,
//                                   hinted_sizes(program)});
//
// The page holds what the graph became (kernels and calls, each with the operators it covers and its loops),
// where the memory of a call goes, and why operators were called and loops not fused. The same inputs give
// the same page. Texts of the model are escaped, and the page forbids itself to load anything.
#pragma once

#include <string>

#include "driver/memory_map.h"
#include "driver/report.h"
#include "graph/graph.h"
#include "loop/loop.h"
#include "plan/plan.h"

namespace jumar::driver {

struct ReportInputs {
  std::string title;  // what was compiled
  std::string build;  // of the compiler
  std::string target;
  const graph::Graph& graph;     // optimized: the one that was lowered
  const loop::Program& program;  // tiled
  const plan::Plan& plan;
  const Report& report;
  SizeValues sizes;  // for the pictures; what has no value is left out of them
};

std::string html_report(const ReportInputs& inputs);

}  // namespace jumar::driver
