// How a nest is cut into work: decided by the tile stage, printed with the nest, obeyed by emitters.
//
//   nest (i0 in s0, i1 in 256) tile(parallel 1, block 128, grain 4) {
//     stage (r0 in 512) tile(vector r0 x 8, accumulators 4, tail scalar) {
//
// Work units: the first `parallel` kept axes are flattened, row-major, together with the blocks of the axis
// after them when `block_elems` > 0 (each block has block_elems points; the last may have fewer). Unit u
// covers one point of the parallel axes and one block. The remaining kept axes are loops, outermost first.
//
// A nest is vectorised in one of two ways. Kept-vector: `vector_axis` is a kept axis; `lanes` neighbouring
// points of it run in the lanes of vector registers, through all stages; `registers` is how many vector
// registers hold one value. Otherwise each stage with inner axes may name one of them in its StageTiling.
//
// `transpose_axis`: a second kept axis cut into tiles of `lanes` x `lanes` with the vector axis, so that
// loads that are contiguous along it are read as rows and turned in registers.
#pragma once

#include <cstdint>
#include <vector>

#include "sym/expr.h"

namespace jumar::loop {

// What to do with the last points of a vector axis that do not fill a vector.
enum class Tail : uint8_t {
  kNone,    // the extent (or block) is a multiple of the vector
  kScalar,  // one point at a time
  kMasked,  // masked vector loads and stores
};

struct StageTiling {
  sym::Expr vector_axis;  // an inner axis; empty: scalar, or the nest is kept-vector
  uint32_t lanes = 1;
  uint32_t accumulators = 1;  // independent partial results of each reduction along the vector axis
  Tail tail = Tail::kScalar;
  // Points that cut the vector axis into ranges in which every guard is constant or can be evaluated once;
  // sorted, inside (0, extent).
  std::vector<sym::Expr> cuts;
  bool operator==(const StageTiling&) const = default;
};

struct Tiling {
  uint32_t parallel = 0;
  int64_t block_elems = 0;
  sym::Expr vector_axis;  // a kept axis, or empty
  uint32_t lanes = 1;
  uint32_t registers = 1;
  Tail tail = Tail::kScalar;
  std::vector<sym::Expr> cuts;  // of the kept vector axis
  sym::Expr transpose_axis;
  int64_t grain = 1;  // least units per thread
  std::vector<StageTiling> stages;
  bool operator==(const Tiling&) const = default;
};

}  // namespace jumar::loop
