#include "runtime/executor.h"

#include <cmath>
#include <thread>

#include "runtime/test/support.h"

namespace jumar::runtime {
namespace {

TEST(Executor, RunsAStaticPlan) {
  auto plan = prepared(R"(plan @m {
    %x: f32[2, 3] = input 0
    %t: f32[2, 3] = arena
    %y: f32[2, 3] = output
    launch @double(%x, %t) units 6 grain 1
    launch @add(%x, %t, %y) units 6 grain 1
    return %y
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 3}, {1, 2, 3, 4, 5, 6});
  for (int round = 0; round < 3; ++round) {
    Ran run = ran(*plan, {x.input()});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(elements<float>(run.outputs[0]), (std::vector<float>{3, 6, 9, 12, 15, 18}));
  }
  EXPECT_EQ(plan->last_arena_bytes(), 64);
}

TEST(Executor, IsBriefWithFewBytesAndUnitsAndNoCalls) {
  auto is_brief = [](const char* size, const char* launch) {
    auto plan =
        prepared(fmt::format("plan @m symbols(s0 in [2, 64]) {{ %n: int(s0) = input 0 %x: f32[{0}] = "
                             "input 1 %y: f32[{0}] = output {1} return %y }}",
                             size, launch));
    EXPECT_TRUE(plan);
    return plan && plan->is_brief();
  };
  EXPECT_TRUE(is_brief("16", "launch @double(%x, %y) units 16 grain 16"));
  EXPECT_FALSE(is_brief("16", "launch @double(%x, %y) units 16 grain 8"));
  EXPECT_FALSE(is_brief("16", "launch @double(%x, %y) units s0 grain 64"));
  EXPECT_FALSE(is_brief("s0", "launch @double(%x, %y) units 16 grain 16"));
  EXPECT_FALSE(is_brief("4096", "launch @double(%x, %y) units 1 grain 1"));
  EXPECT_FALSE(is_brief("4611686018427387904", "launch @double(%x, %y) units 1 grain 1"));
  EXPECT_FALSE(is_brief("16", "launch @double(%x, %y) units 16 grain 16 python 0(%y)"));
}

constexpr const char* kDynamic = R"(plan @m symbols(s0 in [2, 64], s1 in [0, inf]) {
  %n: int(s0 + 1) = input 0
  %x: f32[s0, 2*s1] = input 1
  %f: float = input 2
  %t: f32[s0, 2*s1] = arena
  %y: f32[s0, 2*s1] = output
  bind 2*s1 = size(%x, 1)
  launch @double(%x, %t) units 2*s0*s1 grain 1
  launch @scale(%t, %y; s0*s1; %f) units 2*s0*s1 grain 1
  return %y, s0*s1, %f, none, true, 2.5
})";

TEST(Executor, BindsSymbolsFromIntsAndSizesAndKeepsUpWithThem) {
  auto plan = prepared(kDynamic);
  ASSERT_TRUE(plan);
  for (int64_t rows : {2, 3, 2, 5, 7, 2}) {
    std::vector<float> values(static_cast<size_t>(rows) * 4);
    for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
    HostData x = HostData::f32({rows, 4}, values);
    Ran run = ran(*plan, {int_input(rows + 1), x.input(), float_input(0.5)});
    ASSERT_FALSE(run.error) << run.error->message;
    std::vector<float> wanted;
    for (float v : values) wanted.push_back(v + static_cast<float>(2 * rows));
    EXPECT_EQ(elements<float>(run.outputs[0]), wanted);
    EXPECT_EQ(run.outputs[1].integer, 2 * rows);
    EXPECT_EQ(run.outputs[2].number, 0.5);
    EXPECT_EQ(static_cast<int>(run.outputs[3].kind), static_cast<int>(Output::Kind::kNone));
    EXPECT_EQ(run.outputs[4].integer, 1);
    EXPECT_EQ(run.outputs[5].number, 2.5);
  }
}

TEST(Executor, EmptyTensorsLaunchNothing) {
  auto plan = prepared(kDynamic);
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 0}, {});
  InputValue input = x.input();
  input.tensor.data = nullptr;
  Ran run = ran(*plan, {int_input(3), input, float_input(0.5)});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_TRUE(elements<float>(run.outputs[0]).empty());
}

