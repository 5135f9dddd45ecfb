#include "driver/toolchain/messages.h"

#include <algorithm>
#include <charconv>

namespace jumar::driver::toolchain {
namespace {

// Lines that say that a stage failed, after or before the line that says why.
constexpr std::string_view kGeneral[] = {"Failed to run ", "Failed to parse input file", "PLEASE submit",
                                         "External hivmc run fails", "Failed to detect hivmc"};
constexpr std::string_view kLacksLinker = "[ERROR] Cannot find hivmc";
constexpr std::string_view kRetry = "[NOTE] Ub overflow detected; automatically set ";
constexpr std::string_view kNoCodeMotion = "enable-code-motion to false";
constexpr std::string_view kNoMultiBuffer = "enable-auto-multi-buffer to false";
constexpr std::string_view kAllocatedUb = "Allocated UB size = ";
constexpr std::string_view kOverflow = " overflow, requires ";
constexpr size_t kMostLastLines = 3;

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<int64_t> number_at(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// "ub overflow, requires 4194304 bits while 1572864 bits available!"
std::optional<Overflow> overflow_in(std::string_view line) {
  const size_t at = line.find(kOverflow);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = line.substr(0, at);
  const std::string_view rest = line.substr(at + kOverflow.size());
  constexpr std::string_view kWhile = " bits while ";
  const size_t split = rest.find(kWhile);
  const std::optional<int64_t> needs = number_at(rest);
  if (!needs || split == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> available = number_at(rest.substr(split + kWhile.size()));
  if (!available) return std::nullopt;
  return Overflow{std::string(before.substr(before.rfind(' ') + 1)), *needs, *available};
}

// "...:27:22" or "...:27:22)" at the end of what stands before "error:".
void read_place(std::string_view before, Fault& fault) {
  while (!before.empty() && (before.back() == ' ' || before.back() == ':' || before.back() == ')'))
    before.remove_suffix(1);
  if (!before.empty() && before.back() == '"') return;
  const size_t second = before.rfind(':');
  if (second == std::string_view::npos || second == 0) return;
  const size_t first = before.rfind(':', second - 1);
  if (first == std::string_view::npos) return;
  const std::optional<int64_t> line = number_at(before.substr(first + 1));
  const std::optional<int64_t> column = number_at(before.substr(second + 1));
  if (!line || !column) return;
  fault.line = static_cast<int>(*line);
  fault.column = static_cast<int>(*column);
}

bool is_general(std::string_view message) {
  return std::any_of(std::begin(kGeneral), std::end(kGeneral),
                     [&](std::string_view row) { return starts(message, row); });
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// "program: /src/File.cpp:287: ...: Assertion `x' failed." without the function between them, which can be
// longer than all else.
std::optional<Fault> assertion_in(std::string_view line) {
  const size_t at = line.find("Assertion `");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view source = line.substr(0, line.find(": ", line.find(": ") + 2));
  const std::string_view file = source.substr(source.rfind('/') + 1);
  return Fault{std::string(line.substr(at)) + " (" + std::string(file) + ")", 0, 0, false};
}

std::optional<Fault> fault_in(std::string_view line) {
  if (std::optional<Fault> fault = assertion_in(line)) return fault;
  for (const std::string_view mark : {"error: ", "LLVM ERROR: ", "UNREACHABLE executed", "[ERROR] "}) {
    const size_t at = line.find(mark);
    if (at == std::string_view::npos) continue;
    Fault fault;
    const bool keeps_mark = starts(mark, "UNREACHABLE");
    fault.message = std::string(trimmed(line.substr(keeps_mark ? at : at + mark.size())));
    if (mark == "error: ") read_place(line.substr(0, at), fault);
    fault.is_general = is_general(fault.message);
    return fault;
  }
  // The command line parser of LLVM.
  for (const std::string_view mark : {": Unknown command line argument", ": for the -"}) {
    const size_t at = line.find(mark);
    if (at != std::string_view::npos) return Fault{std::string(trimmed(line.substr(at + 2))), 0, 0, false};
  }
  return std::nullopt;
}

// " #8 0x00007f77ade5a050 (/lib/...)", "0.\tProgram arguments: ..."
bool is_trace(std::string_view line) {
  const std::string_view text = trimmed(line);
  return starts(text, "#") || starts(text, "0.\t") || starts(text, "Stack dump") ||
         starts(text, "PLEASE submit");
}

void read_line(std::string_view line, Messages& out) {
  if (starts(line, kRetry)) {
    out.dropped_code_motion = out.dropped_code_motion || holds(line, kNoCodeMotion);
    out.dropped_multi_buffer = out.dropped_multi_buffer || holds(line, kNoMultiBuffer);
    return;
  }
  if (starts(line, kLacksLinker)) {
    out.lacks_linker = true;
    return;
  }
  if (const size_t at = line.find(kAllocatedUb); at != std::string_view::npos)
    out.allocated_ub_bits = number_at(line.substr(at + kAllocatedUb.size()));
  if (std::optional<Overflow> overflow = overflow_in(line)) out.overflow = std::move(overflow);
  if (holds(line, ": warning: ") || holds(line, ": note: ")) return;
  if (std::optional<Fault> fault = fault_in(line)) {
    if (std::find(out.faults.begin(), out.faults.end(), *fault) == out.faults.end())
      out.faults.push_back(std::move(*fault));
  }
}

}  // namespace

Messages read_messages(std::string_view text) {
  Messages out;
  std::vector<std::string_view> kept;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    read_line(line, out);
    if (!is_trace(line) && !trimmed(line).empty()) kept.push_back(trimmed(line));
  }
  const size_t first = kept.size() > kMostLastLines ? kept.size() - kMostLastLines : 0;
  for (size_t k = first; k < kept.size(); ++k) {
    if (k != first) out.last_lines += '\n';
    out.last_lines += kept[k];
  }
  return out;
}

Fault Messages::main_fault() const {
  if (overflow) {
    for (const Fault& fault : faults)
      if (overflow_in(fault.message) == overflow) return fault;
  }
  for (const Fault& fault : faults)
    if (!fault.is_general) return fault;
  if (!faults.empty()) return faults.front();
  return {last_lines.empty() ? "it says nothing" : last_lines, 0, 0, true};
}

}  // namespace jumar::driver::toolchain
