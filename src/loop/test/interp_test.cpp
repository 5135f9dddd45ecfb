// The interpreter on the golden programs, on corner cases of reductions, scans and stores, and as a
// sanitizer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "loop/check.h"
#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

using ir::DType;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

std::string golden_text(const std::string& name) {
  std::ifstream in(std::string(JUMAR_TEST_DIR) + "/text/" + name + ".loop");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Program golden(const std::string& name) { return std::move(read_program(golden_text(name), name)).value(); }

HostTensor tensor(DType type, std::vector<int64_t> sizes, const std::vector<double>& values) {
  HostTensor out = HostTensor::contiguous(type, std::move(sizes));
  for (size_t k = 0; k < values.size(); ++k)
    store_scalar(out.bytes.data() + k * ir::dtype_bytes(type), scalar_of(values[k], type));
  return out;
}

std::vector<double> values(const HostTensor& tensor) {
  std::vector<double> out;
  size_t bytes = ir::dtype_bytes(tensor.dtype);
  for (size_t at = 0; at < tensor.bytes.size(); at += bytes)
    out.push_back(as_double(load_scalar(tensor.bytes.data() + at, tensor.dtype)));
  return out;
}

std::vector<double> input(const Program& program, const CheckOptions& options, size_t position) {
  ProgramInputs inputs = std::move(random_inputs(program, options)).value();
  return values(copy_of(std::get<TensorView>(inputs.args[position].data)));
}

std::vector<double> output(const ProgramResult& result, size_t position) {
  return values(std::get<HostTensor>(result.outputs.at(position).data));
}

TEST(Interpreter, Softmax) {
  Program program = golden("softmax");
  CheckOptions options{.symbols = {{"s0", 3}}};
  std::vector<double> x = input(program, options, 0);
  Result<ProgramResult> result = run_program(program, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  std::vector<double> y = output(*result, 0);
  ASSERT_EQ(y.size(), 3u * 512);
  for (size_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (size_t k = 0; k < 512; ++k) sum += std::exp(x[512 * row + k]);
    for (size_t k = 0; k < 512; ++k)
      EXPECT_NEAR(y[512 * row + k], std::exp(x[512 * row + k]) / sum, 1e-6 * y[512 * row + k]);
  }
}

TEST(Interpreter, EmbeddingWrapsNegativeIndices) {
  std::string text = golden_text("embedding");
  for (size_t at; (at = text.find("30522")) != std::string::npos;) text.replace(at, 5, "50");
  Program program = std::move(read_program(text)).value();
  CheckOptions options{.symbols = {{"s0", 3}}};
  options.inputs[0] = tensor(DType::kI64, {3}, {-1, 0, 7});
  std::vector<double> table = input(program, options, 1);
  Result<ProgramResult> result = run_program(program, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  std::vector<double> y = output(*result, 0);
  for (size_t k = 0; k < 256; ++k) {
    EXPECT_EQ(y[k], table[49 * 256 + k]);
    EXPECT_EQ(y[256 + k], table[k]);
    EXPECT_EQ(y[512 + k], table[7 * 256 + k]);
  }
  options.inputs[0] = tensor(DType::kI64, {3}, {0, -51, 7});
  result = run_program(program, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "index");
  EXPECT_EQ(result.error().message,
            "kernel @k0, nest 0, stage 0, `%1: i64 = wrap_index %0 in 50` at (i0 = 1, i1 = 0): index -51 is "
            "out of range for size 50");
}

TEST(Interpreter, CatPiecewiseAndAsTwoNestsAgree) {
  Program piecewise = golden("cat_piecewise");
  Program nests = golden("cat_nests");
  Status same = compare_programs(piecewise, nests, {.seed = 3}, Tolerance::exact());
  EXPECT_TRUE(same.ok()) << same.error().text();
  CheckOptions options{.seed = 3, .symbols = {{"s0", 2}}};
  std::vector<double> a = input(nests, options, 0), b = input(nests, options, 1);
  Result<ProgramResult> result = run_program(nests, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  std::vector<double> y = output(*result, 0);
  EXPECT_EQ(y[192 + 127], a[128 + 127]);
  EXPECT_EQ(y[192 + 128], b[64]);
}

TEST(Interpreter, CumulativeSum) {
  Program program = golden("cumsum");
  CheckOptions options{.symbols = {{"s0", 2}}};
  std::vector<double> x = input(program, options, 0);
  std::vector<double> y = output(run_program(program, options).value(), 0);
  for (size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (size_t k = 0; k < 100; ++k) {
      sum += x[100 * row + k];
      EXPECT_EQ(static_cast<float>(y[100 * row + k]), static_cast<float>(sum));
    }
  }
}

TEST(Interpreter, ArgMaxTakesTheFirstAndNanWins) {
  Program program = golden("argmax");
  std::vector<double> x(2000, -1);
  x[10] = 5;
  x[20] = 5;
  x[1000 + 3] = kInf;
  x[1000 + 7] = kNan;
  x[1000 + 9] = kNan;
  CheckOptions options{.symbols = {{"s0", 2}}};
  options.inputs[0] = tensor(DType::kF32, {2, 1000}, x);
  Result<ProgramResult> result = run_program(program, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(output(*result, 0)[0], 5);
  EXPECT_TRUE(std::isnan(output(*result, 0)[1]));
  EXPECT_EQ(output(*result, 1), (std::vector<double>{10, 7}));
}

TEST(Interpreter, ScatterAdds) {
  Program program = golden("scatter");
  CheckOptions options{.symbols = {{"s0", 3}}};
  options.inputs[0] = tensor(DType::kI64, {3}, {5, -995, 0});
  std::vector<double> grad = input(program, options, 1);
  Result<ProgramResult> result = run_program(program, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  std::vector<double> y = output(*result, 0);
  EXPECT_EQ(y[5 * 64 + 1],
            static_cast<float>(static_cast<float>(grad[1]) + static_cast<float>(grad[64 + 1])));
  EXPECT_EQ(y[1], grad[128 + 1]);
  EXPECT_EQ(y[64], 0);
}

TEST(Interpreter, SplitSumAndTiledPrograms) {
  Program split = golden("split_sum");
  CheckOptions options{.symbols = {{"s0", 10000}}};
  std::vector<double> x = input(split, options, 0);
  double sum = 0;
  for (double v : x) sum += v;
  EXPECT_NEAR(output(run_program(split, options).value(), 0)[0], sum, 1e-5 * std::fabs(sum));
  Program tiled = golden("tiled");
  options.symbols = {{"s0", 5}, {"s1", 3}};
  x = input(tiled, options, 0);
  std::vector<double> t = output(run_program(tiled, options).value(), 2);
  EXPECT_EQ(t[5 * 7 + 3], x[512 * 3 + 7]);
}

// A kernel over i0 < 4 with an input %x: <type>[4, 6] and an output %y: <type>[4]; `stages` is its text.
std::string small_program(const std::string& type, const std::string& stages,
                          const std::string& out_type = "") {
  return fmt::format(
      "loop @main {{ %x: {0}[4, 6] = input 0 %y: {1}[4] = output kernel @k {{ nest (i0 in 4) {{ {2} }} }} "
      "return %y }}",
      type, out_type.empty() ? type : out_type, stages);
}

struct ReduceCase {
  const char* type;
  const char* reduce;
  std::vector<double> row;
  double want;
};

TEST(Interpreter, ReductionsOverOneRow) {
  const ReduceCase cases[] = {
      {"f32", "sum", {1, 2, 3, 4, 5, 6}, 21},
      {"f32", "prod", {1, 2, 3, 4, 5, 6}, 720},
      {"f32", "max", {-1, -2, -3, -4, -5, -0.5}, -0.5},
      {"f32", "min", {1, kNan, 3, 4, 5, 6}, kNan},
      {"f32", "max", {-kInf, -kInf, -kInf, -kInf, -kInf, -kInf}, -kInf},
      {"f32", "sum", {1e8, 1, -1e8, 0, 0, 0}, 1},
      {"f64", "sum", {0.5, 0.25, 0, 0, 0, kNan}, kNan},
      {"i8", "sum", {100, 100, 0, 0, 0, 0}, -56},
      {"i32", "prod", {65536, 65536, 1, 1, 1, 1}, 0},
      {"i64", "min", {3, -7, 1, 1, 1, 1}, -7},
      {"u8", "max", {3, 200, 1, 1, 1, 1}, 200},
      {"bool", "any", {0, 0, 0, 0, 1, 0}, 1},
      {"bool", "all", {1, 1, 1, 1, 1, 0}, 0},
      {"bool", "max", {0, 0, 0, 0, 0, 0}, 0},
  };
  for (const ReduceCase& c : cases) {
    std::string text =
        small_program(c.type, fmt::format("stage (r0 in 2, r1 in 3) {{ %0: {0} = load %x[6*i0 + 3*r0 + r1] "
                                          "%1: {0} = reduce {1} %0 }} stage {{ store %y[i0], %1 }}",
                                          c.type, c.reduce));
    CheckOptions options;
    std::vector<double> x = c.row;
    x.resize(24);
    options.inputs[0] = tensor(*ir::dtype_from_name(c.type), {4, 6}, x);
    Result<ProgramResult> result = run_program_text(text, options);
    ASSERT_TRUE(result.ok()) << result.error().text();
    double got = output(*result, 0)[0];
    EXPECT_TRUE(std::isnan(c.want) ? std::isnan(got) : got == c.want)
        << c.type << " " << c.reduce << ": " << got;
  }
}

TEST(Interpreter, ReductionsOverNothingGiveTheIdentity) {
  const std::pair<const char*, double> cases[] = {{"sum", 0}, {"prod", 1}, {"max", -kInf}, {"min", kInf}};
  for (const auto& [reduce, want] : cases) {
    std::string text =
        small_program("f32", fmt::format("stage (r0 in 0) {{ %0: f32 = load %x[r0] %1: f32 = reduce {} %0 }} "
                                         "stage {{ store %y[i0], %1 }}",
                                         reduce));
    EXPECT_EQ(output(run_program_text(text, {}).value(), 0), std::vector<double>(4, want)) << reduce;
  }
  Result<ProgramResult> result = run_program_text(
      small_program(
          "f32",
          "stage (r0 in 0) { %0: f32 = load %x[r0] %1: i64 = index r0 %2: i64 = reduce argmax %0 at %1 } "
          "stage { store %y[i0], %2 }",
          "i64"),
      {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("an arg-reduction over no points"), std::string::npos);
}

TEST(Interpreter, ArgReductionsBreakTiesByPosition) {
  CheckOptions options;
  options.inputs[0] =
      tensor(DType::kI32, {4, 6}, {3, 9, 1, 9, 1, 2, 0, 0, 0, 0, 0, 0, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6});
  for (const auto& [reduce, want] : {std::pair("argmax", std::vector<double>{1, 0, 0, 5}),
                                     std::pair("argmin", std::vector<double>{2, 0, 5, 0})}) {
    // The positions come in falling order, so the least position is not the first that is met.
    std::string text = small_program(
        "i32",
        fmt::format("stage (r0 in 6) {{ %0: i32 = load %x[6*i0 - r0 + 5] %1: i64 = index 5 - r0 "
                    "%2: i64 = reduce {} %0 at %1 }} stage {{ store %y[i0], %2 }}",
                    reduce),
        "i64");
    Result<ProgramResult> result = run_program_text(text, options);
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_EQ(output(*result, 0), want) << reduce;
  }
}

TEST(Interpreter, ReduceInAStageWithoutInnerAxesIsTheValue) {
  std::string text =
      small_program("f32",
                    "stage { %0: f32 = load %x[6*i0] %1: f32 = reduce sum %0 %2: f32 = neg %1 } "
                    "stage { %3: f32 = add %1, %2 %4: f32 = add %3, %1 store %y[i0], %4 }");
  CheckOptions options;
  std::vector<double> x(24, 0.0);
  x[6] = 2.5;
  options.inputs[0] = tensor(DType::kF32, {4, 6}, x);
  EXPECT_EQ(output(run_program_text(text, options).value(), 0), (std::vector<double>{0, 2.5, 0, 0}));
}

TEST(Interpreter, ScansRunAlongTheirAxisOnly) {
  const char* text =
      "loop @main { %x: f32[2, 3] = input 0 %y: f32[2, 3] = output %z: f32[2, 3] = output kernel @k { nest "
      "() { "
      "stage (r0 in 2, r1 in 3) { %0: f32 = load %x[3*r0 + r1] %1: f32 = scan sum %0 along r0 "
      "%2: f32 = scan max %0 along r1 store %y[3*r0 + r1], %1 store %z[3*r0 + r1], %2 } } } return %y, %z }";
  CheckOptions options;
  options.inputs[0] = tensor(DType::kF32, {2, 3}, {3, 1, 4, 1, 5, 9});
  Result<ProgramResult> result = run_program_text(text, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(output(*result, 0), (std::vector<double>{3, 1, 4, 4, 6, 13}));
  EXPECT_EQ(output(*result, 1), (std::vector<double>{3, 3, 4, 1, 5, 9}));
}

TEST(Interpreter, StoreModes) {
  const std::pair<const char*, double> cases[] = {{"add", 4}, {"mul", -21}, {"max", 7}, {"min", -3}};
  for (const char* type : {"i16", "f32", "bf16", "f64"}) {
    for (const auto& [mode, want] : cases) {
      std::string text = fmt::format(
          "loop @main {{ %x: {0}[2] = input 0 %y: {0}[1] = output "
          "kernel @a {{ nest () {{ stage {{ %0: {0} = load %x[0] store %y[0], %0 }} }} }} "
          "kernel @b {{ nest (i0 in 3) {{ stage {{ %0: {0} = load %x[1] store.{1} %y[0], %0 if i0 == 1 }} }} "
          "}} return %y }}",
          type, mode);
      CheckOptions options;
      options.inputs[0] = tensor(*ir::dtype_from_name(type), {2}, {-3, 7});
      Result<ProgramResult> result = run_program_text(text, options);
      ASSERT_TRUE(result.ok()) << result.error().text();
      EXPECT_EQ(output(*result, 0)[0], want) << type << " " << mode;
    }
  }
}

TEST(Interpreter, NumbersIndicesAndLocals) {
  const char* text =
      "loop @main symbols(s0 in [2, 9]) { int(2*s0) = input 0 %b: bool = input 1 %f: float = input 2 %y: "
      "f64[s0] = output "
      "host %g: float = scalar.mul(%f, s0) check s0 < 5 \"too many\" kernel @k { nest (i0 in s0) { local 0: "
      "f64[2] "
      "stage { %0: f64 = param %g %1: bool = param %b %2: f64 = cast %1 store.local 0[0], %0 store.local "
      "0[1], %2 } "
      "stage (r0 in 2) { %3: f64 = load.local 0[r0] %4: f64 = reduce sum %3 } "
      "stage { %5: i64 = index 10*i0 %6: f64 = cast %5 %7: f64 = add %4, %6 store %y[i0], %7 } } } return "
      "%y, %g, s0 }";
  Program program = std::move(read_program(text)).value();
  ProgramRunner runner(program, {});
  Result<std::vector<RunArg>> outputs = runner.run({RunArg{int64_t{6}}, RunArg{true}, RunArg{0.5}});
  ASSERT_TRUE(outputs.ok()) << outputs.error().text();
  EXPECT_EQ(values(copy_of(std::get<TensorView>((*outputs)[0].data))),
            (std::vector<double>{2.5, 12.5, 22.5}));
  EXPECT_EQ(std::get<double>((*outputs)[1].data), 1.5);
  EXPECT_EQ(std::get<int64_t>((*outputs)[2].data), 3);
  outputs = runner.run({RunArg{int64_t{12}}, RunArg{true}, RunArg{0.5}});
  ASSERT_FALSE(outputs.ok());
  EXPECT_EQ(outputs.error().code, "check");
  EXPECT_EQ(outputs.error().message, "too many");
}

struct FaultCase {
  const char* code;
  const char* message;
  const char* stages;
};

TEST(Interpreter, ReportsBrokenPromises) {
  const FaultCase cases[] = {
      {"bounds", "`%0: f32 = load %x[8*i0]` at (i0 = 3): element 24 of a buffer of 24",
       "stage { %0: f32 = load %x[8*i0] store %y[i0], %0 }"},
      {"bounds", "element -1 of a buffer of 24", "stage { %0: f32 = load %x[i0 - 1] store %y[i0], %0 }"},
      {"bounds", "element 4 of a buffer of 4", "stage { %0: f32 = const 0.0 store %y[i0 + 1], %0 }"},
      {"bounds", "element 2 of a local of 2",
       "local 0: f32[2] stage (r0 in 3) { %0: f32 = const 0.0 store.local 0[r0], %0 store %y[i0], %0 }"},
      {"poison", "element 1 is read and was never written",
       "local 0: f32[2] stage { %0: f32 = const 0.0 store.local 0[0], %0 } stage { %1: f32 = load.local 0[1] "
       "store %y[i0], %1 }"},
      {"poison", "%y has elements that were never written",
       "stage { %0: f32 = const 0.0 store %y[i0], %0 if i0 < 3 }"},
      {"poison", "element 1 is read and was never written",
       "stage { %0: f32 = const 0.0 store %y[2*i0], %0 if i0 < 1 %1: f32 = load %y[i0] if i0 == 1 else 0.0 "
       "}"},
      {"race", "another point of this kernel touches element 0 too",
       "stage { %0: f32 = const 0.0 store %y[0], %0 }"},
      {"race", "another point of this kernel touches element 0 too",
       "stage { %0: f32 = const 0.0 store %y[i0], %0 %1: f32 = load %y[0] store %y[i0], %1 }"},
      {"race", "another point of this kernel touches element 0 too",
       "stage { %0: f32 = const 0.0 store %y[0], %0 if i0 == 0 store.add %y[0], %0 if i0 > 0 }"},
      {"overflow", "", "stage { %0: f32 = load %x[4 // (2 - i0)] store %y[i0], %0 }"},
      {"index", "index 4 is out of range for size 4",
       "stage { %0: i64 = index i0 + 1 %1: i64 = check_index %0 in 4 %2: f32 = const 0.0 store %y[%1], %2 }"},
      {"index", "index -1 is out of range for size 4",
       "stage { %0: i64 = index i0 - 1 %1: i64 = check_index %0 in 4 %2: f32 = const 0.0 store %y[%1], %2 }"},
  };
  for (const FaultCase& c : cases) {
    Result<ProgramResult> result = run_program_text(small_program("f32", c.stages), {});
    ASSERT_FALSE(result.ok()) << c.stages;
    EXPECT_EQ(result.error().code, c.code) << result.error().text();
    EXPECT_NE(result.error().message.find(c.message), std::string::npos) << result.error().text();
  }
}

TEST(Interpreter, NestsOfOneKernelMayNotMeet) {
  const char* text =
      "loop @main { %y: f32[4] = output %z: f32[4] = output kernel @k { "
      "nest (i0 in 4) { stage { %0: f32 = const 1.0 store %y[i0], %0 } } "
      "nest (i0 in 4) { stage { %0: f32 = const 2.0 store %z[i0], %0 store %y[3], %0 if i0 == 0 } } } return "
      "%y, %z }";
  Result<ProgramResult> result = run_program_text(text, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "race");
  EXPECT_NE(result.error().message.find("nest 1"), std::string::npos);
}

TEST(Interpreter, NestsOfAPhasedKernelRunInOrder) {
  Program program = golden("phased");
  std::vector<double> x = input(program, {}, 0);
  Result<ProgramResult> result = run_program(program, {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  double mean = 0;
  for (double value : x) mean += value / 64;
  std::vector<double> y = output(*result, 0);
  for (size_t k = 0; k < 64; ++k) EXPECT_NEAR(y[k], x[k] - mean, 1e-5);
}

// Each nest is watched as a kernel by itself: what a nest before it did is past, what another point of its
// own does is not.
TEST(Interpreter, PhasedKernelsAreWatchedNestByNest) {
  const std::string begin = "loop @main { %y: f32[4] = output kernel @k phased { nest (i0 in 4) { stage { ";
  const std::string end = " } } } return %y }";
  const std::string first = "%0: f32 = const 1.0 store %y[i0], %0";
  const std::string next = " } } nest (i0 in 4) { stage { ";
  Result<ProgramResult> result = run_program_text(
      begin + first + next + "%0: f32 = const 2.0 store %y[3 - i0], %0 if i0 < 3 store.add %y[3 - i0], %0" +
          end,
      {});
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(output(*result, 0), (std::vector<double>{3, 4, 4, 4}));
  result = run_program_text(begin + first + next + "%0: f32 = load %y[3 - i0] store %y[i0], %0" + end, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "race");
  EXPECT_NE(result.error().message.find("nest 1"), std::string::npos) << result.error().text();
  result = run_program_text(
      begin + first + " if i0 < 3" + next + "%0: f32 = load %y[i0] store %y[i0], %0" + end, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "poison");
}

TEST(Interpreter, InputsMustBeAsDeclared) {
  Program program = golden("softmax");
  ProgramRunner runner(program, {});
  auto error = [&](std::vector<RunArg> inputs) { return runner.run(inputs).error().message; };
  HostTensor right = HostTensor::contiguous(DType::kF32, {3, 512});
  HostTensor type = HostTensor::contiguous(DType::kF64, {3, 512});
  HostTensor size = HostTensor::contiguous(DType::kF32, {3, 511});
  HostTensor strides = HostTensor::make(DType::kF32, {3, 512}, {600, 1});
  HostTensor range = HostTensor::contiguous(DType::kF32, {1, 512});
  EXPECT_TRUE(runner.run({RunArg{right.view()}}).ok());
  EXPECT_EQ(error({}), "0 inputs are given, the program has 1");
  EXPECT_EQ(error({RunArg{1.0}}), "input 0 (%x) is no tensor");
  EXPECT_EQ(error({RunArg{type.view()}}), "input 0 (%x) is a f64 of rank 2");
  EXPECT_EQ(error({RunArg{size.view()}}), "size 1 of input 0 (%x) is 511, it is declared as 512 = 512");
  EXPECT_EQ(error({RunArg{strides.view()}}), "stride 0 of input 0 (%x) is 600, it is declared as 512 = 512");
  EXPECT_EQ(error({RunArg{range.view()}}), "s0 is 1, which is outside its range");
}

TEST(Interpreter, CallsGetTensorsAndDefineSymbols) {
  const char* text =
      "loop @main symbols(s0 in [2, 9], u0 in [0, 9]) { %x: f32[s0] = input 0 %v: f32[2] = view %x offset s0 "
      "- 2 "
      "%r: f32[u0] = result %y: f32[u0] = output schema aten.demo.default(Tensor[] a, int b) -> (Tensor) "
      "call aten.demo.default([%v], s0) -> (%r) defines(u0) "
      "kernel @k { nest (i0 in u0) { stage { %0: f32 = load %r[i0] %1: f32 = neg %0 store %y[i0], %1 } } } "
      "return %y, u0 }";
  CheckOptions options{.symbols = {{"s0", 4}}};
  options.inputs[0] = tensor(DType::kF32, {4}, {1, 2, 3, 4});
  options.call = [](const Call&, const RunArg::List& args) -> Result<CallResult> {
    const TensorView& v = std::get<TensorView>(std::get<RunArg::List>(args.at(0).data).at(0).data);
    std::vector<double> x = values(copy_of(v));
    EXPECT_EQ(std::get<int64_t>(args.at(1).data), 4);
    return CallResult{{tensor(DType::kF32, {3}, {x[0], x[1], 10})}, {3}};
  };
  Result<ProgramResult> result = run_program_text(text, options);
  ASSERT_TRUE(result.ok()) << result.error().text();
  EXPECT_EQ(output(*result, 0), (std::vector<double>{-3, -4, -10}));
  EXPECT_EQ(std::get<int64_t>(result->outputs[1].data), 3);
  options.call = [](const Call&, const RunArg::List&) -> Result<CallResult> {
    return CallResult{{tensor(DType::kF32, {2}, {0, 0})}, {3}};
  };
  result = run_program_text(text, options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("gave %r another type"), std::string::npos);
  options.call = {};
  EXPECT_TRUE(run_program_text(text, options).ok());
}

TEST(Interpreter, ViewsOfUnwrittenOrMissingMemoryAreReported) {
  const char* poison =
      "loop @main { %t: f32[4] = temp %v: f32[2] = view %t offset 2 kernel @k { nest (i0 in 3) { stage { "
      "%0: f32 = const 0.0 store %t[i0], %0 } } } call python.0(%v) -> () return }";
  Result<ProgramResult> result = run_program_text(poison, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "poison");
  const char* bounds =
      "loop @main { %x: f32[4] = input 0 %v: f32[2] = view %x offset 3 call python.0(%v) -> () return }";
  result = run_program_text(bounds, {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, "bounds");
}

TEST(HostScalar, FollowsPython) {
  struct Row {
    const char* op;
    double a, b, want;
  };
  const Row rows[] = {{"add", 1, 2, 3},        {"sub", 1, 2, -1},       {"mul", 3, 0.5, 1.5},
                      {"truediv", 1, 4, 0.25}, {"floordiv", -7, 2, -4}, {"mod", -7, 2, 1},
                      {"mod", 7, -2, -1},      {"pow", 2, 10, 1024},    {"min", 1, 2, 1},
                      {"max", 1, 2, 2}};
  for (const Row& row : rows) {
    Result<RunArg> got = host_scalar(std::string("scalar.") + row.op, {RunArg{row.a}, RunArg{row.b}});
    ASSERT_TRUE(got.ok()) << row.op;
    EXPECT_EQ(std::get<double>(got->data), row.want) << row.op;
  }
  EXPECT_EQ(std::get<bool>(host_scalar("scalar.lt", {RunArg{int64_t{1}}, RunArg{2.0}})->data), true);
  EXPECT_EQ(std::get<bool>(host_scalar("scalar.not", {RunArg{true}})->data), false);
  EXPECT_EQ(std::get<double>(host_scalar("scalar.sqrt", {RunArg{int64_t{9}}})->data), 3);
  HostTensor one = tensor(DType::kBF16, {1}, {1.5});
  EXPECT_EQ(std::get<double>(host_scalar("scalar.item", {RunArg{one.view()}})->data), 1.5);
  EXPECT_EQ(host_scalar("scalar.truediv", {RunArg{1.0}, RunArg{0.0}}).error().code, "check");
  EXPECT_EQ(host_scalar("scalar.frob", {RunArg{1.0}}).error().code, "unsupported");
}

}  // namespace
}  // namespace jumar::loop
