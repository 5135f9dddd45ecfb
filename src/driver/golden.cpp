#include "driver/golden.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace jumar::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRunMark = "# RUN:";
constexpr std::string_view kProgram = "jumar";
constexpr std::string_view kExpectLine = "# EXPECT\n";

std::optional<std::string> contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::vector<fs::path>> golden_files(const std::vector<std::string>& paths) {
  std::vector<fs::path> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      files.emplace_back(path);
      continue;
    }
    if (!fs::is_directory(path, error)) return diagnostic("io", "'{}' is neither a file nor a folder", path);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::string line;
      if (std::getline(file, line) && line.starts_with(kRunMark)) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream stream{std::string(line)};
  return {std::istream_iterator<std::string>(stream), {}};
}

// The first line that differs, with both sides.
std::string difference(std::string_view expected, std::string_view actual) {
  std::istringstream left{std::string(expected)};
  std::istringstream right{std::string(actual)};
  for (int line = 1;; ++line) {
    std::string a, b;
    const bool has_a = static_cast<bool>(std::getline(left, a));
    const bool has_b = static_cast<bool>(std::getline(right, b));
    if (!has_a && !has_b) return "  they differ in line ends only\n";
    if (has_a && has_b && a == b) continue;
    return fmt::format("  line {} of the output\n    expected: {}\n    actual:   {}\n", line,
                       has_a ? a : "<end>", has_b ? b : "<end>");
  }
}

void run_one(const fs::path& path, bool bless, const GoldenCommand& command, GoldenSummary& summary) {
  const auto fail = [&](const std::string& why) {
    ++summary.failed;
    summary.text += fmt::format("FAILED {}\n{}", path.string(), why);
  };
  const std::optional<std::string> text = contents(path);
  if (!text) return fail("  it cannot be read\n");
  if (!text->starts_with(kRunMark)) return fail("  its first line is no '# RUN:' line\n");
  const size_t line_end = std::min(text->find('\n'), text->size());
  std::vector<std::string> arguments =
      words_of(std::string_view(*text).substr(kRunMark.size(), line_end - kRunMark.size()));
  // The command reads as it would be typed; the program's name is not an argument.
  if (!arguments.empty() && arguments.front() == kProgram) arguments.erase(arguments.begin());
  const size_t mark = text->find("\n" + std::string(kExpectLine));
  const bool has_mark = mark != std::string::npos;
  if (!has_mark && !bless) return fail("  it has no '# EXPECT' line\n");
  std::string input = has_mark ? text->substr(0, mark + 1) : *text;
  if (!input.ends_with('\n')) input += '\n';
  const std::string expected = has_mark ? text->substr(mark + 1 + kExpectLine.size()) : "";
  const std::string actual = command(arguments, input);
  if (has_mark && actual == expected) {
    ++summary.passed;
  } else if (!bless) {
    fail(difference(expected, actual));
  } else {
    std::ofstream file(path, std::ios::binary);
    file << input << kExpectLine << actual;
    file.close();
    if (!file) return fail("  it cannot be written\n");
    ++summary.blessed;
    summary.text += fmt::format("blessed {}\n", path.string());
  }
}

}  // namespace

Result<GoldenSummary> run_golden(const std::vector<std::string>& paths, bool bless,
                                 const GoldenCommand& command) {
  JUMAR_ASSIGN(const std::vector<fs::path> files, golden_files(paths));
  GoldenSummary summary;
  for (const fs::path& path : files) run_one(path, bless, command, summary);
  return summary;
}

}  // namespace jumar::driver
