#include "sym/facts.h"

#include <gtest/gtest.h>

namespace jumar::sym {
namespace {

// Symbols by their usual names, and expressions read from text.
class FactsTest : public ::testing::Test {
 protected:
  Expr symbol(std::string_view name) {
    SymbolKind kind = name[0] == 's'   ? SymbolKind::kSize
                      : name[0] == 'u' ? SymbolKind::kUnbacked
                      : name[0] == '%' ? SymbolKind::kValue
                                       : SymbolKind::kAxis;
    return cx.symbol(kind, name);
  }
  Expr read(std::string_view text) {
    Lexer lexer(text, "test");
    Result<Expr> e = read_expr(cx, lexer, [&](std::string_view name) { return symbol(name); });
    CHECK(e.ok() && lexer.at_end(), "'{}'", text);
    return *e;
  }
  void extent(std::string_view axis, std::string_view length) {
    facts.set_extent(symbol(axis), read(length));
  }
  void range(std::string_view name, int64_t lo, int64_t hi) { facts.set_range(symbol(name), {lo, hi}); }
  void size(std::string_view name) { range(name, 1, Range::kMax); }
  std::string simple(std::string_view e) { return text(simplified(cx, read(e), facts)); }
  bool lt(std::string_view a, std::string_view b) { return proves_lt(cx, read(a), read(b), facts); }
  bool le(std::string_view a, std::string_view b) { return proves_le(cx, read(a), read(b), facts); }

