// On-chip memory of block programs, against what the toolchain planned for the same blocks.
#include <gtest/gtest.h>

#include <algorithm>

#include "tile/npu/buffer_plan.h"
#include "tile/npu/lower_nest.h"
#include "tile/npu/memory.h"
#include "tile/npu/tile_npu.h"

namespace jumar::tile::npu {
namespace {

// The memory of the first nest of `text`, its axes cut into blocks of `sizes`: kept axes, then inner ones.
// They are dimensions in this order, or with the inner ones first.
BufferNeed need_of(const std::string& text, const std::vector<int64_t>& sizes, const MemoryModel& model = {},
                   bool has_inner_first = false) {
  Result<loop::Program> read = loop::read_program(text);
  EXPECT_TRUE(read.ok()) << read.error().text();
  loop::Program program = std::move(read).value();
  const PreparedNest nest = prepared(program, std::get<loop::Kernel>(program.items[0]).nests[0]);
  NestTiling tiling;
  const auto add = [&](const loop::Axis& axis, bool is_inner) {
    AxisTiling made;
    made.symbol = axis.symbol;
    made.extent = axis.extent;
    made.is_inner = is_inner;
    made.in_tasks = !is_inner;
    made.size = sizes.at(tiling.axes.size());
    made.is_scalar = made.size == 1 && !is_inner;
    tiling.axes.push_back(made);
  };
  for (const loop::Axis& axis : nest.nest.kept) add(axis, false);
  for (const loop::Axis& axis : nest.inner) add(axis, true);
  if (has_inner_first) std::ranges::reverse(tiling.axes);
  BlockKernel kernel;
  Arguments arguments(program, kernel);
  const std::optional<std::string> refusal = add_nest(program, nest, tiling, arguments, kernel);
  EXPECT_FALSE(refusal) << *refusal;
  return buffer_need(kernel, model);
}

const char* const kNegation = R"(loop @main {
  %x: f32[3000] = input 0
  %y: f32[3000] = output
  kernel @neg {
    nest (i0 in 3000) {
      stage {
        %0: f32 = load %x[i0]
        %1: f32 = neg %0
        store %y[i0], %1
      }
    }
  }
  return %y
}
)";

const char* const kSoftmax = R"(loop @main {
  %x: bf16[49152, 512] = input 0
  %y: bf16[49152, 512] = output
  kernel @softmax {
    nest (i0 in 49152) {
      stage (r0 in 512) {
        %0: bf16 = load %x[512*i0 + r0]
        %1: f32 = cast %0
        %2: f32 = reduce max %1
      }
      stage (r1 in 512) {
        %3: bf16 = load %x[512*i0 + r1]
        %4: f32 = cast %3
        %5: f32 = sub %4, %2
        %6: f32 = exp %5
        %7: f32 = reduce sum %6
      }
      stage (r2 in 512) {
        %8: bf16 = load %x[512*i0 + r2]
        %9: f32 = cast %8
        %10: f32 = sub %9, %2
        %11: f32 = exp %10
        %12: f32 = div %11, %7
        %13: bf16 = cast %12
        store %y[512*i0 + r2], %13
      }
    }
  }
  return %y
}
)";

std::string sum(const std::string& kept, const std::string& folded, const std::string& address) {
  return "loop @main {\n  %x: f32[2048, 1000] = input 0\n  %y: f32[" + kept +
         "] = output\n  kernel @sum {\n    nest (i0 in " + kept + ") {\n      stage (r0 in " + folded +
         ") {\n        %0: f32 = load %x[" + address +
         "]\n        %1: f32 = reduce sum %0\n      }\n      stage {\n        store %y[i0], %1\n      }\n    "
         "}\n  }\n"
         "  return %y\n}\n";
}

// The result is computed where the operand lay; a loop has two of it.
TEST(NpuMemory, ResultsTakeTheBuffersOfDyingOperands) {
  EXPECT_EQ(need_of(kNegation, {1024}, {.multi_buffer = 1}).bytes, 4096);
  EXPECT_EQ(need_of(kNegation, {1024}).bytes, 2 * 4096);
  EXPECT_EQ(need_of(kNegation, {1024}).unshared_bytes, 2 * 4096);
}

// 26 rows: bishengir-compile took 186496 bytes. Two blocks of halves that are loaded; one of f32, in which
// all is computed and what is stored lies as well, so that there are two of it; half a block for the
// reductions.
TEST(NpuMemory, SoftmaxIsWhatTheToolchainPlans) {
  constexpr int64_t kHalves = 26 * 512 * 2;
  const BufferNeed need = need_of(kSoftmax, {26, 512});
  EXPECT_EQ(need.bytes, 186496);
  EXPECT_EQ(need.bytes, 2 * kHalves + 2 * 2 * kHalves + kHalves + 128);
}

