// How much work a nest is, for each way of running it in vectors.
//
// Work is counted in element operations: an addition of one vector is 1, whatever its lanes; an exp is
// about 10. The model only has to rank a few choices and to tell when a thread is worthwhile; it is not a
// prediction.
#pragma once

#include <vector>

#include "loop/loop.h"
#include "tile/cpu_model.h"

namespace jumar::tile {

// Which values of a nest differ between points of an axis, following operands and loaded indices.
std::vector<bool> varying_values(const loop::Nest& nest, sym::Expr axis);

// Lanes of a vector of the types that the nest computes in.
uint32_t natural_lanes(const loop::Nest& nest, const CpuModel& model);

// Work of one round of the stage's body, where neighbours of `axis` run in `lanes` lanes (an empty axis: one
// point). Loads that are transposed by the axis `by`, if any, are counted as read in tiles.
double round_work(const loop::Program& program, const loop::Nest& nest, const loop::Stage& stage,
                  sym::Expr axis, uint32_t lanes, sym::Expr by = {});

// Rounds that an axis of `points` takes: full vectors, and what is left by itself or in one masked vector.
double rounds(int64_t points, uint32_t lanes, const CpuModel& model);

// Whether the stage folds or scans.
bool has_fold(const loop::Stage& stage);

}  // namespace jumar::tile
