#include "graph/passes/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "graph/op_traits.h"
#include "graph/storage.h"

namespace jumar::graph {
namespace {

constexpr std::string_view kRun = "# RUN: jumar opt --passes=";
constexpr std::string_view kExpect = "# EXPECT\n";

struct Golden {
  std::string name;
  std::vector<std::string> passes;
  std::string input;
  std::string expected;
};

std::vector<Golden> golden_files() {
  std::vector<Golden> out;
  for (const auto& entry : std::filesystem::directory_iterator(JUMAR_TEST_DIR "/passes")) {
    std::ifstream file(entry.path());
    std::ostringstream contents;
    contents << file.rdbuf();
    std::string text = contents.str();
    Golden golden;
    golden.name = entry.path().filename();
    EXPECT_TRUE(text.starts_with(kRun)) << golden.name;
    std::istringstream names(text.substr(kRun.size(), text.find('\n') - kRun.size()));
    for (std::string name; std::getline(names, name, ',');) golden.passes.push_back(name);
    size_t expect = text.find(kExpect);
    EXPECT_NE(expect, std::string::npos) << golden.name;
    golden.input = text.substr(0, expect);
    golden.expected = text.substr(expect + kExpect.size());
    out.push_back(std::move(golden));
  }
  std::sort(out.begin(), out.end(), [](const Golden& a, const Golden& b) { return a.name < b.name; });
  return out;
}

Graph graph_of(const std::string& text) {
  Result<Graph> graph = read_graph(text);
  if (!graph.ok()) ADD_FAILURE() << graph.error().text();
  if (Status status = verify(*graph); !status.ok()) ADD_FAILURE() << status.error().text();
  return std::move(graph).value();
}

std::vector<ir::PassRecord> run(Graph& graph, const std::vector<std::string>& passes,
                                const ir::PassOptions& options) {
  std::vector<std::string_view> names(passes.begin(), passes.end());
  auto records = run_graph_passes(graph, names, options);
  if (!records.ok()) ADD_FAILURE() << records.error().text();
  return records.ok() ? *records : std::vector<ir::PassRecord>();
}

ir::PassOptions strict() {
  ir::PassOptions options;
  options.check_unchanged = true;
  return options;
}

TEST(GraphPasses, GoldenFiles) {
  std::vector<Golden> files = golden_files();
  ASSERT_GE(files.size(), graph_passes().size());
  for (const Golden& golden : files) {
    Graph graph = graph_of(golden.input);
    auto records = run(graph, golden.passes, strict());
    EXPECT_EQ(write_graph(graph), golden.expected) << golden.name;
    for (const ir::PassRecord& record : records) EXPECT_GT(record.changes, 0u) << golden.name;
    for (const ir::PassRecord& record : run(graph, golden.passes, strict()))
      EXPECT_EQ(record.changes, 0u) << golden.name << ": " << record.name << " changes its own result";
    EXPECT_EQ(write_graph(graph), golden.expected) << golden.name;
  }
}

TEST(GraphPasses, DefaultPipelineRemovesWhatFoldingAndMergingLeave) {
  Graph graph = graph_of(
      "graph @main {\n"
      "  schema aten.clone.default(Tensor self, MemoryFormat? memory_format) -> (Tensor)\n"
      "  schema aten.exp.default(Tensor self) -> (Tensor)\n"
      "  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)\n"
      "  %x: f32[4] = input 0\n"
      "  %c: f32[4] = aten.clone.default(%x, none)\n"
      "  %0: f32[4] = aten.exp.default(%c)\n"
      "  %1: f32[4] = aten.exp.default(%x)\n"
      "  %2: f32[4] = aten.mul.Tensor(%0, %1)\n"
      "  return %2\n}\n");
  auto records = run_graph_passes(graph, default_graph_pipeline(), strict());
  ASSERT_TRUE(records.ok());
  EXPECT_EQ(write_graph(graph),
            "graph @main {\n"
            "  schema aten.exp.default(Tensor self) -> (Tensor)\n"
            "  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)\n"
            "  %x: f32[4] = input 0\n"
            "  %0: f32[4] = aten.exp.default(%x)\n"
            "  %2: f32[4] = aten.mul.Tensor(%0, %0)\n"
            "  return %2\n}\n");
}

ir::PassResult break_graph(Graph& graph, ir::PassContext&) {
  graph.schemas.clear();
  return {1};
}
ir::PassResult lie(Graph& graph, ir::PassContext&) {
  graph.name += "x";
  return {};
}
ir::PassResult rename_graph(Graph& graph, ir::PassContext& context) {
  graph.name += "y";
  context.remarks.push_back("renamed");
  return {1};
}
ir::PassResult nothing(Graph&, ir::PassContext&) { return {}; }

constexpr ir::Pass<Graph> kTestPasses[] = {{"break", break_graph, 1, ""},
                                           {"lie", lie, 1, ""},
                                           {"rename", rename_graph, 0, ""},
                                           {"nothing", nothing, 1, ""}};

class PassRunner : public testing::Test {
 protected:
  Result<std::vector<ir::PassRecord>> run(std::vector<std::string_view> pipeline,
                                          ir::PassOptions options = {}) {
    ir::PassHooks<Graph> hooks{[](const Graph& g) { return verify(g); },
                               [](const Graph& g) { return write_graph(g); }};
    return ir::run_passes<Graph>(graph_, kTestPasses, pipeline, hooks, options);
  }

