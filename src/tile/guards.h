// Where predicates change along an axis.
//
//   flips of  1 <= i1 and 2*i1 < s0  along i1:   1, ceil(s0/2)
//
// Cutting an axis at all its flips gives ranges in which the predicate has one value, that of the range's
// first point. The tile stage cuts by this; emitters ask it which guards the cuts decide.
#pragma once

#include <optional>
#include <vector>

#include "sym/facts.h"

namespace jumar::tile {

// The points t at which the predicate may differ from its value at t - 1, or nothing where they are no
// expressions of sizes.
std::optional<std::vector<sym::Expr>> guard_flips(sym::Context& cx, sym::Expr predicate, sym::Expr axis);

// Whether every flip inside (0, extent) is one of `cuts`. A predicate that does not mention the axis is
// decided.
bool is_decided(sym::Context& cx, sym::Expr predicate, sym::Expr axis, sym::Expr extent,
                const std::vector<sym::Expr>& cuts, const sym::Facts& facts);

}  // namespace jumar::tile
