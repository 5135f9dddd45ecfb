#include "support/options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

namespace jumar {
namespace {

constexpr OptionRow kRows[] = {
#define JUMAR_OPTION(type, name, environment, default_text, allowed, affects_code, help) \
  {OptionType::k##type, #name, environment, default_text, allowed, affects_code, help},
#include "support/options.def"
#undef JUMAR_OPTION
};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    const std::string_view word = trimmed(text.substr(0, end));
    if (!word.empty()) out.emplace_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::optional<bool> parsed_bool(std::string_view text) {
  for (const std::string_view word : {"true", "1", "on", "yes", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "0", "off", "no", "False"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

std::optional<int64_t> parsed_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parsed_bytes(std::string_view text) {
  int64_t unit = 1;
  if (!text.empty()) {
    const size_t suffix = std::string_view("KMG").find(text.back());
    if (suffix != std::string_view::npos) {
      unit = int64_t{1} << (10 * (suffix + 1));
      text.remove_suffix(1);
    }
  }
  const std::optional<int64_t> count = parsed_int(text);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, unit, &bytes)) return std::nullopt;
  return bytes;
}

// Above 0 and at most 1.
std::optional<double> parsed_share(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value <= 1))
    return std::nullopt;
  return value;
}

struct Limits {
  int64_t low;
  int64_t high;
};
Limits limits_of(const OptionRow& row) {
  const size_t dots = row.allowed.find("..");
  CHECK(dots != std::string_view::npos, "option row '{}' has no limits", row.name);
  return {*parsed_int(row.allowed.substr(0, dots)), *parsed_int(row.allowed.substr(dots + 2))};
}

bool is_allowed_word(const OptionRow& row, const std::string& word) {
  const std::vector<std::string> words = split(row.allowed, '|');
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

Diagnostic unknown_option(std::string_view name) {
  std::vector<std::string> names;
  for (const OptionRow& row : kRows) names.emplace_back(row.name);
  Diagnostic error = diagnostic("option", "unknown option '{}'", name);
  const std::vector<std::string> near = nearest_words(name, names);
  if (!near.empty()) error.message += fmt::format("; did you mean {}?", fmt::join(near, " or "));
  error.notes.push_back(fmt::format("options are {}", fmt::join(names, ", ")));
  return error;
}

const OptionRow* row_by_name(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const OptionRow& r) { return r.name == name; });
  return it == std::end(kRows) ? nullptr : it;
}

}  // namespace

std::span<const OptionRow> option_rows() { return kRows; }

std::string_view option_type_name(OptionType type) {
  switch (type) {
    case OptionType::kBool:
      return "bool";
    case OptionType::kInt:
      return "int";
    case OptionType::kBytes:
      return "bytes";
    case OptionType::kWord:
      return "word";
    case OptionType::kWords:
      return "words";
    case OptionType::kText:
      return "text";
    case OptionType::kShare:
      return "share";
  }
  return "";
}

std::vector<std::string> environment_variables(const OptionRow& row) { return split(row.environment, '|'); }

std::string allowed_text(const OptionRow& row) {
  switch (row.type) {
    case OptionType::kBool:
      return "true or false";
    case OptionType::kInt:
      return fmt::format("an integer from {} to {}", limits_of(row).low, limits_of(row).high);
    case OptionType::kBytes:
      return fmt::format("bytes from {} to {}, also with K, M or G", limits_of(row).low, limits_of(row).high);
    case OptionType::kWord:
      return fmt::format("one of {}", fmt::join(split(row.allowed, '|'), ", "));
    case OptionType::kWords:
      if (row.allowed.empty()) return "a comma-separated list";
      return fmt::format("a comma-separated list of {}", fmt::join(split(row.allowed, '|'), ", "));
    case OptionType::kText:
      return std::string(row.allowed);
    case OptionType::kShare:
      return "a number above 0 and at most 1";
  }
  return {};
}

