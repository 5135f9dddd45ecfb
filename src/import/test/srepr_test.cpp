#include "import/srepr.h"

#include <gtest/gtest.h>

namespace jumar::import {
namespace {

struct Row {
  std::string srepr;
  std::string text;
};

const std::string kS = "Symbol('s0', positive=True, integer=True)";
const std::string kU = "Symbol('u0', integer=True)";

TEST(Srepr, EveryFunction) {
  const Row rows[] = {
      {"Add(Mul(Integer(2), " + kS + "), Integer(1))", "2*s0 + 1"},
      {"Mul(Integer(-1), " + kU + ")", "-u0"},
      {"Pow(" + kS + ", Integer(2))", "s0*s0"},
      {"FloorDiv(" + kS + ", Integer(2))", "s0//2"},
      {"CleanDiv(" + kS + ", Integer(3))", "s0//3"},
      {"Mod(" + kS + ", Integer(3))", "s0 % 3"},
      {"PythonMod(" + kU + ", Integer(3))", "u0 % 3"},
      {"ModularIndexing(" + kS + ", Integer(2), Integer(3))", "(s0//2) % 3"},
      {"Max(Integer(1), " + kU + ")", "max(1, u0)"},
      {"Min(" + kS + ", " + kU + ")", "min(u0, s0)"},
      {"CeilToInt(IntTrueDiv(" + kS + ", Integer(2)))", "-((-s0)//2)"},
      {"FloorToInt(IntTrueDiv(" + kU + ", Integer(3)))", "u0//3"},
      {"TruncToInt(IntTrueDiv(" + kS + ", Integer(2)))", "s0//2"},
      {"Equality(" + kS + ", Integer(2))", "s0 == 2"},
      {"Unequality(" + kS + ", Integer(2))", "s0 != 2"},
      {"StrictLessThan(" + kS + ", Integer(3))", "s0 < 3"},
      {"StrictGreaterThan(" + kU + ", Integer(1))", "1 < u0"},
      {"GreaterThan(" + kS + ", " + kU + ")", "u0 <= s0"},
      {"And(StrictLessThan(" + kU + ", Integer(3)), LessThan(" + kS + ", " + kU + "))",
       "u0 < 3 and s0 <= u0"},
      {"Or(StrictLessThan(" + kU + ", Integer(3)), true)", "1"},
      {"Not(StrictLessThan(" + kU + ", Integer(3)))", "2 < u0"},
      {"Identity(" + kS + ")", "s0"},
  };
  for (const Row& row : rows) {
    sym::Context cx;
    const Result<sym::Expr> e = read_srepr(cx, row.srepr);
    ASSERT_TRUE(e.ok()) << row.srepr << ": " << e.error().text();
    EXPECT_EQ(sym::text(*e), row.text) << row.srepr;
  }
}

TEST(Srepr, KindsOfSymbols) {
  sym::Context cx;
  EXPECT_TRUE(read_srepr(cx, kS)->is_symbol(sym::SymbolKind::kSize));
  EXPECT_TRUE(read_srepr(cx, kU)->is_symbol(sym::SymbolKind::kUnbacked));
}

TEST(Srepr, WhatIsWrongIsADiagnostic) {
  const std::string deep = [] {
    std::string text;
    for (int k = 0; k < 1000; ++k) text += "Identity(";
    return text;
  }();
  std::string sum = "Add(" + kS;
  for (int k = 1; k < 100; ++k) sum += fmt::format(", Symbol('s{}', positive=True)", k);
  sum += ")";
  const std::string square = "Mul(" + sum + ", " + sum + ")";
  for (const std::string& text : {
           std::string(),
           std::string("Integer("),
           std::string("Integer(1.5)"),
           std::string("Integer(99999999999999999999)"),
           std::string("Symbol('')"),
           std::string("Symbol('a b')"),
           std::string("Symbol('%7')"),
           std::string("Symbol(3)"),
           "FloorDiv(" + kS + ", Integer(0))",
           "Mod(" + kS + ", Integer(0))",
           "FloorDiv(" + kS + ")",
           "ModularIndexing(" + kS + ", Integer(2), Integer(0))",
           "Pow(" + kS + ", Integer(-1))",
           "Pow(" + kS + ", Integer(1000000))",
           std::string("Float('1.5', precision=53)"),
           "ToFloat(" + kS + ")",
           "RoundToInt(ToFloat(" + kS + "))",
           std::string("Add()"),
           std::string("Unknown(1)"),
           kS + " " + kS,
           std::string("Symbol('s0"),
           deep,
           "Mul(" + square + ", " + square + ")",
       }) {
    sym::Context cx;
    EXPECT_FALSE(read_srepr(cx, text).ok()) << text.substr(0, 80);
  }
}

}  // namespace
}  // namespace jumar::import
