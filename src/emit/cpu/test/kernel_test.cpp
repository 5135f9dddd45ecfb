// Whole kernels against the interpreter, over sizes around the vector widths.
#include <gtest/gtest.h>

#include "emit/cpu/test/native_program.h"
#include "tile/tile_cpu.h"

namespace jumar::emit::cpu {
namespace {

// `text` with every "$N" replaced by the number.
std::string with_size(std::string text, int64_t n) {
  for (size_t at = text.find("$N"); at != std::string::npos; at = text.find("$N"))
    text.replace(at, 2, std::to_string(n));
  return text;
}

void check(const std::string& text, const loop::CheckOptions& options = {},
           const loop::Tolerance& tolerance = {}) {
  const Status status = check_native(text, options, tolerance);
  ASSERT_TRUE(status.ok()) << status.error().text();
}

void check_static_sizes(const std::string& text, const std::vector<int64_t>& sizes,
                        const loop::CheckOptions& options = {}) {
  for (int64_t n : sizes) {
    SCOPED_TRACE(n);
    check(with_size(text, n), options);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void check_symbolic_sizes(const std::string& text, const std::vector<int64_t>& sizes,
                          const loop::CheckOptions& options = {}) {
  for (int64_t n : sizes) {
    SCOPED_TRACE(n);
    loop::CheckOptions with = options;
    with.symbols["s0"] = n;
    check(text, with);
    if (testing::Test::HasFatalFailure()) return;
  }
}

const std::vector<int64_t> kSizes = {1,  2,  3,  5,  7,  8,  9,  15,  16,  17, 24,
                                     31, 32, 33, 40, 63, 64, 65, 100, 128, 129};

// The comparison itself: tilings that promise what does not hold must be found out.
TEST(Kernel, BrokenTilingsAreSeen) {
  const std::string write_too_much = R"(loop @main {
  %x: f32[10] = input 0
  %y: f32[10] = output
  kernel @k {
    nest (i0 in 10) tile(parallel 0, vector i0 x 8, registers 1, tail none, grain 1) {
      stage {
        %0: f32 = load %x[i0]
        %1: f32 = exp %0
        store %y[i0], %1
      }
    }
  }
  return %y
}
)";
  const Status wrote = check_native(write_too_much, {});
  ASSERT_FALSE(wrote.ok());
  EXPECT_EQ(wrote.error().code, "bounds");
  const std::string fold_too_much = R"(loop @main {
  %x: f32[10] = input 0
  %y: f32[1] = output
  kernel @k {
    nest () tile(parallel 0, grain 1) {
      stage (r0 in 10) tile(vector r0 x 8, accumulators 1, tail none) {
        %0: f32 = load %x[r0]
        %1: f32 = reduce prod %0
      }
      stage {
        store %y[0], %1
      }
    }
  }
  return %y
}
)";
  const Status folded = check_native(fold_too_much, {});
  ASSERT_FALSE(folded.ok());
  EXPECT_EQ(folded.error().code, "different");
}

TEST(Kernel, Pointwise) {
  check_static_sizes(R"(loop @main {
  %x: f32[3, $N] = input 0
  %w: f32[$N] = input 1
  %y: f32[3, $N] = output
  kernel @k {
    nest (i0 in 3, i1 in $N) {
      stage {
        %0: f32 = load %x[$N*i0 + i1]
        %1: f32 = load %w[i1]
        %2: f32 = mul %0, %1
        %3: f32 = exp %2
        store %y[$N*i0 + i1], %3
      }
    }
  }
  return %y
}
)",
                     kSizes);
}

TEST(Kernel, PointwiseSymbolicSize) {
  check_symbolic_sizes(R"(loop @main symbols(s0 in [0, 100000]) {
  %x: f32[s0, 3] = input 0
  %y: f32[s0, 3] = output
  kernel @k {
    nest (i0 in s0, i1 in 3) {
      stage {
        %0: f32 = load %x[3*i0 + i1]
        %1: f32 = mul %0, %0
        store %y[3*i0 + i1], %1
      }
    }
  }
  return %y
}
)",
                       {0, 1, 2, 3, 5, 8, 11, 100, 5000, 20000});
}

