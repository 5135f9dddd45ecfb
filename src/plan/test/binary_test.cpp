#include "plan/binary.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "plan/test/binary_checks.h"
#include "support/files.h"
#include "sym/test/random_expr.h"

namespace jumar::plan {
namespace {

// Every plan text below src, by name.
std::vector<std::filesystem::path> plan_files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::string(JUMAR_SOURCE_DIR) + "/src"))
    if (entry.path().extension() == ".plan") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Of a golden file: what its command reads.
Plan plan_of(std::string_view text) {
  text = text.substr(0, text.find("# EXPECT"));
  Result<Plan> plan = read_plan(text);
  CHECK(plan.ok(), "{}", plan.error().text());
  return std::move(*plan);
}

void add_check(Plan& plan, sym::Expr e) {
  CheckStep check;
  check.predicate = e;
  plan.steps.emplace_back().data = std::move(check);
}

std::string error_of(std::string_view blob) {
  const Result<Plan> plan = read_binary(bytes_of(blob), "blob");
  return plan.ok() ? "" : plan.error().text();
}

// With a bit of everything: negative and extreme numbers, nested lists, floats, words, no-results, origins.
constexpr std::string_view kSmall = R"(plan @small symbols(s0 in [2, inf], u0 in [-inf, 9], c0 in [1, inf]) {
  schema aten.topk.default(Tensor self, SymInt k) -> (Tensor, Tensor)
  %n: int(2*s0) = input 0
  %x: f32[2*s0, 256]{256, 1} = input 1
  %i: i64[] = input 2
  %p: float = input 3
  %r: f32[s0] = result
  %v: f32[s0//2] = view %r offset max(4, s0)
  %f: bool = number
  bind u0 = item(%i)
  bind 2*c0 = cores(vector)
  call aten.topk.default(%x, [1, [none, -9223372036854775808], true, nan, -0.0, "a\n", dtype(f32)]) -> %r, _
  launch @k(%x, %r; s0, u0 % 3; %p) checks_indices units 2*s0 grain 1 then units 1 grain 4 origin "node"
  number %f = lt(%p, 1.5)
  check s0 <= 4 or u0 == 0 message "too \"large\""
  return %r, 2*s0, none, %f
}
)";

TEST(PlanBinary, GoldenPlansComeBackAsTheyWere) {
  const std::vector<std::filesystem::path> paths = plan_files();
  ASSERT_GE(paths.size(), 5u);
  for (const auto& path : paths) {
    const Plan plan = plan_of(bytes_of_file(path).value());
    const std::string blob = write_binary(plan);
    EXPECT_EQ(blob, write_binary(plan)) << path;
    const Result<Plan> again = read_binary(bytes_of(blob), path.filename());
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(write_plan(*again), write_plan(plan)) << path;
    EXPECT_EQ(write_binary(*again), blob) << path;
    EXPECT_TRUE(verify(*again).ok()) << path;
  }
}

TEST(PlanBinary, ASmallPlanWithABitOfEverythingComesBack) {
  const Plan plan = plan_of(kSmall);
  const std::string blob = write_binary(plan);
  const Result<Plan> again = read_binary(bytes_of(blob), "small");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(write_plan(*again), write_plan(plan));
  EXPECT_EQ(again->input_count, 4u);
  EXPECT_EQ(blob.size() % 8, 0u);
}

TEST(PlanBinary, NamesOfIntInputsMayBeMissing) {
  Plan plan = plan_of(kSmall);
  plan.int_inputs[0].name.clear();
  const Result<Plan> again = read_binary(bytes_of(write_binary(plan)), "small");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_TRUE(again->int_inputs[0].name.empty());
}

TEST(PlanBinary, OriginsAreLeftOutOnRequest) {
  const Plan plan = plan_of(kSmall);
  const std::string blob = write_binary(plan, {.origins = false});
  EXPECT_EQ(blob.find("node"), std::string::npos);
  const Result<Plan> again = read_binary(bytes_of(blob), "small");
  ASSERT_TRUE(again.ok()) << again.error().text();
  for (const Step& step : again->steps) EXPECT_EQ(step.origin, "");
}

