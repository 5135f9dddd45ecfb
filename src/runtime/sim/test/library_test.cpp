// The library as one of several in a process: threads that compile and run at once, and many kernels.
#include <atomic>

#include "runtime/sim/test/simulated.h"

namespace jumar::runtime::sim {
namespace {

TEST(Library, VersionAndDescription) {
  EXPECT_EQ(jumar_sim_api_version(), JUMAR_SIM_API_VERSION);
  Simulated k("axpy_f16");
  const jumar_sim_info& info = k.info();
  EXPECT_EQ(info.name, std::string("axpy_f16"));
  ASSERT_EQ(info.argument_count, 4);
  EXPECT_EQ(info.arguments[0].role, 0);
  EXPECT_EQ(info.arguments[1].role, 1);
  EXPECT_EQ(info.arguments[2].kind, JUMAR_SIM_FLOAT);
  EXPECT_EQ(info.arguments[3].type, std::string("i64"));
  // x, o, fault, n, k, grid, counts.
  EXPECT_EQ(info.arguments[3].word, 3);
  EXPECT_EQ(info.arguments[2].word, 4);
  EXPECT_EQ(info.grid_word, 5);
  EXPECT_EQ(info.arguments[0].count, 8);
  EXPECT_EQ(info.word_count, 10);
  EXPECT_EQ(info.is_mixed, 0);
}

TEST(Library, ProductsAreMixedWithoutTheAttribute) {
  std::string text = kernel_text("matmul");
  size_t at = text.find(", mix_mode = \"mix\"");
  ASSERT_NE(at, std::string::npos);
  text.erase(at, std::string(", mix_mode = \"mix\"").size());
  EXPECT_EQ(Simulated::of_text(text).info().is_mixed, 1);
}

TEST(Library, ThreadsCompileAndRunAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 5; ++i) {
        std::vector<float> x(1000, static_cast<float>(t + i)), o(1000);
        Simulated k("persistent");
        k.add(x).add(o).add(int64_t{1000});
        if (!k.run({7, 1, 1}, 2).empty()) ++wrong;
        for (float value : o) wrong += value != static_cast<float>((t + i) * (t + i)) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Library, OneOfSeveralKernelsByName) {
  std::string text = kernel_text("add_no_mask");
  size_t end = text.rfind("}");
  std::string second = kernel_text("persistent");
  size_t first_line = second.find("  func.func"), last = second.rfind("}");
  text.insert(end, second.substr(first_line, last - first_line));
  jumar_sim_kernel* kernel = nullptr;
  EXPECT_NE(compile(text, &kernel).find("2 kernels"), std::string::npos);
  jumar_sim_options options = {};
  options.kernel = "persistent";
  ASSERT_EQ(compile(text, &kernel, &options), "");
  EXPECT_EQ(jumar_sim_describe(kernel)->name, std::string("persistent"));
  jumar_sim_destroy(kernel);
  options.kernel = "nobody";
  EXPECT_NE(compile(text, &kernel, &options).find("no kernel @nobody"), std::string::npos);
}

}  // namespace
}  // namespace jumar::runtime::sim