TEST(Kernel, HostNumbers) {
  check(R"(loop @main {
  %x: f32[100] = input 0
  %p: float = input 1
  %q: bool = input 2
  %y: f32[100] = output
  kernel @k {
    nest (i0 in 100) {
      stage {
        %0: f32 = load %x[i0]
        %1: f64 = param %p
        %2: f32 = cast %1
        %3: f32 = mul %0, %2
        %4: bool = param %q
        %5: f32 = select %4, %3, %0
        store %y[i0], %5
      }
    }
  }
  return %y
}
)");
}

TEST(Kernel, Softmax) {
  const std::string text = R"(loop @main {
  %x: f32[5, $N] = input 0
  %y: f32[5, $N] = output
  kernel @k {
    nest (i0 in 5) {
      local 0: f32[$N]
      stage (r0 in $N) {
        %0: f32 = load %x[$N*i0 + r0]
        %1: f32 = reduce max %0
      }
      stage (r1 in $N) {
        %2: f32 = load %x[$N*i0 + r1]
        %3: f32 = sub %2, %1
        %4: f32 = exp %3
        store.local 0[r1], %4
        %5: f32 = reduce sum %4
      }
      stage (r2 in $N) {
        %6: f32 = load.local 0[r2]
        %7: f32 = div %6, %5
        store %y[$N*i0 + r2], %7
      }
    }
  }
  return %y
}
)";
  check_static_sizes(text, kSizes);
  check_static_sizes(text, {16, 40, 100}, {.special_share = 0.05});
}

TEST(Kernel, SymbolicRows) {
  check_symbolic_sizes(R"(loop @main symbols(s0 in [0, 4096]) {
  %x: f32[7, s0] = input 0
  %y: f32[7, s0] = output
  %z: f32[7] = output
  kernel @k {
    nest (i0 in 7) {
      stage (r0 in s0) {
        %0: f32 = load %x[s0*i0 + r0]
        %1: f32 = reduce sum %0
        %2: f32 = reduce max %0
      }
      stage {
        %3: f32 = add %1, %2
        store %z[i0], %3
      }
      stage (r1 in s0) {
        %4: f32 = load %x[s0*i0 + r1]
        %5: f32 = sub %4, %1
        store %y[s0*i0 + r1], %5
      }
    }
  }
  return %y, %z
}
)",
                       kSizes);
}

TEST(Kernel, ColumnSum) {
  check_static_sizes(R"(loop @main {
  %x: f32[37, $N] = input 0
  %y: f32[$N] = output
  kernel @k {
    nest (i0 in $N) {
      stage (r0 in 37) {
        %0: f32 = load %x[$N*r0 + i0]
        %1: f32 = reduce sum %0
      }
      stage {
        store %y[i0], %1
      }
    }
  }
  return %y
}
)",
                     kSizes);
}

TEST(Kernel, ChannelMeans) {
  check_static_sizes(R"(loop @main {
  %x: f32[3, 4, $N] = input 0
  %y: f32[4] = output
  %z: f32[4] = output
  kernel @k {
    nest (i0 in 4) {
      stage (r0 in 3, r1 in $N) {
        %0: f32 = load %x[4*$N*r0 + $N*i0 + r1]
        %1: f32 = reduce sum %0
        %2: f32 = reduce min %0
      }
      stage {
        store %y[i0], %1
        store %z[i0], %2
      }
    }
  }
  return %y, %z
}
)",
                     kSizes);
}

TEST(Kernel, ArgReductions) {
  const std::string text = R"(loop @main {
  %x: f32[6, $N] = input 0
  %a: i64[6] = output
  %b: i64[6] = output
  %v: f32[6] = output
  kernel @k {
    nest (i0 in 6) {
      stage (r0 in $N) {
        %0: f32 = load %x[$N*i0 + r0]
        %1: i64 = index r0
        %2: f32 = reduce max %0
        %3: i64 = reduce argmax %0 at %1
        %4: i64 = reduce argmin %0 at %1
      }
      stage {
        store %v[i0], %2
        store %a[i0], %3
        store %b[i0], %4
      }
    }
  }
  return %a, %b, %v
}
)";
  check_static_sizes(text, kSizes);
  check_static_sizes(text, {5, 16, 40, 100}, {.special_share = 0.3});
}

