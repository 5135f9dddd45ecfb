// The verifier's checks of one nest; the rest of a program is checked by verify.cpp.
#pragma once

#include <unordered_set>

#include "loop/loop.h"

namespace jumar::loop {

// What the items before a kernel have made known.
struct Known {
  std::unordered_set<sym::Expr> symbols;
  std::unordered_set<BufferId> written;  // inputs, parameters, and what calls and kernels wrote
  std::unordered_set<NumberId> numbers;
};

// "verify" diagnostics, prefixed with the place.
Diagnostic broken(const std::string& where, std::string message);
// Whether `e` is there and mentions only sizes that are known.
Status verify_size(const Known& known, const std::string& where, std::string_view what, sym::Expr e);

Status verify_nest(const Program& program, const Known& known, const std::string& where, const Nest& nest);
Status verify_tiling(const Known& known, const std::string& where, const Nest& nest);

}  // namespace jumar::loop
