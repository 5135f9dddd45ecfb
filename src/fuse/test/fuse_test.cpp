#include "fuse/fuse.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fuse/access.h"
#include "fuse/test/random_graph.h"
#include "loop/check.h"
#include "loop/lower/lower.h"
#include "support/files.h"

namespace jumar::fuse {
namespace {

std::string file_text(const std::filesystem::path& path) {
  const std::string all = bytes_of_file(path).value();
  return all.substr(0, all.find("# EXPECT"));
}

size_t kernel_count(const loop::Program& program) {
  size_t count = 0;
  for (const loop::Item& item : program.items) count += std::holds_alternative<loop::Kernel>(item) ? 1 : 0;
  return count;
}

// Copies into inputs that are left after fusion.
size_t stored_inputs(const loop::Program& program) {
  size_t count = 0;
  for (const loop::Item& item : program.items)
    if (const auto* kernel = std::get_if<loop::Kernel>(&item))
      for (const loop::Nest& nest : kernel->nests)
        for (const loop::Stage& stage : nest.stages)
          count += stage.body.size() == 2 && stage.body[1].inst.kind == loop::InstKind::kStore &&
                   program.buffers[stage.body[1].inst.buffer].storage == loop::Storage::kInput;
  return count;
}

// The text of a program, so that the fused one is read from what it prints as well.
loop::Program reread(const loop::Program& program) {
  return loop::read_program(loop::write_program(program)).value();
}

// Every input that has a value of its own type and sizes becomes one of the latest of them, or its product
// with what the input was.
size_t add_updates(graph::Graph& graph, uint64_t seed) {
  size_t count = 0;
  for (const graph::Input& input : std::vector(graph.inputs)) {
    const ir::TensorType type = graph.values[input.value].type;
    std::vector<graph::ValueId> fitting;
    for (graph::NodeId id : graph.order)
      for (graph::ValueId value : graph.nodes[id].results)
        if (graph.values[value].kind == graph::ValueKind::kTensor &&
            graph.values[value].type.dtype == type.dtype && graph.values[value].type.sizes == type.sizes)
          fitting.push_back(value);
    if (graph.values[input.value].kind != graph::ValueKind::kTensor || fitting.empty()) continue;
    graph::ValueId value = fitting[fitting.size() - 1 - (seed + count) % std::min<size_t>(fitting.size(), 4)];
    if (ir::is_float(type.dtype) && (seed + count) % 2 == 0) {
      graph::Node product;
      product.op = "aten.mul.Tensor";
      product.args = {value, input.value};
      product.results = {graph.add_tensor("product", type)};
      value = product.results[0];
      graph.schemas.try_emplace(product.op,
                                graph::Schema{{{"Tensor", "self"}, {"Tensor", "other"}}, {"Tensor"}});
      graph.append(std::move(product));
    }
    graph::Node update;
    update.op = "aten.copy_.default";
    update.args = {input.value, value, false};
    graph.schemas.try_emplace(
        update.op, graph::Schema{{{"Tensor", "self"}, {"Tensor", "src"}, {"bool", "non_blocking"}}, {}});
    graph.append(std::move(update));
    ++count;
  }
  return count;
}

TEST(Fuse, GoldenInputsComputeTheSame) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(JUMAR_TEST_DIR)) {
    if (entry.path().extension() != ".loop") continue;
    ++files;
    loop::Program before = loop::read_program(file_text(entry.path()), entry.path().filename()).value();
    loop::Program after = reread(before);
    FuseReport report;
    fuse(after, {}, report);
    Status verified = loop::verify(after);
    ASSERT_TRUE(verified.ok()) << entry.path() << ": " << verified.error().text();
    for (int64_t size : {2, 5}) {
      Status same = loop::compare_programs(before, after, {.seed = 3, .symbols = {{"s0", size}}}, {});
      EXPECT_TRUE(same.ok()) << entry.path() << ": " << same.error().text();
    }
  }
  EXPECT_GE(files, 8u);
}

