// Calls into libtorch. The library is named by JUMAR_TEST_LIBTORCH (…/torch/lib/libtorch_cpu.so); without it
// these tests are skipped.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "runtime/test/support.h"
#include "runtime/torch/c_api.h"
#include "runtime/torch/call_site.h"
#include "runtime/torch/schema_type.h"
#include "runtime/torch/shims.h"

namespace jumar::runtime {
namespace {

const char* library_path() { return std::getenv("JUMAR_TEST_LIBTORCH"); }

class TorchCalls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!library_path()) return;
    Result<std::unique_ptr<const torch::Api>> api = torch::Api::load(library_path());
    ASSERT_TRUE(api.ok()) << api.error().text();
    api_ = std::move(*api);
  }
  static void TearDownTestSuite() { api_.reset(); }
  void SetUp() override {
    if (!api_) GTEST_SKIP() << "JUMAR_TEST_LIBTORCH names no libtorch_cpu.so";
  }

  template <class T = float>
  static std::vector<T> elements_of(const Output& output, std::vector<int64_t>* strides = nullptr) {
    EXPECT_EQ(static_cast<int>(output.kind), static_cast<int>(Output::Kind::kTensor));
    torch::Handle handle = output.tensor.get();
    int64_t rank = 0;
    int64_t* sizes = nullptr;
    int64_t* steps = nullptr;
    void* data = nullptr;
    api_->aoti_torch_get_dim(handle, &rank);
    api_->aoti_torch_get_sizes(handle, &sizes);
    api_->aoti_torch_get_strides(handle, &steps);
    api_->aoti_torch_get_data_ptr(handle, &data);
    if (strides) strides->assign(steps, steps + rank);
    int64_t count = 1;
    for (int64_t k = 0; k < rank; ++k) count *= sizes[k];
    std::vector<T> out;
    for (int64_t n = 0; n < count; ++n) {
      int64_t rest = n;
      int64_t offset = 0;
      for (int64_t k = rank - 1; k >= 0; --k) {
        offset += rest % sizes[k] * steps[k];
        rest /= sizes[k];
      }
      out.push_back(static_cast<const T*>(data)[offset]);
    }
    return out;
  }

  static std::unique_ptr<const torch::Api> api_;
};
std::unique_ptr<const torch::Api> TorchCalls::api_;

constexpr const char* kMm = R"(
    schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
)";

TEST_F(TorchCalls, MatrixProductIntoTheArena) {
  auto plan = prepared(std::string("plan @m symbols(s0 in [1, 64]) {") + kMm + R"(
    %x: f32[s0, 2] = input 0
    %w: f32[3, 2] = parameter 1
    %t: f32[s0, 3] = arena
    %y: f32[s0, 3] = output
    %v: f32[2, 3]{1, 2} = view %w offset 0
    bind s0 = size(%x, 0)
    call aten.mm.default(%x, %v) into %t
    launch @double(%t, %y) units 3*s0 grain 1
    return %y
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->host_called_ops().empty());
  HostData w = HostData::f32({3, 2}, {1, 0, 0, 1, 1, 1});
  for (int64_t rows : {1, 2, 2, 5, 1}) {
    std::vector<float> values;
    std::vector<float> wanted;
    for (int64_t i = 0; i < rows; ++i) {
      float a = static_cast<float>(i + 1);
      values.insert(values.end(), {a, -a * 3});
      wanted.insert(wanted.end(), {2 * a, -6 * a, -4 * a});
    }
    HostData x = HostData::f32({rows, 2}, values);
    Ran run = ran(*plan, {x.input(), w.input()});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(elements_of(run.outputs[0]), wanted);
  }
}

TEST_F(TorchCalls, ScalarArgumentsGoThroughTheOperatorsOwnFunction) {
  constexpr const char* kText = R"(plan @m {
    schema aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha) -> (Tensor)
    %b: f32[2] = input 0
    %x: f32[2, 2] = input 1
    %r: f32[2, 2] = result
    %y: f32[2, 2] = output
    call aten.addmm.default(%b, %x, %x, 2, 0.5) -> %r
    call aten.addmm.default(%b, %x, %x, 1, 1) into %y
    return %r, %y
  })";
  auto plan = prepared(kText, api_.get());
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->host_called_ops().empty());
  HostData b = HostData::f32({2}, {10, 20});
  HostData x = HostData::f32({2, 2}, {1, 2, 3, 4});
  Ran run = ran(*plan, {b.input(), x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements_of(run.outputs[0]), (std::vector<float>{23.5, 45, 27.5, 51}));
  EXPECT_EQ(elements_of(run.outputs[1]), (std::vector<float>{17, 30, 25, 42}));
}

