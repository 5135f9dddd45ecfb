#include "driver/reduce_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "driver/ladder.h"
#include "driver/opt.h"
#include "driver/scratch_directory.h"
#include "driver/toolchain/process.h"
#include "graph/shrink.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kCrash = "crash";
constexpr std::string_view kDiffers = "differs";
constexpr std::string_view kFilePlace = "{}";
constexpr std::string_view kTextEnding = ".graph";

Result<Options> options_of(const Options& base, std::string_view text,
                           const std::vector<std::string>& given) {
  JUMAR_ASSIGN(const Options options, base.with(options_in_comments(text)));
  return options.with(fmt::format("{}", fmt::join(given, "\n")));
}

// What a failure says, without what changes from graph to graph: numbers and names.
std::string signature(const std::string& message) {
  std::string out;
  const std::string line = message.substr(0, message.find('\n'));
  for (size_t k = 0; k < line.size(); ++k) {
    const auto is_word = [&](size_t at) {
      return at < line.size() &&
             (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_' || line[at] == '.');
    };
    out += line[k];
    const bool is_name = line[k] == '%' || line[k] == '@';
    const bool is_number = std::isdigit(static_cast<unsigned char>(line[k])) != 0;
    if (is_number) out.back() = '#';
    while (is_name && is_word(k + 1)) ++k;
    while (is_number && k + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[k + 1])) != 0)
      ++k;
  }
  return out;
}

// How a try ended, and what it said.
struct Failure {
  std::string ending;
  std::string message;
  bool operator==(const Failure&) const = default;
};

class Reduction {
 public:
  Reduction(const ReduceArguments& arguments, std::string head, const ScratchDirectory& scratch)
      : arguments_(arguments), head_(std::move(head)), scratch_(scratch) {}

  Result<std::string> run(graph::Graph graph, const std::string& output) {
    JUMAR_ASSIGN(const std::optional<Failure> first, tried(graph));
    if (!first) return diagnostic("option", "{} does not fail: there is nothing to reduce", arguments_.file);
    wanted_ = *first;
    if (!arguments_.message.empty() && first->message.find(arguments_.message) == std::string::npos)
      return diagnostic("option", "{} fails, but not with '{}': {}", arguments_.file, arguments_.message,
                        first->message);
    const size_t nodes = graph.order.size();
    JUMAR_ASSIGN(const graph::Shrunk small,
                 graph::shrunk(std::move(graph), [this](const graph::Graph& g) { return fails(g); }));
    JUMAR_ASSIGN(const bool does_fail, fails(small.graph));
    if (!does_fail)
      return diagnostic("reduce", "the smallest graph of {} does not fail each time it is tried",
                        arguments_.file);
    JUMAR_RETURN_IF_ERROR(write_file(output, text_of(small.graph)));
    return fmt::format("{}: {} of {} nodes, {} inputs, after {} tries\n{}: {}\n", output,
                       small.graph.order.size(), nodes, small.graph.inputs.size(), small.tries,
                       wanted_.ending, message_);
  }

 private:
  std::string text_of(const graph::Graph& graph) const { return head_ + graph::write_graph(graph); }

  Result<bool> fails(const graph::Graph& graph) {
    JUMAR_ASSIGN(const std::optional<Failure> failure, tried(graph));
    if (!failure) return false;
    if (arguments_.message.empty()) return *failure == wanted_;
    return failure->ending == wanted_.ending &&
           failure->message.find(arguments_.message) != std::string::npos;
  }

  std::vector<std::string> command(const std::string& file) const {
    if (!arguments_.command.empty()) {
      std::vector<std::string> words;
      std::istringstream in(arguments_.command);
      for (std::string word; in >> word;) {
        const size_t place = word.find(kFilePlace);
        if (place != std::string::npos) word.replace(place, kFilePlace.size(), file);
        words.push_back(word);
      }
      return words;
    }
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> words = {self, "check", file};
    if (arguments_.check == kCrash) words = {self, "opt", "--to=asm", file};
    for (const std::string& option : arguments_.options) words.push_back("-O" + option);
    return words;
  }

  // Nothing where the graph does not fail in the way that is looked for.
  Result<std::optional<Failure>> tried(const graph::Graph& graph) {
    const std::string file = scratch_.path() + "/try" + std::string(kTextEnding);
    JUMAR_RETURN_IF_ERROR(write_file(file, text_of(graph)));
    toolchain::ProcessRequest request;
    request.command = command(file);
    request.limit_seconds = arguments_.limit_seconds;
    JUMAR_ASSIGN(const toolchain::ProcessResult done, toolchain::run_process(request));
    const bool is_exit = done.end == toolchain::ProcessResult::End::kExit;
    if (is_exit && done.code == 0) return std::optional<Failure>();
    const std::string& said = done.errors.empty() ? done.output : done.errors;
    // A graph that makes no sense is refused with exit code 1 and another code than "different".
    const bool is_refusal = is_exit && done.code == 1 && arguments_.command.empty();
    const bool differs = arguments_.check == kDiffers && said.starts_with("error[different]");
    if (is_refusal && !differs) return std::optional<Failure>();
    message_ = said.substr(0, said.find('\n'));
    if (!arguments_.message.empty()) return std::optional(Failure{done.ending(), said});
    if (!arguments_.command.empty()) return std::optional(Failure{done.ending(), ""});
    // The level names the fault; which element it is and how it differs changes with every graph.
    const std::string level = message_.substr(0, message_.find(": ", message_.find("]: ") + 3));
    return std::optional(Failure{done.ending(), differs ? level : signature(message_)});
  }

  const ReduceArguments& arguments_;
  const std::string head_;  // comments that hold options
  const ScratchDirectory& scratch_;
  Failure wanted_;
  std::string message_;  // of the last failure
};

std::string default_output(const std::string& file) {
  const bool has_ending = file.ends_with(kTextEnding);
  return file.substr(0, file.size() - (has_ending ? kTextEnding.size() : 0)) + ".reduced" +
         std::string(kTextEnding);
}

// The options of a reproducer stay with what is left of it.
std::string options_head(std::string_view text) {
  std::string out;
  std::istringstream lines(options_in_comments(text));
  for (std::string line; std::getline(lines, line);) out += std::string(kOptionMark) + line + "\n";
  return out;
}

}  // namespace

std::vector<std::string> check_words() { return {std::string(kCrash), std::string(kDiffers)}; }

Status check_command(const CheckArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(const std::string text, bytes_of_file(arguments.file));
  JUMAR_ASSIGN(const Options options, options_of(base, text, arguments.options));
  JUMAR_ASSIGN(const graph::Graph graph, graph::read_graph(text, arguments.file));
  JUMAR_RETURN_IF_ERROR(graph::verify(graph));
  return climb(graph, options,
               {arguments.seed, arguments.rounds, arguments.special_share, arguments.tolerance});
}

Result<std::string> reduce_command(const ReduceArguments& arguments, const Options& base) {
  JUMAR_ASSIGN(const std::string text, bytes_of_file(arguments.file));
  JUMAR_ASSIGN(const Options options, options_of(base, text, arguments.options));
  JUMAR_ASSIGN(graph::Graph graph, graph::read_graph(text, arguments.file));
  JUMAR_RETURN_IF_ERROR(graph::verify(graph));
  JUMAR_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::create(options.resolved_temporary_dir()));
  const std::string output = arguments.output.empty() ? default_output(arguments.file) : arguments.output;
  return Reduction(arguments, options_head(text), scratch).run(std::move(graph), output);
}

}  // namespace jumar::driver