// 16 rows, where each buffer can have an address of its own: 132224 bytes.
TEST(NpuMemory, WithRoomNoAddressIsShared) {
  EXPECT_EQ(need_of(kSoftmax, {16, 512}).unshared_bytes, 132224);
  EXPECT_LT(need_of(kSoftmax, {16, 512}).bytes, 132224);
}

// Planned for columns of 256 by 24: a copy of the block to fold it in.
TEST(NpuMemory, ColumnsAreFoldedInACopy) {
  const BufferNeed need = need_of(sum("1000", "2048", "i0 + 1000*r0"), {24, 2048}, {.multi_buffer = 1}, true);
  EXPECT_EQ(need.bytes, 2 * 2048 * 24 * 4 + 96);
}

// Rows up to 64 numbers take no scratch memory, longer ones at least 64 numbers a row, then half of it.
TEST(NpuMemory, RowsAreHalved) {
  const auto scratch = [](int64_t row) {
    const std::string n = std::to_string(row);
    const BufferNeed need = need_of(sum("16", n, n + "*i0 + r0"), {16, row}, {.multi_buffer = 1});
    return need.unshared_bytes - 16 * row * 4 - 64;
  };
  EXPECT_EQ(scratch(64), 0);
  EXPECT_EQ(scratch(72), 1024 * 4);
  EXPECT_EQ(scratch(128), 1024 * 4);
  EXPECT_EQ(scratch(136), 16 * 72 * 4);
  EXPECT_EQ(scratch(1000), 16 * 504 * 4);
}

// The softmax of a window's attention, with a bias whose densest axis is that of the heads.
const char* const kWindowSoftmax = R"(loop @main {
  %x: f32[128, 3, 49, 49] = input 0
  %bias: f32[49, 49, 3] = input 1
  %mask: f32[64, 49, 49] = input 2
  %y: f32[128, 3, 49, 49] = output
  kernel @softmax {
    nest (i0 in 128, i1 in 3, i2 in 49) {
      stage (r0 in 49) {
        %0: f32 = load %x[7203*i0 + 2401*i1 + 49*i2 + r0]
        %1: f32 = load %bias[i1 + 147*i2 + 3*r0]
        %2: f32 = add %0, %1
        %3: f32 = load %mask[49*i2 + r0 + 2401*(i0 % 64)]
        %4: f32 = add %2, %3
        %5: f32 = reduce max %4
      }
      stage (r1 in 49) {
        %6: f32 = load %x[7203*i0 + 2401*i1 + 49*i2 + r1]
        %7: f32 = load %bias[i1 + 147*i2 + 3*r1]
        %8: f32 = add %6, %7
        %9: f32 = load %mask[49*i2 + r1 + 2401*(i0 % 64)]
        %10: f32 = add %8, %9
        %11: f32 = sub %10, %5
        %12: f32 = exp %11
        %13: f32 = reduce sum %12
      }
      stage (r2 in 49) {
        %14: f32 = load %x[7203*i0 + 2401*i1 + 49*i2 + r2]
        %15: f32 = load %bias[i1 + 147*i2 + 3*r2]
        %16: f32 = add %14, %15
        %17: f32 = load %mask[49*i2 + r2 + 2401*(i0 % 64)]
        %18: f32 = add %16, %17
        %19: f32 = sub %18, %5
        %20: f32 = exp %19
        %21: f32 = div %20, %13
        store %y[7203*i0 + 2401*i1 + 49*i2 + r2], %21
      }
    }
  }
  return %y
}
)";

// bishengir-compile asked for 428064 bytes. It exchanges the first two axes of the bias, 49 by 49 by 3, and
// then the first with the last, which are padded to 56 by 49 by 16.
TEST(NpuMemory, TurnsArePaddedExchangesOfTwoAxes) {
  EXPECT_EQ(need_of(kWindowSoftmax, {1, 1, 3, 49, 49}).bytes, 428064);
}

const char* const kAddedRow = R"(loop @main {
  %x: f32[8, 128, 7, 96] = input 0
  %row: f32[96] = input 1
  %y: f32[8, 7, 128, 96] = output
  kernel @add {
    nest (b in 8, i0 in 128, i1 in 7, i2 in 96) {
      stage {
        %0: f32 = load %x[86016*b + 672*i0 + 96*i1 + i2]
        %1: f32 = load %row[i2]
        %2: f32 = add %0, %1
        store %y[86016*b + 96*i0 + 12288*i1 + i2], %2
      }
    }
  }
  return %y
}
)";

