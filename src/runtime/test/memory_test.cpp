#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include <random>
#include <set>

#include "runtime/arena.h"
#include "runtime/dlpack.h"
#include "runtime/memory.h"
#include "runtime/pool.h"
#include "runtime/program.h"

namespace jumar::runtime {
namespace {

TEST(Arena, BuffersThatDoNotMeetShareMemory) {
  std::optional<ArenaLayout> layout = planned_arena({{1024, 0, 2}, {512, 1, 3}, {1024, 3, 4}});
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->offsets, (std::vector<int64_t>{0, 1024, 0}));
  EXPECT_EQ(layout->total_bytes, 1536);
}

TEST(Arena, TakesTheSmallestGapThatFits) {
  // Two gaps are left where the second and the fourth end: 192 and 64 bytes; the last request fits both.
  std::optional<ArenaLayout> layout =
      planned_arena({{256, 0, 9}, {192, 0, 1}, {128, 0, 9}, {64, 0, 1}, {32, 5, 9}});
  ASSERT_TRUE(layout.has_value());
  EXPECT_EQ(layout->offsets[4] % 64, 0);
  EXPECT_EQ(layout->offsets[4], layout->offsets[1]);
}

TEST(Arena, NothingOverlapsInTimeAndSpaceOnRandomRequests) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<ArenaRequest> requests;
    int64_t sum = 0;
    for (size_t k = 0; k < 1 + random() % 40; ++k) {
      uint32_t first = random() % 30;
      requests.push_back(
          {static_cast<int64_t>(random() % 5000), first, first + static_cast<uint32_t>(random() % 10)});
      sum += requests.back().bytes + 63;
    }
    std::optional<ArenaLayout> layout = planned_arena(requests);
    ASSERT_TRUE(layout.has_value());
    EXPECT_LE(layout->total_bytes, sum);
    for (size_t a = 0; a < requests.size(); ++a) {
      EXPECT_EQ(layout->offsets[a] % 64, 0);
      EXPECT_LE(layout->offsets[a] + requests[a].bytes, layout->total_bytes);
      for (size_t b = a + 1; b < requests.size(); ++b) {
        bool meet = requests[a].first <= requests[b].last && requests[b].first <= requests[a].last;
        bool overlap = layout->offsets[a] < layout->offsets[b] + requests[b].bytes &&
                       layout->offsets[b] < layout->offsets[a] + requests[a].bytes;
        EXPECT_FALSE(meet && overlap) << a << " and " << b;
      }
    }
  }
}

TEST(Arena, SumsBeyondMemoryAreRefused) {
  EXPECT_FALSE(planned_arena({{INT64_MAX / 2, 0, 1}, {INT64_MAX / 2, 0, 1}}).has_value());
  EXPECT_FALSE(planned_arena({{-1, 0, 1}}).has_value());
}

TEST(PoolTest, ABlockThatIsGivenBackIsUsedAgain) {
  std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  void* first = nullptr;
  {
    Block block = pool->take(10000);
    first = block.data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
    EXPECT_GE(block.capacity_bytes(), 10000);
    EXPECT_EQ(pool->kept_bytes(), 0);
  }
  EXPECT_GE(pool->kept_bytes(), 10000);
  Block again = pool->take(10001);
  EXPECT_EQ(again.data(), first) << "of the same size class";
  EXPECT_EQ(pool->kept_bytes(), 0);
}

TEST(PoolTest, KeepsNoMoreThanItsLimit) {
  std::shared_ptr<Pool> pool = Pool::create(100000);
  {
    Block a = pool->take(60000);
    Block b = pool->take(60000);
  }
  EXPECT_GT(pool->kept_bytes(), 0);
  EXPECT_LE(pool->kept_bytes(), 100000);
  pool->trim();
  EXPECT_EQ(pool->kept_bytes(), 0);
}

TEST(PoolTest, ClassesWasteAtMostAFifthBeyondAPage) {
  std::shared_ptr<Pool> pool = Pool::create(0);
  std::set<int64_t> capacities;
  for (int64_t bytes = 1; bytes < (1 << 22); bytes += 4093) {
    Block block = pool->take(bytes);
    ASSERT_TRUE(static_cast<bool>(block));
    EXPECT_GE(block.capacity_bytes(), bytes);
    EXPECT_LE(block.capacity_bytes(), std::max<int64_t>(bytes + bytes / 4, bytes + 4096));
    capacities.insert(block.capacity_bytes());
  }
  EXPECT_LT(capacities.size(), 48u);
}

TEST(PoolTest, BlocksOutliveThePoolsOwner) {
  std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  Block block = pool->take(100);
  pool.reset();
  std::memset(block.data(), 1, 100);
  block.reset();
}

TEST(PoolTest, NoMemoryIsAnEmptyBlock) {
  std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  EXPECT_FALSE(static_cast<bool>(pool->take(INT64_MAX)));
  EXPECT_FALSE(static_cast<bool>(pool->take(int64_t{1} << 60)));
}

