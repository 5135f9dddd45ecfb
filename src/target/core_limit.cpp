#include "target/core_limit.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace jumar::target {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<int64_t> positive(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

}  // namespace

CoreLimit all_cores(const Target& target) {
  return {target.cube_cores, target.vector_cores, target.vector_per_cube, ""};
}

Result<CoreLimit> parse_core_limit(std::string_view text, const Target& target, std::string_view source) {
  if (trimmed(text).empty()) return all_cores(target);
  Diagnostic bad = diagnostic(
      "option", "{} is '{}', but must be 'cube,vector': two positive integers, at most {},{} on {}", source,
      text, target.cube_cores, target.vector_cores, target.name);
  bad.notes.push_back(fmt::format("{} has {} cube cores and {} vector cores; half of them is '{},{}'",
                                  target.name, target.cube_cores, target.vector_cores,
                                  std::max<int64_t>(1, target.cube_cores / 2),
                                  std::max<int64_t>(1, target.cube_cores / 2) * target.vector_per_cube));
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return bad;
  const std::optional<int64_t> cube = positive(text.substr(0, comma));
  const std::optional<int64_t> vector = positive(text.substr(comma + 1));
  if (!cube || !vector || *cube > target.cube_cores || *vector > target.vector_cores) return bad;
  CoreLimit limit{*cube, *vector, target.vector_per_cube, ""};
  if (*vector != *cube * target.vector_per_cube) {
    limit.warning = fmt::format(
        "{} is '{}': {} has {} vector cores for each cube core, and a limit should keep that; kernels that "
        "use both "
        "run in {} groups",
        source, text, target.name, target.vector_per_cube, limit.mixed_groups());
  }
  return limit;
}

}  // namespace jumar::target
