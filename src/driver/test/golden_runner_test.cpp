#include "driver/golden.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;

class GoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "jumar-golden-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) { std::ofstream(directory_ / name) << text; }
  std::string read(const std::string& name) {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The command answers with its arguments and the lines of its input that are no comments.
  GoldenSummary run(bool bless) {
    const auto command = [](const std::vector<std::string>& arguments, std::string_view input) {
      std::string out = fmt::format("args {}\n", arguments.size());
      const size_t at = input.find("body");
      return at == std::string_view::npos ? out : out + std::string(input.substr(at));
    };
    return run_golden({directory_.string()}, bless, command).value();
  }

  fs::path directory_;
};

TEST_F(GoldenTest, PassesWhenTheOutputIsTheExpectedOne) {
  write("a.graph", "# RUN: opt --to=loop\nbody 1\n# EXPECT\nargs 2\nbody 1\n");
  write("notes.txt", "not a golden file\n");
  const GoldenSummary summary = run(false);
  EXPECT_EQ(summary.passed, 1u);
  EXPECT_EQ(summary.failed, 0u);
}

TEST_F(GoldenTest, FailsWithTheFirstLineThatDiffers) {
  write("a.graph", "# RUN: opt\nbody 1\n# EXPECT\nargs 1\nbody 2\n");
  const GoldenSummary summary = run(false);
  EXPECT_EQ(summary.failed, 1u);
  EXPECT_NE(summary.text.find("line 2"), std::string::npos) << summary.text;
  EXPECT_NE(summary.text.find("expected: body 2"), std::string::npos) << summary.text;
  EXPECT_EQ(read("a.graph"), "# RUN: opt\nbody 1\n# EXPECT\nargs 1\nbody 2\n");
}

TEST_F(GoldenTest, MoreOrLessOutputThanExpectedFails) {
  write("a.graph", "# RUN: opt\nbody 1\n# EXPECT\nargs 1\nbody 1\nmore\n");
  write("b.graph", "# RUN: opt\nbody 1\n# EXPECT\nargs 1\n");
  write("c.graph", "# RUN: opt\nbody 1\n");
  EXPECT_EQ(run(false).failed, 3u);
}

TEST_F(GoldenTest, BlessRewritesAndThenPasses) {
  write("a.graph", "# RUN: opt\nbody 1\n# EXPECT\nwrong\n");
  write("b.graph", "# RUN: opt\nbody 2\n");
  EXPECT_EQ(run(true).blessed, 2u);
  EXPECT_EQ(read("a.graph"), "# RUN: opt\nbody 1\n# EXPECT\nargs 1\nbody 1\n");
  EXPECT_EQ(read("b.graph"), "# RUN: opt\nbody 2\n# EXPECT\nargs 1\nbody 2\n");
  EXPECT_EQ(run(false).passed, 2u);
}

TEST_F(GoldenTest, APathThatIsNothingIsADiagnostic) {
  const auto summary = run_golden({(directory_ / "nowhere").string()}, false, nullptr);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().code, "io");
}

}  // namespace
}  // namespace jumar::driver
