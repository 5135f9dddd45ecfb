// Steps that give the symbols of a plan their values.
//
//   %x: f32[s0, 2*s1] = input 0          bind s0 = size(%x, 0)
//                                        bind 2*s1 = size(%x, 1)
//
// A number that stands alone is preferred to one that must be solved for, int inputs to sizes, sizes to
// strides: the stride of a dimension of size 1 is arbitrary.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace jumar::emit::host {

// Appends the steps that bind symbols from the plan's inputs; symbols that inputs do not determine stay
// unbound.
void bind_inputs(plan::Plan& plan);

// Appends the steps that bind `symbols` from the sizes of the results of the step before. Each must be
// determined by some size.
void bind_results(plan::Plan& plan, const std::vector<plan::TensorId>& results,
                  const std::vector<sym::Expr>& symbols);

}  // namespace jumar::emit::host
