// Kernels with rows and columns: strides, reductions, scans, gathers, scatters, atomics, loops.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/sim/half.h"
#include "runtime/sim/test/simulated.h"

namespace jumar::runtime::sim {
namespace {

constexpr int64_t kRows = 11, kCols = 29, kStride = 37;

size_t at(int64_t row, int64_t col, int64_t stride = kStride) { return static_cast<size_t>(row * stride + col); }

template <class T = float>
std::vector<T> matrix() {
  std::vector<T> values(static_cast<size_t>((kRows - 1) * kStride + kCols));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<int64_t>(i * 31 % 97) - 48);
  return values;
}

TEST(Tensors, StridesAndTheSpaceBetweenRows) {
  std::vector<float> x = matrix(), o(x.size(), -9.0f);
  Simulated k("strided2d");
  k.add(x).add(o).add(kRows).add(kCols).add(kStride);
  ASSERT_EQ(k.run({1, 1, 1}), "");
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kStride && at(r, c) < o.size(); ++c) {
      if (c < kCols) {
        EXPECT_NEAR(o[at(r, c)], std::tanh(x[at(r, c)]), 1e-6f);
      } else {
        EXPECT_EQ(o[at(r, c)], -9.0f);
      }
    }
  }
}

TEST(Tensors, LastRowBehindTheArgument) {
  std::vector<float> x = matrix(), o(x.size());
  Simulated k("strided2d");
  k.add_pointer(x.data(), int64_t(x.size()) - 1).add(o).add(kRows).add(kCols).add(kStride);
  std::string text = k.run({1, 1, 1});
  EXPECT_NE(text.find("reads element 398 of argument 0 (f32), which has 398"), std::string::npos) << text;
}

TEST(Tensors, ReductionsOfBothAxes) {
  std::vector<float> x = matrix(), rows(kRows), columns(kCols), most(kRows);
  Simulated sum_rows("sum_rows"), sum_columns("sum_columns"), max_rows("max_rows");
  sum_rows.add(x).add(rows).add(kRows).add(kCols).add(kStride);
  sum_columns.add(x).add(columns).add(kRows).add(kCols).add(kStride);
  max_rows.add(x).add(most).add(kRows).add(kCols).add(kStride);
  ASSERT_EQ(sum_rows.run({1, 1, 1}), "");
  ASSERT_EQ(sum_columns.run({1, 1, 1}), "");
  ASSERT_EQ(max_rows.run({1, 1, 1}), "");
  for (int64_t r = 0; r < kRows; ++r) {
    float sum = 0, largest = x[at(r, 0)];
    for (int64_t c = 0; c < kCols; ++c) sum += x[at(r, c)], largest = std::max(largest, x[at(r, c)]);
    EXPECT_EQ(rows[static_cast<size_t>(r)], sum);
    EXPECT_EQ(most[static_cast<size_t>(r)], largest);
  }
  for (int64_t c = 0; c < kCols; ++c) {
    float sum = 0;
    for (int64_t r = 0; r < kRows; ++r) sum += x[at(r, c)];
    EXPECT_EQ(columns[static_cast<size_t>(c)], sum);
  }
}

TEST(Tensors, ArgmaxTakesTheFirst) {
  std::vector<float> x = matrix();
  x[at(3, 5)] = x[at(3, 20)] = 1000;
  std::vector<int32_t> o(kRows, -1);
  Simulated k("argmax_rows");
  k.add(x).add(o).add(kRows).add(kCols).add(kStride);
  ASSERT_EQ(k.run({1, 1, 1}), "");
  for (int64_t r = 0; r < kRows; ++r) {
    auto row = x.begin() + static_cast<std::ptrdiff_t>(at(r, 0));
    EXPECT_EQ(o[static_cast<size_t>(r)], std::max_element(row, row + kCols) - row);
  }
}

TEST(Tensors, Scans) {
  std::vector<float> x = matrix(), forward(x.size()), back(x.size());
  std::vector<int64_t> whole = matrix<int64_t>(), product(whole.size());
  Simulated sum("cumsum_rows"), sum_back("cumsum_columns_back"), multiply("cumprod_i64");
  sum.add(x).add(forward).add(kRows).add(kCols).add(kStride);
  sum_back.add(x).add(back).add(kRows).add(kCols).add(kStride);
  multiply.add(whole).add(product).add(kRows).add(kCols).add(kStride);
  ASSERT_EQ(sum.run({1, 1, 1}), "");
  ASSERT_EQ(sum_back.run({1, 1, 1}), "");
  ASSERT_EQ(multiply.run({1, 1, 1}), "");
  for (int64_t r = 0; r < kRows; ++r) {
    float so_far = 0;
    uint64_t factor = 1;
    for (int64_t c = 0; c < kCols; ++c) {
      so_far += x[at(r, c)];
      factor *= static_cast<uint64_t>(whole[at(r, c)]);
      EXPECT_EQ(forward[at(r, c)], so_far);
      EXPECT_EQ(product[at(r, c)], static_cast<int64_t>(factor));
      float rest = 0;
      for (int64_t below = kRows - 1; below >= r; --below) rest += x[at(below, c)];
      EXPECT_EQ(back[at(r, c)], rest);
    }
  }
}

