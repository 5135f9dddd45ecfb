// Lowering as text: the golden files lower/*.graph (a graph, then the program it becomes), the reasons why
// operators are called, and what options change. Values are tested in lower_eager_test.cpp.
#include "loop/lower/lower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace jumar::loop {
namespace {

namespace fs = std::filesystem;

Program lowered(const std::string& text, const LowerOptions& options = {}) {
  Result<graph::Graph> graph = graph::read_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.error().text() << "\n" << text;
  Status graph_status = graph::verify(*graph);
  EXPECT_TRUE(graph_status.ok()) << graph_status.error().text() << "\n" << text;
  Result<Program> program = lower(*graph, options);
  EXPECT_TRUE(program.ok()) << program.error().text();
  Status status = verify(*program);
  EXPECT_TRUE(status.ok()) << status.error().text() << "\n" << write_program(*program);
  return std::move(*program);
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(std::string(JUMAR_TEST_DIR) + "/lower")) {
    if (entry.path().extension() == ".graph") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Lower, GoldenFiles) {
  std::vector<fs::path> files = golden_files();
  ASSERT_GE(files.size(), 9u);
  for (const fs::path& file : files) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    const std::string mark = "# EXPECT\n";
    size_t at = text.str().find(mark);
    ASSERT_NE(at, std::string::npos) << file;
    Program program = lowered(text.str().substr(0, at));
    EXPECT_EQ(write_program(program), text.str().substr(at + mark.size())) << file;
  }
}

// A graph of one operator on inputs of the given types.
std::string graph_of(const std::string& schema, const std::vector<std::string>& inputs,
                     const std::string& call) {
  std::string text = "graph @main symbols(s0 in [2, 64], s1 in [-4, 64]) {\n  schema " + schema + "\n";
  text += "  %n0: int(s0) = input 0\n  %n1: int(s1) = input 1\n";
  for (size_t k = 0; k < inputs.size(); ++k)
    text += "  %x" + std::to_string(k) + ": " + inputs[k] + " = input " + std::to_string(k + 2) + "\n";
  return text + "  " + call + "\n  return %y\n}\n";
}

struct Refused {
  std::string schema;
  std::vector<std::string> inputs;
  std::string call;
  std::string reason;
};

const Refused kRefused[] = {
    {"aten.floor_divide.default(Tensor self, Tensor other) -> (Tensor)",
     {"i64[4]", "i64[4]"},
     "%y: i64[4] = aten.floor_divide.default(%x0, %x1)",
     "an integer division that may be by zero"},
    {"aten.floor_divide.Scalar(Tensor self, Scalar other) -> (Tensor)",
     {"i64[4]"},
     "%y: i64[4] = aten.floor_divide.Scalar(%x0, 0)",
     "an integer division that may be by zero"},
    {"aten.pow.Tensor_Scalar(Tensor self, Scalar exponent) -> (Tensor)",
     {"i64[4]"},
     "%y: i64[4] = aten.pow.Tensor_Scalar(%x0, -3)",
     "an integer power whose exponent may be negative"},
    {"aten.index.Tensor(Tensor self, Tensor?[] indices) -> (Tensor)",
     {"f32[4]", "bool[4]"},
     "%y: f32[s0] = aten.index.Tensor(%x0, [%x1])",
     "the size of the result depends on a mask"},
    {"aten.index_put.default(Tensor self, Tensor?[] indices, Tensor values, bool accumulate) -> (Tensor)",
     {"f32[4]", "bool[4]", "f32[2]"},
     "%y: f32[4] = aten.index_put.default(%x0, [%x1], %x2, false)",
     "where a value goes depends on a mask"},
    {"aten.exp.default(Tensor self) -> (Tensor)",
     {"c64[4]"},
     "%y: c64[4] = aten.exp.default(%x0)",
     "complex numbers"},
    {"aten.exp.default(Tensor self) -> (Tensor)",
     {"f8e5m2[4]"},
     "%y: f8e5m2[4] = aten.exp.default(%x0)",
     "8-bit floats"},
    {"aten.exp.default(Tensor self) -> (Tensor)",
     {"f32[4]"},
     "%y: f32[8, 4]{0, 1} = aten.exp.default(%x0)",
     "elements of the result overlap"},
    {"aten.floor.default(Tensor self) -> (Tensor)",
     {"i64[4]"},
     "%y: i64[4] = aten.floor.default(%x0)",
     "there are no rules for these element types"},
    {"aten.neg.default(Tensor self) -> (Tensor)",
     {"bool[4]"},
     "%y: bool[4] = aten.neg.default(%x0)",
     "there are no rules for these element types"},
    {"aten.as_strided.default(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset) -> "
     "(Tensor)",
     {"f32[8]"},
     "%y: f32[2, 2]{4, 1} = aten.as_strided.default(%x0, [2, 2], [4, 1], 1)",
     "the offset counts from the beginning of a storage not made here"},
    {"aten.as_strided.default(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset) -> "
     "(Tensor)",
     {"f32[8]"},
     "%y: f32[4, 2]{4, 1} = aten.as_strided.default(%x0, [4, 2], [4, 1], none)",
     "the result is not known to stay in the memory of its operand"},
    {"aten.select_backward.default(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> "
     "(Tensor)",
     {"f32[4]"},
     "%y: f32[64, 4] = aten.select_backward.default(%x0, [64, 4], 0, s1)",
     "the sign of a position is not known"},
    {"aten.native_batch_norm.default(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
     "Tensor? "
     "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     {"f32[2, 4, 3, 3]", "f32[4]", "f32[4]"},
     "%y: f32[2, 4, 3, 3], %m: f32[4], %r: f32[4] = aten.native_batch_norm.default(%x0, none, none, %x1, "
     "%x2, true, "
     "0.1, 1e-05)",
     "the running moments are written in place"},
    {"aten.sort.default(Tensor self, int dim, bool descending) -> (Tensor, Tensor)",
     {"f32[4]"},
     "%y: f32[4], %i: i64[4] = aten.sort.default(%x0, -1, false)",
     "a sort"},
    {"custom.mine.default(Tensor self) -> (Tensor)",
     {"f32[4]"},
     "%y: f32[4] = custom.mine.default(%x0)",
     "there is no lowering"},
};

