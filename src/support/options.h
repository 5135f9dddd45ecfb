// The options of Jumar, as one table and as an immutable value.
//
//   JUMAR_ASSIGN(Options base, Options::from_environment(process_environment()));
//   JUMAR_ASSIGN(Options options, base.with("cpu=x86-64-v3\nmax_fusions=10"));
//   options.max_fusions();           // 10
//   options.code_text();             // "target=cpu\ncpu=x86-64-v3\n..." for cache keys
//
// Options enter at two places only: the environment when a context is made, and option text ("name=value",
// one per line) with each compilation. Both are checked against the rows of support/options.def; a bad value
// is a Diagnostic with code "option" that names the variable or option, the value and what is allowed. An
// empty variable counts as unset. What the rows do not say (whether a processor's name is known) is checked
// by whoever uses the value.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/result.h"

namespace jumar {

enum class OptionType : uint8_t { kBool, kInt, kBytes, kWord, kWords, kText, kShare };

struct OptionRow {
  OptionType type;
  std::string_view name;
  std::string_view environment;  // variables, separated by '|'
  std::string_view default_text;
  std::string_view allowed;
  bool affects_code;
  std::string_view help;
};

std::span<const OptionRow> option_rows();
std::string_view option_type_name(OptionType type);
// The first that is set counts.
std::vector<std::string> environment_variables(const OptionRow& row);
// "an integer from 0 to 256", "one of torch, onednn".
std::string allowed_text(const OptionRow& row);

using Environment = std::function<std::optional<std::string>(const std::string& variable)>;
// The variables of this process. The only place that reads them.
Environment process_environment();

class Options {
 public:
  // Every option at its default; directories are resolved by the environment's HOME, XDG_CACHE_HOME and
  // TMPDIR.
  static Result<Options> from_environment(const Environment& environment);
  // These options with those of `text` replaced: "name=value" lines, blank lines and lines from '#' ignored.
  Result<Options> with(std::string_view text) const;

  // "name=value" lines of the rows that affect code; of all rows.
  std::string code_text() const;
  std::string text() const;
  // The value of one row, as option text writes it.
  std::string value_text(size_t row) const;
  // Where a row's value is from, for messages: "environment variable NPU_DEVICE_LIMIT", "option
  // device_limit", "the default of device_limit".
  const std::string& source(std::string_view name) const;
  // Texts about values that were replaced by the default. To be shown, once, by who uses the row.
  std::vector<std::string> warnings() const;

  // Empty when no directory can be found: then nothing is cached.
  const std::string& resolved_cache_dir() const { return cache_dir_; }
  const std::string& resolved_reproducer_dir() const { return reproducer_dir_; }
  // $TMPDIR or /tmp.
  const std::string& resolved_temporary_dir() const { return default_reproducer_dir_; }

  // The accessors: bool cache() const, int64_t pool_bytes() const, const std::string& cpu() const, ...
#define JUMAR_OPTION(type, name, environment, default_text, allowed, affects_code, help) \
  const type##Value& name() const { return std::get<type##Value>(values_[kRow_##name]); }
  using BoolValue = bool;
  using IntValue = int64_t;
  using BytesValue = int64_t;
  using WordValue = std::string;
  using WordsValue = std::vector<std::string>;
  using TextValue = std::string;
  using ShareValue = double;
#include "support/options.def"
#undef JUMAR_OPTION

 private:
  enum Row : size_t {
#define JUMAR_OPTION(type, name, environment, default_text, allowed, affects_code, help) kRow_##name,
#include "support/options.def"
#undef JUMAR_OPTION
    kRowCount
  };
  using Value = std::variant<bool, int64_t, std::string, std::vector<std::string>, double>;

  Options() = default;
  void resolve_directories();
  Status set(size_t row, std::string_view text, std::string source);
  static Result<Value> parsed(const OptionRow& row, std::string_view text, std::string_view source);

  std::array<Value, kRowCount> values_;
  std::array<std::string, kRowCount> sources_;
  std::array<std::string, kRowCount> warnings_;
  std::string default_cache_dir_;
  std::string default_reproducer_dir_;
  std::string cache_dir_;
  std::string reproducer_dir_;
};

// The words of `known` that `word` may be a misspelling of, nearest first, at most three.
std::vector<std::string> nearest_words(std::string_view word, std::span<const std::string> known);

}  // namespace jumar