TEST(Kernel, ArgReductionOfEqualIntegersTakesTheFirst) {
  check_static_sizes(R"(loop @main {
  %x: i32[6, $N] = input 0
  %a: i64[6] = output
  kernel @k {
    nest (i0 in 6) {
      stage (r0 in $N) {
        %0: i32 = load %x[$N*i0 + r0]
        %1: i64 = index r0
        %3: i64 = reduce argmax %0 at %1
      }
      stage {
        store %a[i0], %3
      }
    }
  }
  return %a
}
)",
                     {1, 7, 16, 40, 100}, {.int_low = 0, .int_high = 2});
}

TEST(Kernel, Scan) {
  check_static_sizes(R"(loop @main {
  %x: f32[9, $N] = input 0
  %y: f32[9, $N] = output
  %z: f32[9, $N] = output
  kernel @k {
    nest (i0 in 9) {
      stage (r0 in $N) {
        %0: f32 = load %x[$N*i0 + r0]
        %1: f32 = scan sum %0 along r0
        %2: f32 = scan max %0 along r0
        store %y[$N*i0 + r0], %1
        store %z[$N*i0 + r0], %2
      }
    }
  }
  return %y, %z
}
)",
                     {1, 2, 7, 16, 33});
}

TEST(Kernel, ScanOfColumns) {
  check_static_sizes(R"(loop @main {
  %x: f32[9, $N] = input 0
  %y: f32[9, $N] = output
  kernel @k {
    nest (i0 in $N) {
      stage (r0 in 9) {
        %0: f32 = load %x[$N*r0 + i0]
        %1: f32 = scan sum %0 along r0
        store %y[$N*r0 + i0], %1
      }
    }
  }
  return %y
}
)",
                     kSizes);
}

TEST(Kernel, Embedding) {
  const std::string text = R"(loop @main symbols(s0 in [1, 100]) {
  %ids: i64[s0] = input 0
  %table: f32[17, 20] = input 1
  %y: f32[s0, 20] = output
  kernel @k {
    nest (i0 in s0, i1 in 20) {
      stage {
        %0: i64 = load %ids[i0]
        %1: i64 = wrap_index %0 in 17
        %2: f32 = load %table[i1 + 20*%1]
        store %y[20*i0 + i1], %2
      }
    }
  }
  return %y
}
)";
  check_symbolic_sizes(text, {1, 3, 8, 33});
}

TEST(Kernel, GatherOfLanes) {
  check_static_sizes(R"(loop @main {
  %ids: i64[3, $N] = input 0
  %x: f32[3, 11] = input 1
  %y: f32[3, $N] = output
  kernel @k {
    nest (i0 in 3, i1 in $N) {
      stage {
        %0: i64 = load %ids[$N*i0 + i1]
        %1: i64 = wrap_index %0 in 11
        %2: f32 = load %x[11*i0 + %1]
        store %y[$N*i0 + i1], %2
      }
    }
  }
  return %y
}
)",
                     kSizes);
}

TEST(Kernel, BadIndexIsReported) {
  const std::string text = R"(loop @main {
  %ids: i64[40] = input 0
  %x: f32[11] = input 1
  %y: f32[40] = output
  kernel @k {
    nest (i0 in 40) {
      stage {
        %0: i64 = load %ids[i0]
        %1: i64 = wrap_index %0 in 11
        %2: f32 = load %x[%1]
        store %y[i0], %2
      }
    }
  }
  return %y
}
)";
  for (int64_t bad : {-12, 11, 1000000}) {
    loop::HostTensor ids = loop::HostTensor::contiguous(ir::DType::kI64, {40});
    reinterpret_cast<int64_t*>(ids.bytes.data())[29] = bad;
    check(text, {.inputs = {{0, ids}}});
  }
}

TEST(Kernel, CatCutsTheVectorAxis) {
  const std::string text = R"(loop @main {
  %a: f32[3, $N] = input 0
  %b: f32[3, 20] = input 1
  %y: f32[3, $N + 20] = output
  kernel @k {
    nest (i0 in 3, i1 in $N + 20) {
      stage {
        %0: f32 = load %a[$N*i0 + i1] if i1 < $N else 0.0
        %1: f32 = load %b[20*i0 + i1 - $N] if $N <= i1 else 0.0
        %2: bool = index i1 < $N
        %3: f32 = select %2, %0, %1
        store %y[($N + 20)*i0 + i1], %3
      }
    }
  }
  return %y
}
)";
  check_static_sizes(text, kSizes);
}

