#include "driver/toolchain/messages.h"

#include <gtest/gtest.h>

#include "driver/toolchain/adapt.h"

// Texts are what triton-adapter-opt 3.2.0 and bishengir-compile 1.2.0 printed, shortened in paths.
namespace jumar::driver::toolchain {
namespace {

TEST(Messages, OverflowOnA2AfterTwoRetries) {
  const Messages said =
      read_messages(R"(<unknown>:0: warning: linalg.yield %arg12 : f32 and its users all have no location!
<unknown>:0: note: see current operation: linalg.yield %arg12 : f32
[NOTE] Ub overflow detected; automatically set enable-code-motion to false and retrying compilation.
[NOTE] Ub overflow detected; automatically set enable-auto-multi-buffer to false and retrying compilation.
[NOTE] Due to Ub overflow, automatically set enable-code-motion to false, set enable-auto-multi-buffer to false; compilation still failed.
loc("/tmp/k/kernel.linalg.mlir":1:1): error: Failed to run BiShengHIR pipeline

loc("/tmp/k/kernel.linalg.mlir":2:3): error: ub overflow, requires 4194304 bits while 1572864 bits available! (possible reason: tiling basic block is too large or block number is more than what user expect due to multi-buffer feature is enabled and some ops need extra local buffer.)
[ERROR] Failed to run BiShengIR pipeline
)");
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
  std::string text;
  for (int k = 0; k < 3; ++k) {
    text += R"(loc("/tmp/k/kernel.linalg.mlir":1:1): error: Failed to run buildFinalHIVMPipelines pipeline

loc("/tmp/k/kernel.linalg.mlir":2:3): error: ub overflow, requires 2097152 bits while 2031616 bits available!
)";
  }
  const Messages said = read_messages(text);
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
  const Messages said =
      read_messages(R"(<stdin>:32:11: error: expected offsets to be non-negative, but got -30
    %22 = tt.addptr %20, %21 : tensor<32x128x!tt.ptr<f32>>, tensor<32x128xi32>
          ^
<stdin>:32:11: note: see current operation: %26 = "memref.reinterpret_cast"(%arg1) : (memref<?xf32>) -> memref<32x128xf32>
<unknown>:0: warning: "linalg.yield"(%arg18) : (i32) -> () and its users all have no location!
)");
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
  const Messages said = read_messages(
      "bishengir-compile-a5: "
      "/usr1/BiSheng/npuir-a5/third-party/llvm-project/mlir/lib/Dialect/MemRef/Transforms/"
      "ExpandStridedMetadata.cpp:287: SmallVector<mlir::OpFoldResult> (anonymous "
      "namespace)::getExpandedSizes("
      "memref::ExpandShapeOp, mlir::OpBuilder &, ArrayRef<mlir::OpFoldResult>, unsigned int): Assertion "
      "`!dynSizeIdx && \"There must be at most one dynamic size per group\"' failed.\n"
      "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ and include the crash "
      "backtrace.\nStack dump:\n0.\tProgram arguments: /tools/bishengir-compile-a5 k.linalg.mlir\n"
      " #0 0x0000560fa4a1df95 (/tools/bishengir-compile-a5+0x883df95)\n");
  ASSERT_EQ(said.faults.size(), 1U);
  EXPECT_EQ(said.main_fault().message,
            "Assertion `!dynSizeIdx && \"There must be at most one dynamic size per group\"' failed. "
            "(ExpandStridedMetadata.cpp:287)");
}

TEST(Messages, ParseErrorBeforeItsSummary) {
  const Messages said = read_messages(
      R"(loc("/tmp/k/kernel.linalg.mlir":27:22): error: operation being parsed with an unregistered dialect. If this is intended, please use -allow-unregistered-dialect with the MLIR tool used
[ERROR] Failed to parse input file:  /tmp/k/kernel.linalg.mlir
)");
  const Fault fault = said.main_fault();
  EXPECT_EQ(fault.message.substr(0, 52), "operation being parsed with an unregistered dialect.");
  EXPECT_EQ(fault.line, 27);
  EXPECT_EQ(fault.column, 22);
}

TEST(Messages, LinkerThatIsMissing) {
  const Messages said = read_messages(R"([ERROR] Cannot find hivmc under $PATH
[ERROR] Failed to run `hivmc --version`.
[WARNING] Failed to detect hivmc version for backward compatibility
[ERROR] Cannot find hivmc under $PATH
loc("/tmp/k/k.linalg.mlir":1:1): error: External hivmc run fails, returning module before running external compiler
[ERROR] Failed to run BiShengIR pipeline
)");
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
