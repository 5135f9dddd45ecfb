// Which instruction sets code needs, and whether this processor has them.
//
//   std::vector<std::string> missing = missing_cpu_features({"avx2", "avx512f"});
//
// A package is checked with it before any of its kernels runs, so that a processor that is too old gives a
// message and no illegal instruction.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jumar::runtime::package {

struct CpuFeature {
  std::string_view name;
  int x86_level = 0;  // the first of x86-64-v2 to v4 that includes it; 0: none does
};
std::span<const CpuFeature> cpu_features();

// Those of `needed` that this processor lacks, or that this runtime does not know.
std::vector<std::string> missing_cpu_features(std::span<const std::string> needed);

}  // namespace jumar::runtime::package
