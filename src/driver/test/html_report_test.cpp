#include "driver/html_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "driver/html_text.h"
#include "driver/opt.h"
#include "driver/program_rows.h"
#include "driver/stages.h"
#include "runtime/executor.h"

namespace jumar::driver {
namespace {

// Two layers of a transformer's shape: a normalization, a product, an activation and a residual each.
constexpr std::string_view kLayers = R"(graph @main symbols(s0 in [2, 64] hint 8) {
  schema aten.add.Tensor(Tensor self, Tensor other, Scalar alpha) -> (Tensor)
  schema aten.addmm.default(Tensor self, Tensor mat1, Tensor mat2, Scalar beta, Scalar alpha) -> (Tensor)
  schema aten.gelu.default(Tensor self, str approximate) -> (Tensor)
  schema aten.native_layer_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? weight,
    Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)
  schema aten.t.default(Tensor self) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 32] = input 1
  %g: f32[32] = parameter 2 "encoder.layer.0.norm.weight"
  %b: f32[32] = parameter 3 "encoder.layer.0.norm.bias"
  %w0: f32[32, 32] = parameter 4 "encoder.layer.0.dense.weight"
  %w1: f32[32, 32] = parameter 5 "encoder.layer.1.<dense>.weight"
  %h0: f32[s0, 32], %m0: f32[s0, 1], %r0: f32[s0, 1] =
    aten.native_layer_norm.default(%x, [32], %g, %b, 1e-05) origin "model.py:10"
  %t0: f32[32, 32]{1, 32} = aten.t.default(%w0)
  %p0: f32[s0, 32] = aten.addmm.default(%b, %h0, %t0, 1, 1) origin "model.py:11"
  %a0: f32[s0, 32] = aten.gelu.default(%p0, "none")
  %y0: f32[s0, 32] = aten.add.Tensor(%a0, %x, 1)
  %t1: f32[32, 32]{1, 32} = aten.t.default(%w1)
  %p1: f32[s0, 32] = aten.addmm.default(%b, %y0, %t1, 1, 1) origin "model.py:\"</script><b>\""
  %a1: f32[s0, 32] = aten.gelu.default(%p1, "none")
  %y1: f32[s0, 32] = aten.add.Tensor(%a1, %y0, 1)
  return %y1
}
)";

// What the stages make of a graph's text.
struct Compiled {
  graph::Graph graph;
  loop::Program program;
  plan::Plan plan;
  Report report;
};

Compiled compiled(std::string_view text) {
  const Options options = Options::from_environment([](const std::string&) { return std::nullopt; })
                              .value()
                              .with("cpu=x86-64-v3")
                              .value();
  Report report;
  Dumps dumps = Dumps::create({}, [](std::string_view, const std::string&) {}).value();
  Stages stages(options, report, dumps);
  graph::Graph graph = stages.read(text, "test").value();
  CHECK(stages.optimize(graph).ok());
  loop::Program program = stages.lower(graph).value();
  stages.fuse(program);
  stages.tile(program, target_of(options, false).value());
  plan::Plan plan = stages.plan(program, distinct_kernels(program, "target", "build"));
  return {std::move(graph), std::move(program), std::move(plan), std::move(report)};
}

std::string page_of(const Compiled& c, SizeValues sizes) {
  return html_report(
      {"a & b.graph", "build", "target", c.graph, c.program, c.plan, c.report, std::move(sizes)});
}

