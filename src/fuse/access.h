// Facts about addresses: which points of a nest touch which elements.
//
//   store %b[256*g0 + g1]   over g0 in s0, g1 in 256
//   load  %b[256*i + j]     =>  g0 = i, g1 = j
//
// Everything here answers "proved" or "not known".
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "loop/loop.h"
#include "sym/facts.h"

namespace jumar::fuse {

using sym::Expr;

// The facts of a program and the extents of a nest's axes.
sym::Facts nest_facts(const loop::Program& program, const loop::Nest& nest);

// The facts at a point of these axes: as there is one, no extent is 0. Not for questions about extents and
// numbers of points, which may be 0 elsewhere: the other nest of a merge may have points where this one has
// none.
sym::Facts at_points(sym::Facts facts, std::span<const loop::Axis> axes);
// At points of a stage.
sym::Facts stage_facts(const loop::Program& program, const loop::Nest& nest, uint32_t stage);

// address == sum of coefficient * axis + rest, where rest is the same at all points of the axes.
struct Strided {
  struct Term {
    loop::Axis axis;
    Expr coefficient;
  };
  std::vector<Term> terms;  // axes of extent 1 and axes that the address does not mention are left out
  Expr rest;
};
std::optional<Strided> strided(sym::Context& cx, Expr address, std::span<const loop::Axis> axes);

// Sorts terms by falling coefficient and proves mixed radix: each coefficient exceeds the span of the terms
// after it. Then different points have different addresses. False: not known.
bool sort_mixed_radix(sym::Context& cx, Strided& access, const sym::Facts& facts);

// The axis values, in the order of access.terms, at which the (sorted, mixed radix) access has this address.
// Nothing when the address can't be proved to fall on an element of the access; `facts` knows the symbols of
// the address. The values are in range because the address is one of the access's elements; where that is not
// a given, `proves_in_range` tells.
std::optional<std::vector<Expr>> inverted(sym::Context& cx, const Strided& access, Expr address,
                                          const sym::Facts& facts);
bool proves_in_range(sym::Context& cx, const Strided& access, std::span<const Expr> values,
                     const sym::Facts& facts);

// Number of points of some axes.
Expr point_count(sym::Context& cx, std::span<const loop::Axis> axes);

// An axis and the divisor at which it must be cut so that `e` loses a division or remainder of that axis;
// nothing when there is none that divides the axis's extent.
struct Cut {
  Expr axis;
  Expr divisor;
};
std::optional<Cut> cut_for(sym::Context& cx, Expr e, std::span<const loop::Axis> axes,
                           const sym::Facts& facts);

}  // namespace jumar::fuse
