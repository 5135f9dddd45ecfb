// The least bytes of a kernel, against arithmetic by hand.
#include <gtest/gtest.h>

#include "driver/least_traffic.h"

namespace jumar::driver {
namespace {

LeastTraffic least(const std::string& text, const SizeValues& sizes = {}) {
  Result<loop::Program> program = loop::read_program(text);
  EXPECT_TRUE(program.ok()) << program.error().text();
  const Status status = loop::verify(*program);
  EXPECT_TRUE(status.ok()) << status.error().text();
  const Result<LeastTraffic> found =
      least_traffic(*program, std::get<loop::Kernel>(program->items.front()), sizes);
  EXPECT_TRUE(found.ok()) << found.error().text();
  return found.ok() ? *found : LeastTraffic();
}

TEST(LeastTraffic, AnElementIsReadOnceHoweverManyStagesReadIt) {
  const LeastTraffic found = least(R"(loop @main symbols(s0 in [2, 99]) {
  %x: f16[s0, 768] = input 0
  %w: f16[768] = input 1
  %y: f32[s0, 768] = output
  kernel @k {
    nest (i0 in s0) {
      stage (r0 in 768) {
        %0: f16 = load %x[768*i0 + r0]
        %1: f32 = cast %0
        %2: f32 = reduce sum %1
      }
      stage (r1 in 768) {
        %3: f16 = load %x[768*i0 + r1]
        %4: f16 = load %w[r1]
        %5: f32 = cast %3
        %6: f32 = cast %4
        %7: f32 = mul %5, %6
        %8: f32 = add %7, %2
        store %y[768*i0 + r1], %8
      }
    }
  }
  return %y
})",
                                   {{"s0", 10}});
  EXPECT_EQ(found.read_bytes, 10 * 768 * 2 + 768 * 2);
  EXPECT_EQ(found.written_bytes, 10 * 768 * 4);
  EXPECT_EQ(found.broadcast_bytes, 768 * 2);
  EXPECT_EQ(found.bytes_on(1), found.bytes());
  EXPECT_EQ(found.bytes_on(48), found.bytes() + 47 * 768 * 2);
}

TEST(LeastTraffic, GuardsLeaveOutWhatIsNotRead) {
  const LeastTraffic found = least(R"(loop @main {
  %a: f32[10, 4] = input 0
  %b: f32[10, 100] = input 1
  %y: f32[10, 12] = output
  kernel @k {
    nest (i0 in 10, i1 in 12) {
      stage {
        %0: f32 = load %a[4*i0 + i1] if i1 < 4 else 0.0
        %1: f32 = load %b[100*i0 + i1] if 3 < i1 and i0 < 5 else 0.0
        %2: f32 = add %0, %1
        store %y[12*i0 + i1], %2
      }
    }
  }
  return %y
})");
  EXPECT_EQ(found.read_bytes, (10 * 4 + 5 * 8) * 4);
  EXPECT_EQ(found.written_bytes, 10 * 12 * 4);
  EXPECT_EQ(found.broadcast_bytes, 0);
}

// Halves of one buffer, each moved to the other's place: all of it, once.
TEST(LeastTraffic, NoBufferCountsAsMoreThanItHas) {
  const LeastTraffic found = least(R"(loop @main {
  %x: f32[10, 8] = input 0
  %y: f32[10, 8] = output
  kernel @k {
    nest (i0 in 10, i1 in 8) {
      stage {
        %0: f32 = load %x[8*i0 + i1]
        %1: f32 = load %x[8*i0 + i1 + 4] if i1 < 4 else 0.0
        %2: f32 = load %x[8*i0 + i1 - 4] if 3 < i1 else 0.0
        %3: f32 = add %0, %1
        %4: f32 = add %3, %2
        store %y[8*i0 + i1], %4
      }
    }
  }
  return %y
})");
  EXPECT_EQ(found.read_bytes, 10 * 8 * 4);
}

TEST(LeastTraffic, AGatherReadsOneElementForEachPoint) {
  const char* text = R"(loop @main symbols(s0 in [1, 9999]) {
  %t: f32[s0, 16] = input 0
  %i: i64[20] = input 1
  %y: f32[20, 16] = output
  kernel @k {
    nest (i0 in 20, i1 in 16) {
      stage {
        %0: i64 = load %i[i0]
        %1: i64 = wrap_index %0 in s0
        %2: f32 = load %t[16*%1 + i1]
        store %y[16*i0 + i1], %2
      }
    }
  }
  return %y
})";
  const LeastTraffic many = least(text, {{"s0", 1000}});
  EXPECT_EQ(many.read_bytes, 20 * 16 * 4 + 20 * 8);
  EXPECT_EQ(many.broadcast_bytes, 20 * 8);  // indices do not change along i1
  const LeastTraffic few = least(text, {{"s0", 3}});
  EXPECT_EQ(few.read_bytes, 3 * 16 * 4 + 20 * 8);
}

// Two stages look the same rows up, each by itself.
TEST(LeastTraffic, TheSameLookupIsOneRead) {
  const LeastTraffic found = least(R"(loop @main {
  %t: f32[1000, 16] = input 0
  %i: i64[20] = input 1
  %y: f32[20, 16] = output
  kernel @k {
    nest (i0 in 20) {
      stage (r0 in 16) {
        %0: i64 = load %i[i0]
        %1: i64 = wrap_index %0 in 1000
        %2: f32 = load %t[16*%1 + r0]
        %3: f32 = reduce sum %2
      }
      stage (r1 in 16) {
        %4: i64 = load %i[i0]
        %5: i64 = wrap_index %4 in 1000
        %6: f32 = load %t[16*%5 + r1]
        %7: f32 = add %6, %3
        store %y[16*i0 + r1], %7
      }
    }
  }
  return %y
})");
  EXPECT_EQ(found.read_bytes, 20 * 16 * 4 + 20 * 8);
}

// What was stored need not be read again; what is overwritten has to be read first.
TEST(LeastTraffic, OwnResultsAreNotRead) {
  const LeastTraffic kept = least(R"(loop @main {
  %x: f32[10] = input 0
  %t: f32[10] = output
  %y: f32[10] = output
  kernel @k {
    nest (i0 in 10) {
      stage {
        %0: f32 = load %x[i0]
        store %t[i0], %0
        %1: f32 = load %t[i0]
        store %y[i0], %1
      }
    }
  }
  return %t, %y
})");
  EXPECT_EQ(kept.read_bytes, 40);
  EXPECT_EQ(kept.written_bytes, 80);
}

TEST(LeastTraffic, ASizeWithoutAValueIsAnError) {
  Result<loop::Program> program = loop::read_program(R"(loop @main symbols(s0 in [1, 9]) {
  %x: f32[s0] = input 0
  %y: f32[s0] = output
  kernel @k {
    nest (i0 in s0) {
      stage {
        %0: f32 = load %x[i0]
        store %y[i0], %0
      }
    }
  }
  return %y
})");
  ASSERT_TRUE(program.ok());
  const Result<LeastTraffic> found =
      least_traffic(*program, std::get<loop::Kernel>(program->items.front()), {});
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().text().find("s0"), std::string::npos);
}

}  // namespace
}  // namespace jumar::driver