TEST(HtmlText, EscapesWhatBrowsersRead) {
  EXPECT_EQ(html::escaped("<a href=\"x\" b='&'>"), "&lt;a href=&quot;x&quot; b=&#39;&amp;&#39;&gt;");
  EXPECT_EQ(html::escaped("gr\xC3\xBC\xC3\x9F\n"), "gr\xC3\xBC\xC3\x9F\n");
  // Lone and cut bytes, a surrogate, an overlong form and a control character become U+FFFD, byte by byte.
  EXPECT_EQ(html::escaped("\xFF|\xC3|\x01"), "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD");
  EXPECT_EQ(html::escaped("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(html::escaped("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(HtmlText, NumbersAreForPeople) {
  EXPECT_EQ(html::bytes_text(0), "0 B");
  EXPECT_EQ(html::bytes_text(1023), "1023 B");
  EXPECT_EQ(html::bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(html::bytes_text((int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(html::bytes_text(int64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(html::count_text(999), "999");
  EXPECT_EQ(html::count_text(1234567), "1,234,567");
  EXPECT_EQ(html::counted(1, "kernel"), "1 kernel");
  EXPECT_EQ(html::counted(2000, "kernel"), "2,000 kernels");
}

TEST(HtmlText, LoopTextKeepsNamesAsTheyAre) {
  EXPECT_EQ(html::loop_text("%load: f32 = load %x[i0 < 4]"), "%load: f32 = <b>load</b> %x[i0 &lt; 4]");
}

TEST(ProgramRows, CoverEveryOperatorThatIsComputed) {
  const Compiled c = compiled(kLayers);
  const std::vector<ProgramRow> rows = program_rows(c.graph, c.program, c.plan);
  ASSERT_EQ(rows.size(), c.program.items.size());
  std::set<uint32_t> covered;
  for (const ProgramRow& row : rows)
    for (const graph::NodeId node : row.nodes) covered.insert(node.index());
  EXPECT_EQ(covered.size(), c.graph.order.size());
  for (size_t k = 1; k < rows.size(); ++k) EXPECT_LT(rows[k - 1].step, rows[k].step);
  // The transposed weight is a view, so it belongs to the call that reads it, and so does the weight's
  // module.
  size_t calls = 0;
  for (const ProgramRow& row : rows) {
    if (row.kind != ProgramRow::Kind::kCall) continue;
    EXPECT_EQ(row.nodes.size(), 2u);
    const std::string module = calls == 0 ? "encoder.layer.0.dense" : "encoder.layer.1.<dense>";
    EXPECT_NE(std::ranges::find(row.modules, module), row.modules.end());
    EXPECT_TRUE(std::holds_alternative<plan::CallStep>(c.plan.steps[row.step].data));
    ++calls;
  }
  EXPECT_EQ(calls, 2u);
}

TEST(MemoryMap, PeakIsTheLargestSumOfWhatIsAlive) {
  const plan::Plan plan = plan::read_plan(R"(plan @m symbols(s0 in [0, 99], u0 in [0, 99]) {
    schema a.b.c(Tensor x) -> (Tensor)
    %x: f32[s0, 256] = input 0
    %w: f32[1024] = parameter 1
    %t: f32[s0, 256] = arena
    %u: f32[s0, 256] = arena
    %v: f32[s0, 512] = arena
    %q: f32[u0] = arena
    %r: f32[s0, 256] = result
    %y: f32[s0, 256] = output
    bind s0 = size(%x, 0)
    launch @k(%x, %t; s0) units s0 grain 1
    launch @k(%t, %u; s0) units s0 grain 1
    call a.b.c(%u) -> %r
    launch @k(%r, %v; s0) units s0 grain 1
    launch @k(%v, %y; s0) units s0 grain 1
    return %y
  })")
                              .value();
  const MemoryMap map = memory_map(plan, {{"s0", 4}});
  EXPECT_EQ(map.input_bytes, 4096);
  EXPECT_EQ(map.parameter_bytes, 4096);
  // %t and %u meet in step 2; %v takes both places.
  EXPECT_EQ(map.arena_bytes, 8192);
  EXPECT_EQ(map.arena_used_bytes, 8192);
  EXPECT_EQ(map.peak_bytes, 8192 + 4096);
  EXPECT_EQ(map.peak_step, 3u);
  EXPECT_TRUE(map.unknown.empty()) << "%q is never used";
  ASSERT_EQ(map.blocks.size(), 5u);
  EXPECT_EQ(map.blocks[4].first, 5u);
  EXPECT_EQ(map.blocks[4].last, 6u) << "the result lives on";
  EXPECT_EQ(memory_map(plan, {}).unknown.size(), 5u) << "nothing is known without s0";
}

void no_kernel(int64_t, int64_t, void**) {}

// Only kernels, so that it runs without libtorch: what the runtime plans is what the page shows.
TEST(MemoryMap, TheArenaIsTheOneOfTheRuntime) {
  std::string text =
      "graph @main symbols(s0 in [2, 64] hint 8) {\n"
      "  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)\n"
      "  schema aten._softmax.default(Tensor self, int dim, bool half_to_float) -> (Tensor)\n"
      "  %n: int(s0) = input 0\n  %x0: f32[s0, 40] = input 1\n";
  for (int k = 0; k < 5; ++k)
    text += fmt::format(
        "  %a{0}: f32[s0, 40] = aten._softmax.default(%x{0}, {1}, false)\n"
        "  %x{2}: f32[s0, 40] = aten.mul.Tensor(%a{0}, %x0)\n",
        k, k % 2, k + 1);
  const Compiled c = compiled(text + "  return %x5\n}\n");
  const std::shared_ptr<runtime::Pool> pool = runtime::Pool::create(1 << 20);
  const auto prepared =
      runtime::PreparedPlan::prepare(c.plan, [](std::string_view) { return no_kernel; }, {pool, nullptr});
  ASSERT_TRUE(prepared.ok()) << prepared.error().text();
  for (const int64_t size : {2, 8, 63}) {
    std::vector<float> data(static_cast<size_t>(size) * 40);
    const int64_t sizes[] = {size, 40};
    runtime::InputValue count, tensor;
    count.kind = runtime::InputValue::Kind::kInt;
    count.integer = size;
    tensor.tensor = {data.data(), ir::DType::kF32, 2, sizes, nullptr};
    const std::vector<runtime::InputValue> inputs = {count, tensor};
    std::vector<runtime::Output> outputs((*prepared)->output_count());
    const auto error = (*prepared)->run(inputs, outputs, nullptr);
    ASSERT_FALSE(error.has_value()) << error->message;
    const MemoryMap map = memory_map(c.plan, {{"s0", size}});
    EXPECT_GT(map.arena_bytes, 0);
    EXPECT_EQ(map.arena_bytes, (*prepared)->last_arena_bytes());
  }
}

TEST(HtmlReport, HoldsWhatTheGraphBecame) {
  const Compiled c = compiled(kLayers);
  const SizeValues sizes = hinted_sizes(c.program);
  EXPECT_EQ(sizes, (SizeValues{{"s0", 8}}));
  const std::string page = page_of(c, sizes);
  EXPECT_EQ(page, page_of(c, sizes)) << "the same inputs give the same page";
  const MemoryMap map = memory_map(c.plan, sizes);
  for (const std::string& part :
       {std::string("<title>a &amp; b.graph · Jumar</title>"), std::string("<code>s0 = 8</code>"),
        fmt::format("peak {} in step {}", html::bytes_text(map.peak_bytes), map.peak_step),
        std::string("encoder.layer.1.&lt;dense&gt;"), std::string("a matrix product"),
        std::string("model.py:&quot;&lt;/script&gt;&lt;b&gt;&quot;"), std::string("model.py:10")})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const Report::Kernel& kernel : c.report.kernels)
    EXPECT_NE(page.find(fmt::format("@{}</code>", kernel.name)), std::string::npos) << kernel.name;
  for (const char* address : {"http://", "https://", "src=", "url(", "@import"})
    EXPECT_EQ(page.find(address), std::string::npos) << "the page would load " << address;
}

TEST(HtmlReport, AGraphWithoutWorkHasAPage) {
  const Compiled c = compiled("graph @main {\n  %x: f32[2] = input 0\n  return %x\n}\n");
  const std::string page = page_of(c, {});
  EXPECT_NE(page.find("None: all of the graph is in kernels"), std::string::npos);
}

TEST(HtmlReport, IsMadeOfGraphsOnly) {
  const Options options = Options::from_environment([](const std::string&) { return std::nullopt; }).value();
  OptRequest request;
  request.to = Level::kPlan;
  request.html = true;
  Report report;
  const Result<std::string> out = opt(request, "plan @m { return }", "p", options, report);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, "option");
}

}  // namespace
}  // namespace jumar::driver