// Blocks of 8 by 7 rows that are not together in global memory: bishengir-compile took 67584 bytes. The row
// becomes 7 and then a block, while it repeats one along a single axis by itself.
TEST(NpuMemory, BroadcastsAlongTwoAxesAreBlocks) {
  constexpr int64_t kRow = 96 * 4;
  constexpr int64_t kBlock = 8 * 7 * kRow;
  EXPECT_EQ(need_of(kAddedRow, {8, 1, 7, 96}).unshared_bytes, 67584);
  EXPECT_EQ(67584, 2 * kBlock + kBlock + 7 * kRow + kRow);
  EXPECT_EQ(need_of(kAddedRow, {1, 1, 7, 96}).unshared_bytes, 2 * kBlock / 8 + kRow);
}

// exp of every second element and a sum with others, or stored to every third.
std::string stepped(const std::string& loaded, const std::string& stored) {
  return "loop @main {\n  %x: f32[64, 4000] = input 0\n  %z: f32[64, 1000] = input 1\n  %y: f32[64, 3000] = "
         "output\n  kernel @stepped {\n    nest (i0 in 64, i1 in 1000) {\n      stage {\n        %0: f32 = "
         "load %x[" +
         loaded +
         "]\n        %1: f32 = load %z[1000*i0 + i1]\n        %2: f32 = add %0, %1\n        %3: f32 = exp " +
         "%2\n        store %y[" + stored + "], %3\n      }\n    }\n  }\n  return %y\n}\n";
}

// 4 by 336: bishengir-compile took 107520 bytes for the first.
TEST(NpuMemory, ElementsThatLieApartTakeAUnitEach) {
  constexpr int64_t kBlock = 4 * 336 * 4;
  constexpr int64_t kSpread = 4 * 336 * 32;
  EXPECT_EQ(need_of(stepped("4000*i0 + 2*i1", "3000*i0 + i1"), {4, 336}).bytes, 2 * kSpread + 4 * kBlock);
  EXPECT_EQ(2 * kSpread + 4 * kBlock, 107520);
  // What is stored in steps is computed so.
  EXPECT_EQ(need_of(stepped("4000*i0 + i1", "3000*i0 + 3*i1"), {4, 336}).bytes, 4 * kSpread);
}

// A norm over rows that lie turned in memory, four operands and two results: 14 tasks of 8 rows.
const char* const kTurnedNorm = R"(loop @main {
  %a: f32[2, 512, 49] = input 0
  %b: f32[2, 512, 49] = input 1
  %c: f32[2, 49, 512] = input 2
  %d: f32[2, 512, 49] = input 3
  %sum: f32[2, 512, 49] = output
  %y: f32[2, 49, 512] = output
  kernel @norm {
    nest (i0 in 2, i1 in 49) {
      stage (r0 in 512) {
        %0: f32 = load %a[25088*i0 + i1 + 49*r0]
        %1: f32 = load %b[25088*i0 + i1 + 49*r0]
        %2: f32 = add %0, %1
        %3: f32 = load %c[25088*i0 + 512*i1 + r0]
        %4: f32 = add %2, %3
        %5: f32 = load %d[25088*i0 + i1 + 49*r0]
        %6: f32 = add %4, %5
        store %sum[25088*i0 + i1 + 49*r0], %6
        %7: f32 = reduce sum %6
      }
      stage (r1 in 512) {
        %8: f32 = load %sum[25088*i0 + i1 + 49*r1]
        %9: f32 = div %8, %7
        store %y[25088*i0 + 512*i1 + r1], %9
      }
    }
  }
  return %sum, %y
}
)";

// Without a second round nothing is loaded ahead, and blocks with two buffers for all would not fit.
TEST(NpuMemory, OneRoundHasOneBuffer) {
  const auto row_block = [](int64_t vector_cores) {
    loop::Program program = loop::read_program(kTurnedNorm).value();
    const auto& kernel = std::get<loop::Kernel>(program.items[0]);
    const TiledKernel tiled =
        tile_npu(program, kernel, {.vector_cores = vector_cores, .buffer_bytes = 160 * 1024}, 10);
    EXPECT_FALSE(tiled.choices.empty()) << tiled.refusal;
    const NestTiling& tiling = tiled.choices.front().tilings.front();
    const auto inner = std::ranges::find_if(tiling.axes, &AxisTiling::is_inner);
    EXPECT_EQ(tiling.is_one_round, inner->size == 512);
    return inner->size;
  };
  EXPECT_EQ(row_block(14), 512);
  EXPECT_LT(row_block(13), 512);
}

