// Scalar operators against eager PyTorch (scalar_golden.txt, made by tests/golden_scalar.py) and against
// facts that need no golden file.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

using ir::DType;

struct GoldenLine {
  std::string op;
  DType operand;
  DType result;
  std::vector<std::string> bits;  // "-": nothing is promised
};

struct Golden {
  std::map<std::pair<std::string, DType>, std::vector<Scalar>> values;  // "values1", "values2", "cast_values"
  std::vector<GoldenLine> lines;
};

DType dtype_of(const std::string& name) {
  std::optional<DType> type = ir::dtype_from_name(name);
  EXPECT_TRUE(type.has_value()) << name;
  return type.value_or(DType::kF32);
}

Golden read_golden() {
  Golden golden;
  std::ifstream in(std::string(JUMAR_TEST_DIR) + "/scalar_golden.txt");
  EXPECT_TRUE(in.good());
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with("#")) continue;
    std::istringstream words(text);
    std::string op, operand, word;
    words >> op >> operand;
    if (op.find("values") != std::string::npos) {
      std::vector<Scalar>& list = golden.values[{op, dtype_of(operand)}];
      while (words >> word) list.push_back({dtype_of(operand), std::stoull(word, nullptr, 16)});
      continue;
    }
    GoldenLine line;
    words >> word >> word;
    line = {op, dtype_of(operand), dtype_of(word), {}};
    while (words >> word) line.bits.push_back(word);
    golden.lines.push_back(std::move(line));
  }
  return golden;
}

// What eager rounds correctly; its f32 sqrt may come from a library that is one unit off.
bool is_approximate(ScalarOp op) {
  static const std::set<std::string_view> kExact = {
      "add",   "sub",  "mul",   "div",   "trunc_div",  "floor_div", "fmod", "remainder",
      "neg",   "abs",  "sign",  "max",   "min",        "fmax",      "fmin", "copysign",
      "floor", "ceil", "trunc", "round", "reciprocal", "cast"};
  return !kExact.contains(scalar_op_name(op));
}

// Relative error that eager's own functions are allowed here; they are worst at digamma and lgamma near
// roots.
bool agrees(ScalarOp op, Scalar got, Scalar want) {
  if (!ir::is_float(got.type)) return got.bits == want.bits;
  double a = as_double(got);
  double b = as_double(want);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  bool is_extreme =
      op == ScalarOp::kMax || op == ScalarOp::kMin || op == ScalarOp::kFmax || op == ScalarOp::kFmin;
  if (a == 0 && b == 0) return is_extreme || std::signbit(a) == std::signbit(b);
  if (got.bits == want.bits) return true;
  if (!is_approximate(op) || std::isinf(a) || std::isinf(b)) return false;
  double epsilon = got.type == DType::kF32 ? 4e-7 : 4e-15;
  if (op == ScalarOp::kDigamma || op == ScalarOp::kLgamma || op == ScalarOp::kErfinv) epsilon *= 50;
  double smallest = got.type == DType::kF32 ? 2e-45 : 1e-323;
  return std::fabs(a - b) <= std::max(epsilon * std::max(std::fabs(a), std::fabs(b)), smallest);
}

std::string text_of(Scalar s) {
  return fmt::format("{}:{:x} ({})", ir::dtype_name(s.type), s.bits, as_double(s));
}

