#include "driver/toolchain/messages.h"

#include <gtest/gtest.h>

#include "driver/toolchain/adapt.h"
#include "support/files.h"

// The files are what triton-adapter-opt 3.2.0 and bishengir-compile 1.2.0 printed, shortened in paths.
namespace jumar::driver::toolchain {
namespace {

Messages messages_of(const std::string& file) {
  return read_messages(bytes_of_file(std::string(JUMAR_TEST_DIR) + "/messages/" + file).value());
}

TEST(Messages, OverflowOnA2AfterTwoRetries) {
  const Messages said = messages_of("overflow_a2.txt");
  ASSERT_TRUE(said.overflow);
  EXPECT_EQ(*said.overflow, (Overflow{"ub", 4194304, 1572864}));
  EXPECT_TRUE(said.dropped_code_motion);
  EXPECT_TRUE(said.dropped_multi_buffer);
  const Fault fault = said.main_fault();
  EXPECT_EQ(fault.message.substr(0, 12), "ub overflow,");
  EXPECT_EQ(fault.line, 2);
  EXPECT_EQ(fault.column, 3);
  EXPECT_EQ(said.faults.size(), 3U);
}

TEST(Messages, OneRetryIsOneDroppedOptimization) {
  const Messages said = read_messages(
      "[NOTE] Ub overflow detected; automatically set enable-code-motion to false and retrying "
      "compilation.\n");
  EXPECT_TRUE(said.dropped_code_motion);
  EXPECT_FALSE(said.dropped_multi_buffer);
  EXPECT_TRUE(said.faults.empty());
}

TEST(Messages, OverflowOnA5IsToldOnceForEachAttempt) {
  const Messages said = messages_of("overflow_a5.txt");
  ASSERT_TRUE(said.overflow);
  EXPECT_EQ(*said.overflow, (Overflow{"ub", 2097152, 2031616}));
  EXPECT_EQ(said.faults.size(), 2U);
  EXPECT_FALSE(said.dropped_code_motion);
}

TEST(Messages, AllocatedUbOnA5) {
  const Messages said = read_messages("[AscendNPU IR] Allocated UB size = 54272 bits \n");
  EXPECT_EQ(said.allocated_ub_bits, 54272);
  EXPECT_TRUE(said.faults.empty());
}

TEST(Messages, PlaceInTheInputOfTheAdapter) {
  const Messages said = messages_of("negative_offset.txt");
  ASSERT_EQ(said.faults.size(), 1U);
  EXPECT_EQ(said.faults[0].message, "expected offsets to be non-negative, but got -30");
  EXPECT_EQ(said.faults[0].line, 32);
  EXPECT_EQ(said.faults[0].column, 11);
}

TEST(Messages, UnknownPlaceHasNoLine) {
  const Fault fault = read_messages("<unknown>:0: error: strides must not be zero\n").main_fault();
  EXPECT_EQ(fault.message, "strides must not be zero");
  EXPECT_EQ(fault.line, 0);
}

TEST(Messages, AssertionWithoutItsFunction) {
  const Messages said = messages_of("assertion_a5.txt");
  ASSERT_EQ(said.faults.size(), 1U);
  EXPECT_EQ(said.main_fault().message,
            "Assertion `!dynSizeIdx && \"There must be at most one dynamic size per group\"' failed. "
            "(ExpandStridedMetadata.cpp:287)");
}

TEST(Messages, ParseErrorBeforeItsSummary) {
  const Messages said = messages_of("unregistered.txt");
  const Fault fault = said.main_fault();
  EXPECT_EQ(fault.message.substr(0, 52), "operation being parsed with an unregistered dialect.");
  EXPECT_EQ(fault.line, 27);
  EXPECT_EQ(fault.column, 22);
}

TEST(Messages, LinkerThatIsMissing) {
  const Messages said = messages_of("no_linker.txt");
  EXPECT_TRUE(said.lacks_linker);
}

TEST(Messages, WrongArguments) {
  EXPECT_EQ(read_messages("bishengir-compile: Unknown command line argument '--bogus'.  Try: 'x --help'\n")
                .main_fault()
                .message,
            "Unknown command line argument '--bogus'.  Try: 'x --help'");
  EXPECT_EQ(
      read_messages("bishengir-compile: for the --target option: Cannot find option named 'Ascend11'!\n")
          .main_fault()
          .message,
      "for the --target option: Cannot find option named 'Ascend11'!");
}

TEST(Messages, NothingUnderstoodShowsTheEnd) {
  const Fault fault = read_messages("one\ntwo\nthree\nfour\n").main_fault();
  EXPECT_EQ(fault.message, "two\nthree\nfour");
  EXPECT_TRUE(fault.is_general);
  EXPECT_EQ(read_messages("").main_fault().message, "it says nothing");
}

TEST(PreparedLinalg, MixModeIsTakenOut) {
  const LinalgText out = prepared_linalg(
      R"(func.func @k() attributes {global_kernel = "local", mix_mode = "aiv", parallel_mode = "simd"} {)",
      false);
  EXPECT_EQ(out.mix_mode, "aiv");
  EXPECT_EQ(out.text, R"(func.func @k() attributes {global_kernel = "local", parallel_mode = "simd"} {)");
  EXPECT_EQ(prepared_linalg(R"({mix_mode = "mix", a = 1})", false).text, "{a = 1}");
  EXPECT_EQ(prepared_linalg(R"({mix_mode = "mix"})", false).text, "{}");
}

TEST(PreparedLinalg, UnsignedSourceIsAddedWhereItLacks) {
  const std::string text = R"({reduce_mode = "max_with_index", tie_break_left = "true"})";
  EXPECT_EQ(prepared_linalg(text, true).text,
            R"({reduce_mode = "max_with_index", tie_break_left = "true", unsigned_src = "false"})");
  EXPECT_EQ(prepared_linalg(text, false).text, text);
  const std::string whole = R"({tie_break_left = "true", unsigned_src = "true"})";
  EXPECT_EQ(prepared_linalg(whole, true).text, whole);
}

TEST(LeftOver, OperationsOfTritonAndNotItsAttributes) {
  EXPECT_FALSE(left_over("func.func @k(%a: memref<?xf32> {tt.tensor_kind = 0 : i32}) {\n  return\n}\n"));
  const auto quoted = left_over("module {\n  %7 = \"tt.reduce\"(%6) <{axis = 1 : i32}> ({\n");
  ASSERT_TRUE(quoted);
  EXPECT_EQ(quoted->operation, "tt.reduce");
  EXPECT_EQ(quoted->line, 2);
  const auto plain = left_over("  tt.store %1, %2 : tensor<4x!tt.ptr<f32>>\n");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->operation, "tt.store");
}

}  // namespace
}  // namespace jumar::driver::toolchain
