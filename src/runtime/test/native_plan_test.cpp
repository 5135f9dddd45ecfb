// Plans with called operators, run without libtorch.
#include <thread>

#include "runtime/test/native_support.h"
#include "runtime/test/support.h"

namespace jumar::runtime {
namespace {

Result<std::shared_ptr<const PreparedPlan>> prepared_native(const std::string& text, Engine engine) {
  Result<plan::Plan> plan = plan::read_plan(text);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  if (!engine.pool) engine.pool = Pool::create(64 << 20);
  engine.has_host_calls = false;
  return PreparedPlan::prepare(std::move(*plan), test_kernel, engine);
}

std::shared_ptr<const PreparedPlan> with_provider(const std::string& text, bool freezes = false) {
  Engine engine;
  engine.native = native::test_provider();
  engine.freezes_parameters = freezes;
  auto plan = prepared_native(text, engine);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return plan.ok() ? *plan : nullptr;
}

// A layer: the product goes to the arena (`into`) or is the call's result, and a view of it leaves the plan.
constexpr const char* kLayer = R"(plan @m symbols(s0 in [1, 64]) {{
  schema aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha) -> (Tensor)
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 3] = input 1
  %w: f32[2, 3] = parameter 2
  %c: f32[2] = parameter 3
  %v: f32[2, 2] = parameter 4
  %t: f32[s0, 2] = {0}
  %u: f32[s0, 2] = arena
  %y: f32[s0, 2] = result
  %wt: f32[3, 2]{{1, 3}} = view %w offset 0
  %z: f32[2, s0]{{1, 2}} = view %y offset 0
  call aten.addmm.default(%c, %x, %wt, 1, 1) {1} %t
  launch @double(%t, %u) units 2*s0 grain 1
  call aten.mm.default(%u, %v) -> %y
  return %z, %t
}})";

TEST(NativePlans, RunLayersOfAnySize) {
  for (const auto& [storage, arrow] : {std::pair{"result", "->"}, {"output", "into"}}) {
    auto plan = with_provider(fmt::format(fmt::runtime(kLayer), storage, arrow));
    ASSERT_TRUE(plan);
    HostData w = HostData::f32({2, 3}, {1, 2, 3, -1, 0, 1});
    HostData c = HostData::f32({2}, {10, 20});
    HostData v = HostData::f32({2, 2}, {1, 1, 0, 1});
    for (int64_t n : {1, 2, 40, 2}) {
      std::vector<float> values(static_cast<size_t>(3 * n));
      std::iota(values.begin(), values.end(), 0.0f);
      HostData x = HostData::f32({n, 3}, values);
      Ran run = ran(*plan, {int_input(n), x.input(), w.input(), c.input(), v.input()});
      ASSERT_FALSE(run.error) << run.error->message;
      std::vector<float> t;
      std::vector<float> first;
      std::vector<float> second;
      for (int64_t k = 0; k < n; ++k) {
        const float a = static_cast<float>(3 * k);
        t.push_back(10 + a + 2 * (a + 1) + 3 * (a + 2));
        t.push_back(20 - a + (a + 2));
        first.push_back(2 * t[t.size() - 2]);
        second.push_back(2 * (t[t.size() - 2] + t[t.size() - 1]));
      }
      first.insert(first.end(), second.begin(), second.end());
      EXPECT_EQ(elements<float>(run.outputs[0]), first);
      EXPECT_EQ(elements<float>(run.outputs[1]), t);
    }
  }
}

