#include "driver/toolchain/failure.h"

#include <algorithm>

namespace jumar::driver::toolchain {
namespace {

constexpr size_t kMostLogBytes = 8 << 10;

bool is_noise(std::string_view line) {
  const auto holds = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  return line.empty() || line.find_first_not_of(' ') == std::string_view::npos || holds("warning: ") ||
         holds("note: see current operation") || holds("PLEASE submit") || holds("Stack dump:") ||
         line.front() == '#' || line.substr(0, 2) == " #";
}

std::string shortened_log(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size() && out.size() < kMostLogBytes;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!is_noise(line)) out.append(line).push_back('\n');
    at = end + 1;
  }
  if (out.size() > kMostLogBytes) out.resize(kMostLogBytes);
  return out;
}

}  // namespace

std::string ToolFailure::text() const {
  const std::string place = line == 0 ? "" : fmt::format("{}:{}: ", line, column);
  return fmt::format("{}: {}{} ({})", tool, place, message, ending);
}

ToolFailure failure_of(std::string tool, const ProcessResult& done, const Messages& said) {
  const Fault fault = said.main_fault();
  ToolFailure out;
  out.tool = std::move(tool);
  out.ending = done.ending();
  out.message = fault.message;
  out.line = fault.line;
  out.column = fault.column;
  out.overflow = said.overflow;
  out.is_time_limit = done.end == ProcessResult::End::kTimeLimit;
  out.log = shortened_log(done.errors + done.output);
  return out;
}

}  // namespace jumar::driver::toolchain
