#include "runtime/package/cpu_features.h"

#include <algorithm>
#include <array>

namespace jumar::runtime::package {
namespace {

constexpr std::array kFeatures = {
#define JUMAR_CPU_FEATURE(name, level) CpuFeature{#name, level},
#include "runtime/package/cpu_features.def"
#undef JUMAR_CPU_FEATURE
};

bool has(std::string_view name) {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define JUMAR_CPU_FEATURE(feature, level) \
  if (name == #feature) return __builtin_cpu_supports(#feature) != 0;
#include "runtime/package/cpu_features.def"
#undef JUMAR_CPU_FEATURE
#endif
  return false;
}

}  // namespace

std::span<const CpuFeature> cpu_features() { return kFeatures; }

std::vector<std::string> missing_cpu_features(std::span<const std::string> needed) {
  std::vector<std::string> missing;
  std::copy_if(needed.begin(), needed.end(), std::back_inserter(missing),
               [](const std::string& name) { return !has(name); });
  return missing;
}

}  // namespace jumar::runtime::package
