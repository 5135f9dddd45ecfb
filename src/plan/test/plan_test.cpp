#include "plan/plan.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "plan/entry.h"
#include "support/files.h"

namespace jumar::plan {
namespace {

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(JUMAR_TEST_DIR))
    if (entry.path().extension() == ".plan") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(PlanText, GoldenFilesReadVerifyAndWriteBack) {
  std::vector<std::filesystem::path> paths = golden_files();
  ASSERT_GE(paths.size(), 4u);
  for (const auto& path : paths) {
    std::string text = bytes_of_file(path).value();
    Result<Plan> plan = read_plan(text, path.filename());
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    Status status = verify(*plan);
    EXPECT_TRUE(status.ok()) << path << ": " << status.error().text();
    EXPECT_EQ(write_plan(*plan), text) << path;
  }
}

struct Malformed {
  const char* text;
  const char* message;
};

constexpr Malformed kMalformed[] = {
    {"", "1:1: error[syntax]: expected 'plan', found the end of the text"},
    {"plan main {", "1:6: error[syntax]: expected a symbol such as '@main', found 'main'"},
    {"plan @m symbols(s0) {", "1:19: error[syntax]: expected 'in', found ')'"},
    {"plan @m symbols(s0 in [4, 2]) {", "1:17: error[syntax]: the range of symbol s0 is empty"},
    {"plan @m symbols(s0 in [0, 2], s0 in [0, 2]) {", "1:31: error[syntax]: symbol s0 is declared twice"},
    {"plan @m symbols(min in [0, 2]) {", "1:17: error[syntax]: 'min' cannot name a symbol"},
    {"plan @m {",
     "1:10: error[syntax]: expected a step (bind, launch, call, python, number, check) or 'return'"},
    {"plan @m { %x f32[2] = arena return }", "1:14: error[syntax]: expected ':', found 'f32'"},
    {"plan @m { %x: f99[2] = arena return }",
     "1:15: error[syntax]: expected a type: f32[...], int(...), float"},
    {"plan @m { %x: f32[2] = heap return }", "1:24: error[syntax]: expected 'input', 'parameter', 'arena'"},
    {"plan @m { %x: f32[2]{1, 2} = arena return }", "1:21: error[syntax]: 2 strides for 1 sizes"},
    {"plan @m { %x: f32[s0] = arena return }", "1:19: error"},
    {"plan @m { %x: f32[2] = input -1 return }", "1:30: error[syntax]: input positions are 0 to"},
    {"plan @m { %x: f32[2] = arena %x: f32[2] = arena return }", "1:30: error[syntax]: %x is declared twice"},
    {"plan @m { %v: f32[2] = view %w offset 0 return }", "1:29: error[syntax]: %w is not declared above"},
    {"plan @m { %f: float = number %v: f32[2] = view %f offset 0 return }",
     "1:48: error[syntax]: %f is not a tensor"},
    {"plan @m { %x: f32[2] = arena launch k(%x) units 1 grain 1 return }",
     "expected a symbol such as '@main'"},
    {"plan @m { %x: f32[2] = arena launch @k(%x) grain 1 return }", "1:44: error[syntax]: expected 'units'"},
    {"plan @m { %x: f32[2] = arena launch @k(%x) units 1 grain 1 then grain 1 return }",
     "1:65: error[syntax]: expected 'units'"},
    {"plan @m { %x: f32[2] = arena launch @k(%x %x) units 1 grain 1 return }",
     "1:43: error[syntax]: expected ','"},
    {"plan @m { %x: f32[2] = arena launch @k(%x; %x) units 1 grain 1 return }", "1:44: error"},
    {"plan @m { call aten.mm.default(none return }",
     "1:37: error[syntax]: expected ',' or ')', found 'return'"},
    {"plan @m { call aten.mm.default(,) return }", "1:32: error[syntax]: expected an argument, found ','"},
    {"plan @m { call aten.mm.default(%q) return }", "1:32: error[syntax]: %q is not declared above"},
    {"plan @m { call a.b.c(dtype(f99)) return }",
     "1:28: error[syntax]: expected an element type such as f32, found 'f99'"},
    {"plan @m { call a.b.c(device(cpu)) return }", "1:29: error[syntax]: expected a string, found 'cpu'"},
    {"plan @m { call a.b.c([1, [2, 3) return }", "expected ',' or ']', found ')'"},
    {"plan @m { python x() return }", "1:18: error[syntax]: expected an integer, found 'x'"},
    {"plan @m { python -2() return }", "1:18: error[syntax]: a callable is a number from 0, found -2"},
    {"plan @m { %x: i64[2] = input 0 bind s0 = size(%x, 0) return }", "1:37: error"},
    {"plan @m symbols(s0 in [0, 9]) { %x: i64[2] = input 0 bind s0 = size(%x, 3) return }",
     "1:73: error[syntax]: %x has no dimension 3"},
    {"plan @m symbols(c0 in [1, 9]) { bind c0 = cores(tensor) return }",
     "1:49: error[syntax]: expected 'cube' or 'vector', found 'tensor'"},
    {"plan @m symbols(c0 in [1, 9]) { bind c0 = cores(cube, 1) return }",
     "1:53: error[syntax]: expected ')'"},
    {"plan @m symbols(s0 in [0, 9]) { %x: i64[2] = input 0 bind s0 = shape(%x, 0) return }",
     "1:64: error[syntax]: expected 'size', 'stride', 'item', 'floor', 'ceil', 'trunc', 'round' or 'cores', "
     "found "
     "'shape'"},
    {"plan @m { check 1 return }", "1:19: error[syntax]: expected 'message', found 'return'"},
    {"plan @m { check 1 message 2 return }", "1:27: error[syntax]: expected a string, found '2'"},
    {"plan @m { return 1 2 }", "1:20: error[syntax]: expected '}', found '2'"},
    {"plan @m { return } x", "1:20: error[syntax]: expected the end of the text, found 'x'"},
    {"plan @m { schema b.c.d() -> () schema a.b.c() -> () return }",
     "1:39: error[syntax]: schema lines are sorted by name, each once: a.b.c comes after b.c.d"},
    {"plan @m { schema b.c.d(Tensor) -> () return }", "1:30: error[syntax]: expected an argument's name"},
    {"plan @m { return 99999999999999999999 }", "error"},
};

TEST(PlanText, MalformedTextsSayWhereAndWhatWasExpected) {
  for (const Malformed& row : kMalformed) {
    Result<Plan> plan = read_plan(row.text, "f");
    ASSERT_FALSE(plan.ok()) << row.text;
    EXPECT_NE(plan.error().text().find(row.message), std::string::npos)
        << row.text << "\n gave " << plan.error().text();
    EXPECT_GT(plan.error().where.line, 0) << row.text;
  }
}

TEST(PlanText, MutatedTextsNeverCrash) {
  std::mt19937 random(1);
  int accepted = 0;
  int refused = 0;
  for (const auto& path : golden_files()) {
    std::string original = bytes_of_file(path).value();
    for (int round = 0; round < 400; ++round) {
      std::string text = original;
      for (unsigned edits = random() % 3 + 1; edits > 0; --edits) {
        size_t at = random() % text.size();
        if (random() % 3 == 0) {
          text.erase(at, random() % 8 + 1);
        } else if (random() % 2 == 0) {
          text[at] = static_cast<char>(random() % 96 + 32);
        } else {
          text.insert(at, original.substr(random() % original.size(), random() % 12));
        }
        if (text.empty()) text.push_back(' ');
      }
      Result<Plan> plan = read_plan(text);
      if (!plan.ok()) {
        ++refused;
      } else if (verify(*plan).ok()) {
        ++accepted;
        std::string again = write_plan(*plan);
        Result<Plan> second = read_plan(again);
        ASSERT_TRUE(second.ok()) << again << second.error().text();
        EXPECT_EQ(write_plan(*second), again);
      }
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 100);
}

// Each text reads well but breaks an invariant.
constexpr Malformed kBroken[] = {
    {"plan @m { %x: f32[2] = input 1 return }", "input 0 is not declared"},
    {"plan @m { %x: f32[2] = input 0 %y: f32[2] = input 0 return }", "input 0 is declared twice"},
    {"plan @m symbols(s0 in [0, 9]) { %x: f32[s0] = input 0 return }",
     "the type of %x uses s0 before it is bound"},
    {"plan @m symbols(s0 in [0, 9], s1 in [0, 9]) { %x: f32[s0 + s1] = input 0 bind s0 + s1 = size(%x, 0) "
     "return }",
     "s0 + s1 = size(%x, 0) has several unbound symbols"},
    {"plan @m symbols(s0 in [0, 9]) { %x: f32[2] = input 0 bind s0 // 2 = size(%x, 0) return }",
     "cannot be solved for s0"},
    {"plan @m { %x: f32[2] = arena return %x }", "output 0: %x lies in the arena"},
    {"plan @m { %x: f32[2] = arena %v: f32[1] = view %x offset 0 return %v }",
     "output 0: %v lies in the arena"},
    {"plan @m { %r: f32[2] = result return %r }", "output 0: %r is used before a call defines it"},
    {"plan @m { %r: f32[2] = result launch @k(%r) units 1 grain 1 return }", "step 0: %r is used before"},
    {"plan @m { return \"x\" }", "output 0 is neither a tensor nor a number nor none"},
    {"plan @m { call a.b.c() return }", "step 0: operator a.b.c has no schema"},
    {"plan @m { schema a.b.c(int x) -> () call a.b.c() return }",
     "step 0: operator a.b.c takes 1 arguments, the call has 0"},
    {"plan @m { schema a.b.c() -> (Tensor) %x: f32[2] = input 0 call a.b.c() into %x return }",
     "step 0: a call writes into %x, which is neither arena nor output"},
    {"plan @m { schema a.b.c() -> (Tensor) %x: f32[2] = output call a.b.c() -> %x return }",
     "step 0: %x takes a result but is not declared as one"},
    {"plan @m { schema a.b.c() -> (Tensor) %r: f32[2] = result call a.b.c() -> %r call a.b.c() -> %r return "
     "}",
     "step 1: %r is defined twice"},
    {"plan @m symbols(u0 in [0, 9]) { %x: f32[2] = input 0 bind u0 = item(%x) return }",
     "step 0: item of %x, which holds no integers"},
    {"plan @m symbols(u0 in [0, 9]) { launch @k() units u0 grain 1 return }",
     "step 0: units uses u0 before it is bound"},
    {"plan @m { %f: float = number number %f = cube(2.0) return }",
     "step 0: 'cube' is no operation on numbers"},
    {"plan @m { %f: float = number number %f = add(2.0) return }", "step 0: add takes 2 arguments, found 1"},
    {"plan @m { %f: float = number number %f = eq(2.0, 2.0) return }",
     "step 0: %f has not the kind that eq gives"},
    {"plan @m { %f: float = number return %f }", "output 0: %f is used before it is defined"},
    {"plan @m { %f: float = number number %f = add(\"a\", 2.0) return }",
     "step 0: add cannot take this kind"},
};

TEST(PlanVerify, BrokenInvariantsAreNamed) {
  for (const Malformed& row : kBroken) {
    Result<Plan> plan = read_plan(row.text);
    ASSERT_TRUE(plan.ok()) << row.text << plan.error().text();
    Status status = verify(*plan);
    ASSERT_FALSE(status.ok()) << row.text;
    EXPECT_NE(status.error().text().find(row.message), std::string::npos)
        << row.text << "\n gave " << status.error().text();
  }
}

TEST(PlanEntry, CoresAreKnownWhenACallBeginsWhereverTheyAreBound) {
  Result<Plan> plan = read_plan(
      "plan @m symbols(s0 in [0, 9], c0 in [1, 99]) { %x: f32[s0*c0] = input 0\n"
      "launch @k(%x) units c0 grain 1 bind s0*c0 = size(%x, 0) bind c0 = cores(vector) return }");
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  EXPECT_TRUE(verify(*plan).ok()) << verify(*plan).error().text();
  Result<std::vector<EntryBinding>> rows = entry_bindings(*plan);
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_TRUE((*rows)[0].of_cores());
  EXPECT_EQ(place_text(*plan, (*rows)[0]), "cores(vector)");
  EXPECT_EQ(sym::text((*rows)[1].symbol), "s0");
}

TEST(PlanEntry, ConstantCoefficientsAreSolvedFirst) {
  Result<Plan> plan = read_plan(
      "plan @m symbols(s0 in [0, 9], s1 in [0, 9]) { %n: int(s0*s1) = input 0 %x: f32[s0, s1] = input 1\n"
      "bind s0 = size(%x, 0) bind s1 = size(%x, 1) return }");
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  Result<std::vector<EntryBinding>> rows = entry_bindings(*plan);
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ(sym::text((*rows)[0].symbol), "s0");
  EXPECT_EQ(sym::text((*rows)[1].symbol), "s1");
  EXPECT_FALSE((*rows)[2].symbol) << "a product that could be 0 is only compared";
}

TEST(PlanEntry, BindingsComeInAnOrderInWhichTheyCanBeComputed) {
  Result<Plan> plan = read_plan(
      "plan @m symbols(s0 in [0, 9], s1 in [0, 9]) { %n: int(s0*s1) = input 0 %x: f32[s0 + 2*s1, s0] = input "
      "1\n"
      "bind s0 + 2*s1 = size(%x, 0) bind s0 = size(%x, 1) return }");
  ASSERT_TRUE(plan.ok()) << plan.error().text();
  Result<std::vector<EntryBinding>> rows = entry_bindings(*plan);
  ASSERT_TRUE(rows.ok()) << rows.error().text();
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ(sym::text((*rows)[0].symbol), "s0");
  EXPECT_EQ((*rows)[0].dim, 1u);
  EXPECT_EQ(sym::text((*rows)[1].symbol), "s1");
  EXPECT_EQ(sym::text((*rows)[1].coefficient), "2");
  EXPECT_EQ(sym::text((*rows)[1].rest), "s0");
  EXPECT_FALSE((*rows)[2].symbol) << "the int input only checks";
}

}  // namespace
}  // namespace jumar::plan