TEST(NativePlans, AreReentrant) {
  auto plan = with_provider(fmt::format(fmt::runtime(kLayer), "result", "->"), true);
  ASSERT_TRUE(plan);
  HostData w = HostData::f32({2, 3}, {1, 2, 3, -1, 0, 1});
  HostData c = HostData::f32({2}, {10, 20});
  HostData v = HostData::f32({2, 2}, {1, 1, 0, 1});
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int64_t round = 0; round < 50; ++round) {
        const int64_t n = 1 + (round + caller) % 17;
        HostData x = HostData::f32({n, 3}, std::vector<float>(static_cast<size_t>(3 * n), 1.0f));
        std::vector<Output> outputs(2);
        const auto error =
            plan->run(std::vector<InputValue>{int_input(n), x.input(), w.input(), c.input(), v.input()},
                      outputs, nullptr);
        if (error || elements<float>(outputs[1]) != [&] {
              std::vector<float> t;
              for (int64_t k = 0; k < n; ++k) t.insert(t.end(), {16, 20});
              return t;
            }())
          ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(NativePlans, SeeNewParametersAfterTheyChanged) {
  auto plan = with_provider(R"(plan @m {
    schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
    %x: f32[1, 2] = input 0
    %w: f32[3, 2] = parameter 1
    %y: f32[1, 3] = result
    %t: f32[2, 3]{1, 2} = view %w offset 0
    call aten.mm.default(%x, %t) -> %y
    return %y
  })",
                            true);
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({1, 2}, {1, 10});
  HostData w = HostData::f32({3, 2}, {1, 2, 3, 4, 5, 6});
  Ran run = ran(*plan, {x.input(), w.input()});
  EXPECT_EQ(elements<float>(run.outputs[0]), (std::vector<float>{21, 43, 65}));
  const float other = 7;
  std::memcpy(w.bytes.data(), &other, sizeof other);
  plan->parameters_changed();
  run = ran(*plan, {x.input(), w.input()});
  EXPECT_EQ(elements<float>(run.outputs[0]), (std::vector<float>{27, 43, 65}));
}

TEST(NativePlans, AreRefusedWithEveryCallThatNobodyMakes) {
  Engine engine;
  engine.native = native::test_provider();
  const std::string text = R"(plan @m {
    schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
    schema aten.sort.default(Tensor self, int dim, bool descending) -> (Tensor, Tensor)
    %x: f32[2, 2] = input 0
    %y: f32[2, 2] = result
    %z: f32[2, 2] = result
    %p: f32[2, 2] = result
    call aten.mm.default(%x, %x) -> %y
    call aten.sort.default(%y, 0, false) -> %z, _
    python 7(%z) -> %p
    return %p
  })";
  const auto plan = prepared_native(text, engine);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, "unsupported");
  EXPECT_EQ(plan.error().notes,
            (std::vector<std::string>{
                "step 1: aten.sort.default: no provider has this operator; no libtorch is loaded",
                "step 2: python 7: only Python can make it"}));
  engine.native = nullptr;
  EXPECT_EQ(prepared_native(text, engine).error().notes.size(), 3u);
}

TEST(NativePlans, FailWhereSizesDoNotFit) {
  auto plan = with_provider(R"(plan @m symbols(s0 in [1, 64], s1 in [1, 64]) {
    schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
    %x: f32[2, s0] = input 0
    %w: f32[s1, 2] = input 1
    %y: f32[2, 2] = result
    bind s0 = size(%x, 1)
    bind s1 = size(%w, 0)
    call aten.mm.default(%x, %w) -> %y
    return %y
  })");
  ASSERT_TRUE(plan);
  HostData x = HostData::f32({2, 3}, {1, 2, 3, 4, 5, 6});
  HostData w = HostData::f32({1, 2}, {1, 2});
  expect_error(ran(*plan, {x.input(), w.input()}), RunError::Kind::kOpFailed,
               "aten.mm.default failed: sizes do not fit: f32[2, 3], f32[1, 2], giving f32[2, 2]");
}

TEST(Launches, UseThreadsWithoutLibtorch) {
  Engine engine;
  engine.threads = ThreadPool::create(3);
  const auto plan = prepared_native(R"(plan @m {
    %x: f32[1000] = input 0
    %y: f32[1000] = output
    %z: f32[1] = output
    launch @double_then_sum(%x, %y, %z; 1000) units 1000 grain 10 then units 1 grain 1
    return %y, %z
  })",
                                    engine);
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  HostData x = HostData::f32({1000}, std::vector<float>(1000, 1.5f));
  for (int round = 0; round < 20; ++round) {
    Ran run = ran(**plan, {x.input()});
    ASSERT_FALSE(run.error);
    EXPECT_EQ(elements<float>(run.outputs[0]), std::vector<float>(1000, 3.0f));
    EXPECT_EQ(elements<float>(run.outputs[1]), std::vector<float>{3000.0f});
  }
}

}  // namespace
}  // namespace jumar::runtime
