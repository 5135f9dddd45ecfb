// How a nest is cut for an NPU: what lower_nest (lower_nest.h) is told.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/loop.h"

namespace jumar::tile::npu {

struct AxisTiling {
  sym::Expr symbol;
  sym::Expr extent;
  bool is_inner = false;   // an inner axis of stages, else a kept one
  int64_t size = 1;        // points in a block
  bool is_scalar = false;  // size 1, and no dimension of blocks
  // Of kept axes: its blocks are shared out to cores, else each task loops over all of them.
  bool in_tasks = false;
};

struct NestTiling {
  std::vector<AxisTiling> axes;  // in the order of blocks: the last is contiguous
  // The device divides i32 as integers. Else it does as f32, and exact division is made of more operators.
  bool divides_i32 = false;
  // Products along an axis are loops over elements, unlike running products.
  bool has_scalar_products = false;
  // The toolchain gives what loops load or store two buffers.
  bool has_two_buffers = false;
  // Where no core does a second task these bring nothing, and all that tasks load or store has one.
  bool is_one_round = false;
};

// A nest in the form that is tiled: no axes of extent 1, neighbours merged where all addresses allow, no
// division or remainder that cutting an axis can remove, and inner axes of the same extent in different
// stages with one name and equal addresses in one form, so that what two stages both compute is seen to be
// equal.
struct PreparedNest {
  loop::Nest nest;
  std::vector<loop::Axis> inner;  // the distinct inner axes of all stages
};
PreparedNest prepared(loop::Program& program, const loop::Nest& nest);

}  // namespace jumar::tile::npu
