// What a nest moves and computes, as numbers: for ranking ways to cut it.
#pragma once

#include <span>
#include <vector>

#include "tile/npu/candidates.h"

namespace jumar::tile::npu {

struct AxisShape {
  sym::Expr symbol;
  sym::Expr expr;      // the extent
  int64_t extent = 1;  // or what it is taken for
  bool is_static = true;
  bool is_inner = false;
  bool is_contiguous = false;   // some access moves by one element along it
  bool must_be_scalar = false;  // an address divides by something along it, or runs backwards along another
  bool must_be_exact = false;   // an access runs backwards along it: the toolchain can't mask that
  bool must_be_whole = false;   // a scan and other axes are in its stage, or memory of a point lies along it
  int64_t least_bytes = 4;      // of an element of those accesses
  std::optional<Window> window;
};

struct AccessShape {
  std::vector<int64_t> strides;   // by axis, in elements; 0: not mentioned
  std::vector<size_t> by_stride;  // the mentioned axes, the densest first
  int64_t element_bytes = 4;
  uint32_t stage = 0;
  uint32_t windows = 0;  // axes along which it goes by way of the window: what `strides` are of
  uint32_t gathers = 0;  // axes along which every element has an address of its own, unless they are scalar
  bool is_store = false;
  bool is_first = true;  // no earlier stage has the same access
};

// Operators whose values differ along the same axes.
struct WorkShape {
  uint32_t axes = 0;      // bit k: axes[k]
  double operations = 0;  // vector instructions for each of their points
};

struct StageShape {
  std::vector<bool> inner;  // by axis
  std::vector<WorkShape> work;
  int folds = 0;
};

struct NestShape {
  std::vector<AxisShape> axes;  // in the order of blocks
  std::vector<AccessShape> accesses;
  std::vector<StageShape> stages;
  std::vector<uint32_t> loop_choices;  // sets of kept axes that tasks may loop over; the first is empty
  int64_t least_bytes_per_point = 4;
};

NestShape nest_shape(const loop::Program& program, const PreparedNest& nest, const NpuModel& model);

// Elements of the largest block of an access, with what the toolchain pads where it turns it.
int64_t padded_points(const NestShape& shape, std::span<const int64_t> sizes, const NpuModel& model);

// Microseconds of the busiest core.
double modelled_us(const NestShape& shape, const std::vector<int64_t>& sizes, uint32_t looped,
                   const NpuModel& model);

}  // namespace jumar::tile::npu
