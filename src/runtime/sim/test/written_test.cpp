// Texts that the front end does not write today, but that the grammar allows.
#include "runtime/sim/test/simulated.h"

namespace jumar::runtime::sim {
namespace {

// A kernel of two pointers and two numbers around `body`.
std::string text_around(const std::string& body) {
  return "module {\n  func.func @written(%x: memref<?xf32>, %o: memref<?xf32>, %n: i32, %m: i32, %gx: i32, "
         "%gy: i32, "
         "%gz: i32, %px: i32, %py: i32, %pz: i32) attributes {global_kernel = \"local\"} {\n"
         "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
         "    %ni = arith.index_cast %n : i32 to index\n    %mi = arith.index_cast %m : i32 to index\n" +
         body + "    return\n  }\n}\n";
}

TEST(Written, BuffersOfSizesKnownAtRunTime) {
  Simulated k = Simulated::of_text(text_around(R"(
    %e = tensor.empty(%ni) : tensor<?xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        outs(%e : tensor<?xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      %k = arith.sitofp %j : i32 to f32
      linalg.yield %k : f32
    } -> tensor<?xf32>
    %v = tensor.extract %f[%mi] : tensor<?xf32>
    memref.store %v, %o[%c0] : memref<?xf32>
)"));
  std::vector<float> x(1), o(1);
  k.add(x).add(o).add(int64_t{100000}).add(int64_t{99999});
  EXPECT_EQ(k.run({3, 1, 1}), "");
  EXPECT_EQ(o[0], 99999.0f);
  Simulated large = Simulated::of_text(k.text());
  large.add(x).add(o).add(int64_t{2000000000}).add(int64_t{0});
  std::string text = large.run({1, 1, 1});
  EXPECT_NE(text.find("its buffers need 8000000000 bytes more, of at most 4294967296"), std::string::npos)
      << text;
}

TEST(Written, ViewsOfDifferentSizes) {
  Simulated k = Simulated::of_text(text_around(R"(
    %a = memref.reinterpret_cast %x to offset: [0], sizes: [%ni], strides: [1]
        : memref<?xf32> to memref<?xf32, strided<[1]>>
    %b = memref.reinterpret_cast %o to offset: [0], sizes: [%mi], strides: [1]
        : memref<?xf32> to memref<?xf32, strided<[1]>>
    memref.copy %a, %b : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
)"));
  std::vector<float> x(64, 3.0f), o(64, 0.0f);
  k.add(x).add(o).add(int64_t{40}).add(int64_t{40});
  EXPECT_EQ(k.run({1, 1, 1}), "");
  EXPECT_EQ(o[39], 3.0f);
  EXPECT_EQ(o[40], 0.0f);
  Simulated other = Simulated::of_text(k.text());
  other.add(x).add(o).add(int64_t{64}).add(int64_t{40});
  std::string text = other.run({1, 1, 1});
  EXPECT_NE(text.find("an operation on views of 40 and 64 elements"), std::string::npos) << text;
}

TEST(Written, AViewBehindABufferOfTheKernel) {
  Simulated k = Simulated::of_text(text_around(R"(
    %buffer = memref.alloc() : memref<16xf32>
    %a = memref.reinterpret_cast %x to offset: [0], sizes: [%ni], strides: [1]
        : memref<?xf32> to memref<?xf32, strided<[1]>>
    %b = memref.subview %buffer[0] [%ni] [1] : memref<16xf32> to memref<?xf32, strided<[1]>>
    memref.copy %a, %b : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1]>>
)"));
  std::vector<float> x(64), o(1);
  k.add(x).add(o).add(int64_t{17}).add(int64_t{0});
  std::string text = k.run({1, 1, 1});
  EXPECT_NE(text.find("uses elements 0 to 16 of a buffer of 16 elements"), std::string::npos) << text;
}

TEST(Written, ViewsWithoutElementsTouchNothing) {
  Simulated k = Simulated::of_text(text_around(R"(
    %a = memref.reinterpret_cast %x to offset: [%mi], sizes: [%ni], strides: [1]
        : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %b = memref.reinterpret_cast %o to offset: [0], sizes: [%ni], strides: [1]
        : memref<?xf32> to memref<?xf32, strided<[1]>>
    memref.copy %a, %b : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
)"));
  k.add_pointer(nullptr, 0).add_pointer(nullptr, 0).add(int64_t{0}).add(int64_t{1000});
  EXPECT_EQ(k.run({1, 1, 1}), "");
}

TEST(Written, BackwardStridesAreCheckedAtBothEnds) {
  Simulated k = Simulated::of_text(text_around(R"(
    %back = arith.constant -2 : index
    %a = memref.reinterpret_cast %x to offset: [%mi], sizes: [8], strides: [%back]
        : memref<?xf32> to memref<8xf32, strided<[?], offset: ?>>
    %b = memref.reinterpret_cast %o to offset: [0], sizes: [8], strides: [1]
        : memref<?xf32> to memref<8xf32, strided<[1]>>
    memref.copy %a, %b : memref<8xf32, strided<[?], offset: ?>> to memref<8xf32, strided<[1]>>
)"));
  std::vector<float> x(15), o(8);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  k.add(x).add(o).add(int64_t{0}).add(int64_t{14});
  EXPECT_EQ(k.run({1, 1, 1}), "");
  EXPECT_EQ(o, (std::vector<float>{14, 12, 10, 8, 6, 4, 2, 0}));
  for (int64_t start : {int64_t{13}, int64_t{15}}) {
    Simulated other = Simulated::of_text(k.text());
    other.add(x).add(o).add(int64_t{0}).add(start);
    std::string wanted =
        start == 13 ? "reads elements -1 to 13 of argument 0" : "reads elements 1 to 15 of argument 0";
    EXPECT_NE(other.run({1, 1, 1}).find(wanted), std::string::npos) << start;
  }
}

TEST(Written, MemoryOfOneOfTwoArgumentsIsRefused) {
  jumar_sim_kernel* kernel = nullptr;
  std::string error = compile(text_around(R"(
    %first = arith.cmpi slt, %n, %m : i32
    %p = arith.select %first, %x, %o : memref<?xf32>
    %v = memref.load %p[%c0] : memref<?xf32>
    memref.store %v, %o[%c1] : memref<?xf32>
)"),
                              &kernel);
  EXPECT_NE(error.find("line 10, column 10: "), std::string::npos) << error;
  EXPECT_NE(error.find("more than one argument"), std::string::npos) << error;
  EXPECT_EQ(kernel, nullptr);
}

TEST(Written, LeftoversOfTheFrontEndAreNamed) {
  jumar_sim_kernel* kernel = nullptr;
  std::string error = compile(text_around("    \"tt.leftover\"(%n) : (i32) -> ()\n"), &kernel);
  EXPECT_NE(error.find("the operation tt.leftover is not simulated"), std::string::npos) << error;
}

TEST(Written, AUsedWorkspaceIsRefused) {
  jumar_sim_kernel* kernel = nullptr;
  std::string text = text_around("    %v = memref.load %x[%c0] : memref<?xf32>\n");
  text.insert(text.find("global_kernel"), "WorkspaceArgIdx = 0 : i64, ");
  std::string error = compile(text, &kernel);
  EXPECT_NE(error.find("kernel @written: it uses its workspace"), std::string::npos) << error;
}

}  // namespace
}  // namespace jumar::runtime::sim
