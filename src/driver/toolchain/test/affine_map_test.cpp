#include "driver/toolchain/affine_map.h"

#include <gtest/gtest.h>

namespace jumar::driver::toolchain {
namespace {

int64_t value(const char* text, std::vector<int64_t> arguments, size_t result = 0) {
  const Result<AffineMap> map = AffineMap::parse(text);
  return map.value().value(result, arguments);
}

TEST(AffineMap, Arithmetic) {
  EXPECT_EQ(value("()[s0] -> (s0 mod 2)", {7}), 1);
  EXPECT_EQ(value("()[s0] -> (s0 mod 5)", {-3}), 2);
  EXPECT_EQ(value("()[s0, s1] -> (s1 + 256, s0)", {4, 9}), 265);
  EXPECT_EQ(value("()[s0, s1] -> (s1 + 256, s0)", {4, 9}, 1), 4);
  EXPECT_EQ(value("(d0)[s0] -> (d0 * 3 - s0)", {5, 4}), 11);
  EXPECT_EQ(value("(d0, d1) -> ((d0 + d1) * 2)", {5, 4}), 18);
  EXPECT_EQ(value("()[s0] -> (-s0 + 100)", {30}), 70);
  EXPECT_EQ(value("()[s0] -> (s0 floordiv 16)", {-1}), -1);
  EXPECT_EQ(value("()[s0] -> (s0 ceildiv 16)", {17}), 2);
  EXPECT_EQ(value("()[s0, s1, s2] -> (s0 + s1 * s2)", {1, 2, 3}), 7);
}

TEST(AffineMap, BrokenTextIsRefused) {
  for (const char* text : {"", "() -> ", "()[s0] -> (s1)", "()[s0] -> (s0", "()[s0 -> (s0)", "() -> (1) x"})
    EXPECT_FALSE(AffineMap::parse(text).ok()) << text;
}

}  // namespace
}  // namespace jumar::driver::toolchain
