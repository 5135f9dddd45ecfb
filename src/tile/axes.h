// Rewrites of a nest's axes that change no address: fewer, longer loops, contiguous axes innermost.
//
//   nest (i0 in 64, i1 in 128, i2 in 1) { ... load %x[128*i0 + i1] ... }  ->  nest (i0 in 8192) { ... %x[i0]
//   ... }
#pragma once

#include <functional>

#include "loop/loop.h"

namespace jumar::tile {

// Calls visit(expr) for every expression of the nest or stage that may mention axes, to read or to replace
// it.
void for_each_body_expr(loop::Stage& stage, const std::function<void(sym::Expr&)>& visit);
void for_each_body_expr(loop::Nest& nest, const std::function<void(sym::Expr&)>& visit);

// An axis of extent 1 becomes the constant 0.
void drop_unit_axes(const loop::Program& program, loop::Nest& nest);

// Neighbours i, j that all expressions mention only as (i*extent_of_j + j)*c become one axis.
void merge_axes(const loop::Program& program, loop::Nest& nest);

// Orders kept axes by the strides of the nest's stores, and each stage's inner axes by those of its loads,
// greatest first. A scanned axis stays last. Sizes that are not known are judged by their hints.
void order_axes(const loop::Program& program, loop::Nest& nest);

// A plausible value of an expression of sizes.
int64_t estimated(const loop::Program& program, sym::Expr e);

}  // namespace jumar::tile