TEST(Kernel, PadIsGuarded) {
  check_static_sizes(R"(loop @main {
  %x: f32[5, $N] = input 0
  %y: f32[7, $N + 3] = output
  kernel @k {
    nest (i0 in 7, i1 in $N + 3) {
      stage {
        %0: f32 = load %x[$N*i0 - $N + i1 - 2] if 1 <= i0 and i0 < 6 and 2 <= i1 and i1 < $N + 2 else 7.5
        store %y[($N + 3)*i0 + i1], %0
      }
    }
  }
  return %y
}
)",
                     kSizes);
}

TEST(Kernel, GuardsOfLanesBecomeMasks) {
  check_static_sizes(R"(loop @main {
  %x: f32[$N, $N] = input 0
  %y: f32[$N, $N] = output
  %t: f32[$N, $N] = input 1
  kernel @k {
    nest (i0 in $N, i1 in $N) {
      stage {
        %0: f32 = load %x[$N*i0 + i1] if i1 <= i0 else -1.5
        %1: f32 = load %t[$N*i1 + i0] if i1 <= i0 else 2.5
        %2: f32 = add %0, %1
        store %y[$N*i0 + i1], %2 if i0 % 2 == 0 or i1 < 3
        store %y[$N*i0 + i1], %1 if not (i0 % 2 == 0 or i1 < 3)
      }
    }
  }
  return %y
}
)",
                     {1, 3, 8, 9, 17, 33});
}

TEST(Kernel, StridesAndReversal) {
  check_static_sizes(R"(loop @main {
  %x: f32[$N, 6] = input 0
  %y: f32[6, $N] = output
  %z: f32[6, $N] = output
  %w: f32[3*$N] = output
  kernel @k {
    nest (i0 in 6, i1 in $N) {
      stage {
        %0: f32 = load %x[6*i1 + i0]
        store %y[$N*i0 + i1], %0
        %1: f32 = load %x[6*$N - 1 - $N*i0 - i1]
        store %z[$N*i0 - i1 + $N - 1], %1
      }
    }
    nest (i0 in $N) {
      stage {
        %0: f32 = load %x[i0]
        store %w[3*i0], %0
        store %w[3*i0 + 1], %0
        store %w[3*i0 + 2], %0
      }
    }
  }
  return %y, %z, %w
}
)",
                     kSizes);
}

TEST(Kernel, TransposedLoads) {
  const std::string text = R"(loop @main {
  %x: f32[3, $N, 40] = input 0
  %h: bf16[3, $N, 40] = input 1
  %f: bool[$N, 40] = input 2
  %z: f32[3, 40, $N] = input 3
  %y: f32[3, 40, $N] = output
  kernel @k {
    nest (i0 in 3, i1 in 40, i2 in $N) {
      stage {
        %0: f32 = load %x[40*$N*i0 + 40*i2 + i1]
        %1: bf16 = load %h[40*$N*i0 + 40*i2 + i1]
        %2: f32 = cast %1
        %3: bool = load %f[40*i2 + i1]
        %4: f32 = select %3, %0, %2
        %5: f32 = load %z[40*$N*i0 + $N*i1 + i2]
        %6: f32 = add %4, %5
        store %y[40*$N*i0 + $N*i1 + i2], %6
      }
    }
  }
  return %y
}
)";
  check_static_sizes(text, kSizes);
}

TEST(Kernel, TransposedLoadsOfSymbolicSize) {
  check_symbolic_sizes(R"(loop @main symbols(s0 in [0, 4096]) {
  %x: f32[s0, s0 + 5] = input 0
  %y: f32[s0 + 5, s0] = output
  kernel @k {
    nest (i0 in s0 + 5, i1 in s0) {
      stage {
        %0: f32 = load %x[(s0 + 5)*i1 + i0]
        %1: f32 = mul %0, %0
        store %y[s0*i0 + i1], %1
      }
    }
  }
  return %y
}
)",
                       {0, 1, 3, 8, 11, 16, 27, 32, 61});
}

