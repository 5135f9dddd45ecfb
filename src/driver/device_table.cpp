#include "driver/device_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "driver/device_json.h"
#include "import/json.h"

namespace jumar::driver {
namespace {

using import::JsonDocument;
using import::JsonValue;

// A row's cells as text, and what is summed.
struct Row {
  std::vector<std::string> cells;
  int64_t bytes = 0;
  int64_t least_bytes = 0;  // of what is counted
  int64_t nanoseconds = 0;
  bool is_counted = false;
};

enum Column : uint8_t {
  kKernel,
  kGrid,
  kCores,
  kTiling,
  kUb,
  kUnshared,
  kGm,
  kRatio,
  kBroadcast,
  kVector,
  kScalar,
  kTime,
  kStage,
  kOps
};
constexpr const char* kHeads[] = {"kernel", "grid",   "cores",  "tiling", "UB", "unshared", "GM MB",
                                  "ratio",  "+bcast", "vector", "scalar", "us", "stage",    "ops"};
// Texts are left-aligned, numbers right.
constexpr std::string_view kLeft = "l..l........ll";

std::string mega(int64_t bytes) { return fmt::format("{:.3f}", static_cast<double>(bytes) / 1e6); }

// "aten.add.Tensor" -> "add.Tensor", and without the usual overload.
std::string short_op(std::string op) {
  if (op.starts_with("aten.")) op.erase(0, 5);
  constexpr std::string_view kUsual = ".default";
  if (op.ends_with(kUsual)) op.resize(op.size() - kUsual.size());
  return op;
}

Result<std::string> ops_text(const JsonValue& launch) {
  JUMAR_ASSIGN(const JsonValue list, launch.get("ops"));
  JUMAR_ASSIGN(const std::vector<JsonValue> ops, list.array());
  std::vector<std::string> parts;
  for (const JsonValue& each : ops) {
    JUMAR_ASSIGN(const JsonValue name, each.get("op"));
    JUMAR_ASSIGN(std::string op, name.string());
    JUMAR_ASSIGN(const JsonValue number, each.get("count"));
    JUMAR_ASSIGN(const int64_t count, number.integer());
    op = short_op(std::move(op));
    parts.push_back(count == 1 ? op : fmt::format("{}x {}", count, op));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// "t32/4096 r768" for each nest: blocks of an axis over its extent, where that is more. t: shared out to
// cores, r: an inner axis of stages.
Result<std::string> tiling_text(const JsonValue& launch) {
  JUMAR_ASSIGN(const JsonValue list, launch.get("tiling"));
  JUMAR_ASSIGN(const std::vector<JsonValue> nests, list.array());
  std::vector<std::string> texts;
  for (const JsonValue& nest : nests) {
    JUMAR_ASSIGN(const JsonValue members, nest.get("axes"));
    JUMAR_ASSIGN(const std::vector<JsonValue> axes, members.array());
    std::vector<std::string> parts;
    for (const JsonValue& axis : axes) {
      JUMAR_ASSIGN(const JsonValue extent_value, axis.get("extent"));
      JUMAR_ASSIGN(const std::string extent, extent_value.string());
      JUMAR_ASSIGN(const JsonValue block_value, axis.get("block"));
      JUMAR_ASSIGN(const int64_t block, block_value.integer());
      JUMAR_ASSIGN(const JsonValue role_value, axis.get("role"));
      JUMAR_ASSIGN(const std::string role, role_value.string());
      parts.push_back(fmt::format("{}{}{}",
                                  role == "inner"   ? "r"
                                  : role == "tasks" ? "t"
                                                    : "",
                                  block, extent == std::to_string(block) ? "" : "/" + extent));
    }
    texts.push_back(fmt::format("{}", fmt::join(parts, " ")));
  }
  // Many equal nests are told once.
  std::string out;
  for (size_t k = 0; k < texts.size();) {
    size_t same = 1;
    while (k + same < texts.size() && texts[k + same] == texts[k]) ++same;
    out +=
        fmt::format("{}{}{}", out.empty() ? "" : "; ", same == 1 ? "" : fmt::format("{}x ", same), texts[k]);
    k += same;
  }
  return out;
}

Result<int64_t> integer(const JsonValue& object, std::string_view key) {
  JUMAR_ASSIGN(const JsonValue value, object.get(key));
  return value.integer();
}

Result<std::string> text(const JsonValue& object, std::string_view key) {
  JUMAR_ASSIGN(const JsonValue value, object.get(key));
  return value.string();
}

Result<std::string> grid_text(const JsonValue& launch) {
  JUMAR_ASSIGN(const JsonValue list, launch.get("grid"));
  JUMAR_ASSIGN(const std::vector<JsonValue> sizes, list.array());
  std::vector<int64_t> numbers;
  for (const JsonValue& size : sizes) {
    JUMAR_ASSIGN(const int64_t number, size.integer());
    numbers.push_back(number);
  }
  while (numbers.size() > 1 && numbers.back() == 1) numbers.pop_back();
  return fmt::format("{}", fmt::join(numbers, "x"));
}

Result<std::string> ratio_text(const JsonValue& launch, std::string_view key) {
  if (!launch.has(key)) return std::string("-");
  JUMAR_ASSIGN(const JsonValue value, launch.get(key));
  JUMAR_ASSIGN(const double ratio, value.number());
  return fmt::format("{:.3f}", ratio);
}

Result<Row> counted_row(const JsonValue& launch, Row row) {
  row.is_counted = true;
  JUMAR_ASSIGN(row.bytes, integer(launch, "gm_bytes"));
  JUMAR_ASSIGN(row.nanoseconds, integer(launch, "modelled_ns"));
  JUMAR_ASSIGN(const int64_t cores, integer(launch, "cores_used"));
  JUMAR_ASSIGN(const int64_t vector, integer(launch, "vector_calls"));
  JUMAR_ASSIGN(const int64_t scalar, integer(launch, "scalar_elements"));
  row.cells[kCores] = std::to_string(cores);
  row.cells[kGm] = mega(row.bytes);
  JUMAR_ASSIGN(row.cells[kRatio], ratio_text(launch, "ratio_to_least"));
  JUMAR_ASSIGN(row.cells[kBroadcast], ratio_text(launch, "ratio_with_broadcast"));
  row.cells[kVector] = std::to_string(vector);
  row.cells[kScalar] = std::to_string(scalar);
  row.cells[kTime] = fmt::format("{:.1f}", static_cast<double>(row.nanoseconds) / 1e3);
  return row;
}

Result<Row> row_of(const JsonValue& launch) {
  Row row;
  row.cells.assign(std::size(kHeads), "?");
  JUMAR_ASSIGN(row.cells[kKernel], text(launch, "kernel"));
  JUMAR_ASSIGN(row.cells[kGrid], grid_text(launch));
  JUMAR_ASSIGN(row.cells[kTiling], tiling_text(launch));
  JUMAR_ASSIGN(const int64_t ub, integer(launch, "ub_bytes"));
  row.cells[kUb] = std::to_string(ub);
  if (launch.has("ub_unshared_bytes")) {
    JUMAR_ASSIGN(const int64_t unshared, integer(launch, "ub_unshared_bytes"));
    row.cells[kUnshared] = std::to_string(unshared);
  }
  JUMAR_ASSIGN(row.cells[kStage], text(launch, "stage"));
  JUMAR_ASSIGN(row.cells[kOps], ops_text(launch));
  JUMAR_ASSIGN(row.least_bytes, integer(launch, "least_bytes"));
  if (launch.has("gm_bytes")) return counted_row(launch, std::move(row));
  return row;
}

std::string lines(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const char* head : kHeads) widths.push_back(std::string_view(head).size());
  for (const Row& row : rows)
    for (size_t k = 0; k < widths.size(); ++k) widths[k] = std::max(widths[k], row.cells[k].size());
  const auto line = [&](const auto& cell) {
    std::string out;
    for (size_t k = 0; k < widths.size(); ++k) {
      if (k > 0) out += "  ";
      out += kLeft[k] == 'l' ? fmt::format("{:<{}}", cell(k), widths[k])
                             : fmt::format("{:>{}}", cell(k), widths[k]);
    }
    return out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
  };
  std::string out = line([](size_t k) { return std::string(kHeads[k]); });
  for (const Row& row : rows) out += line([&](size_t k) { return row.cells[k]; });
  return out;
}

std::string summary(const std::vector<Row>& rows) {
  Row sum;
  size_t counted = 0;
  for (const Row& row : rows) {
    if (!row.is_counted) continue;
    ++counted;
    sum.bytes += row.bytes;
    sum.least_bytes += row.least_bytes;
    sum.nanoseconds += row.nanoseconds;
  }
  std::string out = fmt::format(
      "{} launches: GM {} MB, {:.3f} of the least possible, {:.1f} us modelled", rows.size(), mega(sum.bytes),
      sum.least_bytes == 0 ? 1.0 : static_cast<double>(sum.bytes) / static_cast<double>(sum.least_bytes),
      static_cast<double>(sum.nanoseconds) / 1e3);
  if (counted != rows.size()) out += fmt::format("; {} not counted", rows.size() - counted);
  return out + '\n';
}

Result<std::string> head_line(const JsonValue& root) {
  JUMAR_ASSIGN(const JsonValue target, root.get("target"));
  JUMAR_ASSIGN(const std::string name, text(target, "name"));
  JUMAR_ASSIGN(const JsonValue limit, root.get("core_limit"));
  JUMAR_ASSIGN(const int64_t cube, integer(limit, "cube"));
  JUMAR_ASSIGN(const int64_t vector, integer(limit, "vector"));
  JUMAR_ASSIGN(const int64_t ub, integer(target, "ub_usable_bytes"));
  JUMAR_ASSIGN(const JsonValue sizes_value, root.get("sizes"));
  JUMAR_ASSIGN(const auto sizes, sizes_value.object());
  std::string out =
      fmt::format("target: {}, at most {} cube and {} vector cores, UB {} bytes\n", name, cube, vector, ub);
  std::vector<std::string> parts;
  for (const auto& [symbol, value] : sizes) {
    JUMAR_ASSIGN(const int64_t size, value.integer());
    parts.push_back(fmt::format("{} = {}", symbol, size));
  }
  if (!parts.empty()) out += fmt::format("sizes: {}\n", fmt::join(parts, ", "));
  return out;
}

Result<std::string> call_lines(const JsonValue& root) {
  JUMAR_ASSIGN(const JsonValue list, root.get("calls"));
  JUMAR_ASSIGN(const std::vector<JsonValue> calls, list.array());
  if (calls.empty()) return std::string("called operators: none\n");
  std::string out = "called operators:\n";
  for (const JsonValue& call : calls) {
    JUMAR_ASSIGN(const std::string op, text(call, "op"));
    JUMAR_ASSIGN(const std::string reason, text(call, "reason"));
    JUMAR_ASSIGN(const int64_t count, integer(call, "count"));
    out += fmt::format("  {}x {}: {}\n", count, op, reason);
  }
  return out;
}

// What is not counted of a launch, or nothing.
Result<std::string> doubt_line(const JsonValue& launch) {
  JUMAR_ASSIGN(const std::string kernel, text(launch, "kernel"));
  if (launch.has("not_counted")) {
    JUMAR_ASSIGN(const std::string why, text(launch, "not_counted"));
    return fmt::format("not counted: {}: {}\n", kernel, why);
  }
  if (!launch.has("traffic")) return std::string();
  JUMAR_ASSIGN(const JsonValue traffic, launch.get("traffic"));
  JUMAR_ASSIGN(const JsonValue list, traffic.get("unknown_operations"));
  JUMAR_ASSIGN(const auto operations, list.object());
  std::vector<std::string> names;
  for (const auto& [name, count] : operations) names.push_back(name);
  if (names.empty()) return std::string();
  return fmt::format("counted in part: {}: operations that are not understood: {}\n", kernel,
                     fmt::join(names, ", "));
}

Result<std::string> launch_lines(const JsonValue& root, std::string_view key) {
  JUMAR_ASSIGN(const JsonValue list, root.get(key));
  JUMAR_ASSIGN(const std::vector<JsonValue> launches, list.array());
  std::vector<Row> rows;
  for (const JsonValue& launch : launches) {
    JUMAR_ASSIGN(Row row, row_of(launch));
    rows.push_back(std::move(row));
  }
  std::string out = lines(rows) + summary(rows);
  for (const JsonValue& launch : launches) {
    JUMAR_ASSIGN(const std::string line, doubt_line(launch));
    out += line;
  }
  return out;
}

Result<std::string> launch_table(const JsonValue& root, const std::string& file) {
  JUMAR_ASSIGN(const std::string format, text(root, "format"));
  if (format != kDeviceProjectFormat)
    return diagnostic("input", "{}: it is '{}', not '{}'", file, format, kDeviceProjectFormat);
  JUMAR_ASSIGN(const std::string head, head_line(root));
  JUMAR_ASSIGN(const std::string launches, launch_lines(root, "launches"));
  if (!root.has("at_load")) return head + launches;
  JUMAR_ASSIGN(const std::string at_load, launch_lines(root, "at_load"));
  return head + launches + "computed of the weights, when the package is loaded:\n" + at_load;
}

}  // namespace

Result<std::string> device_table(std::string_view json, const std::string& file) {
  JUMAR_ASSIGN(const JsonDocument document, JsonDocument::parse(json, file));
  JUMAR_ASSIGN(const std::string table, launch_table(document.root(), file));
  JUMAR_ASSIGN(const std::string calls, call_lines(document.root()));
  return table + calls;
}

Result<std::string> device_launch_table(std::string_view json, const std::string& file) {
  JUMAR_ASSIGN(const JsonDocument document, JsonDocument::parse(json, file));
  return launch_table(document.root(), file);
}

}  // namespace jumar::driver
