#include "driver/toolchain/hivm_traffic.h"

#include <gtest/gtest.h>

#include "driver/toolchain/hivm_facts.h"
#include "driver/toolchain/hivm_text.h"
#include "driver/toolchain/hivm_time.h"
#include "support/files.h"

// The files in hivm/ are what the compilers made of the kernels in ttir/.
namespace jumar::driver::toolchain {
namespace {

HivmProgram program_of(const std::string& file) {
  const std::string path = std::string(JUMAR_TEST_DIR) + "/hivm/" + file;
  return read_hivm(bytes_of_file(path).value(), file).value();
}

HivmTraffic traffic_of(const HivmProgram& program, std::array<int64_t, 3> grid,
                       std::vector<int64_t> scalars) {
  HivmLaunch launch;
  launch.grid = grid;
  launch.scalars = std::move(scalars);
  return hivm_traffic(program, launch).value();
}

// A program around some lines of an entry with one f32 pointer and one integer, beside what every entry has.
HivmProgram entry_with(const std::string& lines) {
  const std::string head =
      "module {\n  func.func @k(%arg0: i64, %arg1: memref<?xf32, #hivm.address_space<gm>>, %arg2: i32, "
      "%arg3: i32, %arg4: i32, %arg5: i32) attributes {hacc.entry} {\n";
  return read_hivm(head + lines + "\n    return\n  }\n}\n").value();
}

TEST(HivmTraffic, TailsCountAsWhatTheyAre) {
  for (const char* file : {"add.a2.mlir", "add.a5.mlir"}) {
    // 2500 elements: two whole blocks of 1024 and one of 452.
    const HivmTraffic traffic = traffic_of(program_of(file), {3, 1, 1}, {2500});
    EXPECT_EQ(traffic.total.read_bytes, 2 * 4 * 2500) << file;
    EXPECT_EQ(traffic.total.written_bytes, 4 * 2500) << file;
    EXPECT_EQ(traffic.total.read_rows, 6) << file;
    EXPECT_EQ(traffic.total.written_rows, 3) << file;
    EXPECT_EQ(traffic.total.read_calls, 6) << file;
    EXPECT_EQ(traffic.total.write_calls, 3) << file;
    EXPECT_EQ(traffic.busiest_core_bytes, 3 * 4 * 1024) << file;
    EXPECT_EQ(traffic.cores_used, 3) << file;
    EXPECT_EQ(traffic.ub_bytes, 2 * 4 * 1024) << file;
    EXPECT_EQ(traffic.total.barriers, 3) << file;
    EXPECT_EQ(traffic.total.scalar_elements, 0) << file;
    EXPECT_TRUE(traffic.unknown.empty()) << json_text(traffic);
  }
}

TEST(HivmTraffic, SizesOfViewsAreNumbers) {
  const HivmProgram program = entry_with(R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = arith.index_cast %arg2 : i32 to index
    %x = memref.reinterpret_cast %arg1 to offset: [0], sizes: [4, %n], strides: [64, 1] : )"
                                         R"(memref<?xf32, #hivm.address_space<gm>> to )"
                                         R"(memref<4x?xf32, strided<[64, 1]>, #hivm.address_space<gm>>
    %rows = memref.dim %x, %c0 : memref<4x?xf32, strided<[64, 1]>, #hivm.address_space<gm>>
    %columns = memref.dim %x, %c1 : memref<4x?xf32, strided<[64, 1]>, #hivm.address_space<gm>>
    %t = memref.get_global @tbl : memref<320xi32, #hivm.address_space<gm>>
    scf.for %i = %c0 to %rows step %c1 {
      scf.for %j = %c0 to %columns step %c1 {
        %v = memref.load %x[%i, %j] : memref<4x?xf32, strided<[64, 1]>, #hivm.address_space<gm>>
        %u = memref.load %t[%j] : memref<320xi32, #hivm.address_space<gm>>
      }
    })");
  const HivmTraffic traffic = traffic_of(program, {1, 1, 1}, {7});
  EXPECT_EQ(traffic.total.gm_scalar_accesses, 2 * 4 * 7);
  EXPECT_EQ(traffic.total.read_bytes, 2 * 4 * 4 * 7);
  EXPECT_TRUE(traffic.unknown.empty()) << json_text(traffic);
}

TEST(HivmTraffic, LibraryCallsByName) {
  const HivmTraffic traffic = traffic_of(program_of("add.a2.mlir"), {3, 1, 1}, {2500});
  EXPECT_EQ(traffic.vectors.at("vadd_1d_float"), (HivmVectorUse{3, 3072}));
  // The two inputs of the last block are filled with zeros first.
  EXPECT_EQ(traffic.vectors.at("broadcast_scalar_float_to_1d"), (HivmVectorUse{2, 2048}));
  EXPECT_EQ(traffic.total.vector_calls, 5);
  EXPECT_EQ(traffic.total.vector_bytes, 4 * 5120);
}

TEST(HivmTraffic, OutlinedCodeIsFollowed) {
  const HivmTraffic traffic = traffic_of(program_of("add.a5.mlir"), {3, 1, 1}, {2500});
  // 1024 elements of 64 to a register, in three blocks.
  EXPECT_EQ(traffic.vectors.at("vadd.s.x"), (HivmVectorUse{48, 3072}));
  EXPECT_EQ(traffic.vectors.at("vldsx1.v64f32").calls, 96);
  EXPECT_EQ(traffic.total.vector_function_calls, 5);
  EXPECT_EQ(traffic.total.mask_instructions, traffic.vectors.at("pge.b32").calls);
}

TEST(HivmTraffic, BlocksGoToCoresInTurn) {
  HivmLaunch launch;
  launch.grid = {5, 1, 1};
  launch.scalars = {5 * 1024};
  launch.vector_cores = 2;
  const HivmTraffic traffic = hivm_traffic(program_of("add.a2.mlir"), launch).value();
  EXPECT_EQ(traffic.vector_cores[0].read_bytes, 3 * 8 * 1024);
  EXPECT_EQ(traffic.vector_cores[1].read_bytes, 2 * 8 * 1024);
  EXPECT_EQ(traffic.busiest_core_bytes, 3 * 12 * 1024);
}

TEST(HivmTraffic, LoopsWithDynamicBounds) {
  for (const char* file : {"row_sum.a2.mlir", "row_sum.a5.mlir"}) {
    // 29 rows of 128, 8 to a program: the last has 5.
    const HivmTraffic traffic = traffic_of(program_of(file), {4, 1, 1}, {29, 8});
    EXPECT_EQ(traffic.total.read_bytes, 29 * 128 * 4) << file;
    EXPECT_EQ(traffic.total.written_bytes, 29 * 4) << file;
    // Two programs of 16: two rounds each, and the second has 13 rows.
    const HivmTraffic two = traffic_of(program_of(file), {2, 1, 1}, {29, 16});
    EXPECT_EQ(two.total.read_bytes, 29 * 128 * 4) << file;
    EXPECT_EQ(two.total.read_calls, 4) << file;
    EXPECT_EQ(two.cores_used, 2) << file;
  }
}

TEST(HivmTraffic, GatherHandlesElementsOneByOne) {
  for (const char* file : {"gather.a2.mlir", "gather.a5.mlir"}) {
    const HivmTraffic traffic = traffic_of(program_of(file), {2, 1, 1}, {});
    EXPECT_EQ(traffic.total.scalar_elements, 128) << file;
    EXPECT_EQ(traffic.total.gm_scalar_accesses, 128) << file;
    EXPECT_EQ(traffic.total.read_bytes, 128 * 4 + 128 * 4) << file;
    EXPECT_EQ(traffic.total.written_bytes, 128 * 4) << file;
    EXPECT_EQ(traffic.data_branches, 0) << file;
  }
}

// As the A5 compiler does for a sine: the table is read by each core, though it is no argument.
TEST(HivmTraffic, TablesOfTheCompilerCountApart) {
  const std::string gm = "#hivm.address_space<gm>>";
  const std::string ub = "#hivm.address_space<ub>>";
  const std::string row = "strided<[1]>, " + gm;
  const HivmProgram program = entry_with(
      "%0 = memref.get_global @tbl : memref<320xi32, " + gm +
      "\n%1 = memref.reinterpret_cast %0 to offset: [0], sizes: [320], strides: [1] : memref<320xi32, " + gm +
      " to memref<320xi32, " + row + "\n%c0 = llvm.mlir.constant(0 : i64) : i64" +
      "\n%2 = hivm.hir.pointer_cast(%c0) : memref<320xi32, " + ub +
      "\ncall @load_gm_to_ubuf_1d_int32_t(%1, %2) : (memref<320xi32, " + row + ", memref<320xi32, " + ub +
      ") -> ()" +
      "\n%3 = memref.reinterpret_cast %arg1 to offset: [0], sizes: [64], strides: [1] : memref<?xf32, " + gm +
      " to memref<64xf32, " + row + "\n%4 = hivm.hir.pointer_cast(%c0) : memref<64xf32, " + ub +
      "\ncall @load_gm_to_ubuf_1d_float(%3, %4) : (memref<64xf32, " + row + ", memref<64xf32, " + ub +
      ") -> ()");
  const HivmTraffic traffic = traffic_of(program, {3, 1, 1}, {7});
  EXPECT_EQ(traffic.total.read_bytes, 3 * 4 * (320 + 64));
  EXPECT_EQ(traffic.total.table_bytes, 3 * 4 * 320);
}

TEST(HivmTraffic, MixedKernelsHaveTwoParts) {
  const HivmTraffic a2 = traffic_of(program_of("matmul.a2.mlir"), {1, 1, 1}, {});
  EXPECT_EQ(a2.total.cube_calls, 1);
  // Two f16 matrices, and the product goes to the vector cores through global memory.
  EXPECT_EQ(a2.total.read_bytes, 2 * 2048 + 4096);
  EXPECT_EQ(a2.total.written_bytes, 4096 + 4096);
  EXPECT_EQ(a2.cores_used, 3);
  EXPECT_GT(a2.total.block_syncs, 0);
  const HivmTraffic a5 = traffic_of(program_of("matmul.a5.mlir"), {1, 1, 1}, {});
  EXPECT_EQ(a5.total.read_bytes, 2 * 2048);
  EXPECT_EQ(a5.total.written_bytes, 4096);
}

TEST(HivmTraffic, WrongNumberOfScalarsIsRefused) {
  HivmLaunch launch;
  launch.scalars = {1, 2};
  const Result<HivmTraffic> traffic = hivm_traffic(program_of("add.a2.mlir"), launch);
  ASSERT_FALSE(traffic.ok());
  EXPECT_EQ(traffic.error().message, "add takes 1 integers beside its grid, not 2");
}

TEST(HivmTraffic, EndlessLoopsEnd) {
  const HivmProgram program = entry_with(R"(    %c1 = arith.constant 1 : i1
    cf.br ^bb1
  ^bb1:
    cf.cond_br %c1, ^bb1, ^bb2
  ^bb2:)");
  HivmLaunch launch;
  launch.scalars = {0};
  launch.most_steps = 1000;
  const Result<HivmTraffic> traffic = hivm_traffic(program, launch);
  ASSERT_FALSE(traffic.ok());
  EXPECT_EQ(traffic.error().code, "limit");
}

TEST(HivmTraffic, ValuesOfRegions) {
  // The number of bytes that are read is what the loop and the branch yield: 2 * (0 + 1 + 2 + 3) + n.
  const HivmProgram program = program_of("regions.mlir");
  EXPECT_EQ(traffic_of(program, {1, 1, 1}, {5}).total.read_bytes, 4 * (12 + 5));
}

TEST(HivmTraffic, WhileLoops) {
  const HivmProgram program = program_of("while.mlir");
  const HivmTraffic traffic = traffic_of(program, {1, 1, 1}, {7});
  EXPECT_EQ(traffic.total.barriers, 7);
  EXPECT_EQ(traffic.total.read_bytes, 7 * 2 * 4);
  EXPECT_EQ(traffic.total.read_rows, 7);
}

TEST(HivmTraffic, DataThatDecidesIsTold) {
  const HivmProgram program = entry_with(R"(    %c0 = arith.constant 0 : index
    %x = memref.load %arg1[%c0] : memref<?xf32, #hivm.address_space<gm>>
    %y = arith.fptosi %x : f32 to i32
    %is = arith.cmpi slt, %y, %arg2 : i32
    scf.if %is {
      hivm.hir.pipe_barrier[<PIPE_V>]
    })");
  EXPECT_EQ(traffic_of(program, {2, 1, 1}, {7}).data_branches, 2);
}

TEST(HivmTraffic, OperationsThatAreNotKnownAreTold) {
  const HivmProgram program = entry_with("    %x = hivm.hir.future %arg2 : i32 -> i32");
  EXPECT_EQ(traffic_of(program, {1, 1, 1}, {7}).unknown.at("hivm.hir.future"), 1);
}

TEST(HivmRead, BrokenTextsHaveAPlace) {
  const auto broken =
      read_hivm("module {\n  func.func @k() {\n    cf.br ^bb7\n    return\n  }\n}\n", "k.mlir");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().message, "k has no block ^bb7");
  EXPECT_EQ(broken.error().where.file, "k.mlir");
  EXPECT_FALSE(read_hivm("").ok());
  EXPECT_FALSE(read_hivm("module {\n  func.func @k() {\n    return\n").ok());
  EXPECT_FALSE(read_hivm("module {\n  func.func @k() {\n    }\n  }\n}\n").ok());
  EXPECT_FALSE(read_hivm("module {\n  func.func @k() {\n    %0 = affine.apply #map9()[%x]\n  }\n}\n").ok());
}