TEST(Kernel, DivisionInAddresses) {
  for (int64_t d : {2, 3, 7, 8, 9, 16, 25}) {
    SCOPED_TRACE(d);
    std::string text = R"(loop @main {
  %x: f32[64] = input 0
  %z: f32[64] = input 1
  %y: f32[200] = output
  kernel @k {
    nest (i0 in 200) {
      stage {
        %0: f32 = load %x[(i0 + 1)//$N % 64]
        %1: f32 = load %z[(i0 + 3) % $N]
        %2: f32 = sub %0, %1
        store %y[i0], %2
      }
    }
  }
  return %y
}
)";
    check(with_size(text, d));
  }
}

TEST(Kernel, BFloat16) {
  const std::string text = R"(loop @main {
  %x: bf16[3, $N] = input 0
  %h: f16[3, $N] = input 1
  %y: bf16[3, $N] = output
  %z: f16[3, $N] = output
  kernel @k {
    nest (i0 in 3) {
      stage (r0 in $N) {
        %0: bf16 = load %x[$N*i0 + r0]
        %1: f32 = cast %0
        %2: f32 = reduce sum %1
      }
      stage (r1 in $N) {
        %3: bf16 = load %x[$N*i0 + r1]
        %4: f32 = cast %3
        %5: f16 = load %h[$N*i0 + r1]
        %6: f32 = cast %5
        %7: f32 = mul %4, %6
        %8: f32 = sub %7, %2
        %9: bf16 = demote %8
        store %y[$N*i0 + r1], %9
        %10: f16 = demote %8
        store %z[$N*i0 + r1], %10
      }
    }
  }
  return %y, %z
}
)";
  check_static_sizes(text, {1, 7, 8, 16, 17, 33, 64});
}

TEST(Kernel, ScatterAdd) {
  check_static_sizes(R"(loop @main {
  %ids: i64[50] = input 0
  %g: f32[50, $N] = input 1
  %y: f32[13, $N] = output
  %c: f32[13] = output
  kernel @zero {
    nest (i0 in 13, i1 in $N) {
      stage {
        %0: f32 = const 0.0
        store %y[$N*i0 + i1], %0
      }
    }
    nest (i0 in 13) {
      stage {
        %0: f32 = const 0.0
        store %c[i0], %0
      }
    }
  }
  kernel @add {
    nest (i0 in 50, i1 in $N) {
      stage {
        %0: i64 = load %ids[i0]
        %1: i64 = wrap_index %0 in 13
        %2: f32 = load %g[$N*i0 + i1]
        store.add %y[i1 + $N*%1], %2
      }
    }
    nest (i0 in 50) {
      stage {
        %0: i64 = load %ids[i0]
        %1: i64 = wrap_index %0 in 13
        %2: f32 = load %g[$N*i0]
        store.max %c[%1], %2
      }
    }
  }
  return %y, %c
}
)",
                     {1, 5, 8, 17, 33});
}

TEST(Kernel, LongReductionsAreSplit) {
  const std::string text = R"(loop @main symbols(s0 in [0, 1000000] hint 200000) {
  %x: f32[2, s0] = input 0
  %y: f32[2] = output
  %z: bool[2] = output
  kernel @k {
    nest (i0 in 2) {
      stage (r0 in s0) {
        %0: f32 = load %x[s0*i0 + r0]
        %1: f32 = reduce max %0
        %2: f32 = const 0.9
        %3: bool = gt %0, %2
        %4: bool = reduce any %3
      }
      stage {
        %5: f32 = neg %1
        store %y[i0], %5
        store %z[i0], %4
      }
    }
  }
  return %y, %z
}
)";
  check_symbolic_sizes(text, {0, 1, 63, 2048, 2049, 10000});
}

TEST(Kernel, TotalSum) {
  check_static_sizes(R"(loop @main {
  %x: f32[$N, 3] = input 0
  %y: f32[] = output
  kernel @k {
    nest () {
      stage (r0 in $N, r1 in 3) {
        %0: f32 = load %x[3*r0 + r1]
        %1: f32 = reduce sum %0
      }
      stage {
        store %y[0], %1
      }
    }
  }
  return %y
}
)",
                     kSizes);
}

