// Which loops share a kernel.
//
// Lowering gives every operator a kernel of its own. Fusion rewrites the program so that fewer kernels touch
// memory less often:
//   - inline: a pointwise producer is computed where its buffer is loaded, when that repeats no real work;
//   - merge: a producer and its consumer become one nest, in one stage where they meet element by element, in
//     stages one after the other where the consumer waits for a reduction;
//   - siblings: nests over the same points that load the same buffer become one nest with several results;
//   - forward: what a later stage loads from an earlier one is recomputed, kept in local memory, or left in
//   its
//     buffer, and stores that nobody reads are dropped;
//   - join: pointwise nests that don't wait for each other become nests beside each other in one kernel;
//   - update: what becomes an input of the program is stored there at once (fuse/updates.h).
// Every merge is proved from addresses (fuse/access.h) and from the order of items (fuse/dependence.h); a
// pair that is not merged leaves a refusal with the reason. The program computes the same values before and
// after, each by the same scalar operators.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loop/loop.h"

namespace jumar::fuse {

struct FuseOptions {
  // Merges and inlinings beyond this many are not done; for finding the one that matters.
  uint32_t max_fusions = UINT32_MAX;
  // Local memory of one kept point.
  int64_t max_local_bytes = 32 * 1024;
  // A merged body beyond this many lines is refused: registers and compile time.
  uint32_t max_lines = 600;
  // Kernels compute blocks: a value that differs along few axes only is computed once for all points of the
  // others.
  bool in_blocks = false;
  // Kernels, as before fusion, that stay by themselves.
  std::set<std::string> apart = {};
};

struct Refusal {
  std::string producer;  // kernel names, as before fusion
  std::string consumer;
  std::string reason;
};

struct FuseReport {
  uint32_t inlined = 0;
  uint32_t merged = 0;
  uint32_t siblings = 0;
  uint32_t joined = 0;
  std::vector<Refusal> refusals;
  // For each kernel of the fused program, by its name: the kernels, as before fusion, that are in it.
  std::map<std::string, std::set<std::string>> members;
};

// The program must verify; it verifies afterwards.
void fuse(loop::Program& program, const FuseOptions& options, FuseReport& report);

}  // namespace jumar::fuse