TEST(PlanBinary, RandomExpressionsComeBackAsTheSameText) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Plan plan(std::make_shared<sym::Context>());
    sym::testing::World world(plan.cx(), seed);
    for (int k = 0; k < 20; ++k) {
      sym::Expr e = world.pick(0, 1) ? world.expression(5) : world.predicate(4);
      add_check(plan, e);
    }
    const Result<Plan> again = read_binary(bytes_of(write_binary(plan)), "random");
    ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << write_plan(plan);
    EXPECT_EQ(write_plan(*again), write_plan(plan));
  }
}

Result<int64_t> value_of_check(const Plan& plan, size_t step) {
  return sym::evaluate(std::get<CheckStep>(plan.steps[step].data).predicate,
                       [](sym::Expr symbol) { return symbol.symbol_name() == "s0" ? 3 : -5; });
}

// Where folding a constant would leave 64 bits it stays unfolded. Such forms are not canonical and may come
// back as others, of the same value.
TEST(PlanBinary, ExpressionsWithUnfoldedConstantsComeBack) {
  std::mt19937 random(7);
  const int64_t constants[] = {INT64_MIN, INT64_MIN + 1, -3, -1, 1, 2, INT64_MAX / 2, INT64_MAX};
  size_t unfolded = 0, compared = 0;
  for (int round = 0; round < 300; ++round) {
    Plan plan(std::make_shared<sym::Context>());
    sym::Context& cx = plan.cx();
    std::vector<sym::Expr> pool = {cx.symbol(sym::SymbolKind::kSize, "s0"),
                                   cx.symbol(sym::SymbolKind::kSize, "s1")};
    for (int64_t value : constants) pool.push_back(cx.constant(value));
    for (int k = 0; k < 30; ++k) {
      sym::Expr a = pool[random() % pool.size()], b = pool[random() % pool.size()];
      sym::Expr made[] = {cx.add(a, b), cx.mul(a, b), cx.min(a, b), cx.le(a, b), cx.eq(a, b), cx.sub(a, b)};
      sym::Expr e = made[random() % std::size(made)];
      const auto [weight, bits] = e.measure();
      if (weight > 500 || bits > 2000) continue;  // products of sums grow fast
      unfolded += e.op() == sym::Op::kMul && e.operands()[1].is_const();
      pool.push_back(e);
    }
    for (sym::Expr e : pool) add_check(plan, e);
    const Result<Plan> again = read_binary(bytes_of(write_binary(plan)), "random");
    ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << write_plan(plan);
    for (size_t k = 0; k < plan.steps.size(); ++k) {
      const auto before = value_of_check(plan, k), after = value_of_check(*again, k);
      if (!before.ok() || !after.ok()) continue;
      EXPECT_EQ(*before, *after) << write_plan(plan);
      ++compared;
    }
  }
  EXPECT_GT(unfolded, 10u);
  EXPECT_GT(compared, 1000u);
}

TEST(PlanBinary, LongOperatorsComeBack) {
  Plan plan(std::make_shared<sym::Context>());
  sym::Context& cx = plan.cx();
  std::vector<sym::Expr> symbols;
  for (int k = 0; k < 1000; ++k) symbols.push_back(cx.symbol(sym::SymbolKind::kSize, fmt::format("s{}", k)));
  for (sym::Expr e : {cx.add(symbols), cx.make(sym::Op::kMin, symbols)}) add_check(plan, e);
  add_check(plan, cx.mul({symbols.begin(), symbols.begin() + 500}));
  const Result<Plan> again = read_binary(bytes_of(write_binary(plan)), "long");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(write_plan(*again), write_plan(plan));
}

