#include "emit/host/cpp_text.h"

#include <gtest/gtest.h>

#include <limits>

#include "emit/host/emit_cpp.h"
#include "emit/host/wrapper_header.h"

namespace jumar::emit::host {
namespace {

std::string cpp_of(std::string_view text) {
  sym::Context cx;
  Lexer lexer(text, "<test>");
  Result<sym::Expr> e = sym::read_expr(cx, lexer, [&](std::string_view name) {
    return cx.symbol(name.starts_with('u') ? sym::SymbolKind::kUnbacked : sym::SymbolKind::kSize, name);
  });
  EXPECT_TRUE(e.ok()) << e.error().text();
  return e.ok() ? cpp_expr(*e) : "";
}

TEST(CppText, Expressions) {
  EXPECT_EQ(cpp_of("2*s0 + 64"), "2 * s0 + 64");
  EXPECT_EQ(cpp_of("s0 - s1 - 3"), "s0 - s1 - 3");
  EXPECT_EQ(cpp_of("-s0"), "-s0");
  EXPECT_EQ(cpp_of("1 - s0"), "-s0 + 1");
  EXPECT_EQ(cpp_of("s0 - 2*s1"), "s0 - 2 * s1");
  EXPECT_EQ(cpp_of("-5*s0"), "-5 * s0");
  EXPECT_EQ(cpp_of("(s0 + 63)//64"), "floordiv(s0 + 63, 64)");
  EXPECT_EQ(cpp_of("s0 % 8 * s1"), "s1 * mod(s0, 8)");
  EXPECT_EQ(cpp_of("min(s0, s1, 7)"), "min(min(7, s0), s1)");
  EXPECT_EQ(cpp_of("s0 == 4 and (s1 < 3 or not u0 == 1)"), "s0 == 4 && (u0 != 1 || s1 < 3)");
  EXPECT_EQ(cpp_of("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(cpp_int(INT64_MIN), "INT64_MIN");
}

TEST(CppText, Literals) {
  EXPECT_EQ(cpp_double(1), "1.0");
  EXPECT_EQ(cpp_double(1e300), "1e+300");
  EXPECT_EQ(cpp_double(0.1), "0.1");
  EXPECT_EQ(cpp_double(-0.0), "-0.0");
  EXPECT_EQ(cpp_double(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(cpp_double(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(cpp_string("a \"b\"\\\n\x01"), "\"a \\\"b\\\"\\\\\\n\\001\"");
}

TEST(CppText, NamesAreIdentifiersOfTheirOwn) {
  CppNames names;
  EXPECT_EQ(names.unique("layer.0/attention"), "layer_0_attention");
  EXPECT_EQ(names.unique("layer.0.attention"), "layer_0_attention_1");
  EXPECT_EQ(names.unique("0"), "v0");
  EXPECT_EQ(names.unique(""), "v");
  EXPECT_EQ(names.unique("view"), "view_");      // of the wrapper
  EXPECT_EQ(names.unique("double"), "double_");  // of C++
  EXPECT_EQ(names.unique("F32"), "F32_");
  EXPECT_EQ(names.unique("__x__y"), "x_y");
  EXPECT_EQ(names.unique("x_y"), "x_y_1");
}

TEST(CppText, LinesBreakAtCommasOutsideOfStrings) {
  const std::string name(60, 'x');
  EXPECT_EQ(cpp_wrapped("  f(" + name + ", " + name + ");"), "  f(" + name + ",\n      " + name + ");");
  const std::string text = "\"" + name + ", " + name + "\"";
  EXPECT_EQ(cpp_wrapped("  f(" + text + ");"), "  f(" + text + ");");
  for (const std::string& line : {std::string("// ") + std::string(200, 'y'), std::string(300, 'z')})
    EXPECT_EQ(cpp_wrapped(line), line);
}

plan::Plan plan_of(std::string_view text) {
  Result<plan::Plan> plan = plan::read_plan(text);
  EXPECT_TRUE(plan.ok()) << plan.error().text();
  return std::move(*plan);
}

TEST(EmitCpp, TensorsOfManyDimensionsGetRoom) {
  const auto source = emit_cpp(plan_of(R"(plan @deep {
  %x: f32[1, 1, 1, 1, 1, 1, 1, 1, 2] = input 0
  return %x
})"),
                               {});
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_NE(source->text.find("#define JUMAR_WRAPPER_MOST_DIMS 9\n#include \"wrapper.h\""),
            std::string::npos);
}

TEST(EmitCpp, WeightsAreTheLastInputsAndUpdatesAreNoResults) {
  CppOptions options;
  options.name = "my model";
  options.weights = {{"fc.weight", 64, 16}};
  options.weights_bytes = 128;
  options.updates = {{1, 1}};
  const auto source = emit_cpp(plan_of(R"(plan @main {
  %x: f32[4] = input 0
  %w: f32[4] = parameter 1
  %y: f32[4] = output
  %new_w: f32[4] = output
  launch @k(%x, %w, %y, %new_w) units 4 grain 4
  return %y, %new_w
})"),
                               options);
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_EQ(source->name, "my_model");
  EXPECT_NE(source->text.find("const Tensor fc_weight = weight(0, F32({4}));"), std::string::npos);
  EXPECT_NE(source->text.find("update(fc_weight, new_w);\n    outputs({y});"), std::string::npos);
  EXPECT_NE(source->text.find("{\"fc.weight\", 64, 16},"), std::string::npos);
  EXPECT_NE(source->header.find("outputs[0]  f32[4]\n *\n"), std::string::npos);
}

TEST(EmitCpp, SymbolsMustBeIdentifiers) {
  const auto source = emit_cpp(plan_of(R"(plan @main symbols(view in [1, 4]) {
  %n: int(view) = input 0
  return view
})"),
                               {});
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().message, "the size symbol view can't be the name of a variable in C++");
}

TEST(WrapperHeader, NeedsOnlyTheSystem) {
  const std::string_view header = kWrapperHeader;
  EXPECT_EQ(header.find("#include \""), std::string_view::npos);
  EXPECT_NE(header.find("#pragma once"), std::string_view::npos);
  EXPECT_EQ(header.find("#pragma once"), header.rfind("#pragma once"));
}

}  // namespace
}  // namespace jumar::emit::host
