// The processor that CPU kernels are compiled for, as a value.
//
//   Result<CpuTarget> host = host_cpu_target();            // what this process runs on
//   Result<CpuTarget> v4 = cpu_target("x86-64-v4");        // a portable level, from any machine
//
// Invariants: `features` is sorted, so equal processors give equal text and the text may be part of a cache
// key. Every target has fused multiply-add in hardware: the vector mathematics depends on it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::driver::jit {

struct CpuTarget {
  std::string triple;
  std::string cpu;
  std::string features;  // LLVM's form: "+avx2,+fma,-sse4a"
  int vector_bits = 0;   // width of the vector register that kernels should use
  bool has_avx512 = false;
  bool has_f16c = false;         // f16 <-> f32 conversion instructions (always true on aarch64)
  bool has_avx512_bf16 = false;  // f32 -> bf16 conversion instruction

  bool is_x86() const { return triple.starts_with("x86_64"); }
  // One line that names everything that code generation depends on; part of cache keys.
  std::string text() const;
};

// Fails with code "unsupported" where the processor lacks AVX2, FMA or F16C.
Result<CpuTarget> host_cpu_target();

// `name` is "host" or one of cpu_target_names(); anything else is an "option" diagnostic that lists them.
Result<CpuTarget> cpu_target(std::string_view name);
std::vector<std::string> cpu_target_names();

}  // namespace jumar::driver::jit
