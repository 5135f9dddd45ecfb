// Lowered operators against eager PyTorch: every case of lower/*.cases (written by lower/make_cases.py) is
// read, lowered and interpreted, and its results are compared with what eager computed.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "loop/check.h"
#include "loop/lower/lower.h"
#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

struct Values {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<std::string> words;  // row-major
};

struct Case {
  std::string name;
  double tolerance = 0;
  std::string graph;
  std::vector<Values> inputs;
  std::vector<Values> expected;
};

std::vector<int64_t> read_ints(const std::string& line, char open, char close) {
  size_t begin = line.find(open), end = line.find(close, begin);
  std::istringstream in(line.substr(begin + 1, end - begin - 1));
  std::vector<int64_t> out;
  for (std::string word; std::getline(in, word, ',');) out.push_back(std::stoll(word));
  return out;
}

// "=input 0 [2, 3] {3, 1}: 1 2 3 4 5 6"
Values read_values(const std::string& line) {
  Values values{read_ints(line, '[', ']'), read_ints(line, '{', '}'), {}};
  std::istringstream words(line.substr(line.find(':') + 1));
  for (std::string word; words >> word;) values.words.push_back(word);
  return values;
}

std::vector<Case> read_cases(const std::string& family) {
  std::ifstream in(std::string(JUMAR_TEST_DIR) + "/lower/" + family + ".cases");
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("=case ")) {
      std::istringstream words(line.substr(6));
      cases.emplace_back();
      words >> cases.back().name >> cases.back().tolerance;
    } else if (line.starts_with("=input ")) {
      cases.back().inputs.push_back(read_values(line));
    } else if (line.starts_with("=expect ")) {
      cases.back().expected.push_back(read_values(line));
    } else {
      cases.back().graph += line + "\n";
    }
  }
  return cases;
}

HostTensor tensor_of(const Values& values, ir::DType dtype) {
  HostTensor tensor = HostTensor::make(dtype, values.sizes, values.strides);
  size_t next = 0;
  for_each_offset(values.sizes, values.strides, [&](int64_t offset) {
    const std::string& word = values.words.at(next++);
    bool is_integer = ir::is_integer(dtype) || ir::is_bool(dtype);
    Scalar value = is_integer ? scalar_of_int(std::stoll(word), dtype)
                              : scalar_of(std::strtod(word.c_str(), nullptr), dtype);
    store_scalar(tensor.bytes.data() + offset * ir::dtype_bytes(dtype), value);
  });
  return tensor;
}

void expect_equal(const TensorView& actual, const Values& expected, double tolerance, size_t output) {
  ASSERT_EQ(actual.sizes, expected.sizes) << "output " << output;
  size_t next = 0;
  for_each_offset(actual.sizes, actual.strides, [&](int64_t offset) {
    const std::string& word = expected.words.at(next++);
    const std::byte* memory = static_cast<const std::byte*>(actual.data);
    Scalar value = load_scalar(memory + offset * ir::dtype_bytes(actual.dtype), actual.dtype);
    if (!ir::is_float(actual.dtype)) {
      EXPECT_EQ(as_int(value), std::stoll(word)) << "output " << output << ", element " << next - 1;
      return;
    }
    double got = as_double(value);
    double want = as_double(scalar_of(std::strtod(word.c_str(), nullptr), actual.dtype));
    bool same = std::isnan(want) ? std::isnan(got)
                                 : got == want || std::abs(got - want) <= tolerance * (1 + std::abs(want));
    EXPECT_TRUE(same) << "output " << output << ", element " << next - 1 << ": " << got << " instead of "
                      << want;
  });
}

void run_case(const Case& test) {
  SCOPED_TRACE(test.name);
  Result<graph::Graph> graph = graph::read_graph(test.graph, test.name);
  ASSERT_TRUE(graph.ok()) << graph.error().text();
  Result<Program> program = lower(*graph);
  ASSERT_TRUE(program.ok()) << program.error().text();
  Status status = verify(*program);
  ASSERT_TRUE(status.ok()) << status.error().text() << "\n" << write_program(*program);
  for (const Item& item : program->items) {
    const Call* call = std::get_if<Call>(&item);
    ASSERT_FALSE(call) << call->op << " is called: " << call->reason;
  }
  std::vector<HostTensor> tensors;
  for (size_t k = 0; k < test.inputs.size(); ++k) {
    ir::DType dtype = graph->values[graph->inputs.at(k).value].type.dtype;
    tensors.push_back(tensor_of(test.inputs[k], dtype));
  }
  std::vector<RunArg> args;
  for (HostTensor& tensor : tensors) args.push_back({tensor.view()});
  ProgramRunner runner(*program, {});
  Result<std::vector<RunArg>> outputs = runner.run(args);
  ASSERT_TRUE(outputs.ok()) << outputs.error().text() << "\n" << write_program(*program);
  ASSERT_EQ(outputs->size(), test.expected.size());
  bool had_failure = ::testing::Test::HasFailure();
  for (size_t k = 0; k < outputs->size(); ++k) {
    const TensorView* view = std::get_if<TensorView>(&(*outputs)[k].data);
    ASSERT_TRUE(view) << "output " << k << " is no tensor";
    expect_equal(*view, test.expected[k], test.tolerance, k);
  }
  if (!had_failure && ::testing::Test::HasFailure())
    ADD_FAILURE() << test.name << "\n" << write_program(*program);
}

class LowerEager : public ::testing::TestWithParam<std::string> {};

TEST_P(LowerEager, AgreesWithEager) {
  std::vector<Case> cases = read_cases(GetParam());
  ASSERT_FALSE(cases.empty());
  for (const Case& test : cases) run_case(test);
}

INSTANTIATE_TEST_SUITE_P(Families, LowerEager,
                         ::testing::Values("pointwise", "broadcast", "views", "folds", "softmaxes", "norms",
                                           "moves", "indexing", "pools", "losses", "functions", "view_copies",
                                           "searches", "upsampling"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace jumar::loop