// Whatever a text lacks, it is refused or counted; nothing falls over.
void read_and_run(const std::string& text) {
  const Result<HivmProgram> program = read_hivm(text);
  if (!program.ok()) return;
  facts_of(*program);
  HivmLaunch launch;
  launch.scalars = {29, 8};
  launch.most_steps = 10000;
  for (; !launch.scalars.empty(); launch.scalars.pop_back()) {
    const Result<HivmTraffic> traffic = hivm_traffic(*program, launch);
    EXPECT_TRUE(traffic.ok() || !traffic.error().message.empty());
  }
}

TEST(HivmRead, DamagedTextsAreReadOrRefused) {
  for (const char* file : {"row_sum.a2.mlir", "row_sum.a5.mlir", "matmul.a2.mlir"}) {
    const std::string text = bytes_of_file(std::string(JUMAR_TEST_DIR) + "/hivm/" + file).value();
    for (size_t size = 0; size < text.size(); size += 97) read_and_run(text.substr(0, size));
    for (size_t at = 0; at < text.size(); at += 13) {
      std::string damaged = text;
      damaged.erase(at, 1 + at % 7);
      read_and_run(damaged);
    }
    for (size_t at = 0; at != std::string::npos && at + 1 < text.size(); at = text.find('\n', at + 1)) {
      std::string damaged = text;
      damaged.erase(at, text.find('\n', at + 1) - at);
      read_and_run(damaged);
    }
  }
}