TEST(Executor, WrongInputsAreNamedWithWhatWasExpected) {
  auto plan = prepared(kDynamic);
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 4}, std::vector<float>(8, 1));
  auto with = [&](InputValue value) { return ran(*plan, {int_input(3), value, float_input(0.5)}); };
  using Kind = RunError::Kind;

  expect_error(ran(*plan, {int_input(3), x.input()}), Kind::kInput,
               "the plan takes 3 inputs, the call passes 2");
  expect_error(with(int_input(1)), Kind::kInput,
               "input 1 (%x) is an int; the plan was compiled for a tensor");
  expect_error(ran(*plan, {int_input(4), x.input(), float_input(1)}), Kind::kInput,
               "input 1 (%x) is f32[2, 4]; the plan was compiled for f32[3, 4], that is f32[s0, 2*s1] with "
               "s0 = 3, s1 = 2");
  expect_error(ran(*plan, {int_input(2), x.input(), float_input(1)}), Kind::kInput,
               "input 0 (%n): s0 = 1 is outside the range that the plan was compiled for, [2, 64]");
  InputValue wrong = x.input();
  wrong.tensor.dtype = ir::DType::kF64;
  expect_error(with(wrong), Kind::kInput,
               "input 1 (%x) is f64[2, 4]; the plan was compiled for f32[2, 4], that is f32[s0, 2*s1] with "
               "s0 = 2, s1 = 2");
  wrong = x.input();
  wrong.tensor.rank = 1;
  expect_error(with(wrong), Kind::kInput, "input 1 (%x) has 1 dimensions; the plan was compiled for 2");
  wrong = x.input();
  int64_t turned[] = {1, 2};
  wrong.tensor.strides = turned;
  expect_error(
      with(wrong), Kind::kInput,
      "input 1 (%x) is f32[2, 4]{1, 2}; the plan was compiled for f32[2, 4], that is f32[s0, 2*s1] with "
      "s0 = 2, s1 = 2");
  wrong = x.input();
  wrong.tensor.data = static_cast<char*>(wrong.tensor.data) + 2;
  expect_error(with(wrong), Kind::kInput, "input 1 (%x) is not aligned to 4 bytes");
  wrong = x.input();
  wrong.tensor.device_type = 2;
  expect_error(with(wrong), Kind::kInput,
               "input 1 (%x) is on a device of DLPack type 2; the plan was compiled for the CPU");
  wrong = x.input();
  wrong.tensor.data = nullptr;
  expect_error(with(wrong), Kind::kInput, "input 1 (%x) has no memory");
  HostData odd = HostData::f32({2, 3}, std::vector<float>(6, 1));
  expect_error(with(odd.input()), Kind::kInput,
               "input 1 (%x): a size or stride is 3, which no value of 2*s1 gives");
  Ran good = with(x.input());
  EXPECT_FALSE(good.error) << "a refused call leaves nothing behind";
}