TEST_F(TorchCalls, IntegerTensorsWithScalarsAreLeftToTheEmbedder) {
  std::string text = R"(plan @m {
    schema aten.add.Scalar(Tensor self, Scalar other, Scalar alpha) -> (Tensor)
    %x: i64[2] = input 0
    %r: i64[2] = result
    call aten.add.Scalar(%x, 3, 1) -> %r
    return %r
  })";
  auto plan = prepared(text, api_.get());
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->host_called_ops().size(), 1u);
  EXPECT_EQ(plan->host_called_ops()[0].reason, "libtorch's C functions carry no Scalar (argument 'other')");
  HostData x = HostData::i64({2}, {1, 2});
  expect_error(ran(*plan, {x.input()}), RunError::Kind::kOpFailed,
               "aten.add.Scalar needs the embedder, which gave no functions for it");
}

TEST_F(TorchCalls, EverySchemaTypeIsMarshalled) {
  std::ifstream in(JUMAR_TEST_DIR "/marshalling.plan");
  std::stringstream text;
  text << in.rdbuf();
  auto plan = prepared(text.str(), api_.get());
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->host_called_ops().empty()) << plan->host_called_ops()[0].reason;
  std::vector<float> values = {1, 2, 3, 4, 8, 7, 6, 5};
  HostData x = HostData::f32({1, 1, 2, 4}, values);
  HostData i = HostData::i64({2}, {3, 0});
  HostData k = HostData::f32({1, 1, 1, 1}, {10});
  Ran run = ran(*plan, {x.input(), i.input(), int_input(2), k.input(), float_input(0)});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements_of<double>(run.outputs[0]), (std::vector<double>{1, 2, 3, 4, 8, 7, 6, 5}));
  EXPECT_EQ(elements_of(run.outputs[1]), (std::vector<float>{10, 20, 30, 40, 80, 70, 60, 50}));
  EXPECT_NEAR(elements_of(run.outputs[2])[0], 0.841192f, 1e-5f);
  EXPECT_EQ(elements_of(run.outputs[3]), (std::vector<float>{4, 1, 5, 8}));
  EXPECT_EQ(elements_of(run.outputs[4]), (std::vector<float>{8, 6}));
  EXPECT_NEAR(elements_of(run.outputs[5])[0], -1.341641f, 1e-5f);
  EXPECT_EQ(elements_of<double>(run.outputs[6]), (std::vector<double>{1, 2, 3, 4, 8, 7, 6, 5}));
  EXPECT_EQ(elements_of(run.outputs[7]), (std::vector<float>{4, 3, 8, 7}));
  EXPECT_EQ(elements_of(run.outputs[8]).size(), 32u);
  EXPECT_EQ(elements_of(run.outputs[8])[0], 1);
}