TEST(ScalarEval, AgreesWithEagerOnSpecialValues) {
  Golden golden = read_golden();
  ASSERT_GE(golden.lines.size(), 550u);
  std::set<std::string> ops;
  size_t compared = 0;
  for (const GoldenLine& line : golden.lines) {
    std::optional<ScalarOp> op = scalar_op_from_name(line.op);
    ASSERT_TRUE(op.has_value()) << line.op;
    ops.insert(line.op);
    int arity = scalar_op_arity(*op);
    std::string list = *op == ScalarOp::kCast ? "cast_values" : arity == 1 ? "values1" : "values2";
    const std::vector<Scalar>& values = golden.values[{list, line.operand}];
    ASSERT_EQ(line.bits.size(), arity == 1 ? values.size() : values.size() * values.size()) << line.op;
    for (size_t k = 0; k < line.bits.size(); ++k) {
      if (line.bits[k] == "-") continue;
      std::vector<Scalar> operands = {values[arity == 1 ? k : k / values.size()]};
      if (arity == 2) operands.push_back(values[k % values.size()]);
      Scalar want{line.result, std::stoull(line.bits[k], nullptr, 16)};
      Scalar got = evaluate(*op, line.result, operands);
      ++compared;
      EXPECT_TRUE(agrees(*op, got, want))
          << line.op << " " << text_of(operands[0]) << (arity == 2 ? ", " + text_of(operands[1]) : "")
          << ": got " << text_of(got) << ", eager has " << text_of(want);
    }
  }
  EXPECT_GT(compared, 30000u);
  // The rows that eager has no one function for are checked by the tests below.
  std::set<std::string> rest = {"select", "demote", "bitcast"};
  for (size_t k = 0; k < scalar_op_count(); ++k) {
    std::string name(scalar_op_name(static_cast<ScalarOp>(k)));
    EXPECT_EQ(ops.contains(name), !rest.contains(name)) << name;
  }
}

Scalar apply(ScalarOp op, DType result, std::initializer_list<Scalar> operands) {
  return evaluate(op, result, {operands.begin(), operands.size()});
}

TEST(ScalarEval, SelectDemoteBitcast) {
  Scalar yes{DType::kBool, 1}, no{DType::kBool, 0};
  Scalar a = scalar_of(1.5, DType::kBF16), b = scalar_of(-2.0, DType::kBF16);
  EXPECT_EQ(apply(ScalarOp::kSelect, DType::kBF16, {yes, a, b}), a);
  EXPECT_EQ(apply(ScalarOp::kSelect, DType::kBF16, {no, a, b}), b);
  EXPECT_EQ(apply(ScalarOp::kDemote, DType::kBF16, {scalar_of(1.00390625, DType::kF32)}).bits, 0x3f80u);
  EXPECT_EQ(apply(ScalarOp::kDemote, DType::kF16, {scalar_of(70000, DType::kF32)}).bits, 0x7c00u);
  EXPECT_EQ(apply(ScalarOp::kBitcast, DType::kI32, {scalar_of(-0.0, DType::kF32)}).bits, 0x80000000u);
  EXPECT_EQ(
      as_double(apply(ScalarOp::kBitcast, DType::kF64, {scalar_of_int(0x4000000000000000, DType::kI64)})),
      2.0);
}

// Where eager raises or the machine traps, the table decides.
TEST(ScalarEval, IntegerDivisionByZeroAndByMinusOne) {
  struct Row {
    ScalarOp op;
    int64_t a, b, want;
  };
  constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
  const Row rows[] = {{ScalarOp::kTruncDiv, 7, 0, 0},
                      {ScalarOp::kFloorDiv, -7, 0, 0},
                      {ScalarOp::kFmod, 7, 0, 0},
                      {ScalarOp::kRemainder, -7, 0, 0},
                      {ScalarOp::kFmod, kLeast, -1, 0},
                      {ScalarOp::kRemainder, kLeast, -1, 0},
                      {ScalarOp::kTruncDiv, kLeast, -1, kLeast},
                      {ScalarOp::kFloorDiv, kLeast, -1, kLeast},
                      {ScalarOp::kTruncDiv, -7, 2, -3},
                      {ScalarOp::kFloorDiv, -7, 2, -4},
                      {ScalarOp::kFmod, -7, 2, -1},
                      {ScalarOp::kRemainder, -7, 2, 1},
                      {ScalarOp::kRemainder, 7, -2, -1},
                      {ScalarOp::kShl, 1, 32, 0},
                      {ScalarOp::kShl, 1, -1, 0},
                      {ScalarOp::kShr, -8, 40, -1},
                      {ScalarOp::kShr, 8, -1, 0},
                      {ScalarOp::kPow, 0, -1, 0},
                      {ScalarOp::kPow, -1, -3, -1},
                      {ScalarOp::kPow, 3, 21, 1870418611}};
  for (const Row& row : rows) {
    Scalar got =
        apply(row.op, DType::kI32, {scalar_of_int(row.a, DType::kI32), scalar_of_int(row.b, DType::kI32)});
    EXPECT_EQ(as_int(got), row.want) << scalar_op_name(row.op) << " " << row.a << ", " << row.b;
  }
}

