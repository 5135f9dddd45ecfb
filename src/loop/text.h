// Text of the parts of a program, for messages; the whole is written by write_program.
#pragma once

#include <string>

#include "loop/loop.h"

namespace jumar::loop {

// %3: f32 = load %x[256*i0 + r0]
std::string line_text(const Program& program, const Stage::Line& line);
// aten.mm.default(%x, %w) -> (%t) because "matrix product"
std::string call_text(const Program& program, const Call& call);
std::string constant_text(const Constant& constant, ir::DType type);
std::string_view tail_name(Tail tail);

}  // namespace jumar::loop
