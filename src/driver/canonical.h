// Texts that are equal for programs that compile to the same code: keys of the caches.
//
//   graph @main symbols(s77 in [2, 64] hint 8) {            graph symbols ( s0 in [ 2 , 64 ] ) {
//     %ids: i64[s77] = parameter 0 "ids"             ->     %0 : i64 [ s0 ] = parameter 0
//     %neg: i64[s77] = aten.neg.default(%ids)               %1 : i64 [ s0 ] = aten.neg.default ( %0 )
//
// Values and symbols are numbered by their first appearance; names of the program, hints and origins are left
// out. Different programs never give the same text; equal programs that were written down in another order
// may give different ones, which costs a compilation and nothing else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.h"
#include "support/result.h"

namespace jumar::driver {

struct CanonicalGraph {
  std::string text;
  // The name of each input, by its position, for messages; "" where the text names none.
  std::vector<std::string> input_names;
};

// `text` need not be a correct graph: what the lexer takes is rewritten.
CanonicalGraph canonical_graph(std::string_view text);

// A kernel with everything that its code depends on: buffers by order, symbols by order with their ranges,
// how the symbols' names are ordered, and whether the program is strict.
std::string canonical_kernel(const loop::Program& program, const loop::Kernel& kernel);

}  // namespace jumar::driver
