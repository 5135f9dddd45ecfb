// Positions that are read from memory.
#pragma once

#include "loop/lower/lowering.h"

namespace jumar::loop::lowering {

// One element counts as one dimension, and no elements as any number of them.
inline constexpr const char* kOtherRank = "indices with another number of dimensions";

// The position of the element that stands at `position` in row-major order, and the other way round.
Index unflattened(sym::Context& cx, Expr position, const Sizes& sizes);
Expr flattened(sym::Context& cx, const Index& index, const Sizes& sizes);
// The sizes of the last `dims` dimensions, and the place of a position among their elements.
Sizes last_sizes(const Tensor& x, size_t dims);
Expr place_among_last(sym::Context& cx, const Tensor& x, const Index& at, size_t dims);

// Reduces to the place of the greatest value as a pool notes it: the first of equal ones, but the last NaN.
// Where `inside` is false there is no element. `noted_place` turns what was reduced into the place.
Val reduced_place(Body& b, Val value, Expr place, Expr inside);
Val noted_place(Val reduced);

// Which dimensions an advanced index takes, and where the indices' own dimensions stand among the rest.
//   x[:, i, j]: indices {none, i, j}, place 1
struct Advanced {
  std::vector<std::optional<Tensor>> indices;  // one per dimension of self
  size_t rank = 0;                             // of the indices, broadcast together
  size_t place = 0;                            // the first of their dimensions in the result
};

// From the operator's second argument.
Refusal read_advanced(const Op& op, const Tensor& x, Advanced& out);
// The position in `x` of a position in x[indices]; negative indices count from the end.
Index advanced_position(Body& b, const Tensor& x, const Advanced& advanced, const Index& index);

}  // namespace jumar::loop::lowering