TEST(PlanBinary, EveryTruncationIsADiagnostic) {
  const std::string blob = write_binary(plan_of(kSmall));
  for (size_t size = 0; size < blob.size(); ++size) {
    std::string cut = blob.substr(0, size);
    EXPECT_NE(error_of(cut).find("error[format]"), std::string::npos) << size;
    // The header may also lie about the size.
    if (cut.size() < 32) continue;
    std::memcpy(cut.data() + 16, &size, sizeof(size));
    test::reads_and_round_trips(bytes_of(cut));
  }
  EXPECT_NE(error_of(blob + "x").find("error[format]"), std::string::npos);
}

TEST(PlanBinary, DamagedBytesNeverCrash) {
  std::mt19937 random(1);
  size_t read = 0, refused = 0;
  std::vector<std::string> blobs = {write_binary(plan_of(kSmall))};
  for (const auto& path : plan_files()) blobs.push_back(write_binary(plan_of(bytes_of_file(path).value())));
  for (const std::string& blob : blobs) {
    for (int round = 0; round < 4000; ++round) {
      std::string damaged = blob;
      for (unsigned edits = random() % 3 + 1; edits > 0; --edits) {
        const size_t at = 16 + random() % (damaged.size() - 16);
        if (random() % 3 == 0)
          damaged[at] = static_cast<char>(random() % 4 ? random() % 16 : 255);
        else
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
      }
      ++(test::reads_and_round_trips(bytes_of(damaged)) ? read : refused);
    }
  }
  EXPECT_GT(read, 1000u);
  EXPECT_GT(refused, 5000u);
}

std::string with_u32(std::string blob, size_t at, uint32_t value) {
  std::memcpy(blob.data() + at, &value, sizeof(value));
  return blob;
}
std::string with_u64(std::string blob, size_t at, uint64_t value) {
  std::memcpy(blob.data() + at, &value, sizeof(value));
  return blob;
}

TEST(PlanBinary, NewerMajorVersionsAreRefusedAndMinorOnesLoad) {
  const Plan plan = plan_of(kSmall);
  const std::string blob = write_binary(plan);
  EXPECT_NE(
      error_of(with_u32(blob, 8, 2)).find("has version 2.1, this runtime reads version 1: use a newer one"),
      std::string::npos);
  EXPECT_NE(error_of(with_u32(blob, 8, 0)).find("compile the package again"), std::string::npos);
  EXPECT_NE(error_of("JUMARPLX" + blob.substr(8)).find("does not begin with JUMARPLN"), std::string::npos);

  // A newer minor version with a section of its own, in a table that is one row longer.
  const size_t table_end = 32 + 24 * 10;
  std::string newer = with_u32(blob, 12, 7);
  for (size_t row = 32; row < table_end; row += 24) {
    uint64_t offset = 0;
    std::memcpy(&offset, newer.data() + row + 8, sizeof(offset));
    newer = with_u64(newer, row + 8, offset + 24);
  }
  std::string row(24, '\0');
  row = with_u64(with_u64(with_u32(row, 0, 1000), 8, blob.size() + 24), 16, 8);
  newer = newer.substr(0, table_end) + row + newer.substr(table_end) + "whatever";
  newer = with_u64(with_u32(newer, 24, 11), 16, newer.size());
  const Result<Plan> again = read_binary(bytes_of(newer), "newer");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(write_plan(*again), write_plan(plan));
}

TEST(PlanBinary, SectionsMustBeThereOnceAndInside) {
  const std::string blob = write_binary(plan_of(kSmall));
  const auto fails = [](const std::string& bytes, std::string_view message) {
    EXPECT_NE(error_of(bytes).find(message), std::string::npos) << error_of(bytes);
  };
  fails(with_u32(blob, 32, 99), "no section of strings");
  fails(with_u32(blob, 32, 2), "two sections of expressions");
  fails(with_u64(blob, 40, UINT64_MAX), "section 0 is not inside");
  fails(with_u64(blob, 48, UINT64_MAX - 100), "section 0 is not inside");
  fails(with_u32(blob, 24, UINT32_MAX), "sections do not fit");
}

