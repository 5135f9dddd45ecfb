#include "runtime/package/cpu_features.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace jumar::runtime::package {
namespace {

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };

struct Place {
  uint32_t leaf;
  uint32_t subleaf;
  Register where;
  uint32_t bit;
};

constexpr std::array kFeatures = {
#define JUMAR_CPU_FEATURE(name, level, leaf, subleaf, where, bit) CpuFeature{#name, level},
#include "runtime/package/cpu_features.def"
#undef JUMAR_CPU_FEATURE
};
constexpr std::array kPlaces = {
#define JUMAR_CPU_FEATURE(name, level, leaf, subleaf, where, bit) Place{leaf, subleaf, where, bit},
#include "runtime/package/cpu_features.def"
#undef JUMAR_CPU_FEATURE
};

#if defined(__x86_64__)

bool tells(const Place& place) {
  std::array<uint32_t, 4> registers = {};
  if (__get_cpuid_count(place.leaf, place.subleaf, &registers[kEax], &registers[kEbx], &registers[kEcx],
                        &registers[kEdx]) == 0) {
    return false;
  }
  return (registers[place.where] >> place.bit & 1) != 0;
}

// The registers that the system keeps for each thread, as XCR0's bits; 0 where it cannot be asked.
uint64_t kept_state() {
  constexpr Place kOsxsave = {1, 0, kEcx, 27};
  if (!tells(kOsxsave)) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// Wide registers are of no use where the system does not save them.
bool is_kept(std::string_view name) {
  constexpr uint64_t kAvx = 0x6;      // XMM and YMM
  constexpr uint64_t kAvx512 = 0xe6;  // and the masks, and both parts of ZMM
  const bool is_avx =
      name.starts_with("avx") || name == "f16c" || name == "fma" || name == "vaes" || name == "vpclmulqdq";
  const uint64_t needed = name.starts_with("avx512") ? kAvx512 : is_avx ? kAvx : 0;
  return (kept_state() & needed) == needed;
}

bool has(size_t index) { return tells(kPlaces[index]) && is_kept(kFeatures[index].name); }

#else

bool has(size_t) { return false; }

#endif

}  // namespace

std::span<const CpuFeature> cpu_features() { return kFeatures; }

std::vector<std::string> missing_cpu_features(std::span<const std::string> needed) {
  std::vector<std::string> missing;
  for (const std::string& name : needed) {
    const auto* const row = std::find_if(kFeatures.begin(), kFeatures.end(),
                                         [&](const CpuFeature& feature) { return feature.name == name; });
    const auto index = static_cast<size_t>(row - kFeatures.begin());
    if (index == kFeatures.size() || !has(index)) missing.push_back(name);
  }
  return missing;
}

}  // namespace jumar::runtime::package
