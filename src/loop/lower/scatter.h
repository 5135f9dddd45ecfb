// Kernels that store to places read from memory.
#pragma once

#include <functional>

#include "loop/lower/lowering.h"

namespace jumar::loop::lowering {

// One nest that begins with `first` in every element and merges elements in at places that are read.
// Scattered dimensions are inner axes, all others are kept: each kept point has elements of its own, so that
// no two points meet and the order of sums is fixed. `add` writes the body that stores; it gets the kept
// positions, and may open inner axes; what it is given at scattered dimensions is an empty expression.
struct Scatter {
  Tensor memory;
  std::vector<bool> scattered;
  std::function<Val(Body& b, const Index& index)> first;
  std::function<void(Body& b, const Index& kept)> add;
};
void scatter_kernel(Op& op, const Scatter& scatter);

// What an element begins with: a tensor's element, or a number.
std::function<Val(Body&, const Index&)> element_of(const Tensor& x, DType type);
std::function<Val(Body&, const Index&)> constant_of(double value, DType type);

// Memory to merge in: the result, or wider memory for low-precision floats, so that it rounds once; and the
// kernel that rounds.
Tensor merge_memory(Op& op, const Tensor& out);
void finish_merge(Op& op, const Tensor& out, const Tensor& merged);

// For each place the greatest position of an element that goes there, as an i64; -1 where there is none.
// `add` stores positions to the table with StoreMode::kMax.
Tensor last_elements(Op& op, const Sizes& sizes, const std::vector<bool>& scattered,
                     const std::function<void(Body& b, const Index& kept, const Tensor& table)>& add);

// Whether an element goes to a place, and its position: the first one where none does.
struct Chosen {
  Val exists;
  Expr position;
};
// `count`: how many elements there are. Where there are none, nothing may be read at the position.
Chosen chosen(Body& b, Val last, Expr count);

}  // namespace jumar::loop::lowering