TEST(HivmFacts, UbAndNeedsOfTheHost) {
  const HivmFacts add = facts_of(program_of("add.a2.mlir"));
  EXPECT_EQ(add.ub_bytes, 8192);
  EXPECT_EQ(add.needs.task_type, 10);
  EXPECT_FALSE(add.needs.workspace_bytes);
  const HivmFacts matmul = facts_of(program_of("matmul.a2.mlir"));
  EXPECT_EQ(matmul.needs.task_type, 32);
  EXPECT_EQ(matmul.needs.workspace_bytes, 4096);
  EXPECT_EQ(facts_of(program_of("add.a5.mlir")).ub_bytes, 8192);
}

TEST(HivmText, Types) {
  const HivmType view = type_in("memref<4x?xf16, strided<[?, 1], offset: ?>, #hivm.address_space<ub>>");
  EXPECT_EQ(view.sizes, (std::vector<int64_t>{4, kDynamic}));
  EXPECT_EQ(view.strides, (std::vector<int64_t>{kDynamic, 1}));
  EXPECT_EQ(view.bits, 16);
  EXPECT_EQ(view.space, HivmSpace::kUb);
  EXPECT_EQ(type_in("memref<f32, #hivm.address_space<gm>>").bits, 32);
  EXPECT_EQ(type_in("i32 {tt.divisibility = 16 : i32}").bits, 32);
  EXPECT_EQ(type_in("f32").kind, HivmType::Kind::kFloat);
  EXPECT_EQ(type_in("index").bits, 64);
}

