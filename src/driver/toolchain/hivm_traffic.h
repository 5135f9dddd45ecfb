// What a launch of a compiled kernel does, counted by running the scalar part of its optimized HIVM.
//
//   HivmLaunch launch;
//   launch.grid = {48, 1, 1};
//   launch.scalars = {4096, 1024};               // the integer arguments, without the grid
//   JUMAR_ASSIGN(const HivmTraffic traffic, hivm_traffic(program, launch));
//   traffic.total.read_bytes ...  traffic.busiest_core_bytes
//
// Every block runs its loops and branches; calls of the device library and vector instructions are counted by
// the sizes of their views as they are at that moment, so that a tail counts as what it is. Blocks go to
// cores in turn. What a kernel reads is not known here: a number that was loaded counts as 0, and branches on
// it are counted in `data_branches`, since more or less may run on real data. Of a mixed kernel every block
// runs its cube part once and its vector part once for each vector core beside the cube.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "driver/json_writer.h"
#include "driver/toolchain/hivm_program.h"

namespace jumar::driver::toolchain {

struct HivmLaunch {
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::vector<int64_t> scalars;
  int vector_cores = 48;
  int cube_cores = 24;
  // More steps than this in one launch are an error: a loop may wait for data that is not there.
  int64_t most_steps = int64_t{2} << 30;
};

// Sums over a launch, or over what one core does of it.
struct HivmWork {
  int64_t read_bytes = 0;  // from global memory
  int64_t written_bytes = 0;
  int64_t table_bytes = 0;  // of what is read: constants that the compiler put into the module
  int64_t read_rows = 0;    // contiguous pieces
  int64_t written_rows = 0;
  int64_t read_calls = 0;
  int64_t write_calls = 0;
  int64_t vector_calls = 0;  // of the library, and instructions of outlined code but those on masks
  int64_t vector_elements = 0;
  int64_t vector_bytes = 0;           // elements times their size
  int64_t vector_instructions = 0;    // of vector_calls, those of outlined code
  int64_t vector_function_calls = 0;  // of outlined code
  int64_t mask_instructions = 0;      // of outlined code
  int64_t cube_calls = 0;             // of the library, on cube cores
  int64_t gm_scalar_accesses = 0;     // single elements that the scalar unit loads or stores
  int64_t local_scalar_accesses = 0;
  int64_t scalar_elements = 0;  // iterations of loops that handle one element each
  int64_t barriers = 0;
  int64_t flags = 0;        // waits
  int64_t block_syncs = 0;  // between cores, locks included
  int64_t programs = 0;     // blocks
  int64_t steps = 0;

  HivmWork& operator+=(const HivmWork& other);
  HivmWork& operator-=(const HivmWork& other);
  bool operator==(const HivmWork&) const = default;
};

struct HivmVectorUse {
  int64_t calls = 0;
  int64_t elements = 0;
  bool operator==(const HivmVectorUse&) const = default;
};

struct HivmTraffic {
  HivmWork total;
  std::map<std::string, HivmVectorUse> vectors;  // by the name of the call or instruction
  std::vector<HivmWork> vector_cores;
  std::vector<HivmWork> cube_cores;
  int64_t ub_bytes = 0;  // the highest end of a buffer
  int64_t busiest_core_bytes = 0;
  int64_t cores_used = 0;  // that move something
  int64_t data_branches = 0;
  std::map<std::string, int64_t> unknown;  // operations of the program that are not understood
};

Result<HivmTraffic> hivm_traffic(const HivmProgram& program, const HivmLaunch& launch);

// Into an object that is begun.
void write_members(JsonWriter& json, const HivmTraffic& traffic);
std::string json_text(const HivmTraffic& traffic);

}  // namespace jumar::driver::toolchain