// A few records that would ask the constructors for more terms, levels or traversals than anybody can wait
// for.
class HostileExpressions : public ::testing::Test {
 protected:
  // Replaces the expressions of a plan without any by `records`, after the symbol s0 as number 0 and the
  // constant 1 as number 1.
  static std::string error_with(const std::vector<std::vector<uint32_t>>& records) {
    Plan plan(std::make_shared<sym::Context>());
    plan.name = "s0";
    const std::string blob = write_binary(plan);
    std::string section;
    const auto put = [&section](uint32_t value) { section.append(reinterpret_cast<char*>(&value), 4); };
    put(static_cast<uint32_t>(records.size()) + 2);
    for (uint32_t word : {1u, 0u, 0u, 0u, 1u, 0u}) put(word);
    for (const auto& record : records)
      for (uint32_t word : record) put(word);
    std::string out = with_u64(with_u64(blob, 56 + 8, blob.size()), 56 + 16, section.size()) + section;
    return error_of(with_u64(out, 16, out.size()));
  }
  static uint32_t head(uint32_t op, uint32_t count) { return op | count << 8; }
  static constexpr uint32_t kMul = 2, kAdd = 3, kFloorDiv = 4, kMod = 5, kNot = 14;
};

TEST_F(HostileExpressions, AreReadWhereTheyAreOrdinary) {
  EXPECT_EQ(error_with({{head(kAdd, 2), 1, 0}, {head(kMod, 2), 0, 2}}), "");
}

TEST_F(HostileExpressions, PowersOfSumsAreNotExpanded) {
  std::vector<std::vector<uint32_t>> records = {{head(kAdd, 2), 1, 0}};
  for (uint32_t k = 2; k < 60; ++k) records.push_back({head(kMul, 2), k, k});
  EXPECT_NE(error_with(records).find("not in canonical form"), std::string::npos);
}

TEST_F(HostileExpressions, SharedOperandsDoNotMultiplyTheWork) {
  std::vector<std::vector<uint32_t>> records = {{head(kAdd, 2), 1, 0}};
  for (uint32_t k = 2; k < 60; ++k) {
    records.push_back({head(kMod, 2), 0, 2 * k - 2});
    records.push_back({head(kFloorDiv, 2), 2 * k - 2, 2 * k - 1});
  }
  EXPECT_NE(error_with(records).find("an expression of more than 65536 nodes"), std::string::npos);
}

TEST_F(HostileExpressions, TowersEnd) {
  std::vector<std::vector<uint32_t>> records = {{head(kAdd, 2), 1, 0}};
  for (uint32_t k = 2; k < 5000; ++k) records.push_back({head(kMod, 2), 0, k});
  EXPECT_NE(error_with(records).find("or 1000 levels"), std::string::npos);
}

TEST_F(HostileExpressions, MisuseIsNamed) {
  EXPECT_NE(error_with({{0, 0, 0}, {head(kFloorDiv, 2), 0, 2}}).find("division by the constant zero"),
            std::string::npos);
  EXPECT_NE(error_with({{head(kAdd, 2), 0, 2}}).find("expression 2 of 2"), std::string::npos);
  EXPECT_NE(error_with({{head(kAdd, 1), 0}}).find("1 operands"), std::string::npos);
  EXPECT_NE(error_with({{head(kNot, 2), 0, 0}}).find("2 operands"), std::string::npos);
  EXPECT_NE(error_with({{head(kAdd, 0xffffff), 0}}).find("operands do not fit"), std::string::npos);
  EXPECT_NE(error_with({{head(kAdd, 2), 0, 1}, {head(kAdd, 2), 0, 2}}).find("not in canonical form"),
            std::string::npos);
  EXPECT_NE(error_with({{head(15, 2), 0, 1}}).find("operator 15 of 15"), std::string::npos);
}

}  // namespace
}  // namespace jumar::plan
