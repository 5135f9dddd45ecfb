// Cutting kernels for an NPU: what candidates promise, what block programs hold, and what is refused.
#include <gtest/gtest.h>

#include <functional>

#include "tile/npu/layout.h"
#include "tile/npu/memory.h"
#include "tile/npu/tile_npu.h"
#include "tile/npu/walk.h"

namespace jumar::tile::npu {
namespace {

loop::Program read(const std::string& text) {
  Result<loop::Program> program = loop::read_program(text);
  EXPECT_TRUE(program.ok()) << program.error().text();
  return std::move(program).value();
}

TiledKernel tiled(loop::Program& program, const NpuModel& model = {}) {
  const loop::Kernel kernel = std::get<loop::Kernel>(program.items[0]);
  return tile_npu(program, kernel, model);
}

// y[i0, i1] = -x[i0, i1], of these sizes.
std::string negation(const std::string& symbols, const std::string& rows, const std::string& columns) {
  return "loop @main" + symbols + " {\n  %x: f32[" + rows + ", " + columns + "] = input 0\n  %y: f32[" +
         rows + ", " + columns + "] = output\n  kernel @neg {\n    nest (i0 in " + rows + ", i1 in " +
         columns + ") {\n      stage {\n        %0: f32 = load %x[" + columns +
         "*i0 + i1]\n        %1: f32 = neg %0\n" + "        store %y[" + columns +
         "*i0 + i1], %1\n      }\n    }\n  }\n  return %y\n}\n";
}

const char* const kTranspose = R"(loop @main {
  %x: f32[768, 128] = input 0
  %y: f32[128, 768] = output
  kernel @turn {
    nest (i0 in 128, i1 in 768) {
      stage {
        %0: f32 = load %x[i0 + 128*i1]
        store %y[768*i0 + i1], %0
      }
    }
  }
  return %y
}
)";

const char* const kJoined = R"(loop @main {
  %a: f32[1024, 256] = input 0
  %b: f32[1024, 640] = input 1
  %y: f32[1024, 896] = output
  kernel @cat {
    nest (i0 in 1024, i1 in 896) {
      stage {
        %0: f32 = load %a[256*i0 + i1] if i1 < 256 else 0.0
        %1: f32 = load %b[640*i0 + i1 - 256] if 255 < i1 else 0.0
        %2: bool = index 255 < i1
        %3: f32 = select %2, %1, %0
        store %y[896*i0 + i1], %3
      }
    }
  }
  return %y
}
)";

const BlockInst& first_of(const BlockNest& nest, BlockKind kind) {
  const BlockInst* found = nullptr;
  for_each_inst(nest.body, [&](const BlockInst& inst) {
    if (!found && inst.kind == kind) found = &inst;
  });
  EXPECT_NE(found, nullptr);
  return *found;
}

TEST(NpuTile, EveryChoiceFitsTheBuffer) {
  for (const int64_t bytes : {4096, 65536, 192 * 1024}) {
    loop::Program program = read(negation("", "3000", "1000"));
    const NpuModel model{.buffer_bytes = bytes};
    const TiledKernel kernel = tiled(program, model);
    ASSERT_FALSE(kernel.choices.empty()) << bytes << ": " << kernel.refusal;
    EXPECT_LE(kernel.choices.size(), 10U);
    for (const Choice& choice : kernel.choices) {
      EXPECT_LE(choice.buffer_bytes, bytes);
      EXPECT_LE(buffer_bytes(choice.kernel, MemoryModel{}), choice.buffer_bytes);
    }
    for (size_t k = 1; k < kernel.choices.size(); ++k)
      EXPECT_LE(kernel.choices[k - 1].us, kernel.choices[k].us);
  }
}

