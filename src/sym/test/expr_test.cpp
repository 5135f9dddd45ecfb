#include "sym/expr.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "random_expr.h"

namespace jumar::sym {
namespace {

class ExprTest : public ::testing::Test {
 protected:
  Context cx;
  Expr s0 = cx.symbol(SymbolKind::kSize, "s0");
  Expr s1 = cx.symbol(SymbolKind::kSize, "s1");
  Expr u0 = cx.symbol(SymbolKind::kUnbacked, "u0");
  Expr i0 = cx.symbol(SymbolKind::kAxis, "i0");
  Expr i1 = cx.symbol(SymbolKind::kAxis, "i1");
  Expr c(int64_t value) { return cx.constant(value); }
};

TEST_F(ExprTest, EqualMeansSameHandle) {
  EXPECT_EQ(cx.add(i0, s0), cx.add(s0, i0));
  EXPECT_EQ(cx.mul(cx.add(i0, 1), s0), cx.add(cx.mul(s0, i0), s0));
  EXPECT_EQ(cx.symbol(SymbolKind::kSize, "s0"), s0);
  EXPECT_NE(cx.symbol(SymbolKind::kAxis, "s0"), s0);
  EXPECT_EQ(cx.value(7), cx.symbol(SymbolKind::kValue, "%7"));
  EXPECT_EQ(cx.sub(cx.add(cx.mul(i0, 5), s0), cx.mul(i0, 4)), cx.add(i0, s0));
  EXPECT_TRUE(cx.sub(cx.mul(i0, s0), cx.mul(s0, i0)).is_const(0));
}

TEST_F(ExprTest, OrderIsByStructure) {
  Expr s2 = cx.symbol(SymbolKind::kSize, "s2"), s10 = cx.symbol(SymbolKind::kSize, "s10");
  EXPECT_TRUE(compare(s2, s10) < 0);
  EXPECT_TRUE(compare(c(100), i0) < 0);
  EXPECT_TRUE(compare(c(-3), c(2)) < 0);
  EXPECT_TRUE(compare(i1, s0) < 0);
  EXPECT_TRUE(compare(s0, cx.mul(s0, s1)) < 0);
  EXPECT_TRUE(compare(cx.add(i0, s0), cx.add(s0, i0)) == 0);
  EXPECT_TRUE(compare(cx.symbol(SymbolKind::kSize, "s01"), s10) < 0);
  EXPECT_TRUE(compare(cx.symbol(SymbolKind::kSize, "s01"), cx.symbol(SymbolKind::kSize, "s1")) != 0);
}

TEST_F(ExprTest, TextDoesNotDependOnTheOrderOfConstruction) {
  Context other;
  Expr b = other.symbol(SymbolKind::kSize, "b"), a = other.symbol(SymbolKind::kAxis, "a");
  Context again;
  Expr a2 = again.symbol(SymbolKind::kAxis, "a"), b2 = again.symbol(SymbolKind::kSize, "b");
  EXPECT_EQ(text(other.add(other.mul(b, 3), other.mul(a, b))),
            text(again.add(again.mul(b2, a2), again.mul(b2, 3))));
  EXPECT_EQ(other.mod(a, b).structural_hash(), again.mod(a2, b2).structural_hash());
}

TEST_F(ExprTest, FoldsDivision) {
  EXPECT_TRUE(cx.floordiv(c(-7), c(2)).is_const(-4));
  EXPECT_TRUE(cx.mod(c(-7), c(2)).is_const(1));
  EXPECT_TRUE(cx.floordiv(c(7), c(-2)).is_const(-4));
  EXPECT_TRUE(cx.mod(c(7), c(-2)).is_const(-1));
  EXPECT_TRUE(cx.ceildiv(c(7), c(2)).is_const(4));
  EXPECT_EQ(cx.floordiv(s0, 1), s0);
  EXPECT_TRUE(cx.mod(s0, 1).is_const(0));
  EXPECT_EQ(text(cx.floordiv(cx.add(cx.mul(i0, 8), 4), 4)), "2*i0 + 1");
  EXPECT_EQ(text(cx.floordiv(i0, -4)), "(-i0)//4");
  EXPECT_EQ(text(cx.mod(i0, -4)), "-((-i0) % 4)");
  EXPECT_THROW(cx.floordiv(i0, 0), InternalError);
  EXPECT_THROW(cx.mod(i0, 0), InternalError);
}

TEST_F(ExprTest, CanonicalComparisons) {
  EXPECT_EQ(text(cx.le(i1, c(127))), "i1 < 128");
  EXPECT_EQ(text(cx.le(c(0), i1)), "0 <= i1");
  EXPECT_EQ(text(cx.lt(c(-1), i1)), "0 <= i1");
  EXPECT_EQ(text(cx.le(i0, cx.sub(s0, 1))), "i0 < s0");
  EXPECT_EQ(text(cx.lt(cx.mul(i0, 4), c(10))), "i0 < 3");
  EXPECT_EQ(text(cx.lt(c(10), cx.mul(i0, 4))), "2 < i0");
  EXPECT_EQ(text(cx.lt(cx.add(i0, -3), i1)), "i0 < i1 + 3");
  EXPECT_EQ(text(cx.eq(s0, i0)), "i0 == s0");
  EXPECT_EQ(text(cx.eq(cx.mul(i0, 2), cx.mul(s0, 4))), "i0 == 2*s0");
  EXPECT_TRUE(cx.eq(cx.mul(i0, 2), c(3)).is_const(0));
  EXPECT_TRUE(cx.ne(cx.mul(i0, 2), c(3)).is_const(1));
  EXPECT_TRUE(cx.lt(i0, cx.add(i0, 1)).is_const(1));
  EXPECT_EQ(cx.logical_not(cx.lt(i0, s0)), cx.le(s0, i0));
  EXPECT_EQ(cx.ne(cx.lt(i0, s0), c(0)), cx.lt(i0, s0));
  EXPECT_EQ(cx.eq(cx.lt(i0, s0), c(0)), cx.le(s0, i0));
  EXPECT_TRUE(cx.lt(cx.lt(i0, s0), c(2)).is_const(1));
}

TEST_F(ExprTest, LogicAndExtrema) {
  Expr p = cx.lt(i0, s0), q = cx.eq(u0, c(3));
  EXPECT_EQ(cx.logical_and(p, p), p);
  EXPECT_EQ(cx.logical_and(p, c(1)), p);
  EXPECT_TRUE(cx.logical_and(p, c(0)).is_const(0));
  EXPECT_TRUE(cx.logical_or(p, c(1)).is_const(1));
  EXPECT_EQ(cx.logical_and(p, cx.logical_and(q, p)), cx.logical_and(q, p));
  EXPECT_EQ(cx.logical_and(u0, c(1)), cx.ne(u0, c(0)));
  EXPECT_EQ(cx.logical_not(u0), cx.eq(u0, c(0)));
  EXPECT_EQ(cx.logical_not(cx.logical_not(cx.logical_or(p, q))), cx.logical_or(p, q));
  EXPECT_EQ(text(cx.min(cx.min(s0, c(9)), cx.min(c(4), i0))), "min(4, i0, s0)");
  EXPECT_EQ(text(cx.max(cx.max(s0, c(9)), cx.max(c(4), i0))), "max(9, i0, s0)");
  EXPECT_EQ(cx.min(s0, s0), s0);
}

TEST_F(ExprTest, ConstantsThatDoNotFitAreLeftUnfolded) {
  Expr big = c(INT64_C(1) << 62);
  Expr product = cx.mul(cx.mul(s0, big), big);
  EXPECT_EQ(text(product), "4611686018427387904*4611686018427387904*s0");
  EXPECT_EQ(text(cx.add(cx.add(c(INT64_MAX), c(1)), s0)), "s0 + 1 + 9223372036854775807");
  auto one = [](Expr) { return std::optional<int64_t>(1); };
  ASSERT_FALSE(evaluate(product, one).ok());
  EXPECT_EQ(evaluate(product, one).error().code, "limit");
  EXPECT_EQ(*evaluate(cx.add(cx.add(c(INT64_MAX), c(1)), c(-1)), one), INT64_MAX);
  EXPECT_FALSE(evaluate(cx.neg(c(INT64_MIN)), one).ok());
  EXPECT_EQ(text(cx.le(i0, c(INT64_MIN))), "i0 <= -9223372036854775808");
}

TEST_F(ExprTest, SubstitutionRebuilds) {
  Expr e = cx.floordiv(cx.add(cx.mul(i0, s1), i1), s1);
  auto map = [&](Expr symbol) { return symbol == s1 ? c(4) : symbol == i1 ? c(8) : Expr(); };
  EXPECT_EQ(text(cx.substituted(e, map)), "i0 + 2");
  EXPECT_EQ(cx.substituted(e, [](Expr) { return Expr(); }), e);
}

TEST_F(ExprTest, Queries) {
  Expr e = cx.add(cx.mul(i0, s1), cx.mod(i1, s0));
  EXPECT_EQ(symbols_of(e), (std::vector<Expr>{i0, i1, s0, s1}));
  EXPECT_TRUE(mentions(e, s0));
  EXPECT_FALSE(mentions(e, u0));
  EXPECT_TRUE(mentions_kind(e, SymbolKind::kAxis));
  EXPECT_FALSE(mentions_kind(e, SymbolKind::kUnbacked));
}

TEST_F(ExprTest, MentionsIsExactWithManySymbols) {
  Expr sum = c(0);
  std::vector<Expr> all;
  for (int i = 0; i < 200; ++i) {
    all.push_back(cx.symbol(SymbolKind::kSize, fmt::format("t{}", i)));
    if (i % 3 == 0) sum = cx.add(sum, all.back());
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(mentions(sum, all[static_cast<size_t>(i)]), i % 3 == 0) << i;
}

TEST_F(ExprTest, LinearParts) {
  std::optional<Linear> linear =
      linear_in(cx, cx.add(cx.add(cx.mul(i0, s1), cx.mul(i0, 4)), cx.mul(i1, 3)), i0);
  ASSERT_TRUE(linear);
  EXPECT_EQ(text(linear->coefficient), "s1 + 4");
  EXPECT_EQ(text(linear->rest), "3*i1");
  linear = linear_in(cx, s0, i0);
  ASSERT_TRUE(linear);
  EXPECT_TRUE(linear->coefficient.is_const(0));
  EXPECT_FALSE(linear_in(cx, cx.mul(i0, i0), i0));
  EXPECT_FALSE(linear_in(cx, cx.add(i0, cx.mod(i0, 4)), i0));
  EXPECT_FALSE(linear_in(cx, cx.mul(i0, cx.mod(i0, 4)), i0));
}

TEST_F(ExprTest, EvaluationNamesWhatIsWrong) {
  auto values = [&](Expr symbol) { return symbol == s0 ? std::optional<int64_t>(0) : std::nullopt; };
  EXPECT_EQ(evaluate(cx.add(i0, s0), values).error().message, "'i0' has no value");
  EXPECT_EQ(evaluate(cx.floordiv(c(4), s0), values).error().message, "'4//s0' divides by zero");
  EXPECT_EQ(*evaluate(cx.add(s0, 4), values), 4);
}

TEST_F(ExprTest, EvaluationOfSharedStructureIsNotExponential) {
  Expr e = s0;
  for (int i = 0; i < 200; ++i) e = cx.max(cx.add(cx.floordiv(e, 3), cx.mod(e, 7)), i0);
  EXPECT_TRUE(evaluate(e, [](Expr) { return std::optional<int64_t>(1000); }).ok());
}

// Constructors keep the value: against the same operators on numbers.
TEST(ExprRandom, ConstructorsKeepValues) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    Context cx;
    testing::World world(cx, seed);
    testing::Assignment values{{"s0", world.pick(0, 9)},  {"s1", world.pick(-3, 9)},
                               {"i0", world.pick(-9, 9)}, {"i1", world.pick(0, 9)},
                               {"i2", world.pick(0, 9)},  {"u0", world.pick(-9, 9)}};
    for (int i = 0; i < 20; ++i) {
      Expr a = world.expression(2), b = i % 2 ? world.expression(2) : cx.constant(world.pick(-5, 5));
      std::optional<int64_t> x = testing::value_of(a, values), y = testing::value_of(b, values);
      if (!x || !y) continue;
      auto check = [&](Expr result, int64_t expected, const char* op) {
        EXPECT_EQ(testing::value_of(result, values), std::optional<int64_t>(expected))
            << text(a) << " " << op << " " << text(b) << " is " << text(result) << " with "
            << testing::describe(values);
      };
      check(cx.add(a, b), *x + *y, "+");
      check(cx.sub(a, b), *x - *y, "-");
      check(cx.mul(a, b), *x * *y, "*");
      check(cx.neg(a), -*x, "neg");
      check(cx.min(a, b), std::min(*x, *y), "min");
      check(cx.max(a, b), std::max(*x, *y), "max");
      check(cx.eq(a, b), *x == *y, "==");
      check(cx.ne(a, b), *x != *y, "!=");
      check(cx.lt(a, b), *x < *y, "<");
      check(cx.le(a, b), *x <= *y, "<=");
      check(cx.logical_and(a, b), *x && *y, "and");
      check(cx.logical_or(a, b), *x || *y, "or");
      check(cx.logical_not(a), !*x, "not");
      if (*y == 0) continue;
      int64_t quotient = *x / *y - (*x % *y != 0 && (*x < 0) != (*y < 0));
      check(cx.floordiv(a, b), quotient, "//");
      check(cx.mod(a, b), *x - quotient * *y, "%");
      check(cx.ceildiv(a, b), *x / *y + (*x % *y != 0 && (*x < 0) == (*y < 0)), "ceildiv");
    }
  }
}

// Expressions that are equal by the laws of sums, products and order are the same handle.
TEST(ExprRandom, FormIsCanonical) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Context cx;
    testing::World world(cx, seed);
    Expr a = world.expression(3), b = world.expression(2), d = world.expression(2);
    EXPECT_EQ(cx.mul(cx.add(a, b), d), cx.add(cx.mul(a, d), cx.mul(b, d))) << text(a) << ", " << text(b);
    EXPECT_EQ(cx.add(cx.add(a, b), d), cx.add(a, cx.add(b, d)));
    EXPECT_EQ(cx.mul(cx.mul(a, b), d), cx.mul(a, cx.mul(d, b)));
    EXPECT_EQ(cx.sub(cx.add(a, b), b), a);
    EXPECT_EQ(cx.lt(a, b), cx.le(cx.add(a, 1), b));
    EXPECT_EQ(cx.logical_not(cx.le(a, b)), cx.lt(b, a));
    if (!a.is_const() && !a.is_symbol()) {
      EXPECT_EQ(cx.make(a.op(), a.operands()), a);
    }
  }
}

}  // namespace
}  // namespace jumar::sym