TEST(Tensors, GatherAndScatterOfBothModes) {
  for (const char* mode : {"", "_simt"}) {
    std::vector<float> x(50), gathered(100), scattered(200, -1.0f);
    std::vector<int64_t> from(100);
    std::vector<int32_t> to(128);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) + 0.5f;
    for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<int64_t>(i * 7 % 50);
    Simulated gather(std::string("gather") + mode);
    gather.add(x).add(from).add(gathered).add(int64_t{100});
    ASSERT_EQ(gather.run({2, 1, 1}), "") << mode;
    for (size_t i = 0; i < from.size(); ++i) EXPECT_EQ(gathered[i], x[static_cast<size_t>(from[i])]);
    std::vector<float> values(128);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i);
      to[i] = static_cast<int32_t>(199 - i);
    }
    Simulated scatter(std::string("scatter") + mode);
    scatter.add(values).add(to).add(scattered).add(int64_t{100});
    ASSERT_EQ(scatter.run({2, 1, 1}), "") << mode;
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(scattered[199 - i], i < 100 ? values[i] : -1.0f) << i;
  }
}

TEST(Tensors, ScatterOutsideOfItsArgument) {
  for (const char* mode : {"", "_simt"}) {
    std::vector<float> values(64, 1.0f), o(64, 0.0f);
    std::vector<int32_t> to(64, 0);
    to[9] = 64;
    Simulated k(std::string("scatter") + mode);
    k.add(values).add(to).add(o).add(int64_t{64});
    std::string text = k.run({1, 1, 1});
    EXPECT_NE(text.find("writes element 64 of argument 2 (f32), which has 64"), std::string::npos) << text;
  }
}

TEST(Tensors, AtomicsRunBlockAfterBlock) {
  std::vector<float> x(300, 1.0f), sums(64), counts(8);
  std::vector<int32_t> index(300);
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int32_t>(i % 8);
  Simulated add("atomic_add"), add_at("atomic_add_at"), plain("add_mask");
  EXPECT_TRUE(add.info().has_atomics && add_at.info().has_atomics);
  EXPECT_FALSE(plain.info().has_atomics);
  add.add(x).add(sums).add(int64_t{300});
  add_at.add(x).add(index).add(counts).add(int64_t{300});
  ASSERT_EQ(add.run({5, 1, 1}), "");
  ASSERT_EQ(add_at.run({5, 1, 1}), "");
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], i < 44 ? 5.0f : 4.0f);
  for (size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i], i < 4 ? 38.0f : 37.0f);
}

TEST(Tensors, TransposedOnChip) {
  std::vector<float> x = matrix(), o(kCols * 12, -1.0f);
  Simulated k("transpose");
  k.add(x).add(o).add(kRows).add(kCols).add(kStride).add(int64_t{12});
  ASSERT_EQ(k.run({1, 1, 1}), "");
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kCols; ++c) EXPECT_EQ(o[at(c, r, 12)], x[at(r, c)]);
  }
}

TEST(Tensors, LoopsThatCarryTensors) {
  std::vector<float> x(64), y(64), o(64), halved(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(3 * i) - 20;
  Simulated halve("while_halve");
  halve.add(x).add(halved).add(100.0);
  ASSERT_EQ(halve.run({1, 1, 1}), "");
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(halved[i], x[i] / 128);
  for (int64_t n : {0, 1, 2, 10}) {
    Simulated k("fibonacci");
    k.add(x).add(y).add(o).add(n);
    ASSERT_EQ(k.run({1, 1, 1}), "");
    for (size_t i = 0; i < x.size(); ++i) {
      float u = x[i], v = y[i], w = x[i];
      for (int64_t step = 0; step < n; ++step) {
        float s = u + v;
        w = u, u = v, v = s;
      }
      EXPECT_EQ(o[i], v - w) << n << " " << i;
    }
  }
}

TEST(Tensors, MatrixProduct) {
  std::vector<uint16_t> x(32 * 32), y(32 * 32);
  std::vector<float> o(32 * 32);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = half_bits(static_cast<float>(i % 13) - 6);
    y[i] = half_bits(static_cast<float>(i % 7) / 4);
  }
  Simulated k("matmul");
  EXPECT_TRUE(k.info().is_mixed);
  k.add(x).add(y).add(o);
  ASSERT_EQ(k.run({1, 1, 1}), "");
  for (size_t r = 0; r < 32; ++r) {
    for (size_t c = 0; c < 32; ++c) {
      float sum = 0;
      for (size_t i = 0; i < 32; ++i) sum += half_value(x[r * 32 + i]) * half_value(y[i * 32 + c]);
      EXPECT_EQ(o[r * 32 + c], sum);
    }
  }
}

}  // namespace
}  // namespace jumar::runtime::sim