TEST_F(TorchCalls, ListsOfTensorsAreFlattened) {
  auto plan = prepared(R"(plan @m {
    schema aten.cat.default(Tensor[] tensors, int dim) -> (Tensor)
    schema aten.split.Tensor(Tensor self, SymInt split_size, int dim) -> (Tensor[])
    %x: f32[3, 2] = input 0
    %a: f32[2, 2] = result
    %b: f32[1, 2] = result
    %y: f32[3, 2] = output
    call aten.split.Tensor(%x, 2, 0) -> %a, %b
    call aten.cat.default([%b, %a], 0) into %y
    return %y, %b
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({3, 2}, {1, 2, 3, 4, 5, 6});
  Ran run = ran(*plan, {x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements_of(run.outputs[0]), (std::vector<float>{5, 6, 1, 2, 3, 4}));
  x.bytes.assign(x.bytes.size(), 0);
  EXPECT_EQ(elements_of(run.outputs[1]), (std::vector<float>{5, 6}))
      << "a result that borrowed the input is a copy";
}

TEST_F(TorchCalls, AViewOfAViewOfTheInputIsACopy) {
  auto plan = prepared(R"(plan @m {
    schema aten.unsqueeze.default(Tensor self, int dim) -> (Tensor)
    %x: f32[3] = input 0
    %a: f32[1, 3] = result
    %b: f32[1, 1, 3] = result
    call aten.unsqueeze.default(%x, 0) -> %a
    call aten.unsqueeze.default(%a, 0) -> %b
    return %b
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({3}, {1, 2, 3});
  Ran run = ran(*plan, {x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  x.bytes.assign(x.bytes.size(), 0);
  EXPECT_EQ(elements_of(run.outputs[0]), (std::vector<float>{1, 2, 3}));
}

TEST_F(TorchCalls, ResultsThatBorrowTheArenaSurviveIt) {
  auto plan = prepared(R"(plan @m {
    schema aten.view.default(Tensor self, SymInt[] size) -> (Tensor)
    %x: f32[16] = input 0
    %t: f32[16] = arena
    %r: f32[4, 4] = result
    %u: f32[16] = arena
    %y: f32[16] = output
    launch @double(%x, %t) units 16 grain 1
    call aten.view.default(%t, [4, 4]) -> %r
    launch @double(%x, %u) units 16 grain 1
    launch @double(%u, %u) units 16 grain 1
    launch @add(%u, %r, %y) units 16 grain 1
    return %y, %r
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({16}, std::vector<float>(16, 1));
  Ran run = ran(*plan, {x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(plan->last_arena_bytes(), 64) << "both buffers have the same place";
  EXPECT_EQ(elements_of(run.outputs[0]), std::vector<float>(16, 6));
  EXPECT_EQ(elements_of(run.outputs[1]), std::vector<float>(16, 2));
}

TEST_F(TorchCalls, SizesOfResultsBindSymbols) {
  auto plan = prepared(R"(plan @m symbols(u0 in [0, inf]) {
    schema aten.nonzero.default(Tensor self) -> (Tensor)
    %x: f32[6] = input 0
    %r: i64[u0, 1]{1, u0} = result
    %i: i64[u0] = view %r offset 0
    %y: f32[u0] = output
    call aten.nonzero.default(%x) -> %r
    bind u0 = size(%r, 0)
    launch @gather(%x, %i, %y; 6) checks_indices units u0 grain 1
    return %y, u0
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({6}, {0, 5, 0, 7, 8, 0});
  Ran run = ran(*plan, {x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements_of(run.outputs[0]), (std::vector<float>{5, 7, 8}));
  EXPECT_EQ(run.outputs[1].integer, 3);
  HostData zero = HostData::f32({6}, std::vector<float>(6, 0));
  run = ran(*plan, {zero.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outputs[1].integer, 0);
}

TEST_F(TorchCalls, ResultsGetTheStridesOfTheirTypes) {
  auto plan = prepared(R"(plan @m {
    schema aten.neg.default(Tensor self) -> (Tensor)
    %x: f32[2, 3] = input 0
    %r: f32[2, 3]{1, 2} = result
    call aten.neg.default(%x) -> %r
    return %r
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 3}, {1, 2, 3, 4, 5, 6});
  Ran run = ran(*plan, {x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  std::vector<int64_t> strides;
  EXPECT_EQ(elements_of(run.outputs[0], &strides), (std::vector<float>{-1, -2, -3, -4, -5, -6}));
  EXPECT_EQ(strides, (std::vector<int64_t>{1, 2}));
}

TEST_F(TorchCalls, ResultsOfAnotherTypeAreErrors) {
  auto plan = prepared(R"(plan @m {
    schema aten.neg.default(Tensor self) -> (Tensor)
    %x: f32[2, 3] = input 0
    %r: f32[3, 2] = result
    call aten.neg.default(%x) -> %r
    return %r
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 3}, {1, 2, 3, 4, 5, 6});
  expect_error(
      ran(*plan, {x.input()}), RunError::Kind::kOpResult,
      "aten.neg.default (step 0) gave what the plan was not compiled for: %r is f32[2, 3], not f32[3, 2]");
}

// Records what it was asked; answers with -x, or raises.
class Host : public HostCalls {
 public:
  explicit Host(const torch::Api& api, bool raises) : api_(api), raises_(raises) {}
  bool call_python(uint32_t callable, std::span<const HostArg> args, HostResults& results) override {
    return answer(fmt::format("python {}", callable), args, results);
  }
  bool call_op(const std::string& op, const plan::Schema&, std::span<const HostArg> args,
               HostResults& results) override {
    return answer(op, args, results);
  }
  std::vector<std::string> asked;
  void* seen_host = nullptr;

 private:
  bool answer(const std::string& what, std::span<const HostArg> args, HostResults& results) {
    asked.push_back(what);
    if (raises_) return false;
    const TensorView& x = args[0].tensor;
    seen_host = args[0].host;
    torch::Tensor out = api_.empty_strided(x.dtype, x.rank, x.sizes, x.strides);
    void* data = nullptr;
    api_.aoti_torch_get_data_ptr(out.get(), &data);
    for (int64_t k = 0; k < x.sizes[0]; ++k)
      static_cast<float*>(data)[k] = -static_cast<const float*>(x.data)[k];
    HostTensor result;
    result.tensor = std::move(out);
    results.tensors.push_back(std::move(result));
    return true;
  }
  const torch::Api& api_;
  bool raises_;
};

TEST_F(TorchCalls, FailedCallsAreRepeatedByTheEmbedder) {
  auto plan = prepared(R"(plan @m {
    schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
    %x: f32[4] = input 0
    %t: f32[4] = arena
    %r: f32[4] = result
    launch @double(%x, %t) units 4 grain 1
    call aten.mm.default(%t, %t) -> %r
    return %r
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({4}, {1, 2, 3, 4});
  testing::internal::CaptureStderr();
  expect_error(ran(*plan, {x.input()}), RunError::Kind::kOpFailed,
               "aten.mm.default failed; libtorch's message is on stderr");
  Host raising(*api_, true);
  expect_error(ran(*plan, {x.input()}, &raising), RunError::Kind::kPythonRaised, "aten.mm.default raised");
  EXPECT_EQ(raising.asked, (std::vector<std::string>{"aten.mm.default"}));
  Host answering(*api_, false);
  Ran run = ran(*plan, {x.input()}, &answering);
  testing::internal::GetCapturedStderr();
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements_of(run.outputs[0]), (std::vector<float>{-2, -4, -6, -8}));
}

TEST_F(TorchCalls, PythonStepsSeeInputsAndBuffers) {
  auto plan = prepared(R"(plan @m {
    %x: f32[4] = input 0
    %t: f32[4] = arena
    %r: f32[4] = result
    %q: f32[4] = result
    %y: f32[4] = output
    launch @double(%x, %t) units 4 grain 1
    python 2(%t) -> %r
    python 5(%x, [1, none, 2.5]) -> %q
    launch @add(%r, %q, %y) units 4 grain 1
    return %y
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->last_arena_bytes(), 0) << "what Python sees is no arena memory";
  HostData x = HostData::f32({4}, {1, 2, 3, 4});
  Host host(*api_, false);
  int object = 0;
  Ran run = ran(*plan, {x.input(&object)}, &host);
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements_of(run.outputs[0]), (std::vector<float>{-3, -6, -9, -12}));
  EXPECT_EQ(host.asked, (std::vector<std::string>{"python 2", "python 5"}));
  EXPECT_EQ(host.seen_host, &object);
}

// Returns one object twice: it is released once nobody holds it.
class ObjectHost : public HostCalls {
 public:
  bool call_python(uint32_t, std::span<const HostArg> args, HostResults& results) override {
    was_host = args[0].host;
    HostTensor result;
    result.host = {this, [](void* object) { ++static_cast<ObjectHost*>(object)->released; }};
    result.view = data.input().tensor;
    if (!strided) result.view.strides = nullptr;
    results.tensors.push_back(std::move(result));
    return true;
  }
  bool call_op(const std::string&, const plan::Schema&, std::span<const HostArg>, HostResults&) override {
    return false;
  }
  HostData data = HostData::f32({2, 2}, {1, 2, 3, 4});
  bool strided = true;
  int released = 0;
  void* was_host = nullptr;
};

void check_host_objects(const torch::Api* api) {
  auto plan = prepared(R"(plan @m {
    %x: f32[2, 2] = input 0
    %v: f32[2] = view %x offset 2
    %r: f32[2, 2] = result
    %t: f32[2, 2]{1, 2} = result
    %y: f32[4] = output
    python 0(%v) -> %r
    python 1(%r) -> %t
    launch @double(%t, %y) units 4 grain 1
    return %r, %r, %y
  })",
                       api);
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 2}, {1, 2, 3, 4});
  for (bool strided : {true, false}) {
    ObjectHost host;
    host.strided = strided;
    int object = 0;
    {
      Ran run = ran(*plan, {x.input(&object)}, &host);
      ASSERT_FALSE(run.error) << run.error->message;
      EXPECT_EQ(host.was_host, &host) << "the second call saw the first one's object";
      EXPECT_EQ(run.outputs[0].host.object, &host);
      EXPECT_TRUE(run.outputs[1].whole);
      EXPECT_EQ(host.released, 1) << "the second object was copied to other strides";
      run.outputs[0].drop();
      EXPECT_EQ(host.released, 1);
      const void* data = run.outputs[2].managed ? run.outputs[2].managed->dl_tensor.data : nullptr;
      if (api) api->aoti_torch_get_data_ptr(run.outputs[2].tensor.get(), const_cast<void**>(&data));
      const float* y = static_cast<const float*>(data);
      EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{2, 6, 4, 8}));
    }
    EXPECT_EQ(host.released, 2);
  }
}

TEST_F(TorchCalls, ObjectsOfTheEmbedderAreReleasedOnce) { check_host_objects(api_.get()); }
TEST(HostObjects, AreReleasedOnceWithoutLibtorchToo) { check_host_objects(nullptr); }

TEST_F(TorchCalls, LargeOutputsComeFromThePool) {
  std::shared_ptr<Pool> pool = Pool::create(64 << 20);
  auto plan = prepared(R"(plan @m {
    %x: f32[1024, 1024] = input 0
    %y: f32[1024, 1024] = output
    launch @double(%x, %y) units 1048576 grain 4096
    return %y
  })",
                       api_.get(), pool);
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({1024, 1024}, std::vector<float>(1 << 20, 3));
  {
    Ran run = ran(*plan, {x.input()});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(elements_of(run.outputs[0]), std::vector<float>(1 << 20, 6));
    EXPECT_EQ(pool->kept_bytes(), 0);
  }
  EXPECT_GE(pool->kept_bytes(), 4 << 20) << "the tensor's deleter gave the block back";
}

TEST_F(TorchCalls, APhaseWaitsForAllThreadsOfTheOneBefore) {
  auto plan = prepared(R"(plan @m {
    %x: f32[1048576] = input 0
    %y: f32[1048576] = output
    %z: f32[1] = output
    launch @double_then_sum(%x, %y, %z; 1048576) units 1048576 grain 4096 then units 1 grain 1
    return %z
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({1 << 20}, std::vector<float>(1 << 20, 0.5));
  for (int round = 0; round < 20; ++round) {
    Ran run = ran(*plan, {x.input()});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(elements_of(run.outputs[0]), std::vector<float>{1 << 20});
  }
}

TEST_F(TorchCalls, EmptyOperandsAndSeveralThreads) {
  auto plan = prepared(std::string("plan @m symbols(s0 in [0, 64]) {") + kMm + R"(
    %x: f32[s0, 2] = input 0
    %r: f32[s0, 2] = result
    %w: f32[2, 2] = parameter 1
    %y: f32[s0, 2] = output
    bind s0 = size(%x, 0)
    call aten.mm.default(%x, %w) -> %r
    call aten.mm.default(%r, %w) into %y
    return %y
  })",
                       api_.get());
  ASSERT_TRUE(plan);
  HostData w = HostData::f32({2, 2}, {0, 1, 1, 0});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 3; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < 100; ++round) {
        int64_t rows = (id + round) % 4;
        std::vector<float> values(static_cast<size_t>(rows) * 2, static_cast<float>(id));
        HostData x = HostData::f32({rows, 2}, values);
        Ran run = ran(*plan, {x.input(), w.input()});
        if (run.error || elements_of(run.outputs[0]) != values) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Parameter types of a C prototype in libtorch's header, without their names.
std::string parameter_types(const std::string& parameters) {
  std::string out;
  std::stringstream in(parameters);
  for (std::string one; std::getline(in, one, ',');) {
    size_t begin = one.find_first_not_of(' ');
    size_t end = one.rfind(' ');
    out += (out.empty() ? "" : ", ") + one.substr(begin, end - begin);
  }
  return out;
}

TEST_F(TorchCalls, ShimPrototypesAreThoseOfTheHeader) {
  std::filesystem::path torch = std::filesystem::path(library_path()).parent_path().parent_path();
  std::ifstream in(torch / "include/torch/csrc/inductor/aoti_torch/generated/c_shim_cpu.h");
  ASSERT_TRUE(in.good()) << "no header beside " << library_path();
  std::map<std::string, std::string> prototypes;
  for (std::string line; std::getline(in, line);) {
    size_t begin = line.find("aoti_torch_cpu_");
    size_t open = line.find('(');
    if (begin == std::string::npos || open == std::string::npos) continue;
    prototypes[line.substr(begin, open - begin)] =
        parameter_types(line.substr(open + 1, line.rfind(')') - open - 1));
  }
  EXPECT_GT(prototypes.size(), 100u);
  for (const torch::Shim& shim : torch::shims()) {
    ASSERT_TRUE(prototypes.contains(shim.symbol)) << shim.symbol;
    EXPECT_EQ(shim.prototype(), prototypes[shim.symbol]) << shim.symbol;
    EXPECT_NE(api_->symbol(shim.symbol), nullptr) << shim.symbol;
  }
}

TEST(SchemaTypes, AreParsed) {
  using Base = torch::SchemaType::Base;
  torch::SchemaType type = torch::parsed_schema_type("Tensor?[]");
  EXPECT_TRUE(type.base == Base::kTensor && type.list && type.optional_element && !type.optional);
  type = torch::parsed_schema_type("SymInt[2]?");
  EXPECT_TRUE(type.base == Base::kInt && type.list && type.optional && type.count == 2);
  type = torch::parsed_schema_type("float?");
  EXPECT_TRUE(type.base == Base::kFloat && !type.list && type.optional);
  for (const char* other : {"Stream", "Dimname[]", "Tensor[", "int[x]", "int[]!", ""})
    EXPECT_EQ(static_cast<int>(torch::parsed_schema_type(other).base), static_cast<int>(Base::kOther))
        << other;
}

TEST(CallRefusal, SaysWhatCannotBeCarried) {
  auto refusal = [](const char* op, plan::Schema schema, std::vector<bool> none, bool floating) {
    return torch::call_refusal({op, schema, std::move(none), floating}).value_or("");
  };
  plan::Schema clamp{{{"Tensor", "self"}, {"Scalar?", "min"}, {"Scalar?", "max"}}, {"Tensor"}};
  EXPECT_EQ(refusal("aten.clamp.default", clamp, {}, true),
            "libtorch's C functions carry no Scalar? (argument 'min')");
  plan::Schema addmm{
      {{"Tensor", "a"}, {"Tensor", "b"}, {"Tensor", "c"}, {"Scalar", "beta"}, {"Scalar", "alpha"}},
      {"Tensor"}};
  EXPECT_EQ(refusal("aten.addmm.default", addmm, {}, true), "");
  EXPECT_EQ(refusal("aten.addmm.default", addmm, {}, false),
            "libtorch's C functions carry no Scalar (argument 'beta')");
  plan::Schema relu{{{"Tensor", "self"}}, {"Tensor"}};
  EXPECT_EQ(refusal("aten.relu_.default", relu, {}, true), "it writes to its arguments");
  EXPECT_EQ(refusal("relu", relu, {}, true), "'relu' is no name of an operator");
  plan::Schema odd{{{"Tensor", "self"}}, {"Tensor?"}};
  EXPECT_EQ(refusal("aten.odd.default", odd, {}, true), "its result type Tensor? is not supported");
  plan::Schema random{{{"Tensor", "self"}, {"Generator?", "generator"}}, {"Tensor"}};
  EXPECT_EQ(refusal("aten.bernoulli.default", random, {false, true}, true), "");
  EXPECT_EQ(refusal("aten.bernoulli.default", random, {false, false}, true),
            "libtorch's C functions carry no generator (argument 'generator')");
}

}  // namespace
}  // namespace jumar::runtime
