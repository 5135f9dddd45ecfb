#include "support/spares.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace jumar {
namespace {

TEST(Spares, WhatCameLastGoesFirst) {
  Spares<int> spares;
  EXPECT_EQ(spares.take(), nullptr);
  for (int k = 0; k < 3; ++k) spares.give(std::make_unique<int>(k));
  EXPECT_EQ(*spares.take(), 2);
  std::multiset<int> rest{*spares.take(), *spares.take()};
  EXPECT_EQ(rest, (std::multiset<int>{0, 1}));
  EXPECT_EQ(spares.take(), nullptr);
}

TEST(Spares, AnObjectHasOneUserAtATime) {
  Spares<int> spares;
  std::atomic<int> made{0};
  std::atomic<int> total{0};
  auto work = [&] {
    for (int k = 0; k < 10000; ++k) {
      std::unique_ptr<int> object = spares.take();
      if (!object) {
        object = std::make_unique<int>(0);
        ++made;
      }
      ++*object;
      spares.give(std::move(object));
    }
  };
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  // One may be given back after take() has found none, while it looks at the others.
  EXPECT_LE(made, 5);
  while (std::unique_ptr<int> object = spares.take()) total += *object;
  EXPECT_EQ(total, 40000);
}

}  // namespace
}  // namespace jumar
