// How a nest is cut for an NPU: what lower_nest (lower_nest.h) is told.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loop/loop.h"

namespace jumar::tile::npu {

// A kept and an inner axis that loads move along as one: `symbol` is step*kept + inner (windows.h).
struct Window {
  sym::Expr kept;
  sym::Expr inner;
  sym::Expr symbol;
  int64_t step = 1;
  int64_t count = 1;  // points of the inner axis, more than `step`

  // What a block of so many kept points takes of the window's axis.
  int64_t reach(int64_t points) const { return step * (points - 1) + count; }
};

// A load by way of the windows that it moves along.
struct WindowedLoad {
  sym::Expr address;  // as they stand in the nest
  sym::Expr guard;
  std::vector<Window> windows;
  sym::Expr windowed_address;
  sym::Expr windowed_guard;
};

struct AxisTiling {
  sym::Expr symbol;
  sym::Expr extent;
  bool is_inner = false;   // an inner axis of stages, else a kept one
  int64_t size = 1;        // points in a block
  bool is_scalar = false;  // size 1, and no dimension of blocks
  // Of kept axes: its blocks are shared out to cores, else each task loops over all of them.
  bool in_tasks = false;
  std::optional<Window> window;  // neither kept nor inner: the axis of a window
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
  std::vector<Window> windows;
  std::vector<WindowedLoad> windowed;
};
PreparedNest prepared(loop::Program& program, const loop::Nest& nest);

}  // namespace jumar::tile::npu