Environment process_environment() {
  return [](const std::string& variable) -> std::optional<std::string> {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

Result<Options::Value> Options::parsed(const OptionRow& row, std::string_view text, std::string_view source) {
  const Diagnostic bad = diagnostic("option", "{} is '{}', but must be {}", source, text, allowed_text(row));
  switch (row.type) {
    case OptionType::kBool:
      if (const auto value = parsed_bool(text)) return Value(*value);
      return bad;
    case OptionType::kInt:
    case OptionType::kBytes: {
      const auto value = row.type == OptionType::kInt ? parsed_int(text) : parsed_bytes(text);
      const Limits limits = limits_of(row);
      if (!value || *value < limits.low || *value > limits.high) return bad;
      return Value(*value);
    }
    case OptionType::kWord:
      if (!is_allowed_word(row, std::string(text))) return bad;
      return Value(std::string(text));
    case OptionType::kWords: {
      std::vector<std::string> words = split(text, ',');
      for (const std::string& word : words) {
        if (!is_allowed_word(row, word)) return bad;
      }
      return Value(std::move(words));
    }
    case OptionType::kText:
      return Value(std::string(text));
    case OptionType::kShare:
      if (const auto value = parsed_share(text)) return Value(*value);
      return bad;
  }
  return bad;
}

// A share that is none counts as the default: so it is documented for INDUCTOR_ASCEND_COSTMODEL_RATIO.
Status Options::set(size_t row, std::string_view text, std::string source) {
  const OptionRow& about = kRows[row];
  Result<Value> value = parsed(about, text, source);
  warnings_[row].clear();
  if (!value.ok() && about.type == OptionType::kShare) {
    warnings_[row] = fmt::format("{}: {} is taken", value.error().message, about.default_text);
    value = parsed(about, about.default_text, source);
  }
  JUMAR_ASSIGN(values_[row], std::move(value));
  sources_[row] = std::move(source);
  return {};
}

Result<Options> Options::from_environment(const Environment& environment) {
  Options options;
  for (size_t i = 0; i < kRowCount; ++i) {
    const OptionRow& row = kRows[i];
    JUMAR_RETURN_IF_ERROR(options.set(i, row.default_text, "the default of " + std::string(row.name)));
    for (const std::string& variable : environment_variables(row)) {
      const std::optional<std::string> value = environment(variable);
      if (!value || value->empty()) continue;
      JUMAR_RETURN_IF_ERROR(options.set(i, trimmed(*value), "environment variable " + variable));
      break;
    }
  }
  const auto given = [&](const char* variable) { return environment(variable).value_or(""); };
  if (!given("XDG_CACHE_HOME").empty()) {
    options.default_cache_dir_ = given("XDG_CACHE_HOME") + "/jumar";
  } else if (!given("HOME").empty()) {
    options.default_cache_dir_ = given("HOME") + "/.cache/jumar";
  }
  options.default_reproducer_dir_ = given("TMPDIR").empty() ? "/tmp" : given("TMPDIR");
  options.resolve_directories();
  return options;
}

void Options::resolve_directories() {
  cache_dir_ = cache_dir().empty() ? default_cache_dir_ : cache_dir();
  reproducer_dir_ = reproducer_dir().empty() ? default_reproducer_dir_ : reproducer_dir();
}

Result<Options> Options::with(std::string_view text) const {
  Options options = *this;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return diagnostic("option", "'{}' is not of the form name=value", line);
    }
    const std::string_view name = trimmed(line.substr(0, equals));
    const OptionRow* row = row_by_name(name);
    if (row == nullptr) return unknown_option(name);
    JUMAR_RETURN_IF_ERROR(options.set(static_cast<size_t>(row - kRows), trimmed(line.substr(equals + 1)),
                                      fmt::format("option {}", name)));
  }
  options.resolve_directories();
  return options;
}

std::string Options::value_text(size_t row) const {
  CHECK(row < kRowCount, "row {} of {}", row, size_t{kRowCount});
  const Value& value = values_[row];
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const int64_t* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const std::string* s = std::get_if<std::string>(&value)) return *s;
  if (const double* d = std::get_if<double>(&value)) return fmt::format("{}", *d);
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), ","));
}

const std::string& Options::source(std::string_view name) const {
  const OptionRow* row = row_by_name(name);
  CHECK(row != nullptr, "there is no option {}", name);
  return sources_[static_cast<size_t>(row - kRows)];
}

std::vector<std::string> Options::warnings() const {
  std::vector<std::string> out;
  for (const std::string& warning : warnings_) {
    if (!warning.empty()) out.push_back(warning);
  }
  return out;
}

std::string Options::code_text() const {
  std::string out;
  for (size_t i = 0; i < kRowCount; ++i) {
    if (kRows[i].affects_code) out += fmt::format("{}={}\n", kRows[i].name, value_text(i));
  }
  return out;
}

std::string Options::text() const {
  std::string out;
  for (size_t i = 0; i < kRowCount; ++i) out += fmt::format("{}={}\n", kRows[i].name, value_text(i));
  return out;
}

std::vector<std::string> nearest_words(std::string_view word, std::span<const std::string> known) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    const bool is_part = word.size() >= 3 && candidate.find(word) != std::string::npos;
    if (distance <= std::max<size_t>(2, word.size() / 3) || is_part) near.emplace_back(distance, candidate);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> out;
  for (size_t i = 0; i < near.size() && i < 3; ++i) out.push_back(near[i].second);
  return out;
}

}  // namespace jumar
