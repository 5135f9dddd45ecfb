#include "graph/passes/split_constants.h"

#include <gtest/gtest.h>

namespace jumar::graph {
namespace {

constexpr std::string_view kSchemas = R"(
  
  schema aten.bernoulli.default(Tensor self, Generator? generator) -> (Tensor)
  schema aten.exp.default(Tensor self) -> (Tensor)
  schema aten.expand.default(Tensor self, SymInt[] size, bool implicit) -> (Tensor)
  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)
  schema aten.t.default(Tensor self) -> (Tensor)
  schema aten.clone.default(Tensor self, MemoryFormat? memory_format) -> (Tensor)
)";

struct Split {
  std::string folding;
  std::string rest;
  std::vector<std::string> parameters;
};

// Input 0 is the call's; the others are parameters.
Split split(std::string_view body, std::vector<bool> is_written) {
  const std::string text = "graph @main {" + std::string(kSchemas) + std::string(body) + "}\n";
  Result<Graph> graph = read_graph(text);
  EXPECT_TRUE(graph.ok()) << graph.error().text();
  EXPECT_TRUE(verify(*graph).ok());
  const SplitConstants made = split_constants(*graph, 1, is_written);
  EXPECT_TRUE(verify(*graph).ok());
  Split out;
  out.rest = write_graph(*graph);
  if (made.folding) {
    EXPECT_TRUE(verify(*made.folding).ok());
    out.folding = write_graph(*made.folding);
  }
  for (const SplitParameter& p : made.parameters)
    out.parameters.push_back((p.is_folded ? "folded " : "parameter ") + std::to_string(p.index));
  return out;
}

TEST(SplitConstants, FoldsWhatOnlyParametersNeed) {
  const Split made = split(R"(
  %x: f32[4, 8] = input 0
  %w: f32[8, 4] = parameter 1
  %unused: f32[8] = parameter 2
  %e: f32[8, 4] = aten.exp.default(%w)
  %t: f32[4, 8]{1, 4} = aten.t.default(%e)
  %y: f32[4, 8] = aten.mul.Tensor(%x, %t)
  return %y
)",
                           {false, false});
  EXPECT_EQ(made.parameters, (std::vector<std::string>{"folded 0"}));
  EXPECT_NE(made.folding.find("%e: f32[8, 4] = aten.exp.default(%w)"), std::string::npos) << made.folding;
  EXPECT_NE(made.folding.find("return %e"), std::string::npos) << made.folding;
  EXPECT_EQ(made.rest.find("exp"), std::string::npos) << made.rest;
  // A view costs nothing and stays.
  EXPECT_NE(made.rest.find("%t: f32[4, 8]{1, 4} = aten.t.default(%e)"), std::string::npos) << made.rest;
  EXPECT_EQ(made.rest.find("unused"), std::string::npos) << made.rest;
}

TEST(SplitConstants, ViewsOfParametersAreNotFolded) {
  const Split made = split(R"(
  %x: f32[4, 8] = input 0
  %w: f32[8, 4] = parameter 1
  %t: f32[4, 8]{1, 4} = aten.t.default(%w)
  %y: f32[4, 8] = aten.mul.Tensor(%x, %t)
  return %y
)",
                           {false});
  EXPECT_EQ(made.folding, "");
  EXPECT_EQ(made.parameters, (std::vector<std::string>{"parameter 0"}));
}

TEST(SplitConstants, WrittenAndRandomValuesAreComputedInEveryCall) {
  const Split made = split(R"(
  %x: f32[4] = input 0
  %written: f32[4] = parameter 1
  %p: f32[4] = parameter 2
  %e: f32[4] = aten.exp.default(%written)
  %r: f32[4] = aten.bernoulli.default(%p, none)
  %y: f32[4] = aten.mul.Tensor(%x, %e)
  %z: f32[4] = aten.mul.Tensor(%y, %r)
  return %z
)",
                           {true, false});
  EXPECT_EQ(made.folding, "");
  EXPECT_EQ(made.parameters, (std::vector<std::string>{"parameter 0", "parameter 1"}));
}

TEST(SplitConstants, NothingLargerThanItsParametersIsKept) {
  const Split made = split(R"(
  %x: f32[1000, 1000] = input 0
  %w: f32[1000] = parameter 1
  %e: f32[1000] = aten.exp.default(%w)
  %wide: f32[1000, 1000]{0, 1} = aten.expand.default(%e, [1000, 1000], false)
  %copy: f32[1000, 1000] = aten.clone.default(%wide, memory_format(contiguous))
  %y: f32[1000, 1000] = aten.mul.Tensor(%x, %copy)
  return %y
)",
                           {false});
  EXPECT_EQ(made.parameters, (std::vector<std::string>{"folded 0"}));
  EXPECT_NE(made.folding.find("return %e"), std::string::npos) << made.folding;
  EXPECT_NE(made.rest.find("aten.clone.default(%wide"), std::string::npos) << made.rest;
}

TEST(SplitConstants, AFoldedResultOfTheGraphIsAParameter) {
  const Split made = split(R"(
  %x: f32[4] = input 0
  %w: f32[4] = parameter 1
  %e: f32[4] = aten.exp.default(%w)
  return %e, %x
)",
                           {false});
  EXPECT_EQ(made.parameters, (std::vector<std::string>{"folded 0"}));
  EXPECT_NE(made.rest.find("%e: f32[4] = parameter 1"), std::string::npos) << made.rest;
}

}  // namespace
}  // namespace jumar::graph