  Context cx;
  Facts facts;
};

TEST_F(FactsTest, KnowsWhatItWasTold) {
  EXPECT_EQ(facts.range(symbol("s0")), Range());
  EXPECT_FALSE(facts.extent(symbol("i0")));
  EXPECT_EQ(facts.divisor(symbol("s0")), 1);
  range("s0", 2, 100);
  range("s0", 0, 50);
  EXPECT_EQ(facts.range(symbol("s0")), (Range{2, 50}));
  facts.set_divisible(symbol("s0"), 4);
  facts.set_divisible(symbol("s0"), 6);
  EXPECT_EQ(facts.divisor(symbol("s0")), 12);
  EXPECT_EQ(bounds(symbol("s0"), facts), (Range{12, 48}));
}

TEST_F(FactsTest, BoundsOfOperators) {
  extent("i0", "8");
  range("s0", 2, 4096);
  range("u0", -3, 5);
  EXPECT_EQ(bounds(read("4*i0 - 3"), facts), (Range{-3, 25}));
  EXPECT_EQ(bounds(read("i0*s0"), facts), (Range{0, 7 * 4096}));
  EXPECT_EQ(bounds(read("u0*u0"), facts), (Range{0, 25}));
  EXPECT_EQ(bounds(read("u0//2"), facts), (Range{-2, 2}));
  EXPECT_EQ(bounds(read("u0//s0"), facts), (Range{-2, 2}));
  EXPECT_EQ(bounds(read("i0 % 3"), facts), (Range{0, 2}));
  EXPECT_EQ(bounds(read("(i0 + 16) % 16"), facts), (Range{0, 7}));
  EXPECT_EQ(bounds(read("u0 % s0"), facts), (Range{0, 4095}));
  EXPECT_EQ(bounds(read("5//u0"), facts), (Range{-5, 5}));
  EXPECT_EQ(bounds(read("max(i0, 3)"), facts), (Range{3, 7}));
  EXPECT_EQ(bounds(read("min(i0, u0)"), facts), (Range{-3, 5}));
  EXPECT_EQ(bounds(read("i0 < 8"), facts), (Range{1, 1}));
  EXPECT_EQ(bounds(read("i0 < 8 and u0 == 9"), facts), (Range{0, 0}));
}

TEST_F(FactsTest, BoundsWidenToInfinity) {
  range("s0", 1, Range::kMax);
  range("s1", 1, INT64_C(1) << 40);
  EXPECT_EQ(bounds(read("s0 + 5"), facts), (Range{6, Range::kMax}));
  EXPECT_EQ(bounds(read("s1*s1"), facts), (Range{1, Range::kMax}));
  EXPECT_EQ(bounds(read("-s1*s1"), facts), (Range{Range::kMin, -1}));
  EXPECT_EQ(bounds(read("s0 - s1"), facts), (Range{1 - (INT64_C(1) << 40), Range::kMax}));
  EXPECT_EQ(bounds(read("7//s0"), facts), (Range{0, 7}));
  EXPECT_EQ(bounds(read("-7//s0"), facts), (Range{-7, -1}));
  EXPECT_EQ(bounds(symbol("u3"), facts), Range());
}

TEST_F(FactsTest, ProvesThatFlattenedIndicesFit) {
  size("s0"), size("s1"), size("s2");
  extent("i0", "s0"), extent("i1", "s1"), extent("i2", "s2");
  EXPECT_TRUE(lt("i0", "s0"));
  EXPECT_FALSE(lt("i0", "s1"));
  EXPECT_TRUE(lt("i0*s1 + i1", "s0*s1"));
  EXPECT_FALSE(lt("i0*s1 + i1 + 1", "s0*s1"));
  EXPECT_TRUE(le("i0*s1 + i1 + 1", "s0*s1"));
  EXPECT_TRUE(lt("i0*s1*s2 + i1*s2 + i2", "s0*s1*s2"));
  EXPECT_TRUE(le("0", "i0*s1 + i1"));
  EXPECT_TRUE(lt("256*i0 + i1//s1", "256*s0"));
}

TEST_F(FactsTest, ProvesWithQuotientsAndExtrema) {
  size("s0");
  extent("i0", "s0//4");
  extent("i1", "(s0 + 3)//4");
  extent("i2", "s0");
  EXPECT_TRUE(lt("4*i0", "s0"));
  EXPECT_TRUE(le("4*i0 + 4", "s0"));
  EXPECT_TRUE(lt("4*i1", "s0"));
  EXPECT_FALSE(lt("4*i1 + 3", "s0"));
  EXPECT_TRUE(lt("i2//4", "s0"));
  EXPECT_TRUE(le("i2//2", "i2"));
  EXPECT_TRUE(lt("i2 % s0", "s0"));
  EXPECT_TRUE(lt("min(4*i1 + 3, s0 - 1)", "s0"));
  EXPECT_TRUE(le("max(i2, 4*i0)", "s0 - 1"));
  EXPECT_FALSE(le("min(i2, 4*i0)", "-1"));
}

TEST_F(FactsTest, ProvesEqualityDivisibilityAndPredicates) {
  size("s0");
  extent("i0", "s0");
  facts.set_divisible(symbol("s1"), 8);
  EXPECT_TRUE(proves_eq(cx, read("4*(i0//4) + i0 % 4"), read("i0"), facts));
  EXPECT_FALSE(proves_eq(cx, read("i0"), read("s0"), facts));
  EXPECT_TRUE(proves_divisible(cx, read("4*i0 + 8"), read("4"), facts));
  EXPECT_FALSE(proves_divisible(cx, read("4*i0 + 2"), read("4"), facts));
  EXPECT_TRUE(proves_divisible(cx, read("s1*s0 + 16*i0"), read("8"), facts));
  EXPECT_TRUE(proves_divisible(cx, read("i0*s0 + s0"), read("s0"), facts));
  EXPECT_TRUE(proves_divisible(cx, read("s1//2"), read("4"), facts));
  EXPECT_FALSE(proves_divisible(cx, read("s1//2"), read("8"), facts));
  EXPECT_FALSE(proves_divisible(cx, read("i0"), read("0"), facts));
  EXPECT_EQ(proves(cx, read("i0 < s0"), facts), std::optional(true));
  EXPECT_EQ(proves(cx, read("s0 <= i0"), facts), std::optional(false));
  EXPECT_EQ(proves(cx, read("i0 < 3"), facts), std::nullopt);
}

TEST_F(FactsTest, SimplifiesQuotients) {
  extent("i0", "64"), extent("i1", "256"), extent("i2", "4");
  size("s0"), size("s1");
  extent("i3", "s0"), extent("i4", "s1");
  EXPECT_EQ(simple("(256*i0 + i1)//256"), "i0");
  EXPECT_EQ(simple("(6*i0 + i1)//4"), "(6*i0 + i1)//4");
  EXPECT_EQ(simple("(8*i0 + 4*i1 + u0)//4"), "2*i0 + i1 + u0//4");
  EXPECT_EQ(simple("(i3*s1 + i4)//s1"), "i3");
  EXPECT_EQ(simple("(i3*s1 + i3 + u0)//(s1 + 1)"), "i3 + u0//(s1 + 1)");
  EXPECT_EQ(simple("(u0//3)//5"), "u0//15");
  EXPECT_EQ(simple("(u0//s0)//s1"), "u0//(s0*s1)");
  EXPECT_EQ(simple("(12*u0 + 6)//(18*s0)"), "(2*u0 + 1)//(3*s0)");
  EXPECT_EQ(simple("(u0*s0)//(s0*s1)"), "u0//s1");
  EXPECT_EQ(simple("(4*u0 + i2)//12"), "u0//3");
  EXPECT_EQ(simple("(4*u0 + i2 + 4)//12"), "(u0 + 1)//3");
  EXPECT_EQ(simple("(u0*s1 + i4)//(s1*s0)"), "u0//s0");
  EXPECT_EQ(simple("(u0 % 12)//4"), "(u0//4) % 3");
  EXPECT_EQ(simple("(i2 - 4)//4"), "-1");
  EXPECT_EQ(simple("(u0//1000000007)//4611686018427387904"), "(u0//1000000007)//4611686018427387904");
}

TEST_F(FactsTest, SimplifiesRemainders) {
  extent("i0", "64"), extent("i1", "256"), extent("i2", "4");
  size("s0"), size("s1");
  extent("i3", "s0"), extent("i4", "s1");
  facts.set_divisible(symbol("s2"), 8);
  EXPECT_EQ(simple("(256*i0 + i1) % 256"), "i1");
  EXPECT_EQ(simple("(i3*s1 + i4) % s1"), "i4");
  EXPECT_EQ(simple("(i3*s1 + i4) % (s0*s1)"), "i3*s1 + i4");
  EXPECT_EQ(simple("(257*u0 + 259) % 256"), "(u0 + 3) % 256");
  EXPECT_EQ(simple("(6*u0) % (9*s0)"), "3*((2*u0) % (3*s0))");
  EXPECT_EQ(simple("(4*u0 + i2) % 12"), "i2 + 4*(u0 % 3)");
  EXPECT_EQ(simple("(u0*s1 + i4) % (s0*s1)"), "i4 + s1*(u0 % s0)");
  EXPECT_EQ(simple("(3*(u0 % 8) + 1) % 4"), "(3*u0 + 1) % 4");
  EXPECT_EQ(simple("(u0 + s2) % 4"), "u0 % 4");
  EXPECT_EQ(simple("(i2 - 4) % 4"), "i2");
  EXPECT_EQ(simple("(i2 - 1) % 4"), "(i2 - 1) % 4");
}

TEST_F(FactsTest, PutsDigitsTogether) {
  size("s0"), size("s1"), size("s2");
  extent("i0", "s0"), extent("i1", "s1"), extent("i2", "s2");
  EXPECT_EQ(simple("256*(u0//256) + u0 % 256"), "u0");
  EXPECT_EQ(simple("s0*(u0//s0) + u0 % s0"), "u0");
  EXPECT_EQ(simple("(s0 + 1)*(u0//(s0 + 1)) + u0 % (s0 + 1)"), "u0");
  EXPECT_EQ(simple("3*s1*s0*(u0//s0) + 3*s1*(u0 % s0) + 7"), "3*u0*s1 + 7");
  EXPECT_EQ(simple("u0 - 16*(u0//16)"), "u0 % 16");
  EXPECT_EQ(simple("4*((u0//4) % 8) + u0 % 4"), "u0 % 32");
  EXPECT_EQ(simple("12*(u0//12) + 4*((u0//4) % 3) + u0 % 4"), "u0");
  EXPECT_EQ(simple("s1*s2*(u0//(s1*s2)) + s2*((u0//s2) % s1) + u0 % s2"), "u0");
  std::string flat = "(i0*s1*s2 + i1*s2 + i2)";
  EXPECT_EQ(simple(flat + "//(s1*s2)"), "i0");
  EXPECT_EQ(simple("(" + flat + "//s2) % s1"), "i1");
  EXPECT_EQ(simple(flat + " % s2"), "i2");
}

TEST_F(FactsTest, MultiplesOfADivisorComeBack) {
  facts.set_divisible(symbol("s0"), 8);
  EXPECT_EQ(simple("4*(s0//4)"), "s0");
  EXPECT_EQ(simple("16*(s0//16)"), "16*(s0//16)");
}

TEST_F(FactsTest, SimplifiesPredicatesAndExtrema) {
  size("s0");
  extent("i0", "s0"), extent("i1", "8"), extent("i2", "1");
  EXPECT_EQ(simple("i0 < s0 and i1 < 4"), "i1 < 4");
  EXPECT_EQ(simple("0 <= i0 and i0 < s0"), "1");
  EXPECT_EQ(simple("i1 < 4 and i1 < 6"), "i1 < 4");
  EXPECT_EQ(simple("i1 < 4 or i1 < 6"), "i1 < 6");
  EXPECT_EQ(simple("i1 < 4 and 5 < i1"), "0");
  EXPECT_EQ(simple("i1 < 4 or 2 < i1"), "1");
  EXPECT_EQ(simple("u0 == 3 and u0 != 3"), "0");
  EXPECT_EQ(simple("u0//4 < s0"), "u0 < 4*s0");
  EXPECT_EQ(simple("s0 <= u0//4"), "4*s0 <= u0");
  EXPECT_EQ(simple("not (i1 < 4 and u0 == 1)"), "u0 != 1 or 3 < i1");
  EXPECT_EQ(simple("min(i0, s0)"), "i0");
  EXPECT_EQ(simple("max(i0 + 1, 0, s0)"), "s0");
  EXPECT_EQ(simple("min(i1, u0)"), "min(i1, u0)");
  EXPECT_EQ(simple("i2 + 3*i1"), "3*i1");
}

TEST_F(FactsTest, LeavesADivisionByZeroAlone) {
  extent("i0", "1");
  EXPECT_EQ(simple("5//i0 + i0"), "5//i0");
  EXPECT_EQ(simple("(i1 % i0) + 2*i0"), "i1 % i0");
}

TEST_F(FactsTest, AnEmptyLoopIsNoTrouble) {
  range("s0", 0, 0);
  extent("i0", "s0");
  EXPECT_LE(bounds(symbol("i0"), facts).lo, bounds(symbol("i0"), facts).hi);
  EXPECT_EQ(simple("i0 + u0"), "u0");
}

}  // namespace
}  // namespace jumar::sym
