// Each operator of the provider against a loop.
#include <fmt/ranges.h>

#include <bit>
#include <thread>

#include "runtime/native/call_site.h"
#include "runtime/test/native_support.h"
#include "runtime/threads.h"

namespace jumar::runtime::native {
namespace {

struct Call {
  plan::Plan plan;
  const plan::CallStep* step = nullptr;
};

// A plan of one call, made of its declarations and its call.
std::unique_ptr<Call> call_of(const std::string& declarations, const std::string& call) {
  static const std::string kSchemas =
      "schema aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha) -> "
      "(Tensor)\n"
      "schema aten.baddbmm.default(Tensor self, Tensor batch1, Tensor batch2, Scalar beta, Scalar alpha) -> "
      "(Tensor)\n"
      "schema aten.bmm.default(Tensor self, Tensor mat2) -> (Tensor)\n"
      "schema aten.convolution.default(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] "
      "padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> (Tensor)\n"
      "schema aten.dot.default(Tensor self, Tensor tensor) -> (Tensor)\n"
      "schema aten.matmul.default(Tensor self, Tensor other) -> (Tensor)\n"
      "schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)\n"
      "schema aten.mv.default(Tensor self, Tensor vec) -> (Tensor)\n"
      "schema aten.relu.default(Tensor self) -> (Tensor)\n";
  Result<plan::Plan> plan =
      plan::read_plan("plan @m {\n" + kSchemas + declarations + "call " + call + "\nreturn\n}");
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  if (!plan.ok()) return nullptr;
  auto out = std::make_unique<Call>(Call{std::move(*plan), nullptr});
  for (const plan::Step& step : out->plan.steps)
    if (const auto* data = std::get_if<plan::CallStep>(&step.data)) out->step = data;
  return out;
}

std::string type_of(const Strided& tensor) {
  return fmt::format("f32[{}]{{{}}}", fmt::join(tensor.sizes, ", "), fmt::join(tensor.strides, ", "));
}

// A call of `op` on these tensors; `rest` are the arguments after them.
struct Case {
  std::string op;
  std::vector<Strided*> operands;
  std::string rest;
  Strided* out;
  bool is_frozen = false;

