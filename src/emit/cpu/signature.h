// What a CPU kernel's function takes, and how its work is counted. No LLVM here: the plan needs it too.
//
//   kernel @k0 { nest (i0 in s0, i1 in 256) tile(parallel 1, ...) { ... load %x ... param %p ... store %y } }
//   buffers {%x, %y}, ints {s0}, numbers {%p}, phases {{s0, 1}}
//
// The function is void(int64 begin, int64 end, void** args) and runs the work units [begin, end). `args` is
// an array of 8-byte slots: addresses of the buffers' first elements, then the address of an IndexStatus
// where `checks` is set, then the integers themselves, then the numbers as doubles.
//
// Units of the nests are counted one after the other. Those of a phase may run at once and in any order; a
// phased kernel has a phase for each nest, any other kernel one for all. A nest whose points would collide
// has one unit; where nests of one phase collide with each other, its grain is all units, so that one thread
// runs them in order.
#pragma once

#include <cstdint>
#include <vector>

#include "loop/loop.h"
#include "plan/plan.h"

namespace jumar::emit::cpu {

// Where a kernel reports an index outside its dimension. The thread that changes `flag` from 0 to 1 writes
// the rest.
struct IndexStatus {
  int64_t flag = 0;
  int64_t index = 0;
  int64_t size = 0;
};

struct KernelSignature {
  std::vector<loop::BufferId> buffers;  // in order of first use
  std::vector<sym::Expr> ints;          // size symbols, in order of first use
  std::vector<loop::NumberId> numbers;  // in order of first use; bools are passed as 0.0 or 1.0
  bool checks = false;
  std::vector<plan::LaunchPhase> phases;
  std::vector<sym::Expr> nest_units;  // of each nest; those of a phase are the sum of its nests'
};

// Every nest must have a tiling.
KernelSignature signature(const loop::Program& program, const loop::Kernel& kernel);

}  // namespace jumar::emit::cpu