  Graph graph_ = graph_of(
      "graph @g {\n  schema aten.neg.default(Tensor self) -> (Tensor)\n  %x: f32[2] = input 0\n"
      "  %y: f32[2] = aten.neg.default(%x)\n  return %y\n}\n");
};

TEST_F(PassRunner, ABrokenProgramIsABugThatNamesThePass) {
  try {
    (void)run({"nothing", "break"});
    FAIL() << "expected an InternalError";
  } catch (const InternalError& error) {
    EXPECT_STREQ(
        error.what(),
        "pass break broke the program: error[graph]: node %y = aten.neg.default: there is no schema line "
        "for this operator");
  }
}

TEST_F(PassRunner, AnUnreportedChangeIsABug) {
  EXPECT_TRUE(run({"lie"}).ok());
  EXPECT_THROW((void)run({"lie"}, strict()), InternalError);
}

TEST_F(PassRunner, DisabledPassesDoNotRun) {
  ir::PassOptions options;
  options.disabled = {"break"};
  auto records = run({"break", "rename"}, options);
  ASSERT_TRUE(records.ok());
  ASSERT_EQ(records->size(), 1u);
  EXPECT_EQ((*records)[0].name, "rename");
  EXPECT_EQ((*records)[0].changes, 1u);
  EXPECT_EQ((*records)[0].remarks, std::vector<std::string>{"renamed"});
}

TEST_F(PassRunner, WrongNamesAreDiagnostics) {
  auto unknown = run({"nothnig"});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, "option");
  EXPECT_EQ(unknown.error().message, "unknown pass 'nothnig': expected one of break, lie, rename, nothing");
  ir::PassOptions options;
  options.disabled = {"other"};
  EXPECT_EQ(run({"nothing"}, options).error().message,
            "disabled pass 'other' is unknown: expected one of break, lie, rename, nothing");
  options.disabled = {"rename"};
  EXPECT_EQ(run({"nothing"}, options).error().message, "pass 'rename' cannot be disabled");
}

TEST_F(PassRunner, PrintsWhereAsked) {
  std::vector<std::string> printed;
  ir::PassOptions options;
  options.print = [&](std::string_view pass, std::string_view text) {
    printed.push_back(fmt::format("{}: {}", pass, text.substr(0, text.find(' ', 6))));
  };
  (void)run({"nothing", "rename"}, options);
  EXPECT_TRUE(printed.empty());
  options.print_after = {"changed"};
  (void)run({"nothing", "rename"}, options);
  EXPECT_EQ(printed, std::vector<std::string>{"rename: graph @gyy"});
  printed.clear();
  options.print_after = {"nothing"};
  (void)run({"nothing", "rename"}, options);
  EXPECT_EQ(printed, std::vector<std::string>{"nothing: graph @gyy"});
  printed.clear();
  options.print_after = {"all"};
  (void)run({"nothing", "rename"}, options);
  EXPECT_EQ(printed.size(), 2u);
}

TEST(StorageFacts, FollowViewsToOutputsAndOffsets) {
  Graph graph = graph_of(
      "graph @main {\n"
      "  schema aten.as_strided.default(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset) "
      "-> "
      "(Tensor)\n"
      "  schema aten.exp.default(Tensor self) -> (Tensor)\n"
      "  schema aten.view.default(Tensor self, SymInt[] size) -> (Tensor)\n"
      "  %x: f32[4] = input 0\n"
      "  %a: f32[4] = aten.exp.default(%x)\n"
      "  %av: f32[2, 2] = aten.view.default(%a, [2, 2])\n"
      "  %as: f32[2] = aten.as_strided.default(%av, [2], [1], 0)\n"
      "  %b: f32[4] = aten.exp.default(%as)\n"
      "  %c: f32[4] = aten.exp.default(%b)\n"
      "  %cp: f32[4] = python.0(%c)\n"
      "  %cv: f32[2, 2] = aten.view.default(%cp, [2, 2])\n"
      "  return %as, %cv\n}\n");
  StorageFacts storage(graph);
  auto id = [&](std::string_view name) {
    for (size_t k = 0; k < graph.values.size(); ++k) {
      if (graph.values[graph.values.id_at(k)].name == name) return graph.values.id_at(k);
    }
    return ValueId();
  };
  EXPECT_EQ(storage.root(id("as")), id("a"));
  EXPECT_TRUE(storage.escapes(id("a")));
  EXPECT_FALSE(storage.escapes(id("x")));
  EXPECT_FALSE(storage.escapes(id("b")));
  EXPECT_TRUE(storage.escapes(id("c"))) << "Python may return its operand";
  EXPECT_TRUE(storage.is_read_by_offset(id("a")));
  EXPECT_FALSE(storage.is_read_by_offset(id("b")));
  EXPECT_TRUE(storage.is_input(id("x")));
  EXPECT_TRUE(storage.is_output(id("as")));
  EXPECT_FALSE(storage.is_output(id("a")));
}

TEST(OpTraits, AttentionIsRandomOnlyWhenItDrops) {
  auto node = [](double probability) {
    Node node;
    node.op = "aten._scaled_dot_product_flash_attention_for_cpu.default";
    node.args = {Arg(ValueId(0)), Arg(ValueId(1)), Arg(ValueId(2)), Arg(probability), Arg(false)};
    node.results = {ValueId(3)};
    return node;
  };
  EXPECT_FALSE(is_random(node(0.0)));
  EXPECT_TRUE(is_random(node(0.1)));
  EXPECT_FALSE(has_effect(node(0.0)));
}

}  // namespace
}  // namespace jumar::graph
