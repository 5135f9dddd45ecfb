// Reads one nest of a kernel; the rest of the program's text is read by reader.cpp.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "loop/loop.h"
#include "support/lexer.h"

namespace jumar::loop {

// What the program's declarations have named so far.
struct Names {
  std::unordered_map<std::string, sym::Expr> symbols;
  std::unordered_map<std::string, BufferId> buffers;
  std::unordered_map<std::string, NumberId> numbers;
};

// A non-negative integer that fits 31 bits, as counts and positions are.
Result<uint32_t> read_count(Lexer& lexer);

// The current token is the word after `nest`.
Result<Nest> read_nest(const Program& program, Lexer& lexer, const Names& names);

}  // namespace jumar::loop
