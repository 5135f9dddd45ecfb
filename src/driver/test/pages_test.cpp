// Pages for users say what the tables say: options, variables, defaults and ranges in both languages, devices
// and their cores, entries of targets.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "support/files.h"
#include "support/options.h"
#include "target/target.h"

namespace jumar {
namespace {

std::string page(std::string_view name) {
  return bytes_of_file(fmt::format("{}/docs/{}", JUMAR_SOURCE_DIR, name)).value();
}

// The lines that begin with '|' as cells, without heads and rules of tables.
std::vector<std::vector<std::string>> table_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    begin = end + 1;
    if (line.empty() || line.front() != '|') continue;
    std::vector<std::string> cells;
    line.remove_prefix(1);
    while (!line.empty()) {
      const size_t bar = line.find('|');
      std::string_view cell = line.substr(0, bar);
      line.remove_prefix(std::min(line.size(), bar + 1));
      while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
      while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
      cells.emplace_back(cell);
    }
    if (!rows.empty() && cells.front().find("---") == 0) {
      rows.pop_back();
      continue;
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string quoted_cell(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

bool has_chinese(std::string_view text) {
  // The common characters are U+4E00 to U+9FFF, of which UTF-8 begins with E4 to E9.
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xE4 && byte <= 0xE9;
  });
}

// What `allowed` names in every language: bounds and words.
std::vector<std::string> names_in(const OptionRow& row) {
  std::vector<std::string> out;
  if (row.type == OptionType::kText) return out;
  std::string word;
  for (const char c : std::string(row.allowed) + "|") {
    if (c != '|' && c != '.') {
      word += c;
    } else if (!word.empty()) {
      out.push_back(std::exchange(word, ""));
    }
  }
  return out;
}

TEST(Pages, TheEnglishPageIsTheOptionTable) {
  const auto rows = table_rows(page("options.md"));
  ASSERT_EQ(rows.size(), option_rows().size());
  for (size_t k = 0; k < rows.size(); ++k) {
    const OptionRow& row = option_rows()[k];
    std::vector<std::string> variables;
    for (const std::string& name : environment_variables(row)) variables.push_back(quoted_cell(name));
    const std::vector<std::string> expected = {
        quoted_cell(row.name),           fmt::format("{}", fmt::join(variables, ", ")),
        quoted_cell(row.default_text),   allowed_text(row),
        row.affects_code ? "yes" : "no", std::string(row.help)};
    EXPECT_EQ(rows[k], expected) << row.name;
  }
}

TEST(Pages, TheChinesePageHasTheSameOptionsVariablesDefaultsAndRanges) {
  const auto english = table_rows(page("options.md"));
  const auto chinese = table_rows(page("options.zh.md"));
  ASSERT_EQ(chinese.size(), option_rows().size());
  ASSERT_EQ(chinese.size(), english.size());
  for (size_t k = 0; k < chinese.size(); ++k) {
    const OptionRow& row = option_rows()[k];
    ASSERT_EQ(chinese[k].size(), 6u) << row.name;
    for (size_t c = 0; c < 3; ++c) EXPECT_EQ(chinese[k][c], english[k][c]) << row.name;
    for (const std::string& name : names_in(row))
      EXPECT_NE(chinese[k][3].find(name), std::string::npos) << row.name << " does not allow " << name;
    EXPECT_EQ(chinese[k][4], row.affects_code ? "是" : "否") << row.name;
    EXPECT_TRUE(has_chinese(chinese[k][3]) || chinese[k][3].empty()) << row.name;
    EXPECT_TRUE(has_chinese(chinese[k][5])) << row.name;
  }
}

TEST(Pages, TheLimitIsDocumentedForEveryDeviceInBothLanguages) {
  for (const char* name : {"npu-device-limit.md", "npu-device-limit.zh.md"}) {
    const std::string text = page(name);
    for (const OptionRow& row : option_rows()) {
      if (row.name != "device_limit") continue;
      EXPECT_NE(text.find(row.environment), std::string::npos) << name;
      EXPECT_NE(text.find(fmt::format("\"{}\"", row.name)), std::string::npos) << name;
    }
    const auto rows = table_rows(text);
    EXPECT_EQ(rows.front().front(), "Atlas A5") << name << " shows the newest series first";
    size_t listed = 0;
    for (const auto& cells : rows) {
      ASSERT_EQ(cells.size(), 4u);
      listed += static_cast<size_t>(std::count(cells[3].begin(), cells[3].end(), ',')) + 1;
    }
    EXPECT_EQ(listed, target::known_targets().size()) << name;
    for (const std::string& device : target::known_targets()) {
      const target::Target target = target::find_target(device).value();
      const bool found = std::any_of(rows.begin(), rows.end(), [&](const auto& cells) {
        return fmt::format(", {},", cells[3]).find(fmt::format(" {},", device)) != std::string::npos &&
               cells[1] == std::to_string(target.cube_cores) &&
               cells[2] == std::to_string(target.vector_cores);
      });
      EXPECT_TRUE(found) << name << " does not say that " << device << " has " << target.cube_cores << " and "
                         << target.vector_cores;
    }
  }
}

TEST(Pages, EntriesOfTargetsAreListedAsTheTablesHaveThem) {
  std::vector<std::vector<std::string>> expected;
#define JUMAR_TARGET_FIELD(type, name, required, help) \
  expected.push_back({"`" #name "`", #type, required ? "yes" : "", help});
#include "target/target_fields.def"
#undef JUMAR_TARGET_FIELD
#define JUMAR_TARGET_COST(name, help) expected.push_back({"`" #name "`", help});
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
  EXPECT_EQ(table_rows(page("targets.md")), expected);
}

}  // namespace
}  // namespace jumar
