// Which kernels become one launch, which don't, and that values stay the same.
#include "tile/join_kernels.h"

#include <gtest/gtest.h>

#include "fuse/test/random_graph.h"
#include "loop/check.h"
#include "loop/lower/lower.h"
#include "tile/tile_cpu.h"

namespace jumar::tile {
namespace {

using loop::Kernel;
using loop::Program;

const Kernel* kernel_at(const Program& program, size_t item) {
  return item < program.items.size() ? std::get_if<Kernel>(&program.items[item]) : nullptr;
}

// One word for each item: the kernel's name, with its number of nests if it is phased, or what else it is.
std::string outline(const Program& program) {
  std::string out;
  for (const loop::Item& item : program.items) {
    if (!out.empty()) out += " ";
    if (const auto* kernel = std::get_if<Kernel>(&item)) {
      out += kernel->name;
      if (kernel->is_phased) out += fmt::format(":{}", kernel->nests.size());
    } else if (const auto* call = std::get_if<loop::Call>(&item)) {
      out += call->op;
    } else {
      out += std::holds_alternative<loop::HostOp>(item) ? "host" : "check";
    }
  }
  return out;
}

// Tiles the program and checks by the interpreter that it computes what it did.
Program tiled(const std::string& text) {
  Program before = loop::read_program(text).value();
  const Status sound = loop::verify(before);
  EXPECT_TRUE(sound.ok()) << sound.error().text();
  Program after = loop::read_program(text).value();
  tile_cpu(after, CpuModel());
  const Status valid = loop::verify(after);
  EXPECT_TRUE(valid.ok()) << valid.error().text() << loop::write_program(after);
  const Status same = loop::compare_programs(before, after, {}, {});
  EXPECT_TRUE(same.ok()) << same.error().text() << loop::write_program(after);
  return after;
}

// A kernel over 8 elements that stores an operator of %from's mirror image, or of a constant, to %to.
std::string small(const std::string& name, const std::string& from, const std::string& to) {
  const std::string load = from.empty() ? "const 3.0" : "load %" + from + "[7 - i0]";
  return "kernel @" + name + " origin \"" + name + "\" { nest (i0 in 8) { stage { %0: f32 = " + load +
         " %1: f32 = neg %0 store %" + to + "[i0], %1 } } }\n";
}

// Small buffers: inputs %x and %ids, temps %a to %d, the results %r and %q of calls, and the output %y; and a
// buffer for parallel work.
std::string program(const std::string& items) {
  std::string text = "loop @main symbols(u0 in [1, 8]) {\n%x: f32[8] = input 0\n%ids: i64[8] = input 1\n";
  text += "%big: f32[4096, 64] = input 2\n%p: float = input 3\n%large: f32[4096, 64] = temp\n";
  for (const char* name : {"a", "b", "c", "d"}) text += fmt::format("%{}: f32[8] = temp\n", name);
  text += "%r: f32[8] = result\n%q: f32[8] = result\n%v: f32[4] = view %a offset 4\n%y: f32[8] = output\n";
  text += "schema aten.bernoulli.default(Tensor self) -> (Tensor)\n";
  text += "schema aten.mm.default(Tensor self) -> (Tensor)\n";
  return text + items + "return %y\n}\n";
}

// Large work in nests side by side, which stays a kernel of its own.
const std::string kLargeKernel =
    "kernel @large { nest (i0 in 2048, i1 in 64) { stage { %0: f32 = load %big[64*i0 + i1] "
    "%1: f32 = exp %0 store %large[64*i0 + i1], %1 } } nest (i0 in 2048, i1 in 64) { stage { "
    "%0: f32 = load %big[64*i0 + i1 + 131072] store %large[64*i0 + i1 + 131072], %0 } } }\n";

void expect_outline(const std::string& items, const std::string& expected) {
  EXPECT_EQ(outline(tiled(program(items))), expected) << items;
}

TEST(JoinKernels, NeighboursBecomeOneLaunch) {
  const Program joined = tiled(
      program(small("k0", "x", "a") + small("k1", "a", "b") + small("k2", "b", "a") + small("k3", "a", "y")));
  EXPECT_EQ(outline(joined), "k3:4");
  const Kernel& kernel = *kernel_at(joined, 0);
  EXPECT_EQ(kernel.origin, "k0 k1 k2 k3");
  const auto stored = [&](size_t nest) {
    return joined.buffers[kernel.nests[nest].stages[0].body.back().inst.buffer].name;
  };
  EXPECT_EQ(stored(0) + stored(1) + stored(2) + stored(3), "abay");
}

TEST(JoinKernels, OneKernelStaysAsItIs) { expect_outline(small("k0", "x", "y"), "k0"); }

TEST(JoinKernels, AKernelMovesUpAcrossWhatItDoesNotDependOn) {
  const std::string call = "call aten.mm.default(%x) -> (%r)\n";
  expect_outline(small("k0", "x", "a") + call + small("k1", "a", "y"), "k1:2 aten.mm.default");
  expect_outline(small("k0", "x", "a") + kLargeKernel + small("k1", "a", "y"), "k1:2 large");
  expect_outline(small("k0", "x", "a") + call + kLargeKernel + small("k1", "a", "b") + small("k2", "b", "y"),
                 "k2:3 aten.mm.default large");
}

TEST(JoinKernels, AKernelStaysBelowWhatItDependsOn) {
  const std::string call = "call aten.mm.default(%a) -> (%r)\n";
  // It reads what the call returns.
  expect_outline(small("k0", "x", "a") + call + small("k1", "r", "y"), "k0 aten.mm.default k1");
  // It overwrites what the call reads, by name or through a view.
  expect_outline(small("k0", "x", "a") + call + small("k1", "x", "a") + small("k2", "a", "y"),
                 "k0 aten.mm.default k2:2");
  expect_outline(small("k0", "x", "a") + "call aten.mm.default(%v) -> (%r)\n" + small("k1", "x", "a") +
                     small("k2", "a", "y"),
                 "k0 aten.mm.default k2:2");
  // It overwrites what the call writes.
  expect_outline(small("k0", "x", "a") + "call aten.mm.default(%x) -> (%b)\n" + small("k1", "a", "b") +
                     small("k2", "b", "y"),
                 "k0 aten.mm.default k2:2");
  // What it reads can't move either.
  expect_outline(small("k0", "x", "a") + call + small("k1", "r", "b") + "call aten.mm.default(%x) -> (%q)\n" +
                     small("k2", "b", "y"),
                 "k0 aten.mm.default k2:2 aten.mm.default");
}

TEST(JoinKernels, NestsSideBySideAreLeftAlone) {
  const std::string mean =
      "kernel @mean { nest (i0 in 8) { stage (r0 in 16) { %0: f32 = load %large[64*i0 + r0] "
      "%1: f32 = reduce sum %0 } stage { store %y[i0], %1 } } }\n";
  expect_outline(kLargeKernel + mean, "large mean");
  expect_outline(small("k0", "x", "a") + kLargeKernel + mean, "k0 large mean");
}

TEST(JoinKernels, NeighboursOfAnySizeBecomePhases) {
  const char* text = R"(loop @main symbols(s0 in [2, 100000], s1 in [2, 100]) {
  %x: f32[s0] = input 0
  %z: f32[s1] = input 1
  %t: f32[s0] = temp
  %y: f32[s0] = output
  %u: f32[s1] = temp
  %w: f32[s1] = output
  kernel @k0 { nest (i0 in s0) { stage { %0: f32 = load %x[i0] %1: f32 = exp %0 store %t[i0], %1 } } }
  kernel @k1 { nest (i0 in s0) { stage { %0: f32 = load %t[i0] %1: f32 = exp %0 store %y[i0], %1 } } }
  kernel @k2 { nest (i0 in s1) { stage { %0: f32 = load %z[i0] %1: f32 = exp %0 store %u[i0], %1 } } }
  kernel @k3 { nest (i0 in s1) { stage { %0: f32 = load %u[i0] %1: f32 = exp %0 store %w[i0], %1 } } }
  return %y, %w
})";
  EXPECT_EQ(outline(tiled(text)), "k3:4");
}

