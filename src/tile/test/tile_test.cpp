// Tiling must change no value, and must choose what its documentation says for the kernels that matter.
#include <gtest/gtest.h>

#include <algorithm>

#include "loop/check.h"
#include "tile/guards.h"
#include "tile/split_reduction.h"
#include "tile/tile_cpu.h"

namespace jumar::tile {
namespace {

using loop::Nest;
using loop::Program;
using loop::Tail;

Program read(const std::string& text) {
  Result<Program> program = loop::read_program(text);
  EXPECT_TRUE(program.ok()) << program.error().text();
  const Status valid = loop::verify(*program);
  EXPECT_TRUE(valid.ok()) << valid.error().text();
  return std::move(program).value();
}

// Tiles the program, checks it by the interpreter against what it was, and returns it.
Program tiled(const std::string& text, const CpuModel& model, const loop::CheckOptions& options = {}) {
  const Program before = read(text);
  Program after = read(text);
  tile_cpu(after, model);
  const Status valid = loop::verify(after);
  EXPECT_TRUE(valid.ok()) << valid.error().text() << loop::write_program(after);
  const Status same = loop::compare_programs(before, after, options, {});
  EXPECT_TRUE(same.ok()) << same.error().text() << loop::write_program(after);
  return after;
}

const Nest& only_nest(const Program& program) { return std::get<loop::Kernel>(program.items[0]).nests[0]; }
// Of the last kernel; small ones may have been joined to it.
const Nest& last_nest(const Program& program) {
  return std::get<loop::Kernel>(program.items.back()).nests.back();
}

constexpr CpuModel kAvx2;
constexpr CpuModel kAvx512{.vector_bytes = 64, .cheap_masks = true};

const char* const kPointwise = R"(loop @main symbols(s0 in [1, 4096] hint 100) {
  %x: f32[s0, 128] = input 0
  %y: f32[s0, 128] = output
  kernel @k {
    nest (i0 in s0, i1 in 128) {
      stage {
        %0: f32 = load %x[128*i0 + i1]
        %1: f32 = exp %0
        store %y[128*i0 + i1], %1
      }
    }
  }
  return %y
}
)";

TEST(TileCpu, ContiguousAxesBecomeOneInBlocks) {
  const Program program = tiled(kPointwise, kAvx2, {.symbols = {{"s0", 5}}});
  const Nest& nest = only_nest(program);
  ASSERT_EQ(nest.kept.size(), 1u);
  EXPECT_EQ(sym::text(nest.kept[0].extent), "128*s0");
  EXPECT_EQ(nest.tiling->parallel, 0u);
  EXPECT_GT(nest.tiling->block_elems, 0);
  EXPECT_EQ(nest.tiling->vector_axis, nest.kept[0].symbol);
  EXPECT_EQ(nest.tiling->lanes, 8u);
  EXPECT_EQ(nest.tiling->tail, Tail::kNone);
}

TEST(TileCpu, WiderVectorsAndMasksWhereTheProcessorHasThem) {
  std::string text = kPointwise;
  for (size_t at = text.find("128"); at != std::string::npos; at = text.find("128"))
    text.replace(at, 3, "129");
  const Program program = tiled(text, kAvx512, {.symbols = {{"s0", 5}}});
  EXPECT_EQ(only_nest(program).tiling->lanes, 16u);
  EXPECT_EQ(only_nest(program).tiling->tail, Tail::kMasked);
}

TEST(TileCpu, BroadcastKeepsAxesApart) {
  const Program program = tiled(R"(loop @main {
  %x: f32[64, 256] = input 0
  %b: f32[256] = input 1
  %y: f32[64, 256] = output
  kernel @k {
    nest (i0 in 64, i1 in 256) {
      stage {
        %0: f32 = load %x[256*i0 + i1]
        %1: f32 = load %b[i1]
        %2: f32 = add %0, %1
        store %y[256*i0 + i1], %2
      }
    }
  }
  return %y
}
)",
                                kAvx2);
  EXPECT_EQ(only_nest(program).kept.size(), 2u);
  EXPECT_EQ(only_nest(program).tiling->vector_axis, only_nest(program).kept[1].symbol);
}

TEST(TileCpu, RowsAreReducedInLanesAndColumnsBesideEachOther) {
  const std::string rows = R"(loop @main {
  %x: f32[300, 512] = input 0
  %y: f32[300] = output
  kernel @k {
    nest (i0 in 300) {
      stage (r0 in 512) {
        %0: f32 = load %x[512*i0 + r0]
        %1: f32 = reduce sum %0
      }
      stage {
        store %y[i0], %1
      }
    }
  }
  return %y
}
)";
  const Program by_rows = tiled(rows, kAvx2);
  const Nest& row_nest = only_nest(by_rows);
  EXPECT_FALSE(row_nest.tiling->vector_axis);
  EXPECT_EQ(row_nest.tiling->stages[0].vector_axis, row_nest.stages[0].inner[0].symbol);
  EXPECT_EQ(row_nest.tiling->stages[0].accumulators, 4u);
  EXPECT_EQ(row_nest.tiling->stages[0].tail, Tail::kNone);
  std::string columns = rows;
  columns.replace(columns.find("512*i0 + r0"), 11, "300*r0 + i0");
  columns.replace(columns.find("300, 512"), 8, "512, 300");
  const Program by_columns = tiled(columns, kAvx2);
  EXPECT_EQ(only_nest(by_columns).tiling->vector_axis, only_nest(by_columns).kept[0].symbol);
}