TEST(HivmTime, LongestPipeThenWaits) {
  HivmTraffic traffic;
  traffic.vector_cores.resize(2);
  traffic.vector_cores[0].read_bytes = 1000;
  traffic.vector_cores[1].read_bytes = 4000;
  traffic.vector_cores[1].read_calls = 2;
  traffic.vector_cores[1].vector_calls = 10;
  traffic.vector_cores[1].barriers = 3;
  for (const HivmWork& core : traffic.vector_cores) traffic.total += core;
  HivmCosts costs;
  costs.core_bytes_per_second = 1000;
  costs.transfer_seconds = 1;
  costs.vector_call_seconds = 0.5;
  costs.barrier_seconds = 0.25;
  const HivmTime overlapped = estimated_time(traffic, costs);
  EXPECT_DOUBLE_EQ(overlapped.read_seconds, 6);
  EXPECT_DOUBLE_EQ(overlapped.seconds, 6.75);
  EXPECT_EQ(overlapped.bound, "read");
  costs.overlap = 0;
  costs.launch_seconds = 2;
  EXPECT_DOUBLE_EQ(estimated_time(traffic, costs).seconds, 6 + 5 + 0.75 + 2);
  costs.device_bytes_per_second = 50;
  EXPECT_DOUBLE_EQ(estimated_time(traffic, costs).seconds, 100 + 2);
  EXPECT_EQ(estimated_time(traffic, costs).bound, "memory");
}

// A function is started once, and its instructions, those on masks as well, take as long as their registers
// do.
TEST(HivmTime, FunctionsOfInstructionsStartOnce) {
  HivmTraffic traffic;
  HivmWork core;
  core.vector_calls = 101;
  core.vector_instructions = 100;
  core.vector_function_calls = 2;
  core.vector_bytes = 100 * 256;
  core.mask_instructions = 10;
  traffic.vector_cores = {core};
  HivmCosts costs;
  costs.vector_call_seconds = 5;
  costs.vector_bytes_per_second = 256;
  EXPECT_DOUBLE_EQ(estimated_time(traffic, costs).vector_seconds, 110 + 3 * 5);
}

}  // namespace
}  // namespace jumar::driver::toolchain
