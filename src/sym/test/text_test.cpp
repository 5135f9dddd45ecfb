#include <gtest/gtest.h>

#include "random_expr.h"
#include "sym/expr.h"

namespace jumar::sym {
namespace {

Result<Expr> read(Context& cx, std::string_view source) {
  Lexer lexer(source, "f");
  auto resolve = [&](std::string_view name) -> Expr {
    if (name[0] == '%') return cx.symbol(SymbolKind::kValue, name);
    if (name[0] == 's') return cx.symbol(SymbolKind::kSize, name);
    if (name[0] == 'u') return cx.symbol(SymbolKind::kUnbacked, name);
    if (name[0] == 'i' || name[0] == 'r') return cx.symbol(SymbolKind::kAxis, name);
    return {};
  };
  Result<Expr> result = read_expr(cx, lexer, resolve);
  if (result.ok() && !lexer.at_end()) return lexer.expected("an operator");
  return result;
}

TEST(Text, CanonicalTextsReadBackByteForByte) {
  Context cx;
  for (const char* source : {
           "0",
           "-5",
           "9223372036854775807",
           "-9223372036854775808",
           "s0",
           "%7",
           "i0 + 4*s0",
           "i0 - 4*s0 + 3",
           "-i0 + 3",
           "i0 - 1",
           "2*i0*s1 + i1",
           "-2*i0*s1*s1",
           "i2 + i10",
           "(i0 + 3)//4",
           "(4*i0 + 3) % s0",
           "(i0//4) % 8",
           "i0//s0",
           "4*(i0//4)",
           "s0*(i0 % s1)",
           "-(i0//4)",
           "i0//4 - i1//s0 + i1 % 8",
           "(-5)//s0",
           "5 % (-s0)",
           "(i0//(s0 + 1))//s1",
           "min(4, i0, s0 + 1)",
           "max(-1, i0 % 8)",
           "min(i0, max(s0, s1))",
           "-min(i0, s0)",
           "2*max(i0, s0) - 1",
           "i0 < s0",
           "0 <= i0",
           "i1 < 128 and i0 + 3 < s0 and i0 + i1 <= s0",
           "i0 == s0",
           "i0 != s0",
           "-2 < i0",
           "i0 == 0 or i1 < 4 and i2 < 5",
           "i2 < 3 and (i0 == 0 or i1 == 0)",
           "not (i0 == 0 or i1 == 0)",
           "i1 + 4*(i0 < s0)",
           "i1 - (i0 < s0)",
           "i1 + (i0 == s0)",
           "(i0 < s0)*(i1 < s0)",
           "min(s0, i0 < 4)",
           "s0*(i0 == 0 and i1 == 0)",
           "i0 < %3",
           "i1 - s0*s1 - 2*(i0//4) - i0//s0",
           "4611686018427387904*4611686018427387904*s0",
           "i0 + -9223372036854775808*s0",
       }) {
    Result<Expr> e = read(cx, source);
    ASSERT_TRUE(e.ok()) << e.error().text();
    EXPECT_EQ(text(*e), source);
  }
}

TEST(Text, ReadsWhatItWritesDifferently) {
  Context cx;
  for (auto [source, written] : std::vector<std::pair<const char*, const char*>>{
           {"s0*4 + i0", "i0 + 4*s0"},
           {"-i0//4", "(-i0)//4"},
           {"2*i0//4*3", "3*((2*i0)//4)"},
           {"-2//3", "-1"},
           {"- -3", "3"},
           {"7 - -2*i0", "2*i0 + 7"},
           {"i0 > s0", "s0 < i0"},
           {"i0 >= 1", "0 < i0"},
           {"not i0 == s0", "i0 != s0"},
           {"not not i0 < 4", "i0 < 4"},
           {"i0 % 8 % 4", "(i0 % 8) % 4"},
           {"(i0 + 1)*(i0 - 1)", "i0*i0 - 1"},
           {"(((s1)))", "s1"},
           {"1 < 2 and i0 < 3", "i0 < 3"},
       }) {
    Result<Expr> e = read(cx, source);
    ASSERT_TRUE(e.ok()) << e.error().text();
    EXPECT_EQ(text(*e), written);
  }
}

TEST(Text, ErrorsNamePlaceAndExpectation) {
  Context cx;
  for (auto [source, message] : std::vector<std::pair<std::string, const char*>>{
           {"s0 +", "f:1:5: error[syntax]: expected an expression, found the end of the text"},
           {"s0 + * 3", "f:1:6: error[syntax]: expected an expression, found '*'"},
           {"(s0 + 1", "f:1:8: error[syntax]: expected ')', found the end of the text"},
           {"s0 +\n  (i0 - x9)", "f:2:9: error[syntax]: unknown symbol 'x9'"},
           {"min(s0)", "f:1:7: error[syntax]: expected ',', found ')'"},
           {"max s0", "f:1:5: error[syntax]: expected '(', found 's0'"},
           {"min(s0, )", "f:1:9: error[syntax]: expected an expression, found ')'"},
           {"i0//0", "f:1:5: error[syntax]: division by zero"},
           {"i0 % (s0 - s0)", "f:1:6: error[syntax]: division by zero"},
           {"0 < i0 < 4", "f:1:8: error[syntax]: comparisons do not chain: join two of them with 'and'"},
           {"i0 == not s0", "f:1:7: error[syntax]: expected an expression, found 'not'"},
           {"99999999999999999999",
            "f:1:1: error[syntax]: integer '99999999999999999999' does not fit 64 bits"},
           {"i0 %8", "f:1:4: error[syntax]: expected an operator, found '%8'"},
           {std::string(300, '('), "f:1:201: error[limit]: more than 200 nested parentheses"},
       }) {
    Result<Expr> e = read(cx, source);
    ASSERT_FALSE(e.ok()) << source;
    EXPECT_EQ(e.error().text(), message);
  }
}

TEST(Text, StopsWhereAnExpressionEnds) {
  Context cx;
  Lexer lexer("s0 + 1, s0]", "f");
  auto resolve = [&](std::string_view name) { return cx.symbol(SymbolKind::kSize, name); };
  Result<Expr> e = read_expr(cx, lexer, resolve);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(text(*e), "s0 + 1");
  EXPECT_TRUE(lexer.peek_punct(","));
}

TEST(Text, RandomExpressionsReadBack) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    Context cx;
    testing::World world(cx, seed);
    for (int i = 0; i < 10; ++i) {
      Expr e = i % 2 ? world.predicate(4) : world.expression(4);
      Result<Expr> back = read(cx, text(e));
      ASSERT_TRUE(back.ok()) << text(e) << ": " << back.error().text();
      ASSERT_EQ(*back, e) << text(e) << " was read as " << text(*back);
    }
  }
}

}  // namespace
}  // namespace jumar::sym
