// Ways to cut a nest for an NPU, best first.
//
// A candidate gives every axis the size of its block. Sizes are the extent, or the extent over a small number
// of equal loops, brought to the alignment where the axis is contiguous in memory. Candidates are ranked by a
// model of the busiest core: bytes and rows that it moves, vector instructions that it issues, rounds of its
// loops. Those whose blocks don't fit the vector unit's buffer are left out, by memory.h, before anything is
// compiled.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tile/npu/block.h"
#include "tile/npu/memory.h"
#include "tile/npu/tiling.h"

namespace jumar::tile::npu {

// A device as the tile stage sees it.
struct NpuModel {
  int64_t vector_cores = 48;
  int64_t buffer_bytes = 192 * 1024;  // of one vector core
  int64_t align_bytes = 32;
  int64_t multi_buffer = 2;              // memory.h
  bool has_vector_functions = false;     // memory.h; an instruction is then what starts a function
  int64_t vector_bytes = 256;            // that one instruction of a vector unit does at once
  bool divides_i32 = false;              // as integers, not by way of f32
  double core_bytes_per_us = 100000;     // that one core moves, in each direction
  double device_bytes_per_us = 1600000;  // that all cores move together
  double burst_bytes = 512;       // a contiguous piece that is shorter takes as long as one of this length
  double transfer_us = 0.03;      // to begin a transfer
  double sync_us = 0.03;          // to wait for a transfer
  double instruction_us = 0.012;  // of a vector instruction, whatever its length
  double vector_us = 0.0006;      // of each vector_bytes that it does
  double barrier_us = 0.02;       // between vector instructions
  double round_us = 0.01;         // of a round of a loop
  double scalar_us = 0.03;        // of an element on chip that is handled by itself
  double memory_scalar_us = 0.5;  // of an element in memory that is handled by itself
  double start_us = 1.5;          // before a core works, and after its last store
};

inline MemoryModel memory_model(const NpuModel& model) {
  return {model.align_bytes, model.multi_buffer, model.has_vector_functions};
}

struct Candidate {
  NestTiling tiling;
  double us = 0;             // of the busiest core, by the model
  int64_t buffer_bytes = 0;  // that it needs
};

// The best first; at most `most`. Empty where nothing fits or blocks can't compute the nest, with the reason.
std::vector<Candidate> candidates(const loop::Program& program, const PreparedNest& nest,
                                  const NpuModel& model, size_t most, std::string& reason);

}  // namespace jumar::tile::npu
