#include "driver/compile_command.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "driver/cpp_project.h"
#include "driver/device_project.h"
#include "driver/package.h"
#include "driver/size_text.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kEnding = ".pt2";
constexpr std::string_view kPackage = "package";
constexpr std::string_view kCpp = "cpp";

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

// Each gives the line that says what was made, without the time.
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
  if (!made.device.empty()) {
    const size_t all = made.kernels + made.folding_kernels;
    return fmt::format(
        "{}: for {}, {} kernels and {} at load ({} linked, {} to be linked on the device), {} calls, weights "
        "{}, "
        "package {}",
        request.output, made.device, made.kernels, made.folding_kernels, made.linked_kernels,
        all - made.linked_kernels, call_count(report), size_text(made.weights_bytes),
        size_text(made.package_bytes));
  }
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

Result<std::string> make_device_project(const CompileArguments& arguments, const Options& options,
                                        Report& report) {
  DeviceProjectRequest request;
  request.input = arguments.input;
  request.model = arguments.model;
  request.stages = arguments.emit;
  const std::string directory =
      arguments.output.empty() ? default_output(arguments.input, ".npu") : arguments.output;
  ProgressLine line(::isatty(STDERR_FILENO) == 1);
  request.progress = [&](std::string_view stage) { line.tell(stage); };
  JUMAR_ASSIGN(const DeviceProject made, device_project(request, options, report));
  line.tell("writing");
  JUMAR_RETURN_IF_ERROR(write_device_project(made, directory));
  return fmt::format("{}: {} kernels for {}, {} calls", directory, made.launches, options.target(),
                     call_count(report));
}

// Words that stand for one thing, or an "option" diagnostic.
Status check_emit(const std::vector<std::string>& words, bool for_device) {
  const auto stages = device_stages();
  const bool has_stage = std::ranges::any_of(
      words, [&](const std::string& word) { return std::ranges::find(stages, word) != stages.end(); });
  const bool has_whole =
      std::ranges::any_of(words, [&](const std::string& word) { return word == kPackage || word == kCpp; });
  if (has_whole && words.size() > 1)
    return diagnostic("option", "--emit={} is several things: {} and {} are made by themselves",
                      fmt::join(words, ","), kPackage, kCpp);
  if (has_stage && !for_device)
    return diagnostic("option", "--emit={} is made for a device: name one with --target",
                      fmt::join(words, ","));
  if (has_whole && for_device && words[0] != kPackage)
    return diagnostic("option", "--emit={} is not made for a device; there is --emit={},{}", words[0],
                      kPackage, fmt::join(stages, ","));
  return {};
}

// Kernels of a device go to a folder where stages of them are asked for, and where the output is named like
// no package.
bool wants_folder(const CompileArguments& arguments) {
  if (!arguments.emit.empty()) return arguments.emit[0] != kPackage;
  return !arguments.output.empty() && !arguments.output.ends_with(kEnding);
}

Result<std::string> make(const CompileArguments& arguments, const Options& options, Report& report) {
  if (options.target() != "cpu" && wants_folder(arguments)) {
    if (!arguments.page.empty())
      return diagnostic("option", "--report is for packages; kernels.json of the folder says what is in it");
    return make_device_project(arguments, options, report);
  }
  const bool is_cpp = !arguments.emit.empty() && arguments.emit[0] == kCpp;
  return is_cpp ? make_sources(arguments, options, report) : make_package(arguments, options, report);
}

}  // namespace

std::vector<std::string> emit_words() {
  std::vector<std::string> words = {std::string(kPackage), std::string(kCpp)};
  for (const std::string_view stage : device_stages()) words.emplace_back(stage);
  return words;
}

Status compile_command(const CompileArguments& arguments, const Options& base) {
  std::vector<std::string> given = arguments.options;
  if (!arguments.cpu.empty()) given.push_back("cpu=" + (arguments.cpu == "native" ? "host" : arguments.cpu));
  if (!arguments.provider.empty()) given.push_back("provider=" + arguments.provider);
  if (!arguments.target.empty()) given.push_back("target=" + arguments.target);
  if (!arguments.device_limit.empty()) given.push_back("device_limit=" + arguments.device_limit);
  JUMAR_ASSIGN(const Options options, base.with(fmt::format("{}", fmt::join(given, "\n"))));
  JUMAR_RETURN_IF_ERROR(check_emit(arguments.emit, options.target() != "cpu"));
  const auto begin = std::chrono::steady_clock::now();
  Report report;
  JUMAR_ASSIGN(const std::string made, make(arguments, options, report));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (arguments.time) print_stages(report);
  const std::string text = fmt::format("{}, {:.2f} s\n", made, seconds.count());
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace jumar::driver
