// The comparison of programs that tests of other stages rely on: it must see what differs, and only that.
#include <gtest/gtest.h>

#include <cmath>

#include "loop/check.h"
#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

std::string body(const std::string& lines, const std::string& items = "") {
  return "loop @main symbols(s0 in [2, 99]) { %x: f32[s0, 3] = input 0 %i: i64[s0] = input 1 %t: f32[s0, 3] "
         "= temp "
         "%y: f32[s0, 3] = output schema aten.demo.default(Tensor a, float b) -> (Tensor) " +
         items + " kernel @k { nest (i0 in s0, i1 in 3) { stage { " + lines + " } } } return %y }";
}

Status compared(const std::string& a, const std::string& b, const CheckOptions& options = {}) {
  Result<Program> left = read_program(a);
  Result<Program> right = read_program(b);
  EXPECT_TRUE(left.ok()) << left.error().text();
  EXPECT_TRUE(right.ok()) << right.error().text();
  return compare_programs(*left, *right, options, {});
}

TEST(ComparePrograms, SeesDifferentValues) {
  std::string a = body("%0: f32 = load %x[3*i0 + i1] %1: f32 = add %0, %0 store %y[3*i0 + i1], %1");
  std::string same =
      body("%0: f32 = load %x[3*i0 + i1] %1: f32 = const 2.0 %2: f32 = mul %0, %1 store %y[3*i0 + i1], %2");
  std::string other = body(
      "%0: f32 = load %x[3*i0 + i1] %1: f32 = const 2.0001 %2: f32 = mul %0, %1 store %y[3*i0 + i1], %2");
  for (uint64_t seed = 1; seed < 6; ++seed) {
    Status status = compared(a, same, {.seed = seed});
    EXPECT_TRUE(status.ok()) << status.error().text();
    status = compared(a, other, {.seed = seed});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, "different");
    EXPECT_NE(status.error().message.find("output 0 at ["), std::string::npos) << status.error().message;
  }
  EXPECT_TRUE(compared(a, same, {.special_share = 0.3}).ok());
}

TEST(ComparePrograms, ImitatedCallsDependOnWhatTheyAreGiven) {
  std::string load = "%0: f32 = load %t[3*i0 + i1] store %y[3*i0 + i1], %0";
  std::string a = body(load, "call aten.demo.default(%x, 1.5) -> (%t)");
  std::string other = body(load, "call aten.demo.default(%x, 2.5) -> (%t)");
  EXPECT_TRUE(compared(a, a).ok());
  EXPECT_EQ(compared(a, other).error().code, "different");
}

TEST(ComparePrograms, RaisingIsPartOfTheResult) {
  std::string narrow = body(
      "%0: i64 = load %i[i0] %1: i64 = index 3*s0 %2: i64 = add %0, %1 %3: i64 = check_index %2 in s0 "
      "%4: f32 = load %x[3*%3 + i1] store %y[3*i0 + i1], %4");
  std::string wide = body(
      "%0: i64 = load %i[i0] %3: i64 = check_index %0 in s0 "
      "%4: f32 = load %x[3*%3 + i1] store %y[3*i0 + i1], %4");
  CheckOptions options{.int_low = 0, .int_high = 1};
  EXPECT_TRUE(compared(wide, wide, options).ok());
  EXPECT_TRUE(compared(narrow, narrow, options).ok());
  EXPECT_EQ(compared(wide, narrow, options).error().code, "different");
  EXPECT_EQ(compared(narrow, wide, options).error().code, "different");
}

TEST(ComparePrograms, SanitizerFaultsAreErrorsOfEitherSide) {
  std::string good = body("%0: f32 = load %x[3*i0 + i1] store %y[3*i0 + i1], %0");
  std::string bad = body("%0: f32 = load %x[3*i0 + i1 + 1] store %y[3*i0 + i1], %0");
  EXPECT_EQ(compared(good, bad).error().code, "bounds");
  EXPECT_EQ(compared(bad, good).error().code, "bounds");
  EXPECT_EQ(compared(bad, bad).error().code, "bounds");
}