// x.T + y, and the transpose alone.
TEST(NpuTile, OneBufferIsEnoughForWhatIsTurnedBesideOtherLoads) {
  const auto singles = [](const std::string& text, const NpuModel& model) {
    loop::Program program = read(text);
    const TiledKernel kernel = tiled(program, model);
    EXPECT_FALSE(kernel.choices.empty()) << kernel.refusal;
    std::string found;
    for_each_inst(kernel.choices.at(0).kernel.nests.at(0).body, [&](const BlockInst& inst) {
      if (inst.is_single) found += inst.kind == BlockKind::kLoad ? "l" : "s";
    });
    return found;
  };
  const char* const sum = R"(loop @main {
  %x: f32[64, 128, 768] = input 0
  %y: f32[64, 768, 128] = input 1
  %z: f32[64, 768, 128] = output
  kernel @add {
    nest (i0 in 64, i1 in 768, i2 in 128) {
      stage {
        %0: f32 = load %x[98304*i0 + i1 + 768*i2]
        %1: f32 = load %y[98304*i0 + 128*i1 + i2]
        %2: f32 = add %0, %1
        store %z[98304*i0 + 128*i1 + i2], %2
      }
    }
  }
  return %z
}
)";
  EXPECT_EQ(singles(sum, {}), "ls");
  EXPECT_EQ(singles(kTranspose, {}), "");
  EXPECT_EQ(singles(sum, {.multi_buffer = 1}), "");
  // Six blocks otherwise: what is loaded, what is turned and stored, and the other operand, each twice.
  loop::Program program = read(sum);
  const TiledKernel kernel = tiled(program);
  const Choice& best = kernel.choices.at(0);
  const BlockNest& nest = best.kernel.nests.at(0);
  const BlockInst& store = first_of(nest, BlockKind::kStore);
  EXPECT_EQ(best.buffer_bytes, 4 * 4 * elements_of(nest, nest.values[store.operands[0]].axes));
}

