// The program as a picture that can be opened: one row for each kernel and call, in the order in which they
// run, with lines at the left that follow every buffer from where it is written to where it is last read.
#pragma once

#include <string>

#include "driver/program_rows.h"
#include "driver/report.h"

namespace jumar::driver::html {

struct ProgramView {
  const graph::Graph& graph;
  const loop::Program& program;
  const plan::Plan& plan;
  const Report& report;  // its kernels are the program's, in order
  const std::vector<ProgramRow>& rows;
};

std::string program_list(const ProgramView& view);

}  // namespace jumar::driver::html