// Fuses `after`, which is what `before` is.
void fuse_and_compare(const loop::Program& before, loop::Program& after, uint64_t seed) {
  FuseReport report;
  fuse(after, {}, report);
  Status verified = loop::verify(after);
  ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().text() << "\n"
                             << loop::write_program(before) << loop::write_program(after);
  Status same =
      loop::compare_programs(before, after, {.seed = seed, .symbols = {{"s0", 2 + int64_t(seed % 5)}}}, {});
  ASSERT_TRUE(same.ok()) << "seed " << seed << ": " << same.error().text() << "\n"
                         << loop::write_program(before) << loop::write_program(after);
}

TEST(Fuse, RandomUpdatesComputeTheSame) {
  size_t updates = 0;
  size_t copies = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    graph::Graph graph = test::RandomGraph(seed, seed % 2 == 0).make(10);
    updates += add_updates(graph, seed);
    ASSERT_TRUE(graph::verify(graph).ok()) << graph::write_graph(graph);
    const loop::Program before = loop::lower(graph).value();
    loop::Program after = reread(before);
    ASSERT_NO_FATAL_FAILURE(fuse_and_compare(before, after, seed));
    copies += stored_inputs(after);
  }
  // Some are made in place, and some can't be.
  EXPECT_LT(copies, updates);
  EXPECT_GT(copies, 0u);
}

// The property that matters: on random graphs, static and dynamic, fusing changes no value and removes
// kernels.
TEST(Fuse, RandomGraphsComputeTheSame) {
  size_t before_count = 0;
  size_t after_count = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    graph::Graph graph = test::RandomGraph(seed, seed % 2 == 0).make(14);
    ASSERT_TRUE(graph::verify(graph).ok()) << graph::write_graph(graph);
    const loop::Program before = loop::lower(graph).value();
    loop::Program after = reread(before);
    ASSERT_NO_FATAL_FAILURE(fuse_and_compare(before, after, seed));
    before_count += kernel_count(before);
    after_count += kernel_count(after);
  }
  // Without fusion the test would prove nothing.
  EXPECT_LT(after_count * 2, before_count);
}

// Sizes that may be 0 are no reason to fuse less, and where one is 0 the rest must still be computed.
TEST(Fuse, SizesThatMayBeZeroComputeTheSame) {
  size_t counts[2] = {};
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    for (const int64_t least : {0, 1}) {
      graph::Graph graph = test::RandomGraph(seed, true, least).make(12);
      loop::Program before = loop::lower(graph).value();
      loop::Program after = reread(before);
      FuseReport report;
      fuse(after, {}, report);
      ASSERT_TRUE(loop::verify(after).ok()) << "seed " << seed << ": " << loop::verify(after).error().text();
      counts[least] += kernel_count(after);
      for (const auto& [s0, s1] : {std::pair{0, 3}, {3, 0}, {0, 0}, {1, 2}, {4, 3}}) {
        if (least > std::min(s0, s1)) continue;
        Status same =
            loop::compare_programs(before, after, {.seed = seed, .symbols = {{"s0", s0}, {"s1", s1}}}, {});
        ASSERT_TRUE(same.ok()) << "seed " << seed << ", sizes " << s0 << " and " << s1 << ": "
                               << same.error().text() << "\n"
                               << loop::write_program(before) << loop::write_program(after);
      }
    }
  }
  EXPECT_EQ(counts[0], counts[1]);
}

