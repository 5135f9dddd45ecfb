// Programs that can be read and are broken: each must be refused for its reason.
#include <gtest/gtest.h>

#include "loop/loop.h"

namespace jumar::loop {
namespace {

struct Broken {
  const char* declarations;
  const char* items;
  const char* message;
};

std::string framed(const Broken& broken) {
  return std::string("loop @main symbols(s0 in [2, 9], s1 in [2, 9], u0 in [0, 9]) {\n") +
         "%x: f32[s0, 8] = input 0\n%i: i64[s0] = input 1\n%h: bf16[s0] = input 2\n%t: f32[s0, 8] = temp\n" +
         broken.declarations + "\n" + broken.items + "\nreturn }\n";
}

// A kernel over i0 < s0 whose text is the stages given.
#define KERNEL(stages) "kernel @k { nest (i0 in s0) { " stages " } }"
#define BODY(lines) KERNEL("stage { " lines " }")

constexpr Broken kBroken[] = {
    {"%n: float = input 4", "", "an input is not below the 4 inputs"},
    {"%n: float = input 2", "", "input 2 is declared 2 times"},
    {"%v: f32[8] = view %t offset 0 %w: f32[8] = view %v offset 0", "", "its base %v is a view"},
    {"%o: f32[4] = output", "", "nothing has written output %o"},
    {"%r: f32[s1] = temp", BODY("%0: f32 = const 0.0 store %r[i0], %0"),
     "mentions s1, which is not known here"},
    {"%r: f32[u0] = temp", BODY("%0: f32 = const 0.0 store %r[i0], %0"),
     "mentions u0, which is not known here"},
    {"", "check s1 < 3 \"m\"", "mentions s1, which is not known here"},
    {"", "call aten.f.default() -> ()", "it has no schema line"},
    {"schema aten.f.default(Tensor a) -> ()", "call aten.f.default() -> ()", "0 arguments, its schema has 1"},
    {"schema aten.f.default(Tensor a) -> ()", "call aten.f.default(%t) -> ()",
     "nothing has written %t before"},
    {"", "call python.0(u0) -> ()", "mentions u0, which is not known here"},
    {"", "call python.0() -> () defines(s0)", "it defines what is no unbacked symbol"},
    {"", "call python.0() -> () defines(u0) call python.0() -> () defines(u0)", "u0, which is known already"},
    {"", "call python.0() -> (%x)", "%x can't take a result"},
    {"%r: f32[2] = result", "call python.0() -> (%r) call python.0() -> (%r)", "result %r is returned twice"},
    {"", "kernel @k { } kernel @k { }", "the name k is taken twice"},
    {"", KERNEL("stage (r0 in 2) { } stage (r0 in 3) { }"), "axis r0 is declared twice"},
    {"", KERNEL("stage (r0 in s1) { }"), "the extent of axis r0, s1, mentions s1, which is not known here"},
    {"", KERNEL("stage (r0 in i0) { }"), "the extent of axis r0, i0, mentions i0, which is not known here"},
    {"", KERNEL("local 0: f32[0]"), "local 0 has no elements"},
    // Scope.
    {"", KERNEL("stage (r0 in 8) { %0: f32 = load %x[8*i0 + r0] } stage { %1: f32 = neg %0 }"),
     "%0 belongs to stage 0, which has inner axes"},
    {"",
     KERNEL("stage (r0 in 8) { %0: f32 = load %x[8*i0 + r0] %1: f32 = reduce sum %0 %2: f32 = div %0, %1 }"),
     "%1 is a reduce of this stage; it is known to later stages"},
    {"", KERNEL("stage (r0 in 8) { %0: i64 = index r0 } stage { %1: f32 = load %x[%0] }"),
     "%0 belongs to stage 0, which has inner axes"},
    {"", BODY("%0: f32 = const 0.0 %1: f32 = load %x[%0]"), "%0 is no integer and can't be in an expression"},
    {"", BODY("%0: f32 = load %x[s1]"), "symbol s1 is not known here"},
    // What the nests of a kernel know of each other.
    {"",
     "kernel @k { nest (i0 in s0) { stage { %0: f32 = const 0.0 store %t[8*i0], %0 } } "
     "nest (i0 in s0) { stage { %0: f32 = load %t[8*i0] } } }",
     "kernel @k, nest 1, stage 0, `%0: f32 = load %t[8*i0]`: nothing has written %t before"},
    {"",
     "kernel @k phased { nest (i0 in s0) { stage { %0: f32 = load %t[8*i0] } } "
     "nest (i0 in s0) { stage { %0: f32 = const 0.0 store %t[8*i0], %0 } } }",
     "kernel @k, nest 0, stage 0, `%0: f32 = load %t[8*i0]`: nothing has written %t before"},
    // Types.
    {"", BODY("%0: f64 = load %x[i0]"), "the buffer's elements are f32"},
    {"", BODY("%0: f64 = const 0.0 store %t[i0], %0"), "the buffer's elements are f32"},
    {"", BODY("%0: i8 = const 128"), "the constant is not in [-128, 127]"},
    {"", BODY("%0: u8 = const -1"), "the constant is not in [0, 255]"},
    {"", BODY("%0: bool = const 2"), "a bool is 0 or 1"},
    {"", BODY("%0: c64 = const 2"), "bodies hold no complex numbers"},
    {"", BODY("%0: i32 = index i0"), "an index is i64 or bool"},
    {"%n: float = input 3", BODY("%0: f32 = param %n"), "the number is a f64"},
    {"%n: bool = input 3", BODY("%0: f64 = param %n"), "the number is a bool"},
    {"", BODY("%0: bf16 = load %h[i0] %1: bf16 = neg %0"), "neg does not take bf16"},
    {"", BODY("%0: bool = const 1 %1: bool = add %0, %0"), "add does not take bool"},
    {"", BODY("%0: i32 = const 1 %1: i32 = exp %0"), "exp does not take i32"},
    {"", BODY("%0: f32 = const 1 %1: f64 = const 1 %2: f32 = add %0, %1"),
     "the operands have different types"},
    {"", BODY("%0: f32 = const 1 %1: f64 = neg %0"), "the result is a f32"},
    {"", BODY("%0: f32 = const 1 %1: f32 = lt %0, %0"), "the result is a bool"},
    {"", BODY("%0: f32 = const 1 %1: f32 = select %0, %0, %0"), "the condition is no bool"},
    {"", BODY("%0: f32 = const 1 %1: f64 = demote %0"), "demote makes a float below 32 bits"},
    {"", BODY("%0: f32 = const 1 %1: i64 = bitcast %0"),
     "bitcast makes an integer or float of the operand's"},
    {"", BODY("%0: i32 = const 1 %1: i32 = wrap_index %0 in 4"), "operand and result are i64"},
    {"", KERNEL("local 0: f32[4] stage { %0: f64 = load.local 0[0] }"), "the local has another element type"},
    {"", KERNEL("stage { %0: f64 = load.local 0[0] }"), "the nest has no such local"},
    {"", KERNEL("stage (r0 in 8) { %0: bf16 = load %h[i0] %1: bf16 = reduce sum %0 }"),
     "reduce sum does not take bf16"},
    {"", KERNEL("stage (r0 in 8) { %0: f32 = const 1 %1: bool = reduce any %0 }"),
     "reduce any does not take f32"},
    {"", KERNEL("stage (r0 in 8) { %0: bool = const 1 %1: bool = reduce sum %0 }"),
     "reduce sum does not take bool"},
    {"", KERNEL("stage (r0 in 8) { %0: f32 = const 1 %1: f32 = reduce argmax %0 at %0 }"),
     "the position and the result"},
    {"", KERNEL("stage (r0 in 8) { %0: f32 = const 1 %1: f64 = reduce sum %0 }"),
     "the result has the operand's type"},
    {"", KERNEL("stage (r0 in 8) { %0: f32 = const 1 %1: f32 = scan sum %0 along i0 }"),
     "a scan runs along an inner axis"},
    // Memory.
    {"", BODY("%0: f32 = const 0.0 store.add %x[i0], %0"), "an input is only set"},
    {"%r: f32[8] = result", BODY("%0: f32 = const 0.0 store %r[i0], %0"),
     "kernels store to temps, outputs and inputs only"},
    {"", BODY("%0: f32 = load %t[i0]"), "nothing has written %t before"},
    {"", BODY("%0: f32 = const 0.0 store.add %t[i0], %0"), "nothing has written %t before"},
    {"%v: f32[8] = view %x offset 0", BODY("%0: f32 = load %v[i0]"), "buffers with storage, no views"},
    {"%b: bool[s0] = temp", BODY("%0: bool = const 1 store %b[i0], %0 store.add %b[i0], %0"),
     "store.add does not take bool"},
    // Tilings.
    {"", "kernel @k { nest (i0 in s0) tile(parallel 2, grain 1) { } }", "2 axes are parallel, 1 are kept"},
    {"", "kernel @k { nest (i0 in s0) tile(parallel 1, block 8, grain 1) { } }", "there is no axis to cut"},
    {"", "kernel @k { nest (i0 in s0) tile(parallel 1, grain 0) { } }", "the grain is 0"},
    {"", "kernel @k { nest (i0 in s0) tile(vector i0 x 7) { } }", "7 lanes are no power of 2"},
    {"", "kernel @k { nest (i0 in s0) tile(cuts(4)) { } }", "the tiling has cuts and no vector axis"},
    {"", "kernel @k { nest (i0 in s0) tile(vector i0 x 8, registers 0) { } }", "the tiling has no register"},
    {"", "kernel @k { nest (i0 in s0) tile(vector i0 x 8, transpose i0) { } }",
     "no kept axis beside the vector"},
    {"", "kernel @k { nest (i0 in s0) tile(grain 1) { stage (r0 in 4) tile(vector i0 x 8) { } } }",
     "the tiling's vector axis is none of its axes"},
    {"", "kernel @k { nest (i0 in s0) tile(vector i0 x 8) { stage (r0 in 4) tile(vector r0 x 8) { } } }",
     "a nest with a kept vector axis has a stage with another"},
    {"",
     "kernel @k { nest (i0 in s0) tile(grain 1) { stage (r0 in 4) tile(vector r0 x 8, accumulators 0) { } } "
     "}",
     "the tiling has no accumulator"},
    {"", "kernel @k { nest (i0 in s0) tile(grain 1) { stage (r0 in 4) tile(vector r0 x 8, cuts(s1)) { } } }",
     "a cut, s1, mentions s1, which is not known here"},
};

TEST(LoopVerify, BrokenProgramsAreRefused) {
  for (const Broken& broken : kBroken) {
    Result<Program> program = read_program(framed(broken));
    ASSERT_TRUE(program.ok()) << program.error().text() << "\n" << framed(broken);
    Status status = verify(*program);
    ASSERT_FALSE(status.ok()) << broken.message;
    EXPECT_EQ(status.error().code, "verify");
    EXPECT_NE(status.error().message.find(broken.message), std::string::npos)
        << "wanted: " << broken.message << "\ngot:    " << status.error().message;
  }
}

TEST(LoopVerify, NestsOfAPhasedKernelReadWhatEarlierOnesWrote) {
  const Broken sound = {
      "",
      "kernel @k phased { nest (i0 in s0) { stage { %0: f32 = const 0.0 store %t[8*i0], %0 } } "
      "nest (i0 in s0) { stage { %0: f32 = load %t[8*i0] store.add %t[8*i0], %0 } } }",
      ""};
  Result<Program> program = read_program(framed(sound));
  ASSERT_TRUE(program.ok()) << program.error().text();
  const Status status = verify(*program);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

TEST(LoopVerify, MessagesNameThePlace) {
  Result<Program> program = read_program(framed({"", BODY("%0: f64 = load %x[i0]"), ""}));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(verify(*program).error().message,
            "kernel @k, nest 0, stage 0, `%0: f64 = load %x[i0]`: the buffer's elements are f32");
}

// What no text can say.
class BrokenInMemory : public testing::Test {
 protected:
  BrokenInMemory()
      : program_(std::move(read_program(framed({"", BODY("%0: f32 = load %x[i0] store %t[i0], %0"), ""})))
                     .value()) {}
  Nest& nest() { return std::get<Kernel>(program_.items[0]).nests[0]; }
  Inst& inst(size_t line) { return nest().stages[0].body[line].inst; }
  void expect(const char* message) {
    Status status = verify(program_);
    ASSERT_FALSE(status.ok()) << message;
    EXPECT_NE(status.error().message.find(message), std::string::npos) << status.error().message;
  }
  Program program_;
};

TEST_F(BrokenInMemory, IsSoundToBeginWith) { EXPECT_TRUE(verify(program_).ok()); }
TEST_F(BrokenInMemory, MissingAddress) {
  inst(0).address = {};
  expect("an address is missing");
}
TEST_F(BrokenInMemory, GuardWhereNoneBelongs) {
  inst(0).kind = InstKind::kIndex;
  inst(0).guard = inst(0).address;
  expect("only loads and stores of buffers take a guard");
}
TEST_F(BrokenInMemory, UnknownBuffer) {
  inst(0).buffer = BufferId(99);
  expect("a load or store names no buffer of the program");
}
TEST_F(BrokenInMemory, UnknownOperand) {
  inst(1).operands[0] = ValueId();
  expect("value %? is used before its definition");
}
TEST_F(BrokenInMemory, ResultOutOfTable) {
  nest().value_count = 0;
  expect("the result is not below the nest's 0 values");
}
TEST_F(BrokenInMemory, DefinedTwice) {
  nest().stages[0].body.insert(nest().stages[0].body.begin(), nest().stages[0].body[0]);
  expect("the value is defined twice");
}
TEST_F(BrokenInMemory, StoredValueOfAnotherType) {
  inst(0).type = ir::DType::kBF16;
  inst(0).buffer = BufferId(2);
  expect("the stored value has another type");
}
TEST_F(BrokenInMemory, AxisWithoutExtent) {
  nest().kept[0].extent = {};
  expect("the extent of axis i0 is missing");
}
TEST_F(BrokenInMemory, UnreadableName) {
  program_.buffers[BufferId(0)].name = "a b";
  expect("'a b' is no name");
}
TEST_F(BrokenInMemory, TilingWithTooFewStages) {
  nest().tiling.emplace();
  expect("0 stages are tiled, there are 1");
}
TEST_F(BrokenInMemory, ReturnedTemp) {
  program_.outputs.push_back(Arg(BufferId(3)));
  expect("%t is a temp and can't be returned");
}

}  // namespace
}  // namespace jumar::loop
