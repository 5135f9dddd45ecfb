#include "graph/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace jumar::graph {
namespace {

constexpr const char* kText = R"(graph @main symbols(s0 in [2, 64] hint 16) {
  schema aten.add.Tensor(Tensor self, Tensor other, Scalar alpha) -> (Tensor)
  schema aten.exp.default(Tensor self) -> (Tensor)
  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)
  schema aten.relu.default(Tensor self) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 24] = input 1
  %y: f32[s0, 24] = input 2
  %w: f32[24] = parameter 3 "scale"
  %a: f32[s0, 24] = aten.add.Tensor(%x, %y, 1) origin "model.py:1"
  %b: f32[s0, 24] = aten.mul.Tensor(%a, %w) origin "model.py:2"
  %c: f32[s0, 24] = aten.exp.default(%b)
  %d: f32[s0, 24] = aten.relu.default(%c)
  %e: f32[s0, 24] = aten.mul.Tensor(%d, %w)
  return %a, %e, 3*s0
}
)";

bool has_op(const Graph& graph, const std::string& op) {
  return std::any_of(graph.order.begin(), graph.order.end(),
                     [&](NodeId id) { return graph.nodes[id].op == op; });
}

TEST(Shrink, LeavesTheNodeThatMatters) {
  const Result<Shrunk> small = shrunk(*read_graph(kText), [](const Graph& graph) -> Result<bool> {
    EXPECT_TRUE(verify(graph).ok());
    return has_op(graph, "aten.exp.default");
  });
  ASSERT_TRUE(small.ok()) << small.error().text();
  EXPECT_EQ(write_graph(small->graph), R"(graph @main {
  schema aten.exp.default(Tensor self) -> (Tensor)
  %b: f32[1, 1] = input 0
  %c: f32[1, 1] = aten.exp.default(%b)
  return %c
}
)");
}

// A product that is read by a rectifier, on at least five columns.
TEST(Shrink, KeepsWhatThePredicateNeeds) {
  const Result<Shrunk> small = shrunk(*read_graph(kText), [](const Graph& graph) -> Result<bool> {
    for (const NodeId id : graph.order) {
      const Node& node = graph.nodes[id];
      if (node.op != "aten.relu.default") continue;
      const Value& x = graph.values[*node.args[0].as<ValueId>()];
      const sym::Expr columns = x.type.sizes[1];
      return x.definition && graph.nodes[x.definition].op == "aten.exp.default" && columns.is_const() &&
             columns.const_value() >= 5;
    }
    return false;
  });
  ASSERT_TRUE(small.ok()) << small.error().text();
  EXPECT_EQ(write_graph(small->graph), R"(graph @main {
  schema aten.exp.default(Tensor self) -> (Tensor)
  schema aten.relu.default(Tensor self) -> (Tensor)
  %b: f32[1, 5] = input 0
  %c: f32[1, 5] = aten.exp.default(%b)
  %d: f32[1, 5] = aten.relu.default(%c)
  return %d
}
)");
}

TEST(Shrink, ResizesWhatReshapesMake) {
  constexpr const char* kReshaped = R"(graph @main {
  schema aten.permute.default(Tensor self, int[] dims) -> (Tensor)
  schema aten.view.default(Tensor self, SymInt[] size) -> (Tensor)
  %x: f32[6, 32] = input 0
  %a: f32[32, 6]{1, 32} = aten.permute.default(%x, [1, 0])
  %b: f32[192] = aten.view.default(%x, [192])
  return %a, %b
}
)";
  const auto elements = [](const Value& value) {
    int64_t count = 1;
    for (const sym::Expr size : value.type.sizes) count *= size.const_value();
    return count;
  };
  const Result<Shrunk> small = shrunk(*read_graph(kReshaped), [&](const Graph& graph) -> Result<bool> {
    if (!has_op(graph, "aten.permute.default") || !has_op(graph, "aten.view.default")) return false;
    for (const NodeId id : graph.order)
      for (const ValueId result : graph.nodes[id].results)
        if (elements(graph.values[result]) != elements(graph.values[graph.inputs[0].value])) return false;
    return elements(graph.values[graph.inputs[0].value]) >= 4;
  });
  ASSERT_TRUE(small.ok()) << small.error().text();
  const Value& x = small->graph.values[small->graph.inputs[0].value];
  EXPECT_LE(elements(x), 12) << write_graph(small->graph);
  EXPECT_TRUE(has_op(small->graph, "aten.permute.default"));
}

TEST(Shrink, GivesTheErrorOfThePredicate) {
  const Result<Shrunk> small = shrunk(
      *read_graph(kText), [](const Graph&) -> Result<bool> { return diagnostic("io", "the disk is full"); });
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().code, "io");
}

}  // namespace
}  // namespace jumar::graph