// At a consumer's point s0 is 1, and both nests have 8 points. Where s0 is 0 only the producer has any, and
// what it stores is a result.
TEST(Fuse, AnEmptyConsumerTakesNoProducerAlong) {
  for (const char* stages : {"stage { %0: f32 = load %x[i0] %1: f32 = exp %0 store %t[i0], %1 }",
                             "stage (r0 in 4) { %0: f32 = load %x[i0 + r0] %1: f32 = reduce sum %0 } "
                             "stage { store %t[i0], %1 }"}) {
    loop::Program before = loop::read_program(std::string(R"(loop @main symbols(s0 in [0, 1] hint 1) {
  %x: f32[12] = input 0
  %z: f32[s0] = input 1
  %t: f32[8] = output
  %y: f32[8*s0] = output
  kernel @first { nest (i0 in 8) { )") + stages +
                                              R"( } }
  kernel @second { nest (i0 in 8*s0) { stage { %0: f32 = load %t[i0] %1: f32 = neg %0 store %y[i0], %1 } } }
  return %t, %y
})")
                               .value();
    loop::Program after = reread(before);
    FuseReport report;
    fuse(after, {}, report);
    for (int64_t size : {0, 1}) {
      Status same = loop::compare_programs(before, after, {.symbols = {{"s0", size}}}, {});
      EXPECT_TRUE(same.ok()) << same.error().text() << "\n" << loop::write_program(after);
    }
  }
}

TEST(Fuse, StopsAtTheGivenNumberOfFusions) {
  loop::Program program = loop::read_program(file_text(JUMAR_TEST_DIR "/softmax.loop")).value();
  loop::Program one = reread(program);
  FuseReport report;
  fuse(one, {.max_fusions = 1}, report);
  EXPECT_EQ(report.inlined + report.merged + report.siblings, 1u);
  EXPECT_TRUE(loop::compare_programs(program, one, {.symbols = {{"s0", 3}}}, {}).ok());
}

TEST(Access, InvertsMixedRadixAddresses) {
  sym::Context cx;
  sym::Expr s0 = cx.symbol(sym::SymbolKind::kSize, "s0");
  sym::Expr a = cx.symbol(sym::SymbolKind::kAxis, "a"), b = cx.symbol(sym::SymbolKind::kAxis, "b");
  sym::Expr i = cx.symbol(sym::SymbolKind::kAxis, "i"), j = cx.symbol(sym::SymbolKind::kAxis, "j");
  sym::Facts facts;
  facts.set_range(s0, {2, 100});
  facts.set_extent(a, s0);
  facts.set_extent(b, cx.constant(12));
  facts.set_extent(i, s0);
  facts.set_extent(j, cx.constant(12));
  std::vector<loop::Axis> axes = {{a, s0}, {b, cx.constant(12)}};
  // Stored transposed: b is the outer axis.
  auto store = strided(cx, cx.add(cx.mul(b, s0), a), axes);
  ASSERT_TRUE(store);
  ASSERT_TRUE(sort_mixed_radix(cx, *store, facts));
  auto values = inverted(cx, *store, cx.add(cx.mul(j, s0), i), facts);
  ASSERT_TRUE(values);
  EXPECT_EQ(sym::text((*values)[0]), "j");
  EXPECT_EQ(sym::text((*values)[1]), "i");
}

TEST(Access, OverlappingAddressesAreNotMixedRadix) {
  sym::Context cx;
  sym::Expr a = cx.symbol(sym::SymbolKind::kAxis, "a"), b = cx.symbol(sym::SymbolKind::kAxis, "b");
  sym::Facts facts;
  facts.set_extent(a, cx.constant(4));
  facts.set_extent(b, cx.constant(4));
  std::vector<loop::Axis> axes = {{a, cx.constant(4)}, {b, cx.constant(4)}};
  auto window = strided(cx, cx.add(a, b), axes);
  ASSERT_TRUE(window);
  EXPECT_FALSE(sort_mixed_radix(cx, *window, facts));
}

TEST(Access, FindsWhereAnAxisMustBeCut) {
  sym::Context cx;
  sym::Expr i = cx.symbol(sym::SymbolKind::kAxis, "i");
  std::vector<loop::Axis> axes = {{i, cx.constant(24)}};
  sym::Facts facts;
  facts.set_extent(i, cx.constant(24));
  auto cut = cut_for(cx, cx.floordiv(cx.mul(i, 3), 12), axes, facts);
  ASSERT_TRUE(cut);
  EXPECT_EQ(sym::text(cut->divisor), "4");
  EXPECT_FALSE(cut_for(cx, cx.floordiv(i, 7), axes, facts)) << "7 does not divide 24";
}

}  // namespace
}  // namespace jumar::fuse