// 1000 columns are 42 blocks of whole units, and 48 of 21.
TEST(NpuTile, ColumnsThatAreFoldedKeepAllCores) {
  loop::Program program = read(R"(loop @main {
  %x: f32[2048, 1000] = input 0
  %y: f32[1000] = output
  kernel @sum {
    nest (i0 in 1000) {
      stage (r0 in 2048) {
        %0: f32 = load %x[i0 + 1000*r0]
        %1: f32 = reduce sum %0
      }
      stage {
        store %y[i0], %1
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  EXPECT_EQ(sym::text(kernel.choices[0].kernel.nests[0].tasks), "48");
}

// The scale of each channel is computed for a block of channels, not again for each block of its points.
TEST(NpuTile, SmallWorkIsNotRepeatedForEachBlock) {
  loop::Program program = read(R"(loop @main {
  %x: f32[8, 64, 3136] = input 0
  %v: f32[64] = input 1
  %y: f32[8, 64, 3136] = output
  kernel @scale {
    nest (i0 in 8, i1 in 64, i2 in 3136) {
      stage {
        %0: f32 = load %v[i1]
        %1: f32 = rsqrt %0
        %2: f32 = erf %1
        %3: f32 = sin %2
        %4: f32 = load %x[200704*i0 + 3136*i1 + i2]
        %5: f32 = mul %3, %4
        store %y[200704*i0 + 3136*i1 + i2], %5
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  int sine = -1;
  int store = -1;
  const std::function<void(const Region&, int)> visit = [&](const Region& region, int depth) {
    for (const BlockNode& node : region) {
      if (const auto* loop = std::get_if<std::unique_ptr<BlockLoop>>(&node)) {
        visit((*loop)->body, depth + 1);
        continue;
      }
      const auto& inst = std::get<BlockInst>(node);
      if (inst.kind == BlockKind::kOp && inst.op == BlockOp::kSin) sine = depth;
      if (inst.kind == BlockKind::kStore) store = depth;
    }
  };
  visit(kernel.choices[0].kernel.nests[0].body, 0);
  EXPECT_GE(sine, 0);
  EXPECT_LT(sine, store);
}

TEST(NpuTile, PiecesOfJoinedTensorsAreNests) {
  loop::Program program = read(kJoined);
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  const BlockKernel& best = kernel.choices[0].kernel;
  ASSERT_EQ(best.nests.size(), 2U);
  for (const BlockNest& nest : best.nests) {
    int loads = 0;
    for_each_inst(nest.body, [&](const BlockInst& inst) { loads += inst.kind == BlockKind::kLoad; });
    EXPECT_EQ(loads, 1);
  }
}

int count_of(const BlockKernel& kernel, BlockKind kind) {
  int count = 0;
  for (const BlockNest& nest : kernel.nests)
    for_each_inst(nest.body, [&](const BlockInst& inst) { count += inst.kind == kind; });
  return count;
}

// Nests over the same points load what they share once; what one of them stores stays apart from its reader.
TEST(NpuTile, NestsWithCommonLoadsAreOne) {
  const auto kernel_of = [](const std::string& second) {
    loop::Program program = read(R"(loop @main {
  %x: f32[3000] = input 0
  %y: f32[3000] = output
  %z: f32[3000] = output
  kernel @two {
    nest (i0 in 3000) {
      stage {
        %0: f32 = load %x[i0]
        %1: f32 = neg %0
        store %y[i0], %1
      }
    }
    nest (i1 in 3000) {
      stage {
        %0: f32 = load )" + second +
                                 R"([i1]
        %1: f32 = load %x[i1]
        %2: f32 = add %0, %1
        store %z[i1], %2
      }
    }
  }
  return %y, %z
}
)");
    TiledKernel kernel = tiled(program);
    EXPECT_FALSE(kernel.choices.empty()) << kernel.refusal;
    return std::move(kernel.choices[0].kernel);
  };
  const BlockKernel joined = kernel_of("%x");
  EXPECT_EQ(joined.nests.size(), 1U);
  EXPECT_EQ(count_of(joined, BlockKind::kLoad), 1);
  EXPECT_EQ(count_of(joined, BlockKind::kStore), 2);
  EXPECT_EQ(kernel_of("%y").nests.size(), 2U);
}

// A row that no block holds is scanned block by block.
TEST(NpuTile, ScansGoOnFromBlockToBlock) {
  loop::Program program = read(R"(loop @main {
  %x: f32[4, 100000] = input 0
  %y: f32[4, 100000] = output
  kernel @sums {
    nest (i0 in 4) {
      stage (r0 in 100000) {
        %0: f32 = load %x[100000*i0 + r0]
        %1: f32 = scan sum %0 along r0
        store %y[100000*i0 + r0], %1
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  const BlockKernel& best = kernel.choices[0].kernel;
  EXPECT_EQ(count_of(best, BlockKind::kScan), 1);
  EXPECT_EQ(count_of(best, BlockKind::kReduce), 1);
}

// Along an axis that the last block reaches beyond, an indexed load stays at the last point: no dimension is
// left to move with it.
TEST(NpuTile, IndexedLoadsStayInside) {
  loop::Program program = read(R"(loop @main {
  %x: f32[67, 300] = input 0
  %n: i64[111] = input 1
  %y: f32[67, 111] = output
  kernel @pick {
    nest (i0 in 67, i1 in 111) {
      stage {
        %0: i64 = load %n[i1]
        %1: i64 = check_index %0 in 300
        %2: f32 = load %x[300*i0 + %1]
        store %y[111*i0 + i1], %2
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  for (const Choice& choice : kernel.choices) {
    const BlockNest& nest = choice.kernel.nests[0];
    for_each_inst(nest.body, [&](const BlockInst& inst) {
      if (inst.kind != BlockKind::kLoad || !inst.access.index) return;
      for (const Access::Dim& dim : inst.access.dims) EXPECT_TRUE(nest.axes[dim.axis].is_exact);
    });
  }
}

// What is computed may be outside at points beyond the extents, where it is taken for 0. What is loaded is 0
// there already.
TEST(NpuTile, ComputedIndicesStayInside) {
  for (const bool computed : {false, true}) {
    loop::Program program = read(std::string(R"(loop @main symbols(s0 in [2, 4096] hint 111) {
  %x: f32[300] = input 0
  %n: i64[s0] = input 1
  %y: f32[300] = output
  kernel @pick {
    nest (i0 in s0) {
      stage {
        %0: i64 = load %n[i0]
        %1: i64 = const 5
        %2: i64 = add %0, %1
        %3: i64 = wrap_index )") +
                                 (computed ? "%2" : "%0") +
                                 R"( in 300
        %4: f32 = load %x[%3]
        store.add %y[%3], %4
      }
    }
  }
  return %y
}
)");
    const TiledKernel kernel = tiled(program);
    ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
    const BlockNest& nest = kernel.choices[0].kernel.nests[0];
    std::map<BlockId, BlockInst> made;
    int indexed = 0;
    for_each_inst(nest.body, [&](const BlockInst& inst) {
      if (inst.result.valid()) made[inst.result] = inst;
      if (!inst.access.index) return;
      ++indexed;
      ASSERT_TRUE(inst.access.mask.valid());
      const BlockInst& index = made.at(inst.access.index);
      EXPECT_EQ(index.op, BlockOp::kSelect);
      const BlockInst& otherwise = made.at(index.operands[2]);
      const bool is_zero = otherwise.kind == BlockKind::kConst && otherwise.constant.integer == 0;
      EXPECT_EQ(is_zero && index.operands[0] == inst.access.mask, computed);
    });
    EXPECT_EQ(indexed, 2);
  }
}

// An index below 1000 has no quotient by 1000, which could not be an address.
TEST(NpuTile, CheckedIndicesSimplifyAddresses) {
  loop::Program program = read(R"(loop @main {
  %m: f32[512] = input 0
  %n: i64[512] = input 1
  %y: f32[512] = output
  kernel @pick {
    nest (i0 in 512) {
      stage {
        %0: i64 = load %n[i0]
        %1: i64 = check_index %0 in 1000
        %2: f32 = load %m[i0 + %1//1000]
        store %y[i0], %2
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  for_each_inst(kernel.choices[0].kernel.nests[0].body,
                [&](const BlockInst& inst) { EXPECT_FALSE(inst.access.index.valid()); });
}

// What two stages read of a rolled tensor is one load, though its addresses have two forms.
TEST(NpuTile, EqualAddressesOfStagesAreOneLoad) {
  loop::Program program = read(R"(loop @main {
  %x: f32[56, 96, 7] = input 0
  %y: f32[8, 7, 96] = output
  kernel @roll {
    nest (i1 in 8, i3 in 7) {
      stage (r0 in 96) {
        %0: f32 = load %x[r0 + 96*((7*i1 + i3 + 3) % 56) + 4704*((i1 + (i3 + 3)//7) % 8)]
        %1: f32 = reduce sum %0
      }
      stage (r1 in 96) {
        %2: f32 = load %x[r1 - 672*((i3 + 3) % 7) + 768*((7*i1 + i3 + 3) % 56)]
        %3: f32 = sub %2, %1
        store %y[672*i1 + 96*i3 + r1], %3
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  EXPECT_EQ(count_of(kernel.choices[0].kernel, BlockKind::kLoad), 1);
}

// A group's sum goes along 6272 elements, its result along 8 channels of 784: the group is loaded once.
TEST(NpuTile, StagesOfOtherAxesShareTheirLoads) {
  loop::Program program = read(R"(loop @main {
  %x: f32[4, 64, 784] = input 0
  %w: f32[64] = input 1
  %y: f32[4, 64, 784] = output
  kernel @norm {
    nest (i0 in 4, i1 in 8) {
      stage (r0 in 8, r1 in 784) {
        %0: f32 = load %x[50176*i0 + 6272*i1 + 784*r0 + r1]
        %1: f32 = reduce sum %0
      }
      stage (r2 in 8, r3 in 784) {
        %2: f32 = load %x[50176*i0 + 6272*i1 + 784*r2 + r3]
        %3: f32 = sub %2, %1
        %4: f32 = load %w[8*i1 + r2]
        %5: f32 = mul %3, %4
        store %y[50176*i0 + 6272*i1 + 784*r2 + r3], %5
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  EXPECT_EQ(count_of(kernel.choices[0].kernel, BlockKind::kLoad), 2);
}

// A compiler that has no product along an axis has running ones.
TEST(NpuTile, ProductsAreTheLastOfRunningOnes) {
  const auto folds = [](bool has_vector_functions) {
    loop::Program program = read(R"(loop @main {
  %x: f32[512, 40] = input 0
  %y: f32[512] = output
  kernel @product {
    nest (i0 in 512) {
      stage (r0 in 40) {
        %0: f32 = load %x[40*i0 + r0]
        %1: f32 = reduce prod %0
      }
      stage {
        store %y[i0], %1
      }
    }
  }
  return %y
}
)");
    const TiledKernel kernel = tiled(program, {.has_vector_functions = has_vector_functions});
    EXPECT_FALSE(kernel.choices.empty()) << kernel.refusal;
    std::vector<std::string> kinds;
    for_each_inst(kernel.choices[0].kernel.nests[0].body, [&](const BlockInst& inst) {
      if (inst.kind == BlockKind::kScan)
        kinds.push_back(inst.scan == loop::ScanKind::kProd ? "scan prod" : "scan");
      if (inst.kind == BlockKind::kReduce)
        kinds.push_back(inst.reduce == loop::ReduceKind::kSum ? "sum" : "prod");
    });
    return kinds;
  };
  EXPECT_EQ(folds(false), std::vector<std::string>({"prod"}));
  EXPECT_EQ(folds(true), std::vector<std::string>({"scan prod", "sum"}));
}

// Rows that don't fill units of the alignment are one block all the same: its instructions repeat over them.
TEST(NpuTile, UnalignedRowsAreNotCut) {
  loop::Program program = read(R"(loop @main {
  %x: f32[18816, 49] = input 0
  %y: f32[18816, 49] = output
  kernel @softmax {
    nest (i0 in 18816) {
      stage (r0 in 49) {
        %0: f32 = load %x[49*i0 + r0]
        %1: f32 = reduce max %0
      }
      stage (r1 in 49) {
        %2: f32 = load %x[49*i0 + r1]
        %3: f32 = sub %2, %1
        %4: f32 = exp %3
        %5: f32 = reduce sum %4
      }
      stage (r2 in 49) {
        %6: f32 = load %x[49*i0 + r2]
        %7: f32 = sub %6, %1
        %8: f32 = exp %7
        %9: f32 = div %8, %5
        store %y[49*i0 + r2], %9
      }
    }
  }
  return %y
}
)");
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  EXPECT_EQ(count_of(kernel.choices[0].kernel, BlockKind::kLoad), 1);
}

TEST(NpuTile, SizesBecomeArguments) {
  loop::Program program = read(negation(" symbols(s0 in [1, 4096], s1 in [1, 4096])", "s0", "s1"));
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  const BlockKernel& best = kernel.choices[0].kernel;
  ASSERT_FALSE(best.ints.empty());
  for (const IntArgument& argument : best.ints) {
    EXPECT_FALSE(argument.is_wide);
    for (sym::Expr symbol : sym::symbols_of(argument.value))
      EXPECT_TRUE(symbol == vector_cores(program.cx()) || symbol.symbol_name().front() == 's');
  }
  // Nothing but arguments, loop variables and values is left in the kernel.
  for_each_inst(best.nests[0].body, [&](const BlockInst& inst) {
    if (!inst.access.offset) return;
    for (sym::Expr symbol : sym::symbols_of(inst.access.offset)) EXPECT_NE(symbol.symbol_name().front(), 's');
  });
}

TEST(NpuTile, PhasesAreRefused) {
  std::string text = negation("", "64", "64");
  text.replace(text.find("@neg {"), 6, "@neg phased {");
  loop::Program program = read(text);
  const TiledKernel kernel = tiled(program);
  EXPECT_TRUE(kernel.choices.empty());
  EXPECT_EQ(kernel.refusal, "phases of a kernel can't wait for each other");
}

TEST(NpuLayout, LoadsLieInMemoryOrder) {
  loop::Program program = read(kTranspose);
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty()) << kernel.refusal;
  const BlockKernel& best = kernel.choices[0].kernel;
  const BlockNest& nest = best.nests[0];
  const NestLayout layout(best, nest);
  const BlockInst& load = first_of(nest, BlockKind::kLoad);
  const Dims own = layout.dims_of(load.result);
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(layout.memory_dims(load.access, nest.values[load.result].axes), Dims({own[1], own[0]}));
  const BlockInst& store = first_of(nest, BlockKind::kStore);
  EXPECT_EQ(layout.memory_dims(store.access, nest.values[load.result].axes), own);
  EXPECT_EQ(layout.distance_bits(load.access), 32);
}

TEST(NpuLayout, ValuesAreSpreadAlongNewDimensions) {
  loop::Program program = read(kTranspose);
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty());
  const BlockNest& nest = kernel.choices[0].kernel.nests[0];
  const NestLayout layout(kernel.choices[0].kernel, nest);
  const Dims both = layout.dims_of(first_of(nest, BlockKind::kLoad).result);
  const Spread rows = layout.spread({both[0]}, both);
  EXPECT_EQ(rows.is_new, std::vector<bool>({false, true}));
  EXPECT_EQ(rows.expanded, std::vector<int64_t>({nest.axes[both[0]].size, 1}));
  const Spread columns = layout.spread({both[1]}, both);
  EXPECT_EQ(columns.is_new, std::vector<bool>({true, false}));
}

TEST(NpuLayout, ComparisonsHaveTheRangeOnTheLeft) {
  loop::Program program = read(kTranspose);
  const TiledKernel kernel = tiled(program);
  ASSERT_FALSE(kernel.choices.empty());
  const BlockNest& nest = kernel.choices[0].kernel.nests[0];
  const NestLayout layout(kernel.choices[0].kernel, nest);
  sym::Context& cx = program.cx();
  const Expr axis = nest.axes[layout.dims_of(first_of(nest, BlockKind::kLoad).result)[0]].symbol;
  const Comparison below = comparison_of(cx, layout, cx.lt(axis, cx.constant(7)));
  EXPECT_EQ(below.order, Comparison::Order::kLt);
  EXPECT_EQ(below.left, axis);
  const Expr size = cx.symbol(sym::SymbolKind::kSize, "n9");
  const Comparison above = comparison_of(cx, layout, cx.lt(size, axis));
  EXPECT_EQ(above.order, Comparison::Order::kGe);
  EXPECT_EQ(above.left, axis);
  EXPECT_EQ(above.right, cx.add(size, 1));
}

TEST(NpuLayout, WideValuesAreComputedWide) {
  sym::Context cx;
  const Expr n = cx.symbol(sym::SymbolKind::kSize, "n0");
  sym::Facts facts;
  facts.set_range(n, {0, 100000});
  const auto narrow = [](Expr) { return 32; };
  EXPECT_EQ(bits_of(cx.mul(n, 20000), facts, narrow), 32);
  EXPECT_EQ(bits_of(cx.mul(n, n), facts, narrow), 64);
  // The remainder is small, but what it is taken of is not.
  EXPECT_EQ(bits_of(cx.mod(cx.mul(n, n), cx.constant(7)), facts, narrow), 64);
  EXPECT_EQ(bits_of(n, facts, [](Expr) { return 64; }), 64);
}

}  // namespace
}  // namespace jumar::tile::npu
