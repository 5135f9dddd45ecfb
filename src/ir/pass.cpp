#include "ir/pass.h"

#include <algorithm>

namespace jumar::ir {
namespace {

const PassName* find(std::span<const PassName> table, std::string_view name) {
  auto row = std::find_if(table.begin(), table.end(), [&](const PassName& p) { return p.name == name; });
  return row == table.end() ? nullptr : &*row;
}

std::string known_names(std::span<const PassName> table) {
  std::string out;
  for (const PassName& row : table) out += fmt::format("{}{}", out.empty() ? "" : ", ", row.name);
  return out;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Status check_pass_names(std::span<const PassName> table, std::span<const std::string_view> pipeline,
                        const PassOptions& options) {
  for (std::string_view name : pipeline) {
    if (!find(table, name))
      return diagnostic("option", "unknown pass '{}': expected one of {}", name, known_names(table));
  }
  for (const std::string& name : options.disabled) {
    const PassName* row = find(table, name);
    if (!row)
      return diagnostic("option", "disabled pass '{}' is unknown: expected one of {}", name,
                        known_names(table));
    if (row->level == 0) return diagnostic("option", "pass '{}' cannot be disabled", name);
  }
  return {};
}

bool is_pass_disabled(std::string_view name, const PassOptions& options) {
  return contains(options.disabled, name);
}

bool prints_after(std::string_view name, bool changed, const PassOptions& options) {
  return contains(options.print_after, "all") || contains(options.print_after, name) ||
         (changed && contains(options.print_after, "changed"));
}

void raise_pass_bug(std::string_view pass, std::string_view what) {
  throw InternalError(fmt::format("pass {} broke the program: {}", pass, what));
}

}  // namespace jumar::ir
