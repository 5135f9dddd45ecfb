// Reading and writing of loop programs: golden files, and texts that must be refused with a place and a
// reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "loop/loop.h"
#include "loop/walk.h"

namespace jumar::loop {
namespace {

namespace fs = std::filesystem;

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(JUMAR_TEST_DIR) / "text"))
    if (entry.path().extension() == ".loop") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

TEST(LoopText, GoldenFilesRoundTripAndVerify) {
  ASSERT_GE(golden_files().size(), 14u);
  for (const fs::path& path : golden_files()) {
    std::string text = file_text(path);
    Result<Program> program = read_program(text, path.filename());
    ASSERT_TRUE(program.ok()) << program.error().text();
    EXPECT_EQ(write_program(*program), text);
    Status status = verify(*program);
    EXPECT_TRUE(status.ok()) << path << ": " << status.error().text();
  }
}

std::string with_single_spaces(const std::string& text) {
  std::istringstream words(text);
  std::string out = " ";
  for (std::string word; words >> word;) out += word + " ";
  return out;
}

// Every block of code in docs/loop.md that is loop text, spaces aside, stands in some golden file.
TEST(LoopText, ExamplesOfTheDocumentationAreGolden) {
  std::istringstream lines(file_text(fs::path(JUMAR_SOURCE_DIR) / "docs/loop.md"));
  std::vector<std::string> blocks;
  bool is_code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      is_code = !is_code;
      if (is_code) blocks.emplace_back();
    } else if (is_code) {
      blocks.back() += line + "\n";
    }
  }
  std::vector<std::string> golden;
  for (const fs::path& path : golden_files()) golden.push_back(with_single_spaces(file_text(path)));
  size_t examples = 0;
  for (const std::string& block : blocks) {
    if (!block.starts_with("loop ") && !block.starts_with("nest ") && !block.starts_with("kernel ")) continue;
    ++examples;
    bool found = std::any_of(golden.begin(), golden.end(), [&](const std::string& text) {
      return text.find(with_single_spaces(block)) != std::string::npos;
    });
    EXPECT_TRUE(found) << block;
  }
  EXPECT_GE(examples, 12u);
}