  std::unique_ptr<Call> call() const {
    std::string declarations;
    std::string args;
    for (size_t k = 0; k < operands.size(); ++k) {
      declarations +=
          fmt::format("%i{}: {} = {} {}\n", k, type_of(*operands[k]), is_frozen ? "parameter" : "input", k);
      args += fmt::format("{}%i{}", k > 0 ? ", " : "", k);
    }
    declarations += fmt::format("%out: {} = output\n", type_of(*out));
    return call_of(declarations, fmt::format("{}({}{}) into %out", op, args, rest));
  }
};

std::optional<std::string> run_case(const Case& c, uint64_t generation = 0) {
  static const std::shared_ptr<const OneDnn> provider = test_provider();
  const std::unique_ptr<Call> call = c.call();
  Result<CallSite> site = CallSite::prepare(*provider, call->plan, *call->step, c.is_frozen);
  if (!site.ok()) return site.error().message;
  const std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  std::vector<TensorView> views;
  for (Strided* operand : c.operands) views.push_back(operand->view());
  return site->call({*pool, generation}, views, c.out->view());
}

// Sum over k of a[.., m, k]*b[.., k, n]; a batch dimension of size 1 is repeated.
double product(const Strided& a, const Strided& b, const std::vector<int64_t>& index) {
  std::vector<int64_t> at_a = index;
  std::vector<int64_t> at_b = index;
  const size_t rank = index.size();
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (a.sizes[d] == 1) at_a[d] = 0;
    if (b.sizes[d] == 1) at_b[d] = 0;
  }
  double sum = 0;
  for (int64_t k = 0; k < a.sizes[rank - 1]; ++k) {
    at_a[rank - 1] = at_b[rank - 2] = k;
    sum += static_cast<double>(a.at(at_a)) * b.at(at_b);
  }
  return sum;
}

struct Layouts {
  std::vector<int64_t> a;
  std::vector<int64_t> b;
  std::vector<int64_t> out;
};

TEST(Matmul, TakesAnyStrides) {
  std::mt19937 random(1);
  // 5x7 by 7x3: row-major, transposed, rows apart, elements apart, repeated, overlapping.
  for (const std::vector<int64_t>& a_strides :
       {std::vector<int64_t>{7, 1}, {1, 5}, {9, 1}, {40, 3}, {0, 1}, {0, 0}, {2, 1}})
    for (const std::vector<int64_t>& b_strides :
         {std::vector<int64_t>{3, 1}, {1, 7}, {1, 11}, {50, 5}, {0, 1}, {1, 0}})
      for (const std::vector<int64_t>& out_strides : {std::vector<int64_t>{3, 1}, {1, 5}, {8, 1}, {30, 2}}) {
        Strided a = Strided::random({5, 7}, a_strides, random);
        Strided b = Strided::random({7, 3}, b_strides, random);
        Strided out({5, 3}, out_strides);
        const auto error = run_case({"aten.mm.default", {&a, &b}, "", &out});
        ASSERT_FALSE(error) << *error << type_of(a) << type_of(b) << type_of(out);
        SCOPED_TRACE(type_of(a) + type_of(b) + type_of(out));
        expect_elements(out, [&](const auto& index) { return product(a, b, index); });
      }
}

TEST(Matmul, TakesSizesOfOneAndZero) {
  std::mt19937 random(2);
  for (int64_t m : {0, 1, 4})
    for (int64_t k : {0, 1, 6})
      for (int64_t n : {0, 1, 33}) {
        Strided a = Strided::random({m, k}, {}, random);
        Strided b = Strided::random({k, n}, {1, std::max<int64_t>(k, 1)}, random);
        Strided c = Strided::random({n}, {}, random);
        Strided out({m, n});
        SCOPED_TRACE(fmt::format("{} {} {}", m, k, n));
        ASSERT_FALSE(run_case({"aten.mm.default", {&a, &b}, "", &out}));
        expect_elements(out, [&](const auto& index) { return product(a, b, index); });
        Strided sum({m, n});
        ASSERT_FALSE(run_case({"aten.addmm.default", {&c, &a, &b}, ", 0.5, 2", &sum}));
        expect_elements(sum,
                        [&](const auto& index) { return 0.5 * c.at({index[1]}) + 2 * product(a, b, index); });
      }
}

TEST(Matmul, AddsWhatIsRepeatedAndScales) {
  std::mt19937 random(3);
  for (const auto& [beta, alpha] : {std::pair<double, double>{1, 1}, {0, 1}, {2, 1}, {1, 0.5}, {-1, 3}})
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{17}, {1, 17}, {40, 17}, {40, 1}, {1, 1}, {1}, {}}) {
      Strided a = Strided::random({40, 24}, {}, random);
      Strided b = Strided::random({24, 17}, {1, 24}, random);
      Strided c = Strided::random(sizes, {}, random);
      // Numbers that a factor of 0 must not bring in.
      if (beta == 0) c.for_each([&](const auto& index) { c.at(index) = NAN; });
      Strided out({40, 17});
      SCOPED_TRACE(fmt::format("{} {} [{}]", beta, alpha, fmt::join(sizes, ", ")));
      ASSERT_FALSE(
          run_case({"aten.addmm.default", {&c, &a, &b}, fmt::format(", {}, {}", beta, alpha), &out}));
      expect_elements(out, [&, beta = beta, alpha = alpha](const std::vector<int64_t>& index) {
        std::vector<int64_t> at(index.end() - static_cast<std::ptrdiff_t>(sizes.size()), index.end());
        for (size_t k = 0; k < at.size(); ++k)
          if (sizes[k] == 1) at[k] = 0;
        return (beta == 0 ? 0 : beta * c.at(at)) + alpha * product(a, b, index);
      });
    }
}

TEST(Matmul, MultipliesBatches) {
  std::mt19937 random(4);
  Strided a = Strided::random({3, 10, 8}, {}, random);
  Strided b = Strided::random({3, 8, 9}, {72, 1, 8}, random);
  Strided out({3, 10, 9});
  ASSERT_FALSE(run_case({"aten.bmm.default", {&a, &b}, "", &out}));
  expect_elements(out, [&](const auto& index) { return product(a, b, index); });
  Strided c = Strided::random({3, 1, 9}, {}, random);
  Strided sum({3, 10, 9});
  ASSERT_FALSE(run_case({"aten.baddbmm.default", {&c, &a, &b}, ", 2, 0.5", &sum}));
  expect_elements(sum, [&](const auto& index) {
    return 2 * c.at({index[0], 0, index[2]}) + 0.5 * product(a, b, index);
  });
}

