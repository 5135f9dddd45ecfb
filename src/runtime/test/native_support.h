// Tensors with any strides, and the provider that the tests of calls without libtorch share.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "runtime/native/onednn.h"

namespace jumar::runtime::native {

inline std::shared_ptr<const OneDnn> test_provider(int threads = 2) {
  Result<std::shared_ptr<const OneDnn>> provider = OneDnn::load({"", threads});
  EXPECT_TRUE(provider.ok()) << provider.error().text();
  return provider.ok() ? *provider : nullptr;
}

// f32 elements at any strides. Elements that belong to no index hold a number that no result has.
struct Strided {
  static constexpr float kUntouched = -12345.0f;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<float> memory;

  // Without strides: row-major.
  explicit Strided(std::vector<int64_t> s, std::vector<int64_t> with = {}) : sizes(std::move(s)) {
    strides = std::move(with);
    if (strides.empty()) {
      strides.assign(sizes.size(), 1);
      for (size_t k = sizes.size(); k-- > 1;) strides[k - 1] = strides[k] * std::max<int64_t>(sizes[k], 1);
    }
    int64_t reach = 1;
    for (size_t k = 0; k < sizes.size(); ++k) reach += std::max<int64_t>(sizes[k] - 1, 0) * strides[k];
    memory.assign(static_cast<size_t>(reach), kUntouched);
  }
  static Strided random(std::vector<int64_t> sizes, std::vector<int64_t> strides, std::mt19937& random) {
    Strided out(std::move(sizes), std::move(strides));
    std::uniform_real_distribution<float> values(-1, 1);
    out.for_each([&](const std::vector<int64_t>& index) { out.at(index) = values(random); });
    return out;
  }

  float& at(const std::vector<int64_t>& index) { return memory[place(index)]; }
  float at(const std::vector<int64_t>& index) const { return memory[place(index)]; }
  size_t place(const std::vector<int64_t>& index) const {
    int64_t out = 0;
    for (size_t k = 0; k < index.size(); ++k) out += index[k] * strides[k];
    return static_cast<size_t>(out);
  }
  void for_each(const std::function<void(const std::vector<int64_t>&)>& visit) const {
    std::vector<int64_t> index(sizes.size(), 0);
    for (int64_t size : sizes)
      if (size == 0) return;
    while (true) {
      visit(index);
      size_t k = sizes.size();
      while (k > 0 && ++index[k - 1] == sizes[k - 1]) index[--k] = 0;
      if (k == 0) return;
    }
  }
  TensorView view() {
    return {memory.data(), ir::DType::kF32, static_cast<int32_t>(sizes.size()),
            sizes.data(),  strides.data(),  kDlCpu};
  }
};

// Every element of `found` as `expected(index)` has it, and the memory between them as it was.
inline void expect_elements(const Strided& found,
                            const std::function<double(const std::vector<int64_t>&)>& expected) {
  std::vector<bool> belongs(found.memory.size(), false);
  found.for_each([&](const std::vector<int64_t>& index) {
    belongs[found.place(index)] = true;
    const double wanted = expected(index);
    ASSERT_NEAR(found.at(index), wanted, 1e-4 * std::max(1.0, std::abs(wanted)));
  });
  for (size_t k = 0; k < belongs.size(); ++k)
    if (!belongs[k]) {
      ASSERT_EQ(found.memory[k], Strided::kUntouched) << "at " << k;
    }
}

}  // namespace jumar::runtime::native
