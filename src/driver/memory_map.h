// Where the memory of one call of a plan goes, for given sizes: what people look at, not what the runtime
// uses.
//
//   MemoryMap map = memory_map(plan, {{"s0", 128}});
//   map.arena_bytes      // what the runtime's arena takes for these sizes
//   map.peak_bytes       // that and the outputs and results that are alive at `peak_step`
//
// Lifetimes and placement are the runtime's: a buffer lives from the first step that uses it or a view of it
// to the last, and the arena is placed by the same function. It is assumed that libtorch makes the calls; a
// buffer that the embedder gets to see is memory of its own and outside of the arena. What a called operator
// uses inside of itself is not known, and what it returns counts as fresh memory even where it is a view.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "plan/plan.h"

namespace jumar::driver {

// By the symbol's name.
using SizeValues = std::map<std::string, int64_t>;

// The sizes at which a compiled graph is looked at: hints, or the least usual value of a size that has none.
// Numbers that only a call finds out have a value only where there is a hint.
SizeValues hinted_sizes(const loop::Program& program);

struct MemoryBlock {
  enum class Place : uint8_t { kArena, kOutput, kResult } place = Place::kArena;
  plan::TensorId tensor;
  int64_t bytes = 0;
  uint32_t first = 0;  // step that first uses it
  uint32_t last = 0;   // step that last uses it; the number of steps for what the call returns
  int64_t offset = 0;  // in the arena; others are placed beside each other in the same way, from 0
};

struct MemoryMap {
  std::vector<MemoryBlock> blocks;      // in the order of the plan's tensors
  std::vector<plan::TensorId> unknown;  // buffers whose sizes only the call finds out
  int64_t arena_bytes = 0;
  int64_t arena_used_bytes = 0;  // the most that is alive in the arena at once
  int64_t other_extent = 0;      // how far the placement of outputs and results reaches
  int64_t peak_bytes = 0;
  uint32_t peak_step = 0;
  int64_t parameter_bytes = 0;
  int64_t input_bytes = 0;
};

// Bytes from the first element to the last; nothing where a size has no value.
std::optional<int64_t> tensor_bytes(sym::Context& cx, const ir::TensorType& type, const SizeValues& sizes);

MemoryMap memory_map(const plan::Plan& plan, const SizeValues& sizes);

}  // namespace jumar::driver