TEST(Executor, StridesOfDimensionsOfSizeOneDoNotMatter) {
  auto plan = prepared(R"(plan @m {
    %x: f32[1, 3] = input 0
    %y: f32[1, 3] = output
    launch @double(%x, %y) units 3 grain 1
    return %y
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({1, 3}, {1, 2, 3});
  x.strides = {77, 1};
  EXPECT_FALSE(ran(*plan, {x.input()}).error);
  InputValue contiguous = x.input();
  contiguous.tensor.strides = nullptr;
  EXPECT_FALSE(ran(*plan, {contiguous}).error);
  x.strides = {3, 2};
  EXPECT_TRUE(ran(*plan, {x.input()}).error.has_value());
}

TEST(Executor, ReportsABadIndex) {
  auto plan = prepared(R"(plan @m {
    %x: f32[4] = input 0
    %i: i64[3] = input 1
    %y: f32[3] = output
    launch @gather(%x, %i, %y; 4) checks_indices units 3 grain 1
    return %y
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({4}, {10, 11, 12, 13});
  HostData good = HostData::i64({3}, {3, 0, 2});
  Ran run = ran(*plan, {x.input(), good.input()});
  ASSERT_FALSE(run.error);
  EXPECT_EQ(elements<float>(run.outputs[0]), (std::vector<float>{13, 10, 12}));
  HostData bad = HostData::i64({3}, {3, 4, 2});
  run = ran(*plan, {x.input(), bad.input()});
  expect_error(run, RunError::Kind::kIndex, "index 4 is out of bounds for a dimension of size 4");
  EXPECT_EQ(run.error->step, 0u);
  EXPECT_FALSE(ran(*plan, {x.input(), good.input()}).error) << "the flag does not stay";
}

TEST(Executor, PhasesRunInOrderAndCountTheirUnitsOn) {
  auto plan = prepared(R"(plan @m symbols(s0 in [0, 64]) {
    %n: int(s0) = input 0
    %x: f32[s0] = input 1
    %y: f32[s0] = output
    %z: f32[1] = output
    launch @double_then_sum(%x, %y, %z; s0) units s0 grain 1 then units 1 grain 1
    return %y, %z
  })");
  ASSERT_TRUE(plan);
  for (int64_t n : {0, 3}) {
    HostData x = HostData::f32({n}, std::vector<float>(static_cast<size_t>(n), 5));
    Ran run = ran(*plan, {int_input(n), x.input()});
    ASSERT_FALSE(run.error) << run.error->message;
    EXPECT_EQ(elements<float>(run.outputs[1]), std::vector<float>{static_cast<float>(10 * n)});
  }
}

TEST(Executor, PassesInputsAndTheirViewsThrough) {
  auto plan = prepared(R"(plan @m {
    %x: f32[2, 3] = input 0
    %v: f32[3]{1} = view %x offset 3
    %y: f32[2, 3] = output
    %w: f32[3, 2]{1, 3} = view %y offset 0
    launch @double(%x, %y) units 6 grain 1
    return %x, %v, %w, %y, %y
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 3}, {1, 2, 3, 4, 5, 6});
  Ran run = ran(*plan, {x.input()});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outputs[0].input, 0u);
  EXPECT_TRUE(run.outputs[0].whole);
  EXPECT_EQ(run.outputs[1].input, 0u);
  EXPECT_FALSE(run.outputs[1].whole);
  EXPECT_EQ(run.outputs[1].offset, 3);
  EXPECT_EQ(run.outputs[1].sizes, (std::vector<int64_t>{3}));
  EXPECT_EQ(elements<float>(run.outputs[2]), (std::vector<float>{2, 8, 4, 10, 6, 12}));
  EXPECT_EQ(run.outputs[2].managed->dl_tensor.data, run.outputs[3].managed->dl_tensor.data);
  run.outputs[3].drop();
  run.outputs[4].drop();
  EXPECT_EQ(elements<float>(run.outputs[2]), (std::vector<float>{2, 8, 4, 10, 6, 12})) << "shares the memory";
}

TEST(Executor, ViewsThatReachOutsideAreRefused) {
  auto plan = prepared(R"(plan @m symbols(s0 in [0, inf]) {
    %x: f32[8] = input 0
    %n: int(s0) = input 1
    %v: f32[4] = view %x offset s0
    %y: f32[4] = output
    launch @double(%v, %y) units 4 grain 1
    return %y
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  Ran run = ran(*plan, {x.input(), int_input(4)});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(elements<float>(run.outputs[0]), (std::vector<float>{8, 10, 12, 14}));
  expect_error(ran(*plan, {x.input(), int_input(5)}), RunError::Kind::kNumber,
               "%v has the layout f32[4], which reaches outside the tensor it is a view of");
}

TEST(Executor, ChecksAndNumbers) {
  auto plan = prepared(R"(plan @m symbols(s0 in [0, inf]) {
    %n: int(s0) = input 0
    %g: float = number
    %h: bool = number
    number %g = truediv(s0, 4.0)
    number %h = ge(%g, 1.0)
    check s0 % 2 == 0 message "s0 must be even"
    return %g, %h, s0//2
  })");
  ASSERT_TRUE(plan);
  Ran run = ran(*plan, {int_input(6)});
  ASSERT_FALSE(run.error) << run.error->message;
  EXPECT_EQ(run.outputs[0].number, 1.5);
  EXPECT_EQ(run.outputs[1].integer, 1);
  EXPECT_EQ(run.outputs[2].integer, 3);
  expect_error(ran(*plan, {int_input(3)}), RunError::Kind::kCheck, "s0 must be even");
}

