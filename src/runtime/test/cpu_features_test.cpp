#include "runtime/package/cpu_features.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace jumar::runtime::package {
namespace {

bool has(const std::string& name) { return missing_cpu_features(std::vector<std::string>{name}).empty(); }

TEST(CpuFeatures, AnUnknownOneIsMissing) {
  const std::vector<std::string> needed = {"avx1024", ""};
  EXPECT_EQ(missing_cpu_features(needed), needed);
}

#if defined(__x86_64__)

TEST(CpuFeatures, AreThoseThatTheCompilerFinds) {
  __builtin_cpu_init();
#define EXPECT_SAME(name) EXPECT_EQ(has(name), __builtin_cpu_supports(name) != 0) << name
  EXPECT_SAME("sse4.2");
  EXPECT_SAME("popcnt");
  EXPECT_SAME("avx");
  EXPECT_SAME("avx2");
  EXPECT_SAME("bmi");
  EXPECT_SAME("bmi2");
  EXPECT_SAME("fma");
  EXPECT_SAME("avx512f");
  EXPECT_SAME("avx512bw");
  EXPECT_SAME("avx512cd");
  EXPECT_SAME("avx512dq");
  EXPECT_SAME("avx512vl");
  EXPECT_SAME("avx512ifma");
  EXPECT_SAME("avx512vbmi");
  EXPECT_SAME("avx512vnni");
  EXPECT_SAME("avx512bitalg");
  EXPECT_SAME("gfni");
  EXPECT_SAME("vpclmulqdq");
#undef EXPECT_SAME
}

// Kernels of the lowest level run on every processor that Jumar compiles on.
TEST(CpuFeatures, TheLowestLevelIsHere) {
  for (const CpuFeature& feature : cpu_features()) {
    if (feature.x86_level >= 1 && feature.x86_level <= 3) EXPECT_TRUE(has(std::string(feature.name)));
  }
}

#endif

}  // namespace
}  // namespace jumar::runtime::package