TEST(RandomInputs, IndicesStayInRangeThroughCopiesAndCasts) {
  const char* text =
      "loop @main symbols(s0 in [2, 99]) { %i: i32[40] = input 0 %n: i64[40] = input 1 %x: f32[s0] = input 2 "
      "%t: i64[40] = temp %y: f32[40] = output kernel @a { nest (i0 in 40) { stage { %0: i32 = load %i[i0] "
      "%1: i64 = cast %0 store %t[i0], %1 } } } kernel @b { nest (i0 in 40) { stage { %0: i64 = load %t[i0] "
      "%1: i64 = check_index %0 in s0 %2: f32 = load %x[%1] %3: i64 = load %n[i0] %4: i64 = wrap_index %3 in "
      "s0 "
      "%5: f32 = load %x[%4] %6: f32 = add %2, %5 store %y[i0], %6 } } } return %y }";
  Program program = std::move(read_program(text)).value();
  for (uint64_t seed = 1; seed < 20; ++seed) {
    Result<ProgramResult> result = run_program(program, {.seed = seed});
    EXPECT_TRUE(result.ok()) << result.error().text();
  }
  ProgramInputs inputs = std::move(random_inputs(program, {.symbols = {{"s0", 30}}})).value();
  bool has_negative = false;
  bool has_large = false;
  const TensorView& n = std::get<TensorView>(inputs.args[1].data);
  for (int k = 0; k < 40; ++k) {
    int64_t value = as_int(load_scalar(static_cast<std::byte*>(n.data) + 8 * k, n.dtype));
    has_negative |= value < 0;
    has_large |= value > 10;
  }
  EXPECT_TRUE(has_negative);
  EXPECT_TRUE(has_large);
}

TEST(RandomInputs, DependOnSeedAndAreRepeatable) {
  Program program =
      std::move(read_program(body("%0: f32 = load %x[3*i0 + i1] store %y[3*i0 + i1], %0"))).value();
  auto bytes = [&](uint64_t seed) {
    CheckOptions options{.seed = seed, .symbols = {{"s0", 4}}};
    return std::move(random_inputs(program, options)).value().tensors[0].bytes;
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

TEST(CompareTensors, ToleranceIsPerType) {
  auto one = [](ir::DType type, double value) {
    HostTensor t = HostTensor::contiguous(type, {1});
    store_scalar(t.bytes.data(), scalar_of(value, type));
    return t;
  };
  auto same = [&](ir::DType type, double a, double b, const Tolerance& t = {}) {
    HostTensor x = one(type, a), y = one(type, b);
    return compare_tensors("t", x.view(), y.view(), t).ok();
  };
  EXPECT_TRUE(same(ir::DType::kF32, 1, 1.000001));
  EXPECT_FALSE(same(ir::DType::kF32, 1, 1.0001));
  EXPECT_FALSE(same(ir::DType::kF64, 1, 1.000001));
  EXPECT_TRUE(same(ir::DType::kBF16, 1, 1.0078125));
  EXPECT_FALSE(same(ir::DType::kBF16, 1, 1.0625));
  EXPECT_FALSE(same(ir::DType::kI32, 1, 2));
  EXPECT_TRUE(same(ir::DType::kF32, NAN, NAN));
  EXPECT_FALSE(same(ir::DType::kF32, NAN, 1));
  EXPECT_FALSE(same(ir::DType::kF32, INFINITY, 3e38));
  EXPECT_TRUE(same(ir::DType::kF32, 0.0, -0.0, Tolerance::exact()));
  EXPECT_FALSE(same(ir::DType::kF32, 1, 1.0000001, Tolerance::exact()));
}

}  // namespace
}  // namespace jumar::loop