TEST(Executor, RoundedNumbersBindSymbols) {
  auto plan = prepared(
      R"(plan @m symbols(s0 in [0, inf], u0 in [-inf, inf], u1 in [-inf, inf],
    u2 in [-inf, inf], u3 in [-inf, inf]) {
    %n: int(s0) = input 0
    %f: float = input 1
    %g: float = number
    number %g = mul(s0, %f)
    bind u0 = floor(%g)
    bind u1 = ceil(%g)
    bind u2 = trunc(%g)
    bind 2*u3 = round(%g)
    return u0, u1, u2, u3
  })");
  ASSERT_TRUE(plan);
  auto given = [&](int64_t n, double f) {
    Ran run = ran(*plan, {int_input(n), float_input(f)});
    EXPECT_FALSE(run.error) << run.error->message;
    std::vector<int64_t> out;
    for (const Output& output : run.outputs) out.push_back(output.integer);
    return out;
  };
  EXPECT_EQ(given(3, 0.5), (std::vector<int64_t>{1, 2, 1, 1}));
  EXPECT_EQ(given(5, -0.5), (std::vector<int64_t>{-3, -2, -2, -1}));
  expect_error(ran(*plan, {int_input(1), float_input(1e30)}), RunError::Kind::kNumber,
               "a number is beyond 63 bits");
  expect_error(ran(*plan, {int_input(1), float_input(std::nan(""))}), RunError::Kind::kNumber,
               "a number is beyond 63 bits");
  expect_error(ran(*plan, {int_input(7), float_input(1)}), RunError::Kind::kNumber, "7 is no value of 2*u3");
}

TEST(Executor, ItemsBindSymbolsThatSizeLaterTensors) {
  auto plan = prepared(R"(plan @m symbols(u0 in [0, 8]) {
    %x: f32[8] = input 0
    %k: i64[1] = input 1
    %v: f32[u0] = view %x offset 8 - u0
    %t: f32[u0] = arena
    %y: f32[u0] = output
    bind u0 = item(%k)
    launch @double(%v, %t) units u0 grain 1
    launch @double(%t, %y) units u0 grain 1
    return %y, u0
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  for (int64_t k : {2, 0, 8, 3}) {
    HostData count = HostData::i64({1}, {k});
    Ran run = ran(*plan, {x.input(), count.input()});
    ASSERT_FALSE(run.error) << run.error->message;
    std::vector<float> wanted;
    for (int64_t i = 8 - k; i < 8; ++i) wanted.push_back(4 * static_cast<float>(i));
    EXPECT_EQ(elements<float>(run.outputs[0]), wanted);
    EXPECT_EQ(run.outputs[1].integer, k);
  }
  HostData count = HostData::i64({1}, {9});
  expect_error(ran(*plan, {x.input(), count.input()}), RunError::Kind::kOpResult,
               "u0 = 9 is outside the range that the plan was compiled for");
}

TEST(Executor, RunsInSeveralThreadsAtOnce) {
  auto plan = prepared(kDynamic);
  ASSERT_TRUE(plan);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id) {
    threads.emplace_back([&, id] {
      for (int round = 0; round < 200; ++round) {
        int64_t rows = 2 + (id + round) % 5;
        HostData x = HostData::f32({rows, 4},
                                   std::vector<float>(static_cast<size_t>(rows) * 4, static_cast<float>(id)));
        Ran run = ran(*plan, {int_input(rows + 1), x.input(), float_input(0.5)});
        if (run.error) {
          ++wrong;
          continue;
        }
        for (float v : elements<float>(run.outputs[0])) wrong += v != static_cast<float>(id + 2 * rows);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Executor, MissingKernelsAreRefusedWhenPrepared) {
  Result<plan::Plan> plan = plan::read_plan("plan @m { launch @nothing() units 1 grain 1 return }");
  ASSERT_TRUE(plan.ok());
  Engine engine;
  engine.pool = Pool::create(0);
  auto result = PreparedPlan::prepare(std::move(*plan), test_kernel, engine);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "the plan launches @nothing, which is not there");
}

TEST(Executor, NoMemoryIsAnError) {
  auto plan = prepared(R"(plan @m symbols(s0 in [0, inf]) {
    %n: int(s0) = input 0
    %t: f32[s0] = arena
    launch @double(%t, %t) units 0 grain 1
    return
  })");
  ASSERT_TRUE(plan);
  expect_error(ran(*plan, {int_input(int64_t{1} << 50)}), RunError::Kind::kMemory,
               "no memory for 4503599627370496 bytes of buffers");
  expect_error(ran(*plan, {int_input(int64_t{1} << 61)}), RunError::Kind::kNumber,
               "%t has the layout f32[2305843009213693952], which no memory can have");
}

}  // namespace
}  // namespace jumar::runtime
