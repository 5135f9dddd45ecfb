// Rebuilds the expressions of a binary plan in a Context.
//
// Records are built by the public constructors, which give a canonical node back as it was. (Where constants
// could not be folded into 64 bits there is no canonical form, and they may give another one of the same
// value.) What would make them work is refused before they are called: a product of sums would be expanded,
// and a few records could ask for more terms than there is memory.
#pragma once

#include <vector>

#include "plan/binary_cursor.h"
#include "sym/expr.h"

namespace jumar::plan::binary {

// The expressions by number. After a failure of the cursor the table is incomplete.
std::vector<sym::Expr> read_exprs(sym::Context& cx, Cursor& in, const std::vector<std::string_view>& strings);

// Letters, digits, `_` and `.`: what the text form can write after `%` or `@`, or as a word.
bool is_name(std::string_view text);

}  // namespace jumar::plan::binary
