#include "driver/compile_command.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "driver/cpp_project.h"
#include "driver/package.h"
#include "driver/size_text.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kEnding = ".pt2";

std::string default_output(std::string_view input, std::string_view ending) {
  if (input.ends_with(kEnding)) input.remove_suffix(kEnding.size());
  return fmt::format("{}{}", input, ending);
}

// One line that is rewritten, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(bool shows) : shows_(shows) {}
  ~ProgressLine() {
    if (shows_) std::fputs("\r\033[K", stderr);
  }
  void tell(std::string_view stage) {
    if (shows_) std::fprintf(stderr, "\r\033[K%.*s ...", static_cast<int>(stage.size()), stage.data());
  }

 private:
  bool shows_;
};

void print_stages(const Report& report) {
  for (const Report::Stage& stage : report.stages) {
    const std::string line = fmt::format("{:8.2f} ms  {}\n", stage.ms, stage.name);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
}

size_t call_count(const Report& report) {
  size_t calls = 0;
  for (const Report::Call& call : report.calls) calls += call.count;
  return calls;
}

// Both give the line that says what was made, without the time.
Result<std::string> make_package(const CompileArguments& arguments, const Options& options, Report& report) {
  PackageRequest request;
  request.archive = arguments.input;
  request.model = arguments.model;
  request.page = arguments.page;
  request.output =
      arguments.output.empty() ? default_output(arguments.input, ".jumar.pt2") : arguments.output;
  ProgressLine line(::isatty(STDERR_FILENO) == 1);
  request.progress = [&](std::string_view stage) { line.tell(stage); };
  JUMAR_ASSIGN(const PackageSummary made, compile_package(request, options, report));
  return fmt::format("{}: {} kernels and {} at load, {} calls, weights {}, package {}", request.output,
                     made.kernels, made.folding_kernels, call_count(report), size_text(made.weights_bytes),
                     size_text(made.package_bytes));
}

Result<std::string> make_sources(const CompileArguments& arguments, const Options& options, Report& report) {
  CppProjectRequest request;
  request.input = arguments.input;
  request.model = arguments.model;
  request.directory = arguments.output.empty() ? default_output(arguments.input, ".cpp") : arguments.output;
  request.name = arguments.name;
  ProgressLine line(::isatty(STDERR_FILENO) == 1);
  request.progress = [&](std::string_view stage) { line.tell(stage); };
  JUMAR_ASSIGN(const CppProjectSummary made, write_cpp_project(request, options, report));
  return fmt::format("{}: C++ source of {}, {} kernels, {} calls, weights {}", request.directory, made.name,
                     made.kernels, call_count(report), size_text(made.weights_bytes));
}

}  // namespace

Status compile_command(const CompileArguments& arguments, const Options& base) {
  std::vector<std::string> given = arguments.options;
  if (!arguments.cpu.empty()) given.push_back("cpu=" + (arguments.cpu == "native" ? "host" : arguments.cpu));
  if (!arguments.provider.empty()) given.push_back("provider=" + arguments.provider);
  JUMAR_ASSIGN(const Options options, base.with(fmt::format("{}", fmt::join(given, "\n"))));
  const auto begin = std::chrono::steady_clock::now();
  Report report;
  JUMAR_ASSIGN(const std::string made, arguments.emit == "cpp" ? make_sources(arguments, options, report)
                                                               : make_package(arguments, options, report));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (arguments.time) print_stages(report);
  const std::string text = fmt::format("{}, {:.2f} s\n", made, seconds.count());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace jumar::driver