// Heads side by side in the rows of a sequence, as attention has them, and a batch that one factor lacks.
TEST(Matmul, MultipliesBatchesOfHeads) {
  std::mt19937 random(5);
  Strided q = Strided::random({2, 3, 20, 16}, {960, 16, 48, 1}, random);
  Strided k = Strided::random({2, 3, 16, 21}, {1008, 16, 1, 48}, random);
  Strided scores({2, 3, 20, 21});
  ASSERT_FALSE(run_case({"aten.matmul.default", {&q, &k}, "", &scores}));
  expect_elements(scores, [&](const auto& index) { return product(q, k, index); });
  Strided v = Strided::random({2, 1, 21, 16}, {336, 336, 16, 1}, random);
  Strided out({2, 3, 20, 16}, {960, 16, 48, 1});
  ASSERT_FALSE(run_case({"aten.matmul.default", {&scores, &v}, "", &out}));
  expect_elements(out, [&](const auto& index) { return product(scores, v, index); });
}

TEST(Matmul, MultipliesVectors) {
  std::mt19937 random(11);
  Strided a = Strided::random({5, 7}, {1, 5}, random);
  Strided v = Strided::random({7}, {3}, random);
  Strided out({5}, {2});
  ASSERT_FALSE(run_case({"aten.mv.default", {&a, &v}, "", &out}));
  const auto element = [&](int64_t row) {
    double sum = 0;
    for (int64_t k = 0; k < 7; ++k) sum += static_cast<double>(a.at({row, k})) * v.at({k});
    return sum;
  };
  expect_elements(out, [&](const auto& index) { return element(index[0]); });
  Strided w = Strided::random({5}, {}, random);
  Strided left({7});
  ASSERT_FALSE(run_case({"aten.matmul.default", {&w, &a}, "", &left}));
  expect_elements(left, [&](const auto& index) {
    double sum = 0;
    for (int64_t k = 0; k < 5; ++k) sum += static_cast<double>(w.at({k})) * a.at({k, index[0]});
    return sum;
  });
  Strided number({});
  ASSERT_FALSE(run_case({"aten.dot.default", {&v, &v}, "", &number}));
  expect_elements(number, [&](const auto&) {
    double sum = 0;
    for (int64_t k = 0; k < 7; ++k) sum += static_cast<double>(v.at({k})) * v.at({k});
    return sum;
  });
  Strided none({0});
  Strided zero({});
  ASSERT_FALSE(run_case({"aten.dot.default", {&none, &none}, "", &zero}));
  EXPECT_EQ(zero.at({}), 0.0f);
  EXPECT_TRUE(run_case({"aten.mv.default", {&a, &w}, "", &out}));
}

// Small integers, which bf16 holds and adds up exactly.
TEST(Matmul, MultipliesShortNumbersWhereTheProcessorDoes) {
  const std::shared_ptr<const OneDnn> provider = test_provider();
  if (!provider->supports(ir::DType::kBF16)) {
    EXPECT_FALSE(provider->matmul({ir::DType::kBF16}));
    GTEST_SKIP() << "no products of bf16 on this processor";
  }
  const auto short_of = [](int number) {
    return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(number)) >> 16);
  };
  const int64_t sizes[] = {4, 4};
  const int64_t strides[] = {4, 1};
  std::array<uint16_t, 16> a;
  std::array<uint16_t, 16> b;
  std::array<uint16_t, 16> out;
  for (int k = 0; k < 16; ++k) {
    a[static_cast<size_t>(k)] = short_of(k % 5 - 2);
    b[static_cast<size_t>(k)] = short_of(k % 3);
  }
  const auto view = [&](std::array<uint16_t, 16>& elements) {
    return TensorView{elements.data(), ir::DType::kBF16, 2, sizes, strides};
  };
  const std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  const std::unique_ptr<const Matmul> product_of = provider->matmul({ir::DType::kBF16});
  ASSERT_FALSE(product_of->run({*pool, 0}, view(a), view(b), nullptr, view(out)));
  for (int m = 0; m < 4; ++m)
    for (int n = 0; n < 4; ++n) {
      int sum = 0;
      for (int k = 0; k < 4; ++k) sum += ((4 * m + k) % 5 - 2) * ((4 * k + n) % 3);
      EXPECT_EQ(out[static_cast<size_t>(4 * m + n)], short_of(sum));
    }
}

