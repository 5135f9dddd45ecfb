#include "driver/ladder.h"

#include <gtest/gtest.h>

namespace jumar::driver {
namespace {

Status climbed(const char* text, const LadderRequest& request) {
  const Result<Options> options = Options::from_environment([](const std::string&) { return std::nullopt; });
  return climb(*graph::read_graph(text), *options, request);
}

constexpr const char* kSoftmax = R"(graph @main symbols(s0 in [0, 64] hint 16) {
  schema aten._softmax.default(Tensor self, int dim, bool half_to_float) -> (Tensor)
  schema aten.add.Tensor(Tensor self, Tensor other, Scalar alpha) -> (Tensor)
  schema aten.index.Tensor(Tensor self, Tensor?[] indices) -> (Tensor)
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  schema aten.topk.default(Tensor self, SymInt k, int dim, bool largest, bool sorted) -> (Tensor, Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 24]{1, s0} = input 1
  %w: f32[24, 24] = parameter 2
  %i: i64[3] = input 3
  %f: float = input 4
  %a: f32[s0, 24] = aten.mm.default(%x, %w)
  %b: f32[s0, 24] = aten._softmax.default(%a, 1, false)
  %c: f32[s0, 24] = aten.add.Tensor(%b, %f, 1)
  %d: f32[s0, 2], %e: i64[s0, 2] = aten.topk.default(%c, 2, 1, true, true)
  %g: f32[s0, 3] = aten.index.Tensor(%c, [none, %i])
  return %c, %d, %e, %g, %x, 2*s0, %f
}
)";

TEST(Ladder, LevelsAgreeWithCallsNumbersAndSymbols) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Status status = climbed(kSoftmax, {.seed = seed, .rounds = 4});
    EXPECT_TRUE(status.ok()) << status.error().text();
  }
  const Status special = climbed(kSoftmax, {.seed = 5, .special_share = 0.2});
  EXPECT_TRUE(special.ok()) << special.error().text();
}

// The interpreter sums in double, a kernel does not.
TEST(Ladder, NamesTheLevelThatDiffers) {
  const Status status = climbed(kSoftmax, {.seed = 1, .rounds = 8, .tolerance = 0});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "different");
  EXPECT_TRUE(status.error().message.starts_with("kernels: output 0")) << status.error().message;
}

// Sizes that no operator makes are no difference between levels.
TEST(Ladder, RefusesAGraphThatMakesNoSense) {
  const Status status = climbed(R"(graph @main {
  schema aten.permute.default(Tensor self, int[] dims) -> (Tensor)
  schema aten.exp.default(Tensor self) -> (Tensor)
  %x: f32[2, 3] = input 0
  %a: f32[3, 9]{1, 3} = aten.permute.default(%x, [1, 0])
  %b: f32[3, 9] = aten.exp.default(%a)
  return %b
}
)",
                                {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, "bounds") << status.error().text();
}

}  // namespace
}  // namespace jumar::driver
