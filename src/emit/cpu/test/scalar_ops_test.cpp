// Every row of loop/ops.def on every type it takes, in vectors and in tails, against the interpreter.
#include <gtest/gtest.h>

#include "emit/cpu/test/native_program.h"

namespace jumar::emit::cpu {
namespace {

using ir::DType;
using loop::ScalarOp;
using loop::TypeRule;

const std::vector<DType>& all_types() {
  static const std::vector<DType> types = {
      DType::kU8,   DType::kI8,     DType::kI16,      DType::kI32,        DType::kI64,       DType::kU16,
      DType::kU32,  DType::kU64,    DType::kF16,      DType::kF32,        DType::kF64,       DType::kBool,
      DType::kBF16, DType::kF8E5M2, DType::kF8E4M3FN, DType::kF8E5M2FNUZ, DType::kF8E4M3FNUZ};
  return types;
}

// A program of one pointwise nest over three inputs of one type, with an output for each line that is added.
class ProgramText {
 public:
  explicit ProgramText(DType in) : in_(ir::dtype_name(in)) {}

  void add(const std::string& right_side, DType out) {
    const std::string type(ir::dtype_name(out));
    outputs_ += fmt::format("  %y{}: {}[{}] = output\n", count_, type, kElems);
    body_ += fmt::format("        %{}: {} = {}\n        store %y{}[i0], %{}\n", count_ + 4, type, right_side,
                         count_, count_ + 4);
    returned_ += fmt::format("{}%y{}", count_ == 0 ? "" : ", ", count_);
    ++count_;
  }

  bool empty() const { return count_ == 0; }

  std::string text() const {
    std::string out = "loop strict @main {\n";
    for (const char* name : {"a", "b", "c"})
      out += fmt::format("  %{}: {}[{}] = input {}\n", name, in_, kElems, name[0] - 'a');
    out += fmt::format("  %d: bool[{}] = input 3\n", kElems) + outputs_;
    out += fmt::format("  kernel @k {{\n    nest (i0 in {}) {{\n      stage {{\n", kElems);
    for (const char* name : {"a", "b", "c"})
      out += fmt::format("        %{}: {} = load %{}[i0]\n", name[0] - 'a', in_, name);
    out += "        %3: bool = load %d[i0]\n";
    return out + body_ + "      }\n    }\n  }\n  return " + returned_ + "\n}\n";
  }

 private:
  // Some full vectors and a tail, for every width.
  static constexpr int kElems = 301;
  std::string in_;
  std::string outputs_;
  std::string body_;
  std::string returned_;
  int count_ = 0;
};

void check(const ProgramText& program, const loop::CheckOptions& options, const loop::Tolerance& tolerance) {
  if (program.empty()) return;
  const Status status = check_native(program.text(), options, tolerance);
  // The notes hold whole programs; the first line names the output that differs.
  EXPECT_TRUE(status.ok()) << status.error().text().substr(0, 6000);
}

// Everything that rounds correctly must agree to the bit.
bool is_exact(ScalarOp op, DType type) {
  if (!ir::is_float(type)) return true;
  return op < ScalarOp::kExp;
}

void add_op(ProgramText& program, ScalarOp op, DType type) {
  std::string right_side(loop::scalar_op_name(op));
  if (op == ScalarOp::kSelect) {
    program.add("select %3, %0, %1", type);
    return;
  }
  for (int k = 0; k < loop::scalar_op_arity(op); ++k)
    right_side += fmt::format("{} %{}", k > 0 ? "," : "", k);
  const TypeRule rule = loop::scalar_op_rule(op);
  const bool is_bool = rule == TypeRule::kCompare || rule == TypeRule::kPredicate;
  program.add(right_side, is_bool ? DType::kBool : type);
}

void check_ops(DType type, bool exact, const loop::CheckOptions& options, const loop::Tolerance& tolerance) {
  ProgramText program(type);
  for (size_t k = 0; k < loop::scalar_op_count(); ++k) {
    const auto op = static_cast<ScalarOp>(k);
    if (loop::scalar_op_rule(op) == TypeRule::kConvert || !loop::scalar_op_takes(op, type)) continue;
    if (is_exact(op, type) == exact) add_op(program, op, type);
  }
  check(program, options, tolerance);
}

class ScalarOps : public testing::TestWithParam<DType> {};

TEST_P(ScalarOps, SmallNumbers) {
  check_ops(GetParam(), true, {.seed = 3}, loop::Tolerance::exact());
  check_ops(GetParam(), false, {.seed = 4}, {});
}

TEST_P(ScalarOps, SpecialNumbers) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const loop::CheckOptions options = {
      .seed = 5, .special_share = 0.5, .int_low = -most - 1, .int_high = most};
  check_ops(GetParam(), true, options, loop::Tolerance::exact());
  check_ops(GetParam(), false, options, {.relative = 2e-5});
}

// Divisions, shifts and powers have corners among tiny operands.
TEST_P(ScalarOps, TinyIntegers) {
  if (!ir::is_integer(GetParam())) GTEST_SKIP();
  check_ops(GetParam(), true, {.seed = 6, .int_low = -2, .int_high = 2}, loop::Tolerance::exact());
}

TEST_P(ScalarOps, Conversions) {
  for (double special : {0.0, 0.5}) {
    for (ScalarOp op : {ScalarOp::kCast, ScalarOp::kBitcast}) {
      ProgramText program(GetParam());
      for (DType to : all_types()) {
        const bool equally_wide = ir::dtype_bytes(to) == ir::dtype_bytes(GetParam());
        if (op == ScalarOp::kBitcast && (!equally_wide || ir::is_bool(to) || ir::is_bool(GetParam())))
          continue;
        program.add(fmt::format("{} %0", loop::scalar_op_name(op)), to);
      }
      const int64_t most = std::numeric_limits<int64_t>::max();
      loop::CheckOptions options = {.seed = 7, .special_share = special};
      if (special > 0) options.int_low = -most - 1;
      if (special > 0) options.int_high = most;
      check(program, options, loop::Tolerance::exact());
    }
  }
}

std::string type_name(const testing::TestParamInfo<DType>& info) {
  return std::string(ir::dtype_name(info.param));
}

INSTANTIATE_TEST_SUITE_P(Types, ScalarOps, testing::ValuesIn(all_types()), type_name);

}  // namespace
}  // namespace jumar::emit::cpu
