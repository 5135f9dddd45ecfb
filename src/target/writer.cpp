#include "support/lexer.h"
#include "target/target.h"

namespace jumar::target {
namespace {

std::string value_text(const std::string& text) { return quoted(text); }
std::string value_text(int64_t count) { return std::to_string(count); }
std::string value_text(bool flag) { return flag ? "true" : "false"; }
std::string value_text(const Dtypes& dtypes) { return fmt::format("[{}]", fmt::join(dtypes.names(), ", ")); }
std::string value_text(const std::vector<std::string>& lines) {
  std::string out = "[\n";
  for (const std::string& line : lines) out += fmt::format("    {}\n", quoted(line));
  return out + "  ]";
}

bool is_empty(const std::string& text) { return text.empty(); }
bool is_empty(int64_t count) { return count == 0; }
bool is_empty(bool flag) { return !flag; }
bool is_empty(const Dtypes& dtypes) { return dtypes.names().empty(); }
bool is_empty(const std::vector<std::string>& lines) { return lines.empty(); }

}  // namespace

std::string_view basis_name(Basis basis) {
  switch (basis) {
    case Basis::kMeasured:
      return "measured";
    case Basis::kPublished:
      return "published";
    case Basis::kAssumed:
      return "assumed";
  }
  return "";
}

std::string write_target(const Target& target) {
  std::string out = fmt::format("target {} {{\n", quoted(target.name));
#define JUMAR_TARGET_FIELD(type, name, required, help) \
  if (!is_empty(target.name)) out += fmt::format("  " #name " {}\n", value_text(target.name));
#include "target/target_fields.def"
#undef JUMAR_TARGET_FIELD
  const auto cost = [&out](std::string_view name, const Constant& constant) {
    out += fmt::format("  cost {} {} {} {}\n", name, float_text(constant.value), basis_name(constant.basis),
                       quoted(constant.source));
  };
#define JUMAR_TARGET_COST(name, help) cost(#name, target.costs.name);
#include "target/target_costs.def"
#undef JUMAR_TARGET_COST
  return out + "}\n";
}

}  // namespace jumar::target