TEST(TileCpu, CatIsCut) {
  const Program program = tiled(R"(loop @main {
  %a: f32[64, 128] = input 0
  %b: f32[64, 64] = input 1
  %y: f32[64, 192] = output
  kernel @k {
    nest (i0 in 64, i1 in 192) {
      stage {
        %0: f32 = load %a[128*i0 + i1] if i1 < 128 else 0.0
        %1: f32 = load %b[64*i0 + i1 - 128] if 128 <= i1 else 0.0
        %2: bool = index i1 < 128
        %3: f32 = select %2, %0, %1
        store %y[192*i0 + i1], %3
      }
    }
  }
  return %y
}
)",
                                kAvx2);
  ASSERT_EQ(only_nest(program).tiling->cuts.size(), 1u);
  EXPECT_EQ(sym::text(only_nest(program).tiling->cuts[0]), "128");
}

TEST(TileCpu, PermutedLoadsAreTransposed) {
  const Program program = tiled(R"(loop @main {
  %x: f32[32, 48] = input 0
  %y: f32[48, 32] = output
  kernel @k {
    nest (i0 in 48, i1 in 32) {
      stage {
        %0: f32 = load %x[48*i1 + i0]
        store %y[32*i0 + i1], %0
      }
    }
  }
  return %y
}
)",
                                kAvx2);
  const Nest& nest = only_nest(program);
  EXPECT_EQ(nest.tiling->transpose_axis, nest.kept[0].symbol);
  EXPECT_EQ(nest.tiling->vector_axis, nest.kept[1].symbol);
}

// The points of a scatter may collide, but not those with different columns.
TEST(TileCpu, CollidingPointsStayInOneUnit) {
  const std::string scatter = R"(loop @main {
  %ids: i64[500] = input 0
  %g: f32[500] = input 1
  %y: f32[10] = output
  kernel @zero { nest (i0 in 10) { stage { %0: f32 = const 0.0
    store %y[i0], %0 } } }
  kernel @k {
    nest (i0 in 500) {
      stage {
        %0: i64 = load %ids[i0]
        %1: i64 = wrap_index %0 in 10
        %2: f32 = load %g[i0]
        store.add %y[%1], %2
      }
    }
  }
  return %y
}
)";
  const Program program = tiled(scatter, {.unit_work = 1});
  const Nest& nest = last_nest(program);
  EXPECT_EQ(nest.tiling->parallel, 0u);
  EXPECT_EQ(nest.tiling->block_elems, 0);
}

TEST(TileCpu, DistinctRowsOfAScatterMayRunAtOnce) {
  const Program program = tiled(R"(loop @main {
  %ids: i64[6, 500] = input 0
  %g: f32[6, 500] = input 1
  %y: f32[6, 10] = output
  kernel @zero { nest (i0 in 60) { stage { %0: f32 = const 0.0
    store %y[i0], %0 } } }
  kernel @k {
    nest (i0 in 6, i1 in 500) {
      stage {
        %0: i64 = load %ids[500*i0 + i1]
        %1: i64 = wrap_index %0 in 10
        %2: f32 = load %g[500*i0 + i1]
        store.add %y[10*i0 + %1], %2
      }
    }
  }
  return %y
}
)",
                                {.unit_work = 1});
  const Nest& nest = last_nest(program);
  EXPECT_EQ(nest.tiling->parallel, 1u);
  EXPECT_EQ(nest.tiling->block_elems, 0);
}

TEST(SplitReduction, LongSumsRunInTwoSteps) {
  for (const char* size : {"150000", "131072"}) {
    std::string text = R"(loop @main {
  %x: f32[$N] = input 0
  %y: f32[] = output
  kernel @k {
    nest () {
      stage (r0 in $N) {
        %0: f32 = load %x[r0]
        %1: f32 = reduce sum %0
      }
      stage {
        store %y[0], %1
      }
    }
  }
  return %y
}
)";
    for (size_t at = text.find("$N"); at != std::string::npos; at = text.find("$N"))
      text.replace(at, 2, size);
    const Program program = tiled(text, kAvx2);
    const auto& chunks = std::get<loop::Kernel>(program.items[0]);
    // Chunks that don't divide the sum leave a rest beside them; without one, folding the chunks' sums is a
    // phase.
    const bool has_rest = size == std::string("150000");
    EXPECT_EQ(program.items.size(), has_rest ? 2u : 1u);
    EXPECT_EQ(chunks.nests.size(), 2u);
    EXPECT_EQ(chunks.is_phased, !has_rest);
    EXPECT_TRUE(chunks.nests[0].tiling->parallel == 1 || chunks.nests[0].tiling->block_elems > 0);
  }
}

TEST(Guards, FlipsDecideThePredicate) {
  sym::Context cx;
  const sym::Expr i = cx.symbol(sym::SymbolKind::kAxis, "i0");
  const auto at = [&](sym::Expr e, int64_t value) {
    return sym::evaluate(e, [&](sym::Expr) { return std::optional(value); }).value();
  };
  for (int64_t c : {-3, -2, -1, 1, 2, 3}) {
    for (int64_t d = -9; d <= 9; ++d) {
      const sym::Expr side = cx.add(cx.mul(i, c), d);
      const sym::Expr zero = cx.constant(0);
      for (sym::Expr predicate : {cx.lt(side, zero), cx.le(side, zero), cx.lt(zero, side), cx.le(zero, side),
                                  cx.eq(side, zero), cx.logical_not(cx.lt(side, zero))}) {
        const auto flips = guard_flips(cx, predicate, i);
        ASSERT_TRUE(flips.has_value()) << sym::text(predicate);
        for (int64_t value = -20; value <= 20; ++value) {
          if (at(predicate, value) == at(predicate, value - 1)) continue;
          EXPECT_NE(std::ranges::find(*flips, cx.constant(value)), flips->end()) << sym::text(predicate);
        }
      }
    }
  }
}

}  // namespace
}  // namespace jumar::tile
