#include "driver/toolchain/adapt.h"

#include <algorithm>
#include <csignal>

#include "driver/scratch_directory.h"

namespace jumar::driver::toolchain {
namespace {

constexpr std::string_view kMixMode = "mix_mode = \"";
constexpr std::string_view kTie = "tie_break_left = \"";

// Removes `mix_mode = "aiv"` with the comma that separates it, and gives the word.
std::string taken_mix_mode(std::string& text) {
  std::string mode;
  for (size_t at = text.find(kMixMode); at != std::string::npos; at = text.find(kMixMode, at)) {
    const size_t quote = text.find('"', at + kMixMode.size());
    if (quote == std::string::npos) break;
    mode = text.substr(at + kMixMode.size(), quote - at - kMixMode.size());
    size_t begin = at;
    size_t end = quote + 1;
    if (begin >= 2 && text.compare(begin - 2, 2, ", ") == 0) {
      begin -= 2;
    } else if (text.compare(end, 2, ", ") == 0) {
      end += 2;
    }
    text.erase(begin, end - begin);
    at = begin;
  }
  return mode;
}

void add_unsigned_source(std::string& text) {
  for (size_t at = text.find(kTie); at != std::string::npos; at = text.find(kTie, at + 1)) {
    const size_t quote = text.find('"', at + kTie.size());
    if (quote == std::string::npos) return;
    if (text.compare(quote + 1, 1, "}") == 0) text.insert(quote + 1, ", unsigned_src = \"false\"");
  }
}

}  // namespace

ProcessRequest tool_request(const ToolCalls& calls) {
  ProcessRequest out;
  out.variables = {{"LLVM_DISABLE_SYMBOLIZATION", "1"}};
  out.limit_seconds = calls.limit_seconds;
  return out;
}

Result<ProcessResult> run_tool(const ProcessRequest& request) {
  constexpr int kRuns = 3;
  double seconds = 0;
  for (int run = 1;; ++run) {
    JUMAR_ASSIGN(ProcessResult done, run_process(request));
    seconds += done.seconds;
    done.seconds = seconds;
    const bool has_crashed = done.end == ProcessResult::End::kSignal && done.code != SIGKILL;
    if (!has_crashed || run == kRuns) return done;
  }
}

LinalgText prepared_linalg(std::string adapted, bool needs_unsigned_source) {
  LinalgText out;
  out.mix_mode = taken_mix_mode(adapted);
  if (needs_unsigned_source) add_unsigned_source(adapted);
  out.text = std::move(adapted);
  return out;
}

std::optional<LeftOver> left_over(std::string_view linalg) {
  int number = 0;
  for (size_t at = 0; at < linalg.size();) {
    const size_t end = std::min(linalg.find('\n', at), linalg.size());
    std::string_view line = linalg.substr(at, end - at);
    at = end + 1;
    ++number;
    // An operation is the first word of a line, or of what follows its results.
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) continue;
    line.remove_prefix(begin);
    if (line.front() == '%') {
      const size_t equals = line.find(" = ");
      if (equals == std::string_view::npos) continue;
      line.remove_prefix(equals + 3);
    }
    if (!line.empty() && line.front() == '"') line.remove_prefix(1);
    if (line.substr(0, 3) != "tt.") continue;
    return LeftOver{std::string(line.substr(0, line.find_first_of(" \"(<"))), number};
  }
  return std::nullopt;
}

Result<AdaptReport> adapt(const std::string& ttir, const Toolchain& tools, const ToolchainFlavor& flavor,
                          const ToolCalls& calls) {
  const Tool* tool = tools.find(ToolKind::kAdapter);
  if (tool == nullptr) return tools.missing(ToolKind::kAdapter);
  // What a program that crashes may leave lands here.
  JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(calls.temporary_dir));
  ProcessRequest request = tool_request(calls);
  request.command = {tool->path, "-"};
  request.command.insert(request.command.end(), flavor.adapter_args.begin(), flavor.adapter_args.end());
  request.input = ttir;
  request.directory = scratch.path();
  JUMAR_ASSIGN(ProcessResult done, run_tool(request));
  AdaptReport out;
  out.seconds = done.seconds;
  const std::string name(program_of(ToolKind::kAdapter));
  if (!done.is_ok()) {
    done.output.clear();  // the text, if any, is not to be used
    out.failure = failure_of(name, done, read_messages(done.errors));
    return out;
  }
  if (const std::optional<LeftOver> left = left_over(done.output)) {
    out.failure.emplace();
    out.failure->tool = name;
    out.failure->ending = done.ending();
    out.failure->message = fmt::format("{} is left in its output, at line {}", left->operation, left->line);
    return out;
  }
  out.linalg = prepared_linalg(std::move(done.output), flavor.needs_unsigned_source);
  return out;
}

}  // namespace jumar::driver::toolchain