// Types of which eager has few operators: all integers behave as one pattern at their width.
TEST(ScalarEval, EveryIntegerTypeWraps) {
  for (DType type : {DType::kU8, DType::kI8, DType::kU16, DType::kI16, DType::kU32, DType::kI32, DType::kU64,
                     DType::kI64}) {
    Scalar most = greatest_scalar(type), least = least_scalar(type), one = scalar_of_int(1, type);
    EXPECT_EQ(apply(ScalarOp::kAdd, type, {most, one}), least);
    EXPECT_EQ(apply(ScalarOp::kSub, type, {least, one}), most);
    EXPECT_EQ(apply(ScalarOp::kMax, type, {most, least}), most);
    EXPECT_EQ(apply(ScalarOp::kMin, type, {most, least}), least);
    EXPECT_EQ(apply(ScalarOp::kLt, DType::kBool, {least, most}).bits, 1u);
    EXPECT_EQ(apply(ScalarOp::kMul, type, {most, most}), ir::is_unsigned(type) ? one : one);
    EXPECT_EQ(apply(ScalarOp::kNeg, type, {one}), apply(ScalarOp::kNot, type, {scalar_of_int(0, type)}));
  }
}

TEST(ScalarEval, SmallFloatsDecodeToWhatTheyEncode) {
  for (DType type : {DType::kF16, DType::kBF16, DType::kF8E5M2, DType::kF8E4M3FN, DType::kF8E5M2FNUZ,
                     DType::kF8E4M3FNUZ}) {
    uint64_t codes = uint64_t{1} << (8 * ir::dtype_bytes(type));
    for (uint64_t code = 0; code < codes; ++code) {
      Scalar s{type, code};
      if (is_nan(s)) {
        EXPECT_TRUE(is_nan(scalar_of(as_double(s), type)));
      } else {
        EXPECT_EQ(scalar_of(as_double(s), type).bits, code) << ir::dtype_name(type);
      }
    }
  }
}

TEST(ScalarEval, InverseErrorFunctionAndDigamma) {
  for (double x : {-0.999999, -0.9, -0.3, -1e-8, 1e-300, 0.2, 0.5, 0.7, 0.99, 0.999999999}) {
    double y = erfinv(x);
    EXPECT_NEAR(std::erf(y), x, 4e-16 * std::max(1.0, std::fabs(x))) << x;
  }
  EXPECT_NEAR(erfinv(0.5), 0.47693627620446987, 1e-16);
  EXPECT_NEAR(digamma(1), -0.57721566490153286, 1e-15);
  EXPECT_NEAR(digamma(0.5), -1.9635100260214235, 4e-15);
  EXPECT_NEAR(digamma(-1.5), 0.70315664064524319, 4e-15);
  EXPECT_NEAR(digamma(1e10), 23.02585092989, 1e-9);
}

TEST(ScalarOps, TableAnswers) {
  EXPECT_TRUE(scalar_op_takes(ScalarOp::kAdd, DType::kI8));
  EXPECT_FALSE(scalar_op_takes(ScalarOp::kAdd, DType::kBool));
  EXPECT_FALSE(scalar_op_takes(ScalarOp::kAdd, DType::kBF16));
  EXPECT_FALSE(scalar_op_takes(ScalarOp::kExp, DType::kI32));
  EXPECT_TRUE(scalar_op_takes(ScalarOp::kCast, DType::kF8E4M3FN));
  EXPECT_FALSE(scalar_op_takes(ScalarOp::kCast, DType::kC64));
  EXPECT_TRUE(scalar_op_takes(ScalarOp::kSelect, DType::kBF16));
  EXPECT_FALSE(scalar_op_takes(ScalarOp::kDemote, DType::kF64));
  for (size_t k = 0; k < scalar_op_count(); ++k) {
    ScalarOp op = static_cast<ScalarOp>(k);
    EXPECT_EQ(scalar_op_from_name(scalar_op_name(op)), op);
  }
  EXPECT_EQ(scalar_op_from_name("frob"), std::nullopt);
}

}  // namespace
}  // namespace jumar::loop