constexpr MemoryModel kFunctions{.multi_buffer = 1, .has_vector_functions = true};

TEST(NpuMemory, FunctionsHaveAllBuffersAtOnce) {
  EXPECT_EQ(need_of(kNegation, {1024}, kFunctions).bytes, 2 * 4096);
}

// 39 rows: bishengir-compile-a5 took 239776 bytes. The numbers in f32 and their exponentials are blocks,
// since more than one loop needs them, and the sums lie where the maxima were, which is not known here.
TEST(NpuMemory, FunctionsHoldWhatTwoLoopsNeed) {
  constexpr int64_t kHalves = 39 * 512 * 2;
  const BufferNeed need = need_of(kSoftmax, {39, 512}, kFunctions);
  EXPECT_EQ(need.bytes, 2 * kHalves + 2 * 2 * kHalves + 2 * 160);
  EXPECT_EQ(need.bytes, 239776 + 160);
}

std::string with_rows(std::string text, const std::string& elements) {
  for (size_t at = 0; (at = text.find("512", at)) != std::string::npos; at += elements.size())
    text.replace(at, 3, elements);
  return text;
}

// Rows that a register holds: what is loaded and what is stored, and the maxima and sums. Small blocks are
// cut.
TEST(NpuMemory, FunctionsKeepShortRowsInRegisters) {
  const std::string text = with_rows(kSoftmax, "48");
  EXPECT_EQ(need_of(text, {100, 48}, kFunctions).bytes, 2 * 100 * 48 * 2 + 2 * 416);
  EXPECT_EQ(need_of(text, {64, 48}, kFunctions).bytes, 2 * 64 * 48 * 2 + 2 * 64 * 48 * 4 + 2 * 256);
}

// What a sum along columns folds is overwritten: planned for 64 by 256, with two blocks.
TEST(NpuMemory, FunctionsFoldColumnsInACopy) {
  std::string text = sum("1000", "64", "i0 + 1000*r0");
  EXPECT_EQ(need_of(text, {256, 64}, kFunctions, true).bytes, 64 * 256 * 4 + 1024);
  text.replace(text.find("        %1: f32 = reduce sum %0"), 31,
               "        %2: f32 = neg %0\n        %1: f32 = reduce sum %2");
  EXPECT_EQ(need_of(text, {256, 64}, kFunctions, true).bytes, 2 * 64 * 256 * 4 + 1024);
}

// Of small blocks bishengir-compile-a5 makes six blocks more.
TEST(NpuMemory, FunctionsOfSmallBlocksAreCut) {
  std::string text = kNegation;
  text.replace(text.find("neg %0"), 6, "erf %0");
  EXPECT_EQ(need_of(text, {2048}, kFunctions).bytes, 8 * 2048 * 4);
  for (size_t at = 0; (at = text.find("3000", at)) != std::string::npos;) text.replace(at, 4, "9000");
  EXPECT_EQ(need_of(text, {4160}, kFunctions).bytes, 2 * 4160 * 4);
}

TEST(BufferPlan, BuffersOfDifferentTimesShareAddresses) {
  BufferPlan plan(32);
  plan.add({.bytes = 100, .first = 0, .last = 1});
  plan.add({.bytes = 64, .first = 2, .last = 3});
  plan.add({.bytes = 64, .first = 1, .last = 2});
  EXPECT_EQ(plan.unshared_bytes(), 256);
  EXPECT_EQ(plan.peak_bytes(), 192);
}

TEST(BufferPlan, JoinedBuffersAreOneWithTheMostCopies) {
  BufferPlan plan(32);
  const uint32_t loaded = plan.add({.bytes = 4096, .copies = 2, .is_moved = true, .first = 1, .last = 3});
  const uint32_t result = plan.add({.bytes = 4096, .first = 3, .last = 5});
  plan.join(result, loaded);
  EXPECT_EQ(plan.copies_of(result), 2);
  EXPECT_EQ(plan.peak_bytes(), 8192);
  // Something of the time in between does not fit into it.
  plan.add({.bytes = 4096, .first = 4, .last = 4});
  EXPECT_EQ(plan.peak_bytes(), 3 * 4096);
}

}  // namespace
}  // namespace jumar::tile::npu