TEST(Matmul, MakesPrimitivesForMoreSizesThanItKeeps) {
  std::mt19937 random(6);
  const std::shared_ptr<const OneDnn> provider = test_provider();
  const std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  const std::unique_ptr<const Matmul> product_of = provider->matmul({});
  for (int round = 0; round < 2; ++round)
    for (int64_t m = 1; m < 24; ++m) {
      Strided a = Strided::random({m, 12}, {}, random);
      Strided b = Strided::random({12, m}, {}, random);
      Strided out({m, m});
      ASSERT_FALSE(product_of->run({*pool, 0}, a.view(), b.view(), nullptr, out.view()));
      expect_elements(out, [&](const auto& index) { return product(a, b, index); });
    }
}

TEST(Matmul, KeepsFrozenWeightsUntilTheyChange) {
  std::mt19937 random(7);
  const std::shared_ptr<const OneDnn> provider = test_provider();
  const std::shared_ptr<Pool> pool = Pool::create(1 << 20);
  MatmulTraits traits;
  traits.b_is_frozen = true;
  const std::unique_ptr<const Matmul> product_of = provider->matmul(traits);
  Strided a = Strided::random({2, 64}, {}, random);
  Strided b = Strided::random({64, 96}, {1, 64}, random);
  const Strided before = b;
  Strided out({2, 96});
  const auto run = [&](uint64_t generation, Strided& weight) {
    ASSERT_FALSE(product_of->run({*pool, generation}, a.view(), weight.view(), nullptr, out.view()));
  };
  run(0, b);
  expect_elements(out, [&](const auto& index) { return product(a, b, index); });
  for (float& element : b.memory) element += 1;
  // The promise is broken here, which shows that the weights were kept.
  run(0, b);
  expect_elements(out, [&](const auto& index) { return product(a, before, index); });
  run(1, b);
  expect_elements(out, [&](const auto& index) { return product(a, b, index); });
  // Weights at another address are other weights.
  Strided c = Strided::random({64, 96}, {1, 64}, random);
  run(1, c);
  expect_elements(out, [&](const auto& index) { return product(a, c, index); });
}

TEST(Matmul, RunsInManyThreads) {
  const std::shared_ptr<const OneDnn> provider = test_provider();
  const std::shared_ptr<Pool> pool = Pool::create(8 << 20);
  MatmulTraits traits;
  traits.b_is_frozen = true;
  const std::unique_ptr<const Matmul> product_of = provider->matmul(traits);
  std::mt19937 random(8);
  Strided b = Strided::random({48, 80}, {1, 48}, random);
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&, c] {
      std::mt19937 own(static_cast<unsigned>(100 + c));
      for (int64_t round = 0; round < 40; ++round) {
        Strided a = Strided::random({1 + round % 12, 48}, {}, own);
        Strided out({1 + round % 12, 80});
        ASSERT_FALSE(product_of->run({*pool, 0}, a.view(), b.view(), nullptr, out.view()));
        expect_elements(out, [&](const auto& index) { return product(a, b, index); });
      }
    });
  for (std::thread& caller : callers) caller.join();
}

TEST(Matmul, RefusesSizesThatDoNotFit) {
  Strided a({4, 5});
  Strided b({6, 3});
  Strided out({4, 3});
  const auto error = run_case({"aten.mm.default", {&a, &b}, "", &out});
  ASSERT_TRUE(error);
  EXPECT_EQ(*error, "sizes do not fit: f32[4, 5], f32[6, 3], giving f32[4, 3]");
  Strided c({7});
  Strided d({5, 3});
  EXPECT_TRUE(run_case({"aten.addmm.default", {&c, &a, &d}, ", 1, 1", &out}));
}

struct Window {
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  int64_t groups = 1;
};

double convolved(const Strided& input, const Strided& weight, const Strided* bias, const Window& w,
                 const std::vector<int64_t>& index) {
  const int64_t per_group = weight.sizes[1];
  const int64_t group = index[1] / (weight.sizes[0] / w.groups);
  double sum = bias ? bias->at({index[1]}) : 0;
  Strided kernel(std::vector<int64_t>(weight.sizes.begin() + 1, weight.sizes.end()));
  kernel.for_each([&](const std::vector<int64_t>& k) {
    std::vector<int64_t> at = {index[0], group * per_group + k[0]};
    for (size_t d = 0; d + 2 < index.size(); ++d) {
      at.push_back(index[d + 2] * w.stride[d] - w.padding[d] + k[d + 1] * w.dilation[d]);
      if (at.back() < 0 || at.back() >= input.sizes[d + 2]) return;
    }
    std::vector<int64_t> of_weight = {index[1]};
    of_weight.insert(of_weight.end(), k.begin(), k.end());
    sum += static_cast<double>(input.at(at)) * weight.at(of_weight);
  });
  return sum;
}

