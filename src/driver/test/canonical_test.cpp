#include "driver/canonical.h"

#include <gtest/gtest.h>

namespace jumar::driver {
namespace {

constexpr const char* kGraph =
    "graph @main symbols(s77 in [2, 4096] hint 128, s3 in [2, inf] hint 7) {\n"
    "  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)\n"
    "  %arg0: f32[s77, s3] = input 0\n"
    "  %w: f32[s3] = parameter 1 \"fc.weight\"\n"
    "  %mul: f32[s77, s3] = aten.mul.Tensor(%arg0, %w) origin \"model.py:3\"\n"
    "  return %mul, s77*s3\n"
    "}\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(CanonicalGraph, IsTheSameForOtherNamesHintsOriginsAndSpaces) {
  const std::string expected = canonical_graph(kGraph).text;
  EXPECT_EQ(expected,
            "graph symbols ( s0 in [ 2 , 4096 ] , s1 in [ 2 , inf ] ) { "
            "schema aten.mul.Tensor ( Tensor self , Tensor other ) -> ( Tensor ) "
            "%0 : f32 [ s0 , s1 ] = input 0 %1 : f32 [ s1 ] = parameter 1 "
            "%2 : f32 [ s0 , s1 ] = aten.mul.Tensor ( %0 , %1 ) return %2 , s0 * s1 }");
  const std::pair<const char*, const char*> harmless[] = {
      {"s77", "s5"},      {"%mul", "%product"}, {"hint 128", "hint 4"}, {"model.py:3", "other.py:4"},
      {"fc.weight", "w"}, {"@main", "@other"},  {"  ", "      "},       {"  return", "# a remark\n  return"},
      {" hint 7", ""},    {"%arg0", "%a"},
  };
  for (const auto& [from, to] : harmless) {
    const std::string other = replaced(kGraph, from, to);
    ASSERT_NE(other, kGraph) << from;
    EXPECT_EQ(canonical_graph(other).text, expected) << from;
  }
}

TEST(CanonicalGraph, DiffersForAnythingThatMatters) {
  const std::pair<const char*, const char*> changes[] = {
      {"4096", "4095"},
      {"f32[s3]", "f64[s3]"},
      {"mul.Tensor", "add.Tensor"},
      {"(%arg0, %w)", "(%w, %arg0)"},
      {"inf", "9"},
      {"s77*s3", "s77*s77"},
      {"parameter 1", "input 1"},
      {"return %mul", "return %arg0"},
      {"f32[s3]", "f32[s77]"},
  };
  for (const auto& [from, to] : changes) {
    const std::string other = replaced(kGraph, from, to);
    ASSERT_NE(other, kGraph) << from;
    EXPECT_NE(canonical_graph(other).text, canonical_graph(kGraph).text) << from;
  }
}

TEST(CanonicalGraph, StringsOfArgumentsStay) {
  const char* text = "%a: f32[2] = aten.gelu.default(%b, \"tanh\")";
  EXPECT_EQ(canonical_graph(text).text, "%0 : f32 [ 2 ] = aten.gelu.default ( %1 , \"tanh\" )");
}

TEST(CanonicalGraph, KeepsUnbackedSymbolsApartFromSizes) {
  EXPECT_NE(canonical_graph("graph @m symbols(u0 in [0, 4]) { return u0 }").text,
            canonical_graph("graph @m symbols(s0 in [0, 4]) { return s0 }").text);
}

TEST(CanonicalGraph, NamesTheInputs) {
  EXPECT_EQ(canonical_graph(kGraph).input_names, (std::vector<std::string>{"arg0", "w"}));
}

loop::Program program(const std::string& text) { return loop::read_program(text).value(); }

std::string kernel_key(const std::string& text, size_t item = 0) {
  const loop::Program p = program(text);
  return canonical_kernel(p, std::get<loop::Kernel>(p.items[item]));
}

constexpr const char* kLoop =
    "loop @main symbols(s7 in [2, 64]) {\n"
    "  %x: f32[s7] = input 0\n"
    "  %y: f32[s7] = output\n"
    "  kernel @k {\n"
    "    nest (i0 in s7) {\n"
    "      stage {\n"
    "        %0: f32 = load %x[i0]\n"
    "        %1: f32 = neg %0\n"
    "        store %y[i0], %1\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "  return %y\n"
    "}\n";

TEST(CanonicalKernel, IsTheSameForOtherNames) {
  const std::string expected = kernel_key(kLoop);
  EXPECT_EQ(kernel_key(replaced(kLoop, "%x", "%input")), expected);
  EXPECT_EQ(kernel_key(replaced(kLoop, "s7", "s9")), expected);
  EXPECT_EQ(kernel_key(replaced(kLoop, "@k", "@other")), expected);
}

// Code takes the symbols of one expression in the order of their names: here as they stand, and the other
// way.
TEST(CanonicalKernel, DependsOnTheOrderOfNames) {
  const auto key = [](const std::string& extent) {
    const std::string two = replaced(kLoop, "s7 in [2, 64]", "s7 in [2, 64], s8 in [2, 64]");
    return kernel_key(replaced(two, "(i0 in s7)", "(i0 in " + extent + ")"));
  };
  EXPECT_NE(key("s7*(s8//2)"), key("s8*(s7//2)"));
}

TEST(CanonicalKernel, DependsOnRangesStrictnessAndBodies) {
  const std::string expected = kernel_key(kLoop);
  EXPECT_NE(kernel_key(replaced(kLoop, "[2, 64]", "[2, 65]")), expected);
  EXPECT_NE(kernel_key(replaced(kLoop, "loop @main", "loop strict @main")), expected);
  EXPECT_NE(kernel_key(replaced(kLoop, "neg", "abs")), expected);
  EXPECT_NE(kernel_key(replaced(kLoop, "kernel @k", "kernel @k phased")), expected);
  EXPECT_NE(kernel_key(replaced(kLoop, "f32", "f64")), expected);
  EXPECT_NE(kernel_key(replaced(kLoop, "load %x[i0]", "load %x[s7 - i0 - 1]")), expected);
}

TEST(CanonicalKernel, KeepsBuffersApart) {
  const char* two =
      "loop @main {\n  %a: f32[4] = input 0\n  %b: f32[4] = input 1\n  %y: f32[4] = output\n  %z: f32[4] = "
      "output\n"
      "  kernel @k0 { nest (i0 in 4) { stage {\n    %0: f32 = load %a[i0]\n    %1: f32 = load %b[i0]\n"
      "    %2: f32 = sub %0, %1\n    store %y[i0], %2\n  } } }\n"
      "  kernel @k1 { nest (i0 in 4) { stage {\n    %0: f32 = load %b[i0]\n    %1: f32 = load %b[i0]\n"
      "    %2: f32 = sub %0, %1\n    store %z[i0], %2\n  } } }\n"
      "  return %y, %z\n}\n";
  EXPECT_NE(kernel_key(two, 0), kernel_key(two, 1));
}

}  // namespace
}  // namespace jumar::driver