TEST(ProgramTest, ComputesWhatTheExpressionsMeanInTheirStages) {
  sym::Context cx;
  sym::Expr s0 = cx.symbol(sym::SymbolKind::kSize, "s0");
  sym::Expr u0 = cx.symbol(sym::SymbolKind::kUnbacked, "u0");
  Program program;
  EXPECT_EQ(program.begin_stage({s0}), 1u);
  EXPECT_EQ(program.begin_stage({u0}), 2u);
  std::vector<sym::Expr> exprs = {
      cx.constant(7),
      cx.add(cx.mul(s0, 4), 64),
      cx.floordiv(cx.sub(cx.constant(3), s0), 4),
      cx.mod(cx.sub(u0, s0), cx.constant(5)),
      cx.min(cx.max(s0, u0), cx.constant(100)),
      cx.logical_or(cx.lt(u0, s0), cx.logical_not(cx.le(s0, cx.constant(3)))),
      cx.logical_and(cx.ne(u0, s0), cx.eq(cx.mod(s0, 2), cx.constant(0))),
      cx.ceildiv(cx.mul(s0, u0), cx.constant(3)),
  };
  std::vector<Slot> slots;
  for (sym::Expr e : exprs) slots.push_back(program.slot(e));
  EXPECT_EQ(program.stage(slots[0]), 0u);
  EXPECT_EQ(program.stage(slots[1]), 1u);
  EXPECT_EQ(program.stage(slots[3]), 2u);
  std::vector<int64_t> values = program.initial_values();
  Slot failed = 0;
  for (int64_t a = -6; a <= 6; ++a) {
    for (int64_t b = -6; b <= 6; ++b) {
      values[program.slot(s0)] = a;
      ASSERT_TRUE(program.run(1, values, failed));
      values[program.slot(u0)] = b;
      ASSERT_TRUE(program.run(2, values, failed));
      for (size_t k = 0; k < exprs.size(); ++k) {
        Result<int64_t> wanted = sym::evaluate(
            exprs[k], [&](sym::Expr symbol) -> std::optional<int64_t> { return symbol == s0 ? a : b; });
        ASSERT_TRUE(wanted.ok());
        EXPECT_EQ(values[slots[k]], *wanted) << sym::text(exprs[k]) << " at " << a << ", " << b;
      }
    }
  }
}

TEST(ProgramTest, DivisionByZeroAndOverflowName_TheExpression) {
  sym::Context cx;
  sym::Expr s0 = cx.symbol(sym::SymbolKind::kSize, "s0");
  Program program;
  program.begin_stage({s0});
  program.slot(cx.floordiv(cx.constant(8), s0));
  Slot square = program.slot(cx.mul(s0, s0));
  std::vector<int64_t> values = program.initial_values();
  Slot failed = 0;
  values[program.slot(s0)] = 0;
  EXPECT_FALSE(program.run(1, values, failed));
  EXPECT_EQ(sym::text(program.expr(failed)), "8//s0");
  values[program.slot(s0)] = int64_t{1} << 40;
  EXPECT_FALSE(program.run(1, values, failed));
  EXPECT_EQ(failed, square);
}

TEST(DlPack, EveryTypeGoesThereAndBack) {
  constexpr ir::DType kAll[] = {
#define JUMAR_DTYPE(name, text, bytes, kind, code) ir::DType::k##name,
#include "ir/dtype.def"
#undef JUMAR_DTYPE
  };
  for (ir::DType dtype : kAll) {
    DLDataType type = dl_dtype(dtype);
    EXPECT_EQ(type.bits, 8 * ir::dtype_bytes(dtype)) << ir::dtype_name(dtype);
    EXPECT_EQ(dtype_from_dl(type), dtype) << ir::dtype_name(dtype);
  }
  EXPECT_EQ(dtype_from_dl({2, 32, 4}), std::nullopt);
  EXPECT_EQ(dtype_from_dl({3, 64, 1}), std::nullopt);
}

TEST(CopyElements, AnyStridesGiveEqualElements) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const int rank = static_cast<int>(random() % 5);
    const ir::DType dtype = std::array{ir::DType::kI8, ir::DType::kF16, ir::DType::kF32, ir::DType::kI64,
                                       ir::DType::kC128}[random() % 5];
    const auto element = static_cast<size_t>(ir::dtype_bytes(dtype));
    std::vector<int64_t> sizes(static_cast<size_t>(rank));
    for (int64_t& size : sizes) size = static_cast<int64_t>(random() % 5) - (random() % 20 == 0 ? 0 : -1);
    // Dense in a random order of the axes, with gaps now and then.
    const auto strides = [&] {
      std::vector<size_t> order(sizes.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::shuffle(order.begin(), order.end(), random);
      std::vector<int64_t> out(sizes.size());
      int64_t next = 1 + static_cast<int64_t>(random() % 2);
      for (const size_t axis : order) {
        out[axis] = next;
        next *= std::max<int64_t>(sizes[axis], 1);
      }
      return out;
    };
    const std::vector<int64_t> from_strides = strides();
    const std::vector<int64_t> to_strides = strides();
    TensorView from{nullptr, dtype, rank, sizes.data(), from_strides.data(), kDlCpu};
    TensorView to{nullptr, dtype, rank, sizes.data(), to_strides.data(), kDlCpu};
    std::vector<char> source(static_cast<size_t>(extent_bytes(from)) + element);
    std::vector<char> target(static_cast<size_t>(extent_bytes(to)) + element);
    for (char& byte : source) byte = static_cast<char>(random());
    from.data = source.data();
    to.data = target.data();
    copy_elements(from, to);
    std::vector<int64_t> index(sizes.size(), 0);
    const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    for (bool done = empty; !done;) {
      int64_t a = 0;
      int64_t b = 0;
      for (size_t k = 0; k < sizes.size(); ++k) {
        a += index[k] * from_strides[k];
        b += index[k] * to_strides[k];
      }
      ASSERT_EQ(std::memcmp(source.data() + static_cast<size_t>(a) * element,
                            target.data() + static_cast<size_t>(b) * element, element),
                0);
      size_t k = sizes.size();
      while (k > 0 && ++index[k - 1] == sizes[k - 1]) index[--k] = 0;
      done = k == 0;
    }
  }
}

}  // namespace
}  // namespace jumar::runtime
