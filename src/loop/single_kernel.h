// One kernel as a program of its own, to be looked at, reduced and compiled alone.
//
//   const std::string text = write_program(single_kernel(program, kernel));
//
// What the kernel loads are inputs, what it stores are outputs, in the order in which they are touched first;
// a buffer that it only loads after it stored to it is an output as well. Sizes and numbers become inputs
// behind them.
#pragma once

#include "loop/loop.h"

namespace jumar::loop {

Program single_kernel(const Program& program, const Kernel& kernel);

}  // namespace jumar::loop
