#include "import/decompose.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "import/functionalize.h"

namespace jumar::import {
namespace {

// The statements of a graph after both steps, without its header, schemas and inputs.
std::string body(const std::string& text) {
  Result<graph::Graph> graph = graph::read_graph(text, "test");
  if (!graph.ok()) return graph.error().text();
  OpSchemas schemas(graph->cx());
  if (Status status = decompose(*graph, schemas); !status.ok()) return status.error().text();
  const Result<std::vector<size_t>> mutated = functionalize(*graph, schemas);
  if (!mutated.ok()) return mutated.error().text();
  const Status verified = graph::verify(*graph);
  if (!verified.ok()) return verified.error().text();
  std::string out = mutated->empty() ? "" : fmt::format("mutates {}\n", fmt::join(*mutated, ", "));
  const std::string written = graph::write_graph(*graph);
  for (size_t begin = 0; begin < written.size();) {
    const size_t end = written.find('\n', begin);
    const std::string line = written.substr(begin, end - begin);
    begin = end + 1;
    const bool is_body = line.starts_with("  %") || line.starts_with("  return");
    if (is_body && line.find(" = input ") == std::string::npos) out += line.substr(2) + "\n";
  }
  return out;
}

// Schemas are those of the table; the reader needs none, as nothing is verified before the end.
std::string graph(const std::string& inputs, const std::string& nodes) {
  const bool symbolic = inputs.find("s0") != std::string::npos;
  return std::string("graph @main ") + (symbolic ? "symbols(s0 in [2, 64]) {\n" : "{\n") + inputs + nodes +
         "}\n";
}

TEST(Decompose, Linear) {
  EXPECT_EQ(body(graph("%x: f32[s0, 5, 3] = input 0 %w: f32[4, 3] = input 1 %b: f32[4] = input 2",
                       "%y: f32[s0, 5, 4] = aten.linear.default(%x, %w, %b) return %y")),
            "%y_t: f32[3, 4]{1, 3} = aten.t.default(%w)\n"
            "%y_view: f32[5*s0, 3] = aten.view.default(%x, [5*s0, 3])\n"
            "%y_addmm: f32[5*s0, 4] = aten.addmm.default(%b, %y_view, %y_t, 1, 1)\n"
            "%y: f32[s0, 5, 4] = aten.view.default(%y_addmm, [s0, 5, 4])\n"
            "return %y\n");
}

TEST(Decompose, ReshapeIsAViewOrACopy) {
  EXPECT_EQ(body(graph("%x: f32[s0, 4] = input 0",
                       "%y: f32[2*s0, 2] = aten.reshape.default(%x, [-1, 2]) return %y")),
            "%y: f32[2*s0, 2] = aten.view.default(%x, [2*s0, 2])\nreturn %y\n");
  EXPECT_EQ(body(graph("%x: f32[4, s0]{1, 4} = input 0",
                       "%y: f32[4*s0] = aten.reshape.default(%x, [-1]) return %y")),
            "%y_clone: f32[4, s0] = aten.clone.default(%x, memory_format(contiguous))\n"
            "%y: f32[4*s0] = aten._unsafe_view.default(%y_clone, [4*s0])\nreturn %y\n");
}

TEST(Decompose, WhatIsTheTensorItselfVanishes) {
  EXPECT_EQ(body(graph("%x: f32[s0] = input 0",
                       "%a: f32[s0] = aten.dropout.default(%x, 0.5, false)"
                       "%b: f32[s0] = aten.to.dtype(%a, dtype(f32), false, false, none)"
                       "%c: f32[s0] = aten.contiguous.default(%b, memory_format(contiguous)) return %c")),
            "return %x\n");
}

TEST(Decompose, ARowThatDoesNotApplyLeavesTheOperator) {
  const std::string node = "%y: f32[s0, 3] = aten.cross_entropy_loss.default(%x, %t, none, 0, -100, 0.5)";
  EXPECT_EQ(body(graph("%x: f32[s0, 3] = input 0 %t: i64[s0] = input 1", node + " return %y")),
            node + "\nreturn %y\n");
}

TEST(Decompose, WhatMayShareStorageUnsaidMustNotStay) {
  const std::string text = body(
      graph("%x: f32[3, 3] = input 0", "%y: f32[3] = aten.einsum.default(\"ii->i\", [%x], none) return %y"));
  EXPECT_NE(text.find("aten.einsum.default cannot be expressed"), std::string::npos) << text;
}

TEST(Decompose, EinsumIsAProduct) {
  EXPECT_EQ(
      body(graph(
          "%x: f32[s0, 4, 3] = input 0 %w: f32[5, 3] = input 1",
          "%y: f32[5, s0, 4]{1, 20, 5} = aten.einsum.default(\"bik,jk->jbi\", [%x, %w], none) return %y")),
      "%y_view: f32[1, 4*s0, 3] = aten.view.default(%x, [1, 4*s0, 3])\n"
      "%y_permute: f32[3, 5]{1, 3} = aten.permute.default(%w, [1, 0])\n"
      "%y_view_1: f32[1, 3, 5]{3, 1, 3} = aten.view.default(%y_permute, [1, 3, 5])\n"
      "%y_bmm: f32[1, 4*s0, 5] = aten.bmm.default(%y_view, %y_view_1)\n"
      "%y_view_2: f32[s0, 4, 5] = aten.view.default(%y_bmm, [s0, 4, 5])\n"
      "%y: f32[5, s0, 4]{1, 20, 5} = aten.permute.default(%y_view_2, [2, 0, 1])\n"
      "return %y\n");
}

TEST(Decompose, EveryRowNamesOperatorsOfTheTable) {
  sym::Context cx;
  OpSchemas schemas(cx);
#define JUMAR_RENAME(op, to)                  \
  EXPECT_NE(schemas.find(op), nullptr) << op; \
  ASSERT_NE(schemas.find(to), nullptr) << to; \
  EXPECT_EQ(schemas.find(op)->writes(), schemas.find(to)->writes()) << op;
#define JUMAR_REQUIRED(op, function) EXPECT_NE(schemas.find(op), nullptr) << op;
#define JUMAR_DECOMPOSE(op, function) EXPECT_NE(schemas.find(op), nullptr) << op;
#include "import/decompositions.def"
#undef JUMAR_DECOMPOSE
#undef JUMAR_REQUIRED
#undef JUMAR_RENAME
}

TEST(OpSchemas, EveryRowIsSortedAndCanBeRead) {
  sym::Context cx;
  OpSchemas schemas(cx);
  const std::vector<std::string_view> all = operators_of("aten.");
  EXPECT_GT(all.size(), 1500U);
  for (size_t k = 0; k < all.size(); ++k) {
    EXPECT_TRUE(k == 0 || all[k - 1] < all[k]) << all[k];
    const OpSchema* schema = schemas.find(std::string(all[k]));
    ASSERT_NE(schema, nullptr);
    EXPECT_EQ(schema->returns.size(), schema->same_as.size());
    for (const OpArgument& arg : schema->args) EXPECT_FALSE(arg.name.empty() || arg.type.empty()) << all[k];
  }
  EXPECT_EQ(schemas.find("aten.nothing.default"), nullptr);
}

TEST(OpSchemas, DefaultsAndWrites) {
  sym::Context cx;
  OpSchemas schemas(cx);
  const OpSchema* add = schemas.find("aten.add_.Tensor");
  ASSERT_EQ(add->args.size(), 3U);
  EXPECT_TRUE(add->args[0].writes);
  EXPECT_EQ(add->same_as[0], 0U);
  EXPECT_EQ(*add->args[2].default_value, graph::Arg(cx.constant(1)));
  EXPECT_TRUE(schemas.find("aten.slice.Tensor")->may_alias());
  const OpSchema* gelu = schemas.find("aten.gelu.default");
  EXPECT_EQ(*gelu->args[1].default_value, graph::Arg(std::string("none")));
}

TEST(Functionalize, AWriteThroughViews) {
  EXPECT_EQ(body(graph("%x: f32[s0, 4, 3] = input 0",
                       "%v: f32[4, 3] = aten.select.int(%x, 0, 1)"
                       "%t: f32[3, 4]{1, 3} = aten.t.default(%v)"
                       "%y: f32[3, 4]{1, 3} = aten.add_.Tensor(%t, 2, 1)"
                       "return %x, %v, %y")),
            "mutates 0\n"
            "%v: f32[4, 3] = aten.select.int(%x, 0, 1)\n"
            "%t: f32[3, 4]{1, 3} = aten.t.default(%v)\n"
            "%y_1: f32[3, 4]{1, 3} = aten.add.Tensor(%t, 2, 1)\n"
            "%v_1: f32[4, 3] = aten.permute.default(%y_1, [1, 0])\n"
            "%x_1: f32[s0, 4, 3] = aten.select_scatter.default(%x, %v_1, 0, 1)\n"
            "return %x_1, %x_1, %v_1, %y_1\n");
}

TEST(Functionalize, StaleViewsAreMadeAgain) {
  EXPECT_EQ(body(graph("%x: f32[4, 3] = input 0",
                       "%c: f32[4, 3] = aten.clone.default(%x, none)"
                       "%v: f32[3] = aten.select.int(%c, 0, 1)"
                       "%y: f32[4, 3] = aten.mul_.Tensor(%c, 2)"
                       "%z: f32[3] = aten.neg.default(%v) return %z")),
            "%c: f32[4, 3] = aten.clone.default(%x, none)\n"
            "%v: f32[3] = aten.select.int(%c, 0, 1)\n"
            "%y_1: f32[4, 3] = aten.mul.Tensor(%c, 2)\n"
            "%v_1: f32[3] = aten.select.int(%y_1, 0, 1)\n"
            "%z: f32[3] = aten.neg.default(%v_1)\n"
            "return %z\n");
}

TEST(Functionalize, ConvertsToTheTypeWrittenTo) {
  EXPECT_EQ(body(graph("%x: bf16[3] = input 0 %y: f32[3] = input 1",
                       "%z: bf16[3] = aten.add_.Tensor(%x, %y, 1) return")),
            "mutates 0\n"
            "%z_1: f32[3] = aten.add.Tensor(%x, %y, 1)\n"
            "%z_2: bf16[3] = aten._to_copy.default(%z_1, dtype(bf16), none, none, none, false, none)\n"
            "return %z_2\n");
}

TEST(Functionalize, UnsqueezeInPlaceMakesAView) {
  EXPECT_EQ(body(graph("%x: f32[3] = input 0",
                       "%c: f32[3] = aten.clone.default(%x, none)"
                       "%u: f32[1, 3] = aten.unsqueeze_.default(%c, 0)"
                       "%y: f32[1, 3] = aten.neg.default(%c) return %y")),
            "%c: f32[3] = aten.clone.default(%x, none)\n"
            "%u: f32[1, 3] = aten.unsqueeze.default(%c, 0)\n"
            "%y: f32[1, 3] = aten.neg.default(%u)\n"
            "return %y\n");
}

TEST(Functionalize, WhatNothingExpressesNamesTheNode) {
  const std::string text =
      body(graph("%x: f32[4] = input 0",
                 "%v: f32[3, 2]{1, 1} = aten.unfold.default(%x, 0, 2, 1)"
                 "%y: f32[3, 2]{1, 1} = aten.add_.Tensor(%v, 1, 1) origin \"model.py:3\" return %y"));
  EXPECT_NE(text.find("a write through a view made by aten.unfold.default"), std::string::npos) << text;
  EXPECT_NE(text.find("%y aten.add_.Tensor of model.py:3"), std::string::npos) << text;
  const std::string several =
      body(graph("%x: f32[4] = input 0", "aten._foreach_add_.Scalar([%x], 1) return"));
  EXPECT_NE(several.find("aten._foreach_add_.Scalar"), std::string::npos) << several;
}

}  // namespace
}  // namespace jumar::import
