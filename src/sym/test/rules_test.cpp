// Every row of the rule table, and what is built on it, against exhaustive evaluation over small values.
#include "sym/rules.h"

#include <gtest/gtest.h>

#include "random_expr.h"

namespace jumar::sym {
namespace {

using testing::Assignment;
using testing::World;

constexpr uint32_t kWorlds = 700;
constexpr int kExpressionsPerWorld = 8;
constexpr size_t kAssignmentsPerCheck = 400;

// At most kAssignmentsPerCheck of them, evenly spread.
std::vector<Assignment> thinned(const std::vector<Assignment>& all) {
  if (all.size() <= kAssignmentsPerCheck) return all;
  std::vector<Assignment> out;
  for (size_t i = 0; i < kAssignmentsPerCheck; ++i) out.push_back(all[i * all.size() / kAssignmentsPerCheck]);
  return out;
}

// Fails unless `after` has the value of `before` wherever that has one.
void expect_same(Expr before, Expr after, const std::vector<Assignment>& assignments,
                 const std::string& what) {
  for (const Assignment& values : assignments) {
    std::optional<int64_t> expected = testing::value_of(before, values);
    if (!expected) continue;
    std::optional<int64_t> actual = testing::value_of(after, values);
    ASSERT_TRUE(actual == expected) << what << ": " << text(before) << "  ->  " << text(after) << " with "
                                    << testing::describe(values) << "gives "
                                    << (actual ? std::to_string(*actual) : "nothing") << ", not "
                                    << *expected;
  }
}

// Operands before what they are operands of.
void collect_nodes(Expr e, std::vector<Expr>& out) {
  for (Expr operand : e.operands()) collect_nodes(operand, out);
  if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
}

TEST(RuleTable, RowsAreComplete) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules()) {
    for (const char* column : {rule.id, rule.pattern, rule.condition, rule.proof})
      EXPECT_NE(std::string(column), "");
    EXPECT_NE(rule.ops, 0u) << rule.id;
    ids.push_back(rule.id);
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end()) << "two rows have one id";
}

TEST(RuleTable, EveryRowKeepsValuesWhereverItFires) {
  constexpr int kEnough = 25;
  std::map<std::string, int> fired, taken;
  for (uint32_t seed = 0; seed < kWorlds; ++seed) {
    Context cx;
    World world(cx, seed);
    Reasoner reasoner(cx, world.facts());
    std::vector<Assignment> assignments = thinned(world.assignments());
    for (int i = 0; i < kExpressionsPerWorld; ++i) {
      std::vector<Expr> nodes;
      collect_nodes(i % 4 == 3 ? world.predicate(3) : world.expression(3), nodes);
      for (Expr e : nodes) {
        for (const Rule& rule : rules()) {
          if (e.is_const() || (rule.ops & bit(e.op())) == 0) continue;
          Expr result = rule.apply(reasoner, e);
          if (!result) continue;
          ++fired[rule.id];
          taken[rule.id] += result.measure() < e.measure();
          expect_same(e, result, assignments, rule.id);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  for (const Rule& rule : rules()) {
    EXPECT_GE(fired[rule.id], kEnough) << rule.id << " fires too seldom to be tested";
    EXPECT_GE(taken[rule.id], kEnough) << rule.id << " hardly ever makes an expression smaller";
  }
}

TEST(Simplified, KeepsValuesIsIdempotentAndNeverGrows) {
  for (uint32_t seed = 0; seed < kWorlds; ++seed) {
    Context cx;
    World world(cx, seed);
    std::vector<Assignment> assignments = thinned(world.assignments());
    Simplifier simplifier(cx, world.facts());
    for (int i = 0; i < kExpressionsPerWorld; ++i) {
      Expr e = i % 4 == 3 ? world.predicate(4) : world.expression(4);
      Expr result = simplifier(e);
      expect_same(e, result, assignments, "simplified");
      if (HasFatalFailure()) return;
      ASSERT_LE(result.measure().weight, e.measure().weight) << text(e) << "  ->  " << text(result);
      // A fresh Simplifier, so that memory can't hide a further step.
      ASSERT_EQ(text(simplified(cx, result, world.facts())), text(result)) << "from " << text(e);
    }
  }
}

TEST(Bounds, HoldEveryValue) {
  int finite = 0;
  for (uint32_t seed = 0; seed < kWorlds; ++seed) {
    Context cx;
    World world(cx, seed);
    std::vector<Assignment> assignments = thinned(world.assignments());
    for (int i = 0; i < kExpressionsPerWorld; ++i) {
      Expr e = i % 4 == 3 ? world.predicate(3) : world.expression(3);
      Range range = bounds(e, world.facts());
      finite += range.lo != Range::kMin && range.hi != Range::kMax;
      for (const Assignment& values : assignments) {
        std::optional<int64_t> value = testing::value_of(e, values);
        if (!value) continue;
        ASSERT_TRUE(range.lo <= *value && *value <= range.hi)
            << text(e) << " is " << *value << " with " << testing::describe(values) << ", outside of ["
            << range.lo << ", " << range.hi << "]";
      }
    }
  }
  EXPECT_GT(finite, static_cast<int>(kWorlds));
}

TEST(Proofs, HoldForEveryValue) {
  int proved = 0, missed = 0;
  for (uint32_t seed = 0; seed < kWorlds; ++seed) {
    Context cx;
    World world(cx, seed);
    std::vector<Assignment> assignments = thinned(world.assignments());
    Simplifier simplifier(cx, world.facts());
    for (int i = 0; i < kExpressionsPerWorld; ++i) {
      Expr a = world.expression(2), b = world.expression(2);
      bool le = simplifier.proves_le(a, b), lt = simplifier.proves_lt(a, b), eq = simplifier.proves_eq(a, b);
      bool divisible = simplifier.proves_divisible(a, b);
      bool always_le = true;
      for (const Assignment& values : assignments) {
        std::optional<int64_t> x = testing::value_of(a, values), y = testing::value_of(b, values);
        if (!x || !y) continue;
        always_le &= *x <= *y;
        std::string where = text(a) + " and " + text(b) + " with " + testing::describe(values);
        ASSERT_TRUE(!le || *x <= *y) << where;
        ASSERT_TRUE(!lt || *x < *y) << where;
        ASSERT_TRUE(!eq || *x == *y) << where;
        ASSERT_TRUE(!divisible || *y == 0 || *x % *y == 0) << where;
      }
      proved += le;
      missed += always_le && !le && !assignments.empty();
    }
  }
  // The prover may miss some, but not most.
  EXPECT_GT(proved, 4 * missed) << proved << " proved, " << missed << " missed";
}

}  // namespace
}  // namespace jumar::sym