TEST(Lower, CallsWithReasons) {
  for (const Refused& row : kRefused) {
    SCOPED_TRACE(row.call);
    Program program = lowered(graph_of(row.schema, row.inputs, row.call));
    ASSERT_EQ(program.items.size(), 1u) << write_program(program);
    const Call* call = std::get_if<Call>(&program.items[0]);
    ASSERT_TRUE(call) << write_program(program);
    EXPECT_EQ(call->reason, row.reason);
    EXPECT_EQ(program.schemas.size(), 1u);
  }
}

const char kChain[] =
    "graph @main {\n"
    "  schema aten.exp.default(Tensor self) -> (Tensor)\n"
    "  %x: bf16[4] = input 0\n"
    "  %a: bf16[4] = aten.exp.default(%x)\n"
    "  %b: bf16[4] = aten.exp.default(%a)\n"
    "  return %b, %x\n"
    "}\n";

TEST(Lower, MemoryOfOutputs) {
  Program program = lowered(kChain);
  ASSERT_EQ(program.buffers.size(), 3u);
  std::map<std::string, Storage> storage;
  for (const Buffer& buffer : program.buffers) storage[buffer.name] = buffer.storage;
  EXPECT_EQ(storage["x"], Storage::kInput);
  EXPECT_EQ(storage["a"], Storage::kTemp);
  EXPECT_EQ(storage["b"], Storage::kOutput);
  EXPECT_FALSE(program.strict);
}

TEST(Lower, Options) {
  LowerOptions options;
  options.strict = true;
  options.call = {"aten.exp.default"};
  Program program = lowered(kChain, options);
  EXPECT_TRUE(program.strict);
  ASSERT_EQ(program.items.size(), 2u);
  for (const Item& item : program.items) {
    const Call* call = std::get_if<Call>(&item);
    ASSERT_TRUE(call);
    EXPECT_EQ(call->reason, "an option asks for the call");
  }
}

// A number that data decide is a number of the host; among other results it has no place.
TEST(Lower, NumbersFromCalls) {
  Program program = lowered(
      "graph @main {\n"
      "  schema aten._local_scalar_dense.default(Tensor self) -> (Scalar)\n"
      "  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)\n"
      "  %x: f32[] = input 0\n"
      "  %f: float = aten._local_scalar_dense.default(%x)\n"
      "  %y: f32[] = aten.mul.Tensor(%x, %f)\n"
      "  return %y\n"
      "}\n");
  ASSERT_EQ(program.items.size(), 2u);
  const HostOp* host = std::get_if<HostOp>(&program.items[0]);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->op, "aten._local_scalar_dense.default");
  Result<graph::Graph> graph = graph::read_graph(
      "graph @main {\n"
      "  %x: f32[] = input 0\n"
      "  %y: f32[], %f: float = python.0(%x)\n"
      "  return %y\n"
      "}\n");
  ASSERT_TRUE(graph.ok());
  Result<Program> refused = lower(*graph);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "unsupported");
}

// Integers of numbers are symbols that a call defines; a bool that has a symbol is a number as well.
TEST(Lower, SymbolsFromNumbers) {
  Program program = lowered(
      "graph @main symbols(u0 in [-inf, inf], u1 in [0, 1]) {\n"
      "  schema aten._local_scalar_dense.default(Tensor self) -> (Scalar)\n"
      "  %f: float = input 0\n"
      "  %t: bool[] = input 1\n"
      "  %n: int(u0) = scalar.trunc(%f) defines(u0)\n"
      "  %same: int(u0) = scalar.trunc(%f)\n"
      "  %b: bool = aten._local_scalar_dense.default(%t) defines(u1)\n"
      "  return %n, %same, %b, u1\n"
      "}\n");
  ASSERT_EQ(program.items.size(), 3u);
  const Call* rounded = std::get_if<Call>(&program.items[0]);
  ASSERT_TRUE(rounded);
  EXPECT_EQ(rounded->op, "scalar.trunc");
  EXPECT_EQ(rounded->defines.size(), 1u);
  const Call* item = std::get_if<Call>(&program.items[1]);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->defines.size(), 1u);
  EXPECT_TRUE(std::get_if<HostOp>(&program.items[2]));
}

// What a refused lowering made is taken back, names included.
TEST(Lower, TakesBackRefusedKernels) {
  Program program = lowered(graph_of("aten.round.decimals(Tensor self, int decimals) -> (Tensor)",
                                     {"i32[4, 3]"}, "%y: i32[4, 3] = aten.round.decimals(%x0, 2)"));
  ASSERT_EQ(program.items.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Call>(program.items[0]));
  ASSERT_EQ(program.buffers.size(), 2u);
  const Buffer& result = program.buffers[program.buffers.id_at(1)];
  EXPECT_EQ(result.name, "y");
  EXPECT_EQ(result.storage, Storage::kResult);
}

}  // namespace
}  // namespace jumar::loop
