// Windows: what of a nest's loads goes by way of one block, and what does not.
#include <gtest/gtest.h>

#include <map>

#include <fmt/format.h>

#include "tile/npu/tile_npu.h"
#include "tile/npu/walk.h"

namespace jumar::tile::npu {
namespace {

// A maximum over windows of 3 rows and 3 columns of x[4, 64, 64, 32], whose channels lie densest.
std::string pool(const std::string& address, const std::string& guard = "") {
  return fmt::format(R"(loop @main {{
  %x: f32[4, 64, 64, 32] = input 0
  %y: f32[4, 16, 16, 32] = output
  kernel @pool {{
    nest (i0 in 4, i1 in 16, i2 in 16, i3 in 32) {{
      stage (r0 in 3, r1 in 3) {{
        %0: f32 = load %x[{}]{}
        %1: f32 = reduce max %0
      }}
      stage {{
        store %y[8192*i0 + 512*i1 + 32*i2 + i3], %1
      }}
    }}
  }}
  return %y
}}
)",
                     address, guard.empty() ? "" : " if " + guard + " else -inf");
}

struct Counts {
  std::map<BlockKind, int> kinds;
  int products = 0;  // reductions

  int operator[](BlockKind kind) const { return kinds.contains(kind) ? kinds.at(kind) : 0; }
};

// Instructions of the best way to cut the first kernel.
Counts counts_of(const std::string& text, const NpuModel& model = {}) {
  Result<loop::Program> read = loop::read_program(text);
  EXPECT_TRUE(read.ok()) << read.error().text();
  loop::Program program = std::move(read).value();
  const TiledKernel tiled = tile_npu(program, std::get<loop::Kernel>(program.items[0]), model, 1);
  EXPECT_FALSE(tiled.choices.empty()) << tiled.refusal;
  Counts counts;
  for (const BlockNest& nest : tiled.choices.at(0).kernel.nests)
    for_each_inst(nest.body, [&](const BlockInst& inst) {
      ++counts.kinds[inst.kind];
      if (inst.kind == BlockKind::kReduce && inst.reduce == loop::ReduceKind::kProd) ++counts.products;
    });
  return counts;
}

TEST(NpuWindow, OverlappingWindowsAreLoadedOnce) {
  const Counts counts = counts_of(pool("131072*i0 + 4096*i1 + 64*i2 + i3 + 2048*r0 + 32*r1"));
  EXPECT_EQ(counts[BlockKind::kLoad], 1);
  EXPECT_EQ(counts[BlockKind::kSlice], 2);
}

TEST(NpuWindow, GuardsOfPaddingBoundTheWindow) {
  const std::string guard = "0 < 2*i1 + r0 and 0 < 2*i2 + r1";
  const Counts counts = counts_of(pool("131072*i0 + 4096*i1 + 64*i2 + i3 + 2048*r0 + 32*r1 - 2080", guard));
  EXPECT_EQ(counts[BlockKind::kSlice], 2);
}

// Each element is read once as it is.
TEST(NpuWindow, WindowsSideBySideAreNone) {
  const Counts counts = counts_of(pool("131072*i0 + 8192*i1 + 128*i2 + i3 + 2048*r0 + 32*r1"));
  EXPECT_EQ(counts[BlockKind::kSlice], 0);
}

// A slice of the densest axis would go element by element: the columns here have no channels beside them.
TEST(NpuWindow, TheDensestAxisIsNotSliced) {
  const Counts counts = counts_of(pool("131072*i0 + 4096*i3 + 128*i1 + 2*i2 + 64*r0 + r1"));
  EXPECT_EQ(counts[BlockKind::kSlice], 1);
}

TEST(NpuWindow, AGuardThatNeedsBothAxesLeavesThemAsTheyAre) {
  const Counts counts =
      counts_of(pool("131072*i0 + 4096*i1 + 64*i2 + i3 + 2048*r0 + 32*r1", "i1 < 2*r0 + 9"));
  EXPECT_EQ(counts[BlockKind::kSlice], 1);
}

// Where the compiler of vector functions has no product, one over several blocks is made of running ones.
TEST(NpuFold, ProductsAreTheLastOfRunningOnes) {
  const std::string text = R"(loop @main symbols(s0 in [2, 1000000] hint 70000) {
  %x: f32[8, s0] = input 0
  %y: f32[8] = output
  kernel @product {
    nest (i0 in 8) {
      stage (r0 in s0) {
        %0: f32 = load %x[s0*i0 + r0]
        %1: f32 = reduce prod %0
      }
      stage {
        store %y[i0], %1
      }
    }
  }
  return %y
}
)";
  EXPECT_EQ(counts_of(text).products, 1);
  const Counts counts = counts_of(text, {.multi_buffer = 1, .has_vector_functions = true});
  EXPECT_EQ(counts.products, 0);
  EXPECT_EQ(counts[BlockKind::kScan], 1);
}

}  // namespace
}  // namespace jumar::tile::npu
