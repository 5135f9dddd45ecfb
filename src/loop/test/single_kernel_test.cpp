// A kernel as a program of its own is one that reads, verifies and does the same.
#include <gtest/gtest.h>

#include "loop/single_kernel.h"

namespace jumar::loop {
namespace {

TEST(SingleKernel, HasWhatTheKernelTouchesAndNothingElse) {
  const Result<Program> program = read_program(R"(loop @main symbols(s0 in [2, 99]) {
  %n: float = input 1
  %x: f32[s0, 3] = input 0
  %t: f32[s0, 3] = temp
  %y: f32[s0, 3] = output
  kernel @first {
    nest (i0 in s0, i1 in 3) {
      stage {
        %0: f32 = load %x[3*i0 + i1]
        store %t[3*i0 + i1], %0
      }
    }
  }
  kernel @second origin "aten.mul.Scalar" {
    nest (i0 in s0, i1 in 3) {
      stage {
        %0: f32 = load %t[3*i0 + i1]
        %1: f64 = param %n
        %2: f32 = cast %1
        %3: f32 = mul %0, %2
        store %y[3*i0 + i1], %3
      }
    }
  }
  return %y
})");
  ASSERT_TRUE(program.ok()) << program.error().text();
  ASSERT_TRUE(verify(*program).ok());
  const Program second = single_kernel(*program, std::get<Kernel>(program->items[1]));
  const Status status = verify(second);
  ASSERT_TRUE(status.ok()) << status.error().text();
  const std::string text = write_program(second);
  EXPECT_EQ(text, R"(loop @second symbols(s0 in [2, 99]) {
  int(s0) = input 2
  %t: f32[s0, 3] = input 0
  %y: f32[s0, 3] = output
  %n: float = input 1
  kernel @second origin "aten.mul.Scalar" {
    nest (i0 in s0, i1 in 3) {
      stage {
        %0: f32 = load %t[3*i0 + i1]
        %1: f64 = param %n
        %2: f32 = cast %1
        %3: f32 = mul %0, %2
        store %y[3*i0 + i1], %3
      }
    }
  }
  return %y
}
)");
  const Result<Program> again = read_program(text);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(write_program(*again), text);
}

// A later nest reads what an earlier one of the same kernel stored.
TEST(SingleKernel, OwnResultsStayOutputs) {
  const Result<Program> program = read_program(R"(loop @main {
  %x: f32[3] = input 0
  %t: f32[3] = temp
  %y: f32[3] = output
  kernel @k phased {
    nest (i0 in 3) {
      stage {
        %0: f32 = load %x[i0]
        store %t[i0], %0
      }
    }
    nest (i0 in 3) {
      stage {
        %0: f32 = load %t[i0]
        store %y[i0], %0
      }
    }
  }
  return %y
})");
  ASSERT_TRUE(program.ok()) << program.error().text();
  const Program single = single_kernel(*program, std::get<Kernel>(program->items[0]));
  const Status status = verify(single);
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(single.outputs.size(), 2U);
  EXPECT_EQ(single.input_count, 1U);
}

}  // namespace
}  // namespace jumar::loop