// Every nest reads what the one before it stored, from end to end.
const char* const kSerial = R"(loop @main $S{
  %x: f32[$N] = input 0
  %mean: f32[] = temp
  %c: f32[$N] = temp
  %sums: f32[$N] = temp
  %y: f32[$N] = output
  kernel @k serial {
    nest () {
      stage (r0 in $N) {
        %0: f32 = load %x[r0]
        %1: f32 = reduce sum %0
      }
      stage {
        %2: i64 = index $N + 1
        %3: f32 = cast %2
        %4: f32 = div %1, %3
        store %mean[0], %4
      }
    }
    nest (i0 in $N) {
      stage {
        %0: f32 = load %x[i0]
        %1: f32 = load %mean[0]
        %2: f32 = sub %0, %1
        store %c[i0], %2
      }
    }
    nest () {
      stage (r0 in $N) {
        %0: f32 = load %c[$N - r0 - 1]
        %1: f32 = scan max %0 along r0
        store %sums[r0], %1
      }
    }
    nest (i0 in $N) {
      stage {
        %0: f32 = load %sums[$N - i0 - 1]
        %1: f32 = load %c[i0]
        %2: f32 = sub %0, %1
        store %y[i0], %2
      }
    }
    nest (i0 in $N) {
      stage {
        %0: f32 = load %x[i0]
        store.add %y[$N - i0 - 1], %0
      }
    }
  }
  return %y
}
)";

std::string serial_text(const std::string& symbols) {
  std::string text = kSerial;
  return text.replace(text.find("$S"), 2, symbols);
}

std::string symbolic_serial_text() {
  std::string text = serial_text("symbols(s0 in [0, 100000]) ");
  for (size_t at = text.find("$N"); at != std::string::npos; at = text.find("$N")) text.replace(at, 2, "s0");
  return text;
}

TEST(Kernel, NestsOfASerialKernelRunInOrder) {
  check_static_sizes(serial_text(""), kSizes);
  check_symbolic_sizes(symbolic_serial_text(), {0, 1, 8, 17, 100, 30000});
}

TEST(Kernel, ASerialKernelIsOneUnit) {
  loop::Program program = loop::read_program(symbolic_serial_text()).value();
  tile::tile_cpu(program, {});
  const auto& kernel = std::get<loop::Kernel>(program.items[0]);
  const KernelSignature takes = signature(program, kernel);
  EXPECT_TRUE(takes.units.is_const(1));
  EXPECT_TRUE(takes.grain.is_const(1));
  EXPECT_EQ(takes.nest_units.size(), 5u);
  EXPECT_FALSE(takes.nest_units[1].is_const());
}

// Three kernels that tile_cpu joins: zeros, a scatter into them and a sum of all.
TEST(Kernel, JoinedKernels) {
  const std::string text = R"(loop @main {
  %ids: i64[40] = input 0
  %x: f32[40] = input 1
  %t: f32[$N] = temp
  %y: f32[] = output
  kernel @zeros { nest (i0 in $N) { stage { %0: f32 = const 0.0 store %t[i0], %0 } } }
  kernel @scatter {
    nest (i0 in 40) {
      stage {
        %0: i64 = load %ids[i0]
        %1: i64 = wrap_index %0 in $N
        %2: f32 = load %x[i0]
        store.add %t[%1], %2
      }
    }
  }
  kernel @total {
    nest () {
      stage (r0 in $N) {
        %0: f32 = load %t[r0]
        %1: i64 = index r0
        %2: f32 = cast %1
        %3: f32 = mul %0, %2
        %4: f32 = reduce sum %3
      }
      stage { store %y[0], %4 }
    }
  }
  return %y
}
)";
  loop::Program program = loop::read_program(with_size(text, 33)).value();
  tile::tile_cpu(program, {});
  ASSERT_EQ(program.items.size(), 1u);
  EXPECT_TRUE(std::get<loop::Kernel>(program.items[0]).is_serial);
  check_static_sizes(text, {1, 7, 8, 33, 100});
  loop::HostTensor ids = loop::HostTensor::contiguous(ir::DType::kI64, {40});
  reinterpret_cast<int64_t*>(ids.bytes.data())[11] = 34;
  check(with_size(text, 33), {.inputs = {{0, ids}}});
}

}  // namespace
}  // namespace jumar::emit::cpu
