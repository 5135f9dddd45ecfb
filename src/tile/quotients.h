// Divisions that give all lanes of a vector the same quotient.
//
//   r0 + 5280*(r0//96), r0 in 16 lanes from a multiple of 16 on:  r0//96 is one number q, so the address is
//   contiguous: r0 + 5280*q.  In the same way r0 % 96 is r0 - 96*q.
#pragma once

#include <functional>

#include "sym/facts.h"

namespace jumar::tile {

// `e` with every such quotient replaced by name(quotient), for `lanes` neighbours of `axis` of which the
// first is a multiple of `lanes`. What is left may still depend on the lane in other ways.
sym::Expr with_common_quotients(sym::Context& cx, sym::Expr e, sym::Expr axis, int64_t lanes,
                                const sym::Facts& facts, const std::function<sym::Expr(sym::Expr)>& name);

}  // namespace jumar::tile
