// What the tests share: a kernel of test/kernels, compiled and run through the C API.
//
//   Simulated k("add_mask");
//   k.add(x).add(y).add(o).add(int64_t{100});            // vectors as they are, numbers by value
//   EXPECT_EQ(k.run({2, 1, 1}), "");                     // or the text of the fault
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/sim/api.h"

namespace jumar::runtime::sim {

inline std::string kernel_text(const std::string& name) {
  std::ifstream file(std::string(JUMAR_TEST_DIR) + "/kernels/" + name + ".linalg.mlir");
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The error's text, or nothing and a kernel.
inline std::string compile(const std::string& text, jumar_sim_kernel** kernel, const jumar_sim_options* options = nullptr) {
  char* error = nullptr;
  if (jumar_sim_compile(text.data(), text.size(), options, kernel, &error) == 0) return "";
  std::string message = error;
  jumar_sim_free(error);
  return message;
}

class Simulated {
 public:
  explicit Simulated(const std::string& name, const jumar_sim_options* options = nullptr) {
    EXPECT_EQ(compile(kernel_text(name), &kernel_, options), "") << name;
  }
  ~Simulated() {
    if (kernel_ != nullptr) jumar_sim_destroy(kernel_);
  }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;

  const jumar_sim_info& info() const { return *jumar_sim_describe(kernel_); }

  template <class T>
  Simulated& add(std::vector<T>& memory) {
    return add_pointer(memory.data(), static_cast<int64_t>(memory.size()));
  }
  Simulated& add_pointer(void* memory, int64_t elements) {
    values_.push_back(reinterpret_cast<int64_t>(memory));
    counts_.push_back(elements);
    return *this;
  }
  Simulated& add(int64_t number) {
    values_.push_back(number);
    counts_.push_back(0);
    return *this;
  }
  Simulated& add(double number) {
    int64_t word = 0;
    std::memcpy(&word, &number, sizeof(word));
    return add(word);
  }

  // Runs every block, `threads` at once, and says what went wrong.
  std::string run(std::array<int64_t, 3> grid, int threads = 1) {
    fault_ = {};
    std::vector<int64_t> words = words_of(grid);
    int64_t blocks = grid[0] * grid[1] * grid[2];
    auto work = [&](int64_t begin, int64_t end) {
      jumar_sim_function(kernel_)(begin, end, reinterpret_cast<void**>(words.data()));
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(work, blocks * t / threads, blocks * (t + 1) / threads);
    work(0, blocks / threads);
    for (std::thread& other : others) other.join();
    if (fault_.flag == 0) return "";
    char* text = jumar_sim_fault_text(kernel_, &fault_);
    std::string message = text;
    jumar_sim_free(text);
    return message;
  }
  const jumar_sim_fault& fault() const { return fault_; }

 private:
  std::vector<int64_t> words_of(std::array<int64_t, 3> grid) {
    const jumar_sim_info& kernel = info();
    EXPECT_EQ(static_cast<size_t>(kernel.argument_count), values_.size());
    std::vector<int64_t> words(static_cast<size_t>(kernel.word_count));
    for (size_t i = 0; i < values_.size(); ++i) {
      const jumar_sim_argument& argument = kernel.arguments[i];
      words[static_cast<size_t>(argument.word)] = values_[i];
      if (argument.count >= 0) words[static_cast<size_t>(argument.count)] = counts_[i];
    }
    words[static_cast<size_t>(kernel.fault_word)] = reinterpret_cast<int64_t>(&fault_);
    for (size_t axis = 0; axis < 3; ++axis) words[static_cast<size_t>(kernel.grid_word) + axis] = grid[axis];
    return words;
  }

  jumar_sim_kernel* kernel_ = nullptr;
  std::vector<int64_t> values_, counts_;
  jumar_sim_fault fault_ = {};
};

}  // namespace jumar::runtime::sim
