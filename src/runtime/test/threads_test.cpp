#include "runtime/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>

namespace jumar::runtime {
namespace {

using Units = std::vector<std::atomic<int>>;

void count_units(int64_t begin, int64_t end, void* context) {
  Units& units = *static_cast<Units*>(context);
  for (int64_t k = begin; k < end; ++k) ++units[static_cast<size_t>(k)];
}

TEST(Ranges, CoverEverythingOnceAndAreNotBelowTheGrain) {
  for (int64_t units : {0, 1, 2, 7, 64, 1000})
    for (int64_t grain : {1, 3, 64, 2000})
      for (int threads : {1, 2, 8}) {
        const Ranges ranges = Ranges::of(5, 5 + units, grain, threads);
        std::vector<std::pair<int64_t, int64_t>> found;
        auto note = [](int64_t begin, int64_t end, void* context) {
          static_cast<decltype(found)*>(context)->emplace_back(begin, end);
        };
        for (int64_t k = 0; k < ranges.count; ++k) ranges.run(k, note, &found);
        int64_t next = 5;
        for (const auto& [begin, end] : found) {
          EXPECT_EQ(begin, next);
          EXPECT_TRUE(end - begin >= grain || end == 5 + units);
          next = end;
        }
        EXPECT_EQ(next, 5 + units);
        EXPECT_LE(ranges.count, std::max<int64_t>(1, units / grain + 1));
      }
}

TEST(Ranges, HoldWhereNumbersAreLarge) {
  constexpr int64_t kUnits = INT64_MAX - 1;
  const Ranges ranges = Ranges::of(0, kUnits, 1, 4);
  EXPECT_EQ(ranges.count, 16);
  EXPECT_EQ(Ranges::of(0, kUnits, kUnits, 4).count, 1);
}

TEST(ThreadPool, DoesEveryUnitOnce) {
  for (int threads : {1, 2, 3, 9}) {
    const std::shared_ptr<ThreadPool> pool = ThreadPool::create(threads);
    EXPECT_EQ(pool->count(), threads);
    for (int64_t n : {0, 1, 2, 100, 4097}) {
      Units units(static_cast<size_t>(n));
      pool->parallel_for(0, n, 3, count_units, &units);
      for (const std::atomic<int>& unit : units) EXPECT_EQ(unit, 1);
    }
  }
}

TEST(ThreadPool, HasAsManyThreadsAsProcessors) {
  EXPECT_GE(available_processors(), 1);
  EXPECT_EQ(ThreadPool::create(0)->count(), available_processors());
}

TEST(ThreadPool, UsesOtherThreads) {
  const std::shared_ptr<ThreadPool> pool = ThreadPool::create(2);
  struct Seen {
    std::atomic<int> inside{0};
    std::atomic<int> together{0};
  } seen;
  // Whoever comes waits for another thread, so that this ends at once only with two of them.
  auto meet = [](int64_t, int64_t, void* context) {
    Seen& s = *static_cast<Seen*>(context);
    ++s.inside;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (s.inside < 2 && s.together == 0 && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
    if (s.inside >= 2) ++s.together;
  };
  pool->parallel_for(0, 2, 1, meet, &seen);
  EXPECT_GE(seen.together, 1);
}

TEST(ThreadPool, IsUsedByItsOwnBodies) {
  struct Nested {
    std::shared_ptr<ThreadPool> pool = ThreadPool::create(3);
    std::vector<Units> rows;
  } nested;
  for (int k = 0; k < 20; ++k) nested.rows.emplace_back(50);
  auto body = [](int64_t begin, int64_t end, void* context) {
    Nested& n = *static_cast<Nested*>(context);
    for (int64_t k = begin; k < end; ++k)
      n.pool->parallel_for(0, 50, 1, count_units, &n.rows[static_cast<size_t>(k)]);
  };
  nested.pool->parallel_for(0, 20, 1, body, &nested);
  for (const Units& row : nested.rows)
    for (const std::atomic<int>& unit : row) EXPECT_EQ(unit, 1);
}

TEST(ThreadPool, ServesManyCallers) {
  const std::shared_ptr<ThreadPool> pool = ThreadPool::create(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 6; ++c)
    callers.emplace_back([&, c] {
      for (int round = 0; round < 200; ++round) {
        // Plain memory: what bodies write must be visible to the caller.
        std::vector<int64_t> values(static_cast<size_t>(97 + c));
        auto fill = [](int64_t begin, int64_t end, void* context) {
          auto& v = *static_cast<std::vector<int64_t>*>(context);
          for (int64_t k = begin; k < end; ++k) v[static_cast<size_t>(k)] = k;
        };
        const int64_t n = static_cast<int64_t>(values.size());
        pool->parallel_for(0, n, 5, fill, &values);
        if (std::accumulate(values.begin(), values.end(), int64_t{0}) != n * (n - 1) / 2) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, EndsWithoutWork) {
  for (int k = 0; k < 50; ++k) {
    const std::shared_ptr<ThreadPool> pool = ThreadPool::create(4);
    Units units(64);
    if (k % 2 == 0) pool->parallel_for(0, 64, 1, count_units, &units);
  }
}

}  // namespace
}  // namespace jumar::runtime