std::vector<int64_t> last(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  int64_t next = sizes[1];
  for (size_t k = sizes.size(); k-- > 2; next *= sizes[k]) strides[k] = next;
  strides[0] = next;
  return strides;
}

std::string window_text(const Window& w) {
  const std::vector<int64_t> none(w.stride.size(), 0);
  return fmt::format("[{}], [{}], [{}], false, [{}], {}", fmt::join(w.stride, ", "),
                     fmt::join(w.padding, ", "), fmt::join(w.dilation, ", "), fmt::join(none, ", "),
                     w.groups);
}

std::vector<int64_t> out_sizes(const std::vector<int64_t>& input, const std::vector<int64_t>& weight,
                               const Window& w) {
  std::vector<int64_t> out = {input[0], weight[0]};
  for (size_t k = 0; k < w.stride.size(); ++k)
    out.push_back((input[k + 2] + 2 * w.padding[k] - w.dilation[k] * (weight[k + 2] - 1) - 1) / w.stride[k] +
                  1);
  return out;
}

void check_convolution(const std::vector<int64_t>& in, const std::vector<int64_t>& kernel, const Window& w) {
  std::mt19937 random(9);
  const std::vector<int64_t> made = out_sizes(in, kernel, w);
  for (const bool channels_last : {false, true})
    for (const bool has_bias : {false, true})
      for (const bool is_frozen : {false, true}) {
        Strided input = Strided::random(in, channels_last ? last(in) : std::vector<int64_t>{}, random);
        Strided weight = Strided::random(
            kernel, channels_last && !is_frozen ? last(kernel) : std::vector<int64_t>{}, random);
        Strided bias = Strided::random({kernel[0]}, {2}, random);
        Strided out(made, channels_last ? last(made) : std::vector<int64_t>{});
        std::vector<Strided*> operands = {&input, &weight};
        if (has_bias) operands.push_back(&bias);
        SCOPED_TRACE(fmt::format("{} {} {}", window_text(w), channels_last, has_bias));
        const auto error = run_case({"aten.convolution.default", operands,
                                     (has_bias ? ", " : ", none, ") + window_text(w), &out, is_frozen});
        ASSERT_FALSE(error) << *error;
        expect_elements(out, [&](const auto& index) {
          return convolved(input, weight, has_bias ? &bias : nullptr, w, index);
        });
      }
}

TEST(Convolution, OfImages) {
  check_convolution({2, 3, 12, 11}, {8, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}});
  check_convolution({2, 16, 9, 9}, {32, 16, 3, 3}, {{2, 2}, {1, 1}, {1, 1}});
  check_convolution({1, 5, 14, 10}, {7, 5, 3, 2}, {{2, 1}, {0, 2}, {2, 3}});
  check_convolution({3, 16, 7, 7}, {16, 16, 1, 1}, {{1, 1}, {0, 0}, {1, 1}});
  check_convolution({2, 16, 1, 1}, {8, 16, 1, 1}, {{1, 1}, {0, 0}, {1, 1}});
  check_convolution({1, 1, 5, 5}, {1, 1, 5, 5}, {{1, 1}, {0, 0}, {1, 1}});
}

TEST(Convolution, OfGroups) {
  check_convolution({2, 8, 9, 9}, {16, 2, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 4});
  check_convolution({1, 32, 8, 8}, {32, 1, 5, 5}, {{1, 1}, {2, 2}, {1, 1}, 32});
  check_convolution({1, 6, 8, 8}, {12, 1, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 6});
}

TEST(Convolution, OfSignalsAndVolumes) {
  check_convolution({2, 4, 30}, {6, 4, 5}, {{2}, {2}, {1}});
  check_convolution({2, 4, 30}, {8, 2, 3}, {{1}, {0}, {4}, 2});
  check_convolution({1, 3, 5, 6, 7}, {4, 3, 2, 3, 3}, {{1, 2, 1}, {0, 1, 1}, {1, 1, 1}});
}