TEST(LoopText, KernelsPrintAlone) {
  Result<Program> program = read_program(file_text(fs::path(JUMAR_TEST_DIR) / "text/program.loop"));
  ASSERT_TRUE(program.ok());
  const Kernel* kernel = std::get_if<Kernel>(&program->items[1]);
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(write_kernel(*program, *kernel),
            "kernel @k0 {\n"
            "  nest (i0 in s0, i1 in 256) {\n"
            "    stage {\n"
            "      %0: f32 = load %t[256*i0 + i1]\n"
            "      %1: f32 = const 0.0\n"
            "      %2: f32 = max %0, %1\n"
            "      store %y[256*i0 + i1], %2\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(LoopText, SpacesAndCommentsDoNotMatter) {
  const char* dense =
      "loop @main { %x: f32[4] = input 0 %y: f32[4] = output # a copy\n"
      "kernel @k { nest (i0 in 4) { stage { %0: f32 = load %x[i0] store %y[i0], %0 } } } return %y }";
  Result<Program> program = read_program(dense);
  ASSERT_TRUE(program.ok()) << program.error().text();
  EXPECT_EQ(write_program(*program),
            "loop @main {\n"
            "  %x: f32[4] = input 0\n"
            "  %y: f32[4] = output\n"
            "  kernel @k {\n"
            "    nest (i0 in 4) {\n"
            "      stage {\n"
            "        %0: f32 = load %x[i0]\n"
            "        store %y[i0], %0\n"
            "      }\n"
            "    }\n"
            "  }\n"
            "  return %y\n"
            "}\n");
}

struct BadText {
  const char* text;
  int line;
  const char* message;
};

// Each text is put where <body> stands, or is the whole text when it begins with "loop" or is empty.
constexpr const char* kFrame =
    "loop @main symbols(s0 in [2, 9]) {\n"
    "%x: f32[s0, 8] = input 0\n"
    "%y: f32[s0, 8] = output\n"
    "kernel @k {\n"
    "nest (i0 in s0, i1 in 8) {\n"
    "stage {\n"
    "<body>\n"
    "} } }\n"
    "return %y }\n";

constexpr BadText kBadTexts[] = {
    {"", 1, "expected 'loop', found the end of the text"},
    {"loop main {}", 1, "expected a symbol such as '@main', found 'main'"},
    {"loop @m symbols() {}", 1, "expected a symbol's name such as s0, found ')'"},
    {"loop @m symbols(s0 in [3, 2]) {}", 1, "the range of symbol s0 is empty"},
    {"loop @m symbols(s0 in [1, 2], s0 in [1, 2]) {}", 1, "symbol s0 is declared twice"},
    {"loop @m { }", 1, "expected kernel, call, host, check or return, found '}'"},
    {"loop @m { return } return", 1, "expected the end of the text, found 'return'"},
    {"loop @m {\n%x: f33[2] = temp\nreturn }", 2, "expected an element type such as f32, found 'f33'"},
    {"loop @m {\n%x: f32[2] = heap\nreturn }", 2, "expected input, parameter, temp, output, result or view"},
    {"loop @m {\n%x: f32[2] = view %z offset 0\nreturn }", 2, "buffer %z is not declared"},
    {"loop @m {\n%x: f32[2] = temp\n%x: f32[2] = temp\nreturn }", 3, "%x is declared twice"},
    {"loop @m {\n%x: float = input 0\n%x: f32[2] = temp\nreturn }", 3, "%x is declared twice"},
    {"loop @m {\n%x: f32[2] = input -1\nreturn }", 2, "-1 is not between 0 and 2147483647"},
    {"loop @m {\n%x: float = temp\nreturn }", 2, "expected 'input', found 'temp'"},
    {"loop @m {\nschema b.b() -> ()\nschema a.a() -> ()\nreturn }", 3, "schema lines are sorted"},
    {"loop @m {\ncall a.b(%x) -> ()\nreturn }", 2, "%x is no buffer or number defined above"},
    {"loop @m {\ncall a.b(1, ) -> ()\nreturn }", 2, "expected an argument, found ')'"},
    {"loop @m {\ncall a.b(1 2) -> ()\nreturn }", 2, "expected ',' or ')', found '2'"},
    {"loop @m {\ncall a.b() -> (%q)\nreturn }", 2, "buffer %q is not declared"},
    {"loop @m {\ncall a.b() -> () defines(u0)\nreturn }", 2, "symbol u0 is not declared"},
    {"loop @m {\ncall a.b(dtype(f33)) -> ()\nreturn }", 2,
     "expected an element type such as f32, found 'f33'"},
    {"loop @m {\ncall a.b(layout(x)) -> ()\nreturn }", 2, "expected one of strided, "},
    {"loop @m {\nhost %f: int = scalar.add(1, 2)\nreturn }", 2, "expected float or bool, found 'int'"},
    {"loop @m {\ncheck 1 < 2\nreturn }", 3, "expected a string, found 'return'"},
    {"loop @m {\nkernel @k { stage { } }\nreturn }", 2, "expected 'nest' or '}', found 'stage'"},
    {"loop @m {\nkernel @k { nest (i0 in 4, i0 in 5) { } }\nreturn }", 2, "axis i0 is declared twice"},
    {"loop @m symbols(i0 in [1, 2]) {\nkernel @k { nest (i0 in 4) { } }\nreturn }", 2,
     "axis i0 has the name of a symbol"},
    {"loop @m {\nkernel @k { nest (i0 in 4) { loop } }\nreturn }", 2,
     "expected 'stage' or '}', found 'loop'"},
    {"loop @m {\nkernel @k { nest (i0 in 4) { local 1: f32[2] } }\nreturn }", 2,
     "expected 0, the number of this"},
    {"loop @m {\nkernel @k { nest (i0 in 4) { stage () { } } }\nreturn }", 2,
     "a stage without inner axes has no"},
    {"loop @m {\nkernel @k { nest (i0 in 4) tile(paralel 1) { } }\nreturn }", 2,
     "expected parallel, block, "},
    {"loop @m {\nkernel @k { nest (i0 in 4) tile(vector i3 x 8) { } }\nreturn }", 2, "i3 is no axis here"},
    {"loop @m {\nkernel @k { nest () { stage (r0 in 2) tile(vector r0 x 8) { } } }\nreturn }", 2,
     "a stage has a tile annotation, its nest has none"},
    {"%0: f32 = load %z[i0]", 7, "buffer %z is not declared"},
    {"%0: f32 = load %x[i2]", 7, "i2"},
    {"%0: f32 = load %x[%0]", 7, "%0"},
    {"%0: f32 = load %x[i0", 8, "expected ']', found '}'"},
    {"%0: f32 = load %x[i0] if i0 < 1", 8, "expected 'else', found '}'"},
    {"%0: f32 = const 1\n%0: f32 = const 2", 8, "value %0 is defined twice"},
    {"%0: f32 = const x", 7, "expected a number, found 'x'"},
    {"%0: i32 = const 1.5", 7, "expected an integer, found '1.5'"},
    {"%0: f32 = neg %1", 7, "value %1 is not defined above in this nest"},
    {"%0: f32 = frob %1", 7, "unknown instruction 'frob'"},
    {"%a: f32 = const 1.0", 7, "%a is no value's number below 1048576"},
    {"%4294967295: f32 = const 1.0", 7, "is no value's number below 1048576"},
    {"%01: f32 = const 1.0", 7, "is no value's number below 1048576"},
    {"%0: f32 = const 1.0\n%1: f32 = reduce mean %0", 8, "there is no reduce 'mean'"},
    {"%0: f32 = const 1.0\n%1: f32 = scan any %0 along i0", 8, "there is no scan 'any'"},
    {"%0: f32 = const 1.0\n%1: f32 = reduce argmax %0", 9, "expected 'at', found '}'"},
    {"%0: f32 = const 1.0\nstore.set %y[0], %0", 8, "expected a body line, found 'store.set'"},
    {"%0: f32 = const 1.0\nstore.sub %y[0], %0", 8, "expected a body line, found 'store.sub'"},
    {"%0: f32 = const 1.0\nload %y[0], %0", 8, "expected a body line, found 'load'"},
    {"%0: f32 = param %q", 7, "number %q is not defined above"},
    {"= 3", 7, "expected a body line or '}', found '='"},
};

TEST(LoopText, BrokenTextsAreRefusedWithPlaceAndReason) {
  for (const BadText& bad : kBadTexts) {
    std::string text = bad.text;
    if (!text.starts_with("loop") && !text.empty()) {
      std::string frame = kFrame;
      text = frame.replace(frame.find("<body>"), 6, bad.text);
    }
    Result<Program> program = read_program(text);
    ASSERT_FALSE(program.ok()) << bad.text;
    EXPECT_EQ(program.error().where.line, bad.line) << bad.text << "\n" << program.error().text();
    EXPECT_NE(program.error().message.find(bad.message), std::string::npos) << bad.text << "\n"
                                                                            << program.error().text();
  }
}

// A text that was damaged is refused or read as another program; either way that program can be written, and
// what was written reads back the same.
TEST(LoopText, DamagedTextsNeverCrash) {
  std::mt19937 random(20);
  size_t accepted = 0;
  size_t refused = 0;
  for (const fs::path& path : golden_files()) {
    const std::string text = file_text(path);
    for (int round = 0; round < 300; ++round) {
      std::string damaged = text;
      for (int cut = 0; cut < 1 + round % 3; ++cut) {
        size_t at = random() % damaged.size();
        switch (random() % 3) {
          case 0:
            damaged.erase(at, 1 + random() % 4);
            break;
          case 1:
            damaged[at] = "%@({[]})0129sir.,:=*+-\" \n"[random() % 25];
            break;
          default:
            damaged.insert(at, text.substr(random() % text.size(), random() % 12));
        }
      }
      Result<Program> program = read_program(damaged);
      if (!program.ok()) {
        ++refused;
        continue;
      }
      ++accepted;
      std::string written = write_program(*program);
      static_cast<void>(verify(*program).ok());
      Result<Program> again = read_program(written);
      ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << written;
      EXPECT_EQ(write_program(*again), written);
    }
  }
  EXPECT_GT(accepted, 50u);
  EXPECT_GT(refused, 500u);
}

TEST(LoopTidy, DropsWhatNothingUsesAndRenumbers) {
  const char* before =
      "loop @main symbols(s0 in [2, 9]) {\n"
      "  %x: f32[s0, 8] = input 0\n"
      "  %i: i64[s0] = input 1\n"
      "  %y: f32[s0] = output\n"
      "  kernel @k {\n"
      "    nest (i0 in s0) tile(parallel 1, grain 1) {\n"
      "      local 0: f32[8]\n"
      "      local 1: f32[8]\n"
      "      stage (r0 in 8) {\n"
      "        %9: f32 = load %x[8*i0 + r0]\n"
      "        %3: f32 = reduce max %9\n"
      "        store.local 0[r0], %9\n"
      "      }\n"
      "      stage (r1 in 8) tile(vector r1 x 8, accumulators 1, tail none) {\n"
      "        %4: i64 = load %i[i0]\n"
      "        %5: i64 = wrap_index %4 in s0\n"
      "        %6: f32 = load %x[r1 + 8*%5] if r1 + %4 < 5 else 0.0\n"
      "        store.local 1[r1], %6\n"
      "      }\n"
      "      stage (r2 in 8) {\n"
      "        %7: f32 = load.local 1[r2]\n"
      "        %8: f32 = reduce sum %7\n"
      "      }\n"
      "      stage {\n"
      "        store %y[i0], %8\n"
      "        %10: i64 = load %i[i0]\n"
      "        %11: i64 = check_index %10 in s0\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "  return %y\n"
      "}\n";
  const char* after =
      "kernel @k {\n"
      "  nest (i0 in s0) tile(parallel 1, grain 1) {\n"
      "    local 0: f32[8]\n"
      "    stage (r1 in 8) tile(vector r1 x 8, accumulators 1, tail none) {\n"
      "      %0: i64 = load %i[i0]\n"
      "      %1: i64 = wrap_index %0 in s0\n"
      "      %2: f32 = load %x[r1 + 8*%1] if r1 + %0 < 5 else 0.0\n"
      "      store.local 0[r1], %2\n"
      "    }\n"
      "    stage (r2 in 8) {\n"
      "      %3: f32 = load.local 0[r2]\n"
      "      %4: f32 = reduce sum %3\n"
      "    }\n"
      "    stage {\n"
      "      store %y[i0], %4\n"
      "      %5: i64 = load %i[i0]\n"
      "      %6: i64 = check_index %5 in s0\n"
      "    }\n"
      "  }\n"
      "}\n";
  Result<Program> program = read_program(before);
  ASSERT_TRUE(program.ok()) << program.error().text();
  Kernel& kernel = std::get<Kernel>(program->items[0]);
  tidy(*program, kernel.nests[0]);
  EXPECT_EQ(write_kernel(*program, kernel), after);
  EXPECT_EQ(kernel.nests[0].value_count, 7u);
  Status status = verify(*program);
  EXPECT_TRUE(status.ok()) << status.error().text();
}

}  // namespace
}  // namespace jumar::loop
