#include "driver/ops_command.h"

#include <fmt/format.h>

#include "loop/lower/table.h"

namespace jumar::driver {

namespace {

std::string line_of(const loop::OperatorRow& row) {
  return row.is_lowered ? fmt::format("{} lowered\n", row.op)
                        : fmt::format("{} called: {}\n", row.op, row.reason);
}

std::string rows_text(std::string_view beginning) {
  std::string out;
  for (const loop::OperatorRow& row : loop::operator_rows()) {
    if (row.op.starts_with(beginning)) out += line_of(row);
  }
  return out;
}

}  // namespace

std::string ops_text(const std::vector<std::string>& patterns) {
  if (patterns.empty()) return rows_text("");
  std::string out;
  for (const std::string& pattern : patterns) {
    const bool is_beginning = pattern.ends_with('*');
    out += is_beginning ? rows_text(std::string_view(pattern).substr(0, pattern.size() - 1))
                        : line_of(loop::operator_row(pattern));
  }
  return out;
}

}  // namespace jumar::driver