TEST(Convolution, OfEmptyBatchesAndOddStrides) {
  check_convolution({0, 3, 8, 8}, {4, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}});
  std::mt19937 random(10);
  const Window w{{1, 1}, {1, 1}, {1, 1}};
  // A part of a larger image, and one channel repeated.
  for (const std::vector<int64_t>& strides : {std::vector<int64_t>{2000, 400, 20, 2}, {300, 0, 17, 1}}) {
    Strided input = Strided::random({2, 4, 6, 7}, strides, random);
    Strided weight = Strided::random({5, 4, 3, 3}, {50, 1, 15, 5}, random);
    Strided out({2, 5, 6, 7}, {500, 1, 40, 5});
    ASSERT_FALSE(
        run_case({"aten.convolution.default", {&input, &weight}, ", none, " + window_text(w), &out}));
    expect_elements(out, [&](const auto& index) { return convolved(input, weight, nullptr, w, index); });
  }
}

TEST(Convolution, RefusesSizesThatDoNotFit) {
  Strided input({1, 3, 8, 8});
  Strided weight({4, 3, 3, 3});
  Strided out({1, 4, 8, 7});
  const std::string window = ", none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1";
  EXPECT_TRUE(run_case({"aten.convolution.default", {&input, &weight}, window, &out}));
  Strided small({1, 3, 1, 1});
  Strided nothing({1, 4, 0, 0});
  EXPECT_TRUE(run_case({"aten.convolution.default",
                        {&small, &weight},
                        ", none, [1, 1], [0, 0], [1, 1], false, [0, 0], 1",
                        &nothing}));
}

std::string reason_of(const std::string& declarations, const std::string& call) {
  const std::unique_ptr<Call> made = call_of(declarations, call);
  const Result<NativeCall> found = native_call(made->plan, *made->step);
  return found.ok() ? "" : found.error().message;
}

TEST(NativeCall, SaysWhatTheTableDoesNotCover) {
  const std::string two = "%a: f32[4, 4] = input 0\n%b: f32[4, 4] = input 1\n%o: f32[4, 4] = output\n";
  EXPECT_EQ(reason_of(two, "aten.mm.default(%a, %b) into %o"), "");
  EXPECT_EQ(reason_of(two, "aten.relu.default(%a) into %o"), "no provider has this operator");
  const std::string whole = "%a: i64[4, 4] = input 0\n%b: i64[4, 4] = input 1\n%o: i64[4, 4] = output\n";
  EXPECT_EQ(reason_of(whole, "aten.mm.default(%a, %b) into %o"),
            "its element type is i64, not f32, bf16 or f16");
  const std::string image =
      "%a: f32[1, 2, 4, 4] = input 0\n%b: f32[2, 2, 3, 3] = input 1\n%o: f32[1, 2, 6, 6] = output\n";
  EXPECT_EQ(reason_of(image,
                      "aten.convolution.default(%a, %b, none, [1, 1], [0, 0], [1, 1], true, [0, 0], "
                      "1) into %o"),
            "it is a transposed convolution");
}

TEST(NativeCall, ListsObstacles) {
  const std::unique_ptr<Call> made = call_of(
      "%a: f32[4, 4] = input 0\n%o: f32[4, 4] = output\n%p: f32[4, 4] = result\n"
      "python 3(%a) -> %p\n",
      "aten.relu.default(%a) into %o");
  const std::vector<Obstacle> found = obstacles(made->plan);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].op, "python 3");
  EXPECT_EQ(found[0].reason, "only Python can make this call");
  EXPECT_EQ(found[1].op, "aten.relu.default");
  EXPECT_EQ(found[1].step, 1u);
}

TEST(OneDnn, IsALibraryThatMayBeMissing) {
  const auto missing = OneDnn::load({"/nowhere/libdnnl.so.2", 1});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, "io");
  // A library that is another one.
  const auto other = OneDnn::load({"libm.so.6", 1});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, "unsupported");
}

TEST(OneDnn, SharesItsThreads) {
  const std::shared_ptr<const OneDnn> provider = test_provider(3);
  const std::shared_ptr<Threads> threads = provider->threads();
  ASSERT_TRUE(threads);
  EXPECT_EQ(threads->count(), 3);
  std::vector<std::atomic<int>> units(1000);
  auto body = [](int64_t begin, int64_t end, void* context) {
    auto& u = *static_cast<std::vector<std::atomic<int>>*>(context);
    for (int64_t k = begin; k < end; ++k) ++u[static_cast<size_t>(k)];
  };
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) callers.emplace_back([&] { threads->parallel_for(0, 1000, 7, body, &units); });
  for (std::thread& caller : callers) caller.join();
  for (const std::atomic<int>& unit : units) EXPECT_EQ(unit, 4);
}

}  // namespace
}  // namespace jumar::runtime::native