TEST(JoinKernels, IndexChecksKeepTheirPlaceAmongEffects) {
  const std::string checking =
      "kernel @pick { nest (i0 in 8) { stage { %0: i64 = load %ids[i0] %1: i64 = wrap_index %0 in 8 "
      "%2: f32 = load %x[%1] store %b[i0], %2 } } }\n";
  const std::string last = small("k1", "b", "y");
  const std::string draw = "call aten.bernoulli.default(%x) -> (%r)\n";
  expect_outline(small("k0", "x", "a") + "call aten.mm.default(%x) -> (%r)\n" + checking + last,
                 "k1:3 aten.mm.default");
  expect_outline(small("k0", "x", "a") + draw + checking + last, "k0 aten.bernoulli.default k1:2");
  expect_outline(checking + draw + small("k0", "x", "a") + last, "k1:3 aten.bernoulli.default");
}

TEST(JoinKernels, NothingMovesAcrossChecksAndUnknownCalls) {
  const std::string two[] = {small("k0", "x", "a"), small("k1", "a", "y")};
  expect_outline(two[0] + "check 1 < 2 \"message\"\n" + two[1], "k0 check k1");
  expect_outline(two[0] + "call python.0(%x) -> ()\n" + two[1], "k0 python.0 k1");
  expect_outline(two[0] + "call python.0(%x) -> () defines(u0)\n" + two[1], "k0 python.0 k1");
}

TEST(JoinKernels, NumbersAreDefinedBeforeTheyAreRead) {
  const std::string host = "host %h: float = scalar.mul(%p, 2.0)\n";
  const auto scaled = [](const std::string& number) {
    return "kernel @k1 { nest (i0 in 8) { stage { %0: f64 = param %" + number +
           " %1: f32 = cast %0 store %y[i0], %1 } } }\n";
  };
  expect_outline(small("k0", "x", "a") + host + scaled("p"), "k1:2 host");
  expect_outline(small("k0", "x", "a") + host + scaled("h"), "k0 host k1");
}

TEST(JoinKernels, KernelsOfCountsThatACallDefinesDoNotMove) {
  const std::string count = "call aten._local_scalar_dense.default(%ids) -> () defines(u0)\n";
  std::string text = program(small("k0", "x", "a") + count +
                             "kernel @k1 { nest (i0 in 8) { stage { %0: i64 = index u0 %1: f32 = cast %0 "
                             "store %b[i0], %1 } } }\n" +
                             small("k2", "b", "c") + small("k3", "c", "y"));
  text.insert(text.find("schema aten.bernoulli"),
              "schema aten._local_scalar_dense.default(Tensor self) -> (Scalar)\n");
  EXPECT_EQ(outline(tiled(text)), "k0 aten._local_scalar_dense.default k3:3");
}

TEST(JoinKernels, WhatWritesMuchJoinsOnlyItsNeighbours) {
  const auto text = [](const std::string& between) {
    return "loop @main { %x: f32[8] = input 0 %a: f32[8] = temp %r: f32[8] = result %y: f32[20000] = output\n"
           "schema aten.mm.default(Tensor self) -> (Tensor)\n" +
           small("k0", "x", "a") + between +
           "kernel @k1 { nest (i0 in 20000) { stage { %0: f32 = load %a[2] store %y[i0], %0 } } }\nreturn %y "
           "}";
  };
  EXPECT_EQ(outline(tiled(text(""))), "k1:2");
  EXPECT_EQ(outline(tiled(text("call aten.mm.default(%x) -> (%r)\n"))), "k0 aten.mm.default k1");
}

TEST(JoinKernels, JoinedKernelsStaySmall) {
  std::string many;
  for (int k = 0; k < 20; ++k) many += small(fmt::format("k{}", k), k % 2 ? "a" : "b", k % 2 ? "b" : "a");
  expect_outline(small("first", "x", "b") + many + small("last", "b", "y"), "k14:16 last:6");
  std::string body = "%0: f32 = load %$F[i0] ";
  for (int k = 1; k <= 250; ++k) body += fmt::format("%{}: f32 = neg %{} ", k, k - 1);
  const auto long_kernel = [&](const std::string& name, const std::string& from, const std::string& to) {
    std::string text =
        "kernel @" + name + " { nest (i0 in 8) { stage { " + body + "store %" + to + "[i0], %250 } } }\n";
    return text.replace(text.find("$F"), 2, from);
  };
  expect_outline(long_kernel("k0", "x", "a") + long_kernel("k1", "a", "b") + long_kernel("k2", "b", "y"),
                 "k1:2 k2");
}

TEST(JoinKernels, WhatIsPhasedAlreadyIsJoinedAsItIs) {
  const std::string phased =
      "kernel @both phased { nest (i0 in 8) { stage { %0: f32 = load %x[i0] store %a[i0], %0 } } "
      "nest (i0 in 8) { stage { %0: f32 = load %a[7 - i0] store %b[i0], %0 } } }\n";
  expect_outline(phased + small("k1", "b", "y"), "k1:3");
  expect_outline(kLargeKernel + phased + small("k1", "b", "y"), "large k1:3");
}

// The property that matters, on graphs as they are lowered, with some operators called.
TEST(JoinKernels, RandomGraphsComputeTheSame) {
  size_t kernels_before = 0;
  size_t kernels_after = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    graph::Graph graph = fuse::test::RandomGraph(seed, seed % 4 == 0).make(14);
    loop::LowerOptions options;
    options.call = {"aten.relu.default", "aten.mul.Tensor"};
    Program before = loop::lower(graph, options).value();
    Program after = loop::read_program(loop::write_program(before)).value();
    tile_cpu(after, CpuModel());
    const Status valid = loop::verify(after);
    ASSERT_TRUE(valid.ok()) << valid.error().text() << loop::write_program(after);
    const Status same =
        loop::compare_programs(before, after, {.seed = seed, .symbols = {{"s0", 2 + int64_t(seed % 5)}}}, {});
    ASSERT_TRUE(same.ok()) << "seed " << seed << ": " << same.error().text() << loop::write_program(after);
    for (const auto& [count, of] : {std::pair(&kernels_before, &before), std::pair(&kernels_after, &after)})
      for (const loop::Item& item : of->items) *count += std::holds_alternative<Kernel>(item) ? 1 : 0;
  }
  // Without joining the test would prove nothing.
  EXPECT_LT(kernels_after * 2, kernels_before);
}

}  // namespace
}  // namespace jumar::tile
