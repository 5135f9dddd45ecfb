#include "driver/cli.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <iterator>

#include "driver/build_id.h"
#include "driver/compile_command.h"
#include "driver/context.h"
#include "driver/golden.h"
#include "driver/inspect_command.h"
#include "driver/ops_command.h"
#include "driver/opt.h"
#include "driver/reduce_cli.h"
#include "driver/run_command.h"
#include "driver/sim_command.h"
#include "driver/stages.h"
#include "driver/targets_command.h"
#include "driver/toolchain_cli.h"
#include "import/pt2.h"
#include "plan/binary.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongArguments = 2;
constexpr int kBug = 3;
// The word of --from for an archive of torch.export.save, which is no text.
constexpr std::string_view kArchive = "pt2";

void print(std::FILE* stream, std::string_view text) { std::fwrite(text.data(), 1, text.size(), stream); }

int report(const Diagnostic& error) {
  print(stderr, error.text() + "\n");
  return kFailed;
}

int report(const Status& status) { return status.ok() ? 0 : report(status.error()); }

Result<std::string> text_of(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  return bytes_of_file(path);
}

// The arguments of `jumar opt`, as the parser fills them in.
struct OptArguments {
  std::string from;
  std::string to;
  std::vector<std::string> passes;
  std::vector<std::string> print_after;
  std::vector<std::string> options;
  std::string html;
  bool time = false;
  bool report = false;
  bool list_passes = false;
  bool has_passes = false;
  std::string file = "-";
};

CLI::Option* add_options_flag(CLI::App& app, std::vector<std::string>& options) {
  return app.add_option("-O", options, "an option as name=value; `jumar options` lists them")
      ->allow_extra_args(false);
}

void add_opt(CLI::App& app, OptArguments& arguments) {
  const std::vector<std::string> levels = level_names();
  const std::string names = fmt::format("{}", fmt::join(levels, ", "));
  std::vector<std::string> sources = levels;
  sources.emplace_back(kArchive);
  app.add_option("--from", arguments.from, fmt::format("what the file holds: {}, {}", names, kArchive))
      ->check(CLI::IsMember(sources));
  app.add_option("--to", arguments.to, "what to print: " + names)->check(CLI::IsMember(levels));
  app.add_option("--passes", arguments.passes, "graph passes to run instead of the usual ones")
      ->delimiter(',')
      ->each([&](const std::string&) { arguments.has_passes = true; });
  app.add_option("--print-after", arguments.print_after, "stages or passes, all, or changed")->delimiter(',');
  app.add_flag("--time", arguments.time, "print the time of each stage to stderr");
  app.add_flag("--report", arguments.report, "print kernels, calls and refusals instead of the program");
  app.add_option("--html", arguments.html,
                 "write a page about the compiled graph to this file; print nothing");
  app.add_flag("--list-passes", arguments.list_passes, "print the graph passes and do nothing else");
  add_options_flag(app, arguments.options);
  app.add_option("file", arguments.file, "the text; - or nothing is standard input");
}

void add_device_flags(CLI::App& app, std::string& target, std::string& limit) {
  app.add_option("--target", target,
                 "cpu, or the device that kernels are made for; `jumar targets` lists them");
  app.add_option("--device-limit", limit, "CUBE,VECTOR: use at most so many cores of the device");
}

void add_compile(CLI::App& app, CompileArguments& arguments) {
  app.add_option("archive", arguments.input, "what torch.export.save wrote")->required();
  app.add_option(
         "--emit", arguments.emit,
         "what to make: a package, C++ source in a folder, or, for a device, stages of its kernels in a "
         "folder; by default a package, or all stages where --output is for a device and ends otherwise than "
         "with .pt2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(emit_words()));
  app.add_option("-o,--output", arguments.output,
                 "the package, or the folder; otherwise ARCHIVE with the ending .jumar.pt2, .cpp or .npu");
  add_device_flags(app, arguments.target, arguments.device_limit);
  app.add_option("--report", arguments.page, "write a page of HTML about the program to this file");
  app.add_option("--name", arguments.name, "what the functions of C++ source are called after");
  app.add_option("--cpu", arguments.cpu, "the processor: native, or a level such as x86-64-v3");
  app.add_option("--provider", arguments.provider, "what makes matrix products and convolutions")
      ->check(CLI::IsMember({"torch", "onednn"}));
  app.add_option("--model", arguments.model, "which model, of an archive that holds several");
  app.add_flag("--time", arguments.time, "print the time of each stage to stderr");
  add_options_flag(app, arguments.options);
}

void add_run(CLI::App& app, RunArguments& arguments) {
  app.add_option("file", arguments.program, "what torch.export.save wrote, or a package of jumar compile")
      ->required();
  app.add_option("--input", arguments.inputs,
                 "a .npy file; one for each input, in order. None: list the inputs")
      ->allow_extra_args(false);
  app.add_option("--output", arguments.output, "where results go; {} becomes their number");
  app.add_option("--model", arguments.model, "which model, of an archive that holds several");
  app.add_option("--torch", arguments.torch_library,
                 "a libtorch_cpu.so to call operators of; a package may need one");
  add_device_flags(app, arguments.target, arguments.device_limit);
  app.add_flag("--sim", arguments.sim,
               "run a device's kernels in the simulator, of a package or with --target, and tell what ran");
  app.add_option("--threads", arguments.threads, "threads to run with; 0 means one for each processor")
      ->check(CLI::Range(0, 4096));
  app.add_option("--repeat", arguments.repeat, "calls after the first; their median time is printed")
      ->check(CLI::Range(0, 1000000));
  add_options_flag(app, arguments.options);
}

void add_inspect(CLI::App& app, InspectArguments& arguments) {
  app.add_option(
         "file", arguments.file,
         "a package of jumar compile, a folder of a device's kernels, or what torch.export.save wrote")
      ->required();
  add_device_flags(app, arguments.target, arguments.device_limit);
  app.add_flag("--kernels", arguments.all_kernels, "print the loops of the kernels instead of an overview");
  app.add_option("--kernel", arguments.kernels, "the same of one kernel")->allow_extra_args(false);
  app.add_flag("--plan", arguments.plan, "print the plan");
  app.add_flag("--memory", arguments.memory, "print the buffers of a call");
  app.add_flag("--refusals", arguments.refusals, "print why loops were not fused");
  app.add_flag("--at-load", arguments.at_load,
               "with --kernels, --kernel, --plan, --memory: of what is computed of the weights at load");
  app.add_option("--size", arguments.sizes, "NAME=NUMBER: a size to plan memory for, instead of its hint")
      ->allow_extra_args(false);
  app.add_flag("--json", arguments.json, "print everything as JSON");
  app.add_option("--model", arguments.model, "which model, of an archive that holds several");
}

void add_sim(CLI::App& app, SimArguments& arguments) {
  app.add_option("file", arguments.file, "a kernel's linalg, as triton-adapter-opt wrote it")->required();
  app.add_option("arguments", arguments.words,
                 "of the kernel: x.npy or 1000xf32 (zeros) for a pointer, else a number. None: list them");
  app.add_option("--grid", arguments.grid, "programs on the axes x, y and z")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--kernel", arguments.kernel, "which kernel, of a file with several");
  app.add_option("--output", arguments.output, "where results go; {} becomes the argument's number");
  app.add_option("--threads", arguments.threads, "threads to run with; 0 means one for each processor")
      ->check(CLI::Range(0, 4096));
  app.add_option("--repeat", arguments.repeat, "calls after the first; their median time is printed")
      ->check(CLI::Range(0, 1000000));
  add_options_flag(app, arguments.options);
}

Result<Options> options_of(const Options& base, std::string_view text,
                           const std::vector<std::string>& given) {
  JUMAR_ASSIGN(const Options options, base.with(options_in_comments(text)));
  return options.with(fmt::format("{}", fmt::join(given, "\n")));
}

// What `jumar opt` does beside reading: the same for texts and archives.
void fill_request(const OptArguments& arguments, const Options& options, OptRequest& request) {
  if (!arguments.to.empty()) request.to = *level_from_name(arguments.to);
  if (arguments.has_passes) request.passes = arguments.passes;
  request.print_after = arguments.print_after.empty() ? options.print_after() : arguments.print_after;
  request.print_report = arguments.report;
  request.html = !arguments.html.empty();
  request.title = arguments.file.substr(arguments.file.rfind('/') + 1);
}

Result<std::string> run_opt_archive(const OptArguments& arguments, const Options& base, Report& report) {
  JUMAR_ASSIGN(const Options options, options_of(base, "", arguments.options));
  OptRequest request;
  fill_request(arguments, options, request);
  JUMAR_ASSIGN(import::Imported model, [&] {
    const StageTimer timer(report, "import");
    return import::import_pt2(arguments.file, {});
  }());
  const bool prints_graph = request.to == Level::kGraph && !request.print_report && !request.html;
  const std::string notes = prints_graph ? import::notes(model) : "";
  JUMAR_ASSIGN(const std::string out, opt(request, std::move(model.graph), options, report));
  return notes + out;
}

Result<std::string> run_opt(const OptArguments& arguments, const Options& base, std::string_view text,
                            const std::string& file, Report& report) {
  JUMAR_ASSIGN(const Options options, options_of(base, text, arguments.options));
  OptRequest request;
  if (!arguments.from.empty()) request.from = level_from_name(arguments.from);
  const bool is_loop = arguments.from != "graph" && arguments.from != "plan" && !arguments.from.empty();
  Lexer lexer(text, file);
  const bool is_plan = lexer.peek_word("plan") || plan::is_binary(plan::bytes_of(text));
  request.to = is_loop || lexer.peek_word("loop") ? Level::kLoop : is_plan ? Level::kPlan : Level::kGraph;
  if (request.from && *request.from > request.to) request.to = *request.from;
  fill_request(arguments, options, request);
  return opt(request, text, file, options, report);
}

int opt_command(const OptArguments& arguments, const Options& base) {
  if (arguments.list_passes) {
    print(stdout, pass_list());
    return 0;
  }
  Report stages;
  const Result<std::string> out = [&]() -> Result<std::string> {
    if (arguments.from == kArchive) return run_opt_archive(arguments, base, stages);
    JUMAR_ASSIGN(const std::string text, text_of(arguments.file));
    return run_opt(arguments, base, text, arguments.file, stages);
  }();
  if (arguments.time) {
    for (const Report::Stage& stage : stages.stages)
      print(stderr, fmt::format("{:8.2f} ms  {}\n", stage.ms, stage.name));
  }
  if (!out.ok()) return report(out.error());
  if (arguments.html.empty()) {
    print(stdout, *out);
    return 0;
  }
  const Status written = write_file(arguments.html, *out);
  return written.ok() ? 0 : report(written.error());
}

int inspect_command(const InspectArguments& arguments, const Options& base) {
  const Result<std::string> text = inspect(arguments, base);
  if (!text.ok()) return report(text.error());
  print(stdout, *text);
  return 0;
}

int options_command(const Options& options) {
  for (size_t k = 0; k < option_rows().size(); ++k) {
    const OptionRow& row = option_rows()[k];
    print(stdout, fmt::format("{} = {}\n    {} ({}; {}{})\n    {}\n", row.name, options.value_text(k),
                              fmt::join(environment_variables(row), ", "), option_type_name(row.type),
                              allowed_text(row), row.affects_code ? "; affects code" : "", row.help));
  }
  return 0;
}

int ops_command(const std::vector<std::string>& patterns) {
  print(stdout, ops_text(patterns));
  return 0;
}

int targets_command(const std::string& name_or_path) {
  const Result<std::string> text = targets_text(name_or_path);
  if (!text.ok()) return report(text.error());
  print(stdout, *text);
  return 0;
}

int toolchain_command(const ToolchainCli& toolchain, const Options& base) {
  const Result<ToolchainCli::Outcome> outcome = toolchain.run(base);
  if (!outcome.ok()) return report(outcome.error());
  print(stdout, outcome->text);
  return outcome->is_ok ? 0 : kFailed;
}

int reduce_command(const ReduceCli& reduce, const Options& base) {
  const Result<std::string> text = reduce.run(base);
  if (!text.ok()) return report(text.error());
  print(stdout, *text);
  return 0;
}

int cache_command(bool clear, const Options& options) {
  const std::string& directory = options.resolved_cache_dir();
  if (directory.empty())
    return report(diagnostic("option", "there is no cache directory: neither HOME nor an option names one"));
  const Store store(directory, options.cache_size_bytes());
  const Store::Stats stats = clear ? store.clear() : store.stats();
  print(stdout, fmt::format("{}: {} {} entries, {} bytes\n", directory, clear ? "removed" : "has",
                            stats.entries, stats.bytes));
  return 0;
}

// One command of a golden file: its output, or its diagnostic.
std::string golden_output(const std::vector<std::string>& words, std::string_view input) {
  OptArguments arguments;
  CLI::App app("jumar");
  CLI::App& opt_app = *app.add_subcommand("opt");
  add_opt(opt_app, arguments);
  app.require_subcommand(1);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return fmt::format("error[option]: {}\n", error.what());
  }
  const Result<Options> base = Options::from_environment([](const std::string&) { return std::nullopt; });
  Report report;
  const Result<std::string> out = run_opt(arguments, *base, input, "<input>", report);
  return out.ok() ? *out : out.error().text() + "\n";
}

int golden_command(const std::vector<std::string>& paths, bool bless) {
  const Result<GoldenSummary> summary = run_golden(paths, bless, golden_output);
  if (!summary.ok()) return report(summary.error());
  print(stdout, summary->text);
  print(stdout, fmt::format("{} passed, {} failed, {} blessed\n", summary->passed, summary->failed,
                            summary->blessed));
  return summary->failed == 0 ? 0 : kFailed;
}

// The commands that look after the compiler itself.
struct UpkeepCommands {
  explicit UpkeepCommands(CLI::App& app)
      : ops(*app.add_subcommand("ops", "tell which operators are lowered, and why others are called")),
        golden(*app.add_subcommand("test-golden", "run golden files (docs/testing.md)")) {
    ops.add_option("operator", patterns, "names; with a * at the end, all rows that begin like that");
    golden.add_flag("--bless", bless, "rewrite files whose output differs");
    golden.add_option("paths", paths, "files and folders")->required();
  }

  CLI::App& ops;
  CLI::App& golden;
  std::vector<std::string> patterns;
  std::vector<std::string> paths;
  bool bless = false;
};

int run(int argc, char** argv) {
  CLI::App app("Jumar, a graph compiler for PyTorch");
  app.set_version_flag("--version", fmt::format("jumar {} (build {})", kVersion, build_id()));
  app.require_subcommand(1);
  OptArguments opt_arguments;
  std::vector<std::string> options_given;
  CLI::App& opt_app = *app.add_subcommand("opt", "read a text, run stages, print the result");
  add_opt(opt_app, opt_arguments);
  CompileArguments compile_arguments;
  CLI::App& compile_app = *app.add_subcommand(
      "compile", "make a package, C++ source, or a device's kernels of an exported program");
  add_compile(compile_app, compile_arguments);
  RunArguments run_arguments;
  CLI::App& run_app = *app.add_subcommand("run", "run an exported program or a package");
  add_run(run_app, run_arguments);
  SimArguments sim_arguments;
  CLI::App& sim_app = *app.add_subcommand("sim", "run an Ascend kernel on the CPU");
  add_sim(sim_app, sim_arguments);
  InspectArguments inspect_arguments;
  CLI::App& inspect_app = *app.add_subcommand("inspect", "tell what is in a package or an exported program");
  add_inspect(inspect_app, inspect_arguments);
  std::string target_name;
  CLI::App& targets_app = *app.add_subcommand("targets", "list the devices that kernels can be made for");
  targets_app.add_option("target", target_name, "print all about this one: a name, or a path to a file");
  const ToolchainCli toolchain(app);
  const ReduceCli reduce(app);
  CLI::App& options_app = *app.add_subcommand("options", "list the options with their values here");
  CLI::App& cache_app = *app.add_subcommand("cache", "look after the cache on disk");
  cache_app.require_subcommand(1);
  CLI::App& clear_app = *cache_app.add_subcommand("clear", "remove all entries");
  cache_app.add_subcommand("stats", "count entries and bytes");
  for (CLI::App* sub : {&options_app, &cache_app}) add_options_flag(*sub, options_given);
  UpkeepCommands upkeep(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongArguments;
  }
  if (upkeep.golden) return golden_command(upkeep.paths, upkeep.bless);
  if (upkeep.ops) return ops_command(upkeep.patterns);
  if (targets_app) return targets_command(target_name);
  const Result<Options> base = Options::from_environment(process_environment());
  if (!base.ok()) return report(base.error());
  if (toolchain.is_wanted()) return toolchain_command(toolchain, *base);
  if (reduce.is_wanted()) return reduce_command(reduce, *base);
  if (inspect_app) return inspect_command(inspect_arguments, *base);
  if (opt_app) return opt_command(opt_arguments, *base);
  if (compile_app) return report(compile_command(compile_arguments, *base));
  if (run_app) return report(run_command(run_arguments, *base));
  if (sim_app) return report(sim_command(sim_arguments, *base));
  const Result<Options> options = base->with(fmt::format("{}", fmt::join(options_given, "\n")));
  if (!options.ok()) return report(options.error());
  if (options_app) return options_command(*options);
  return cache_command(static_cast<bool>(clear_app), *options);
}

}  // namespace

int command_line(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const InternalError& error) {
    print(stderr, fmt::format("{}\nThis is a bug of Jumar; the input file reproduces it.\n", error.what()));
    return kBug;
  }
}

}  // namespace jumar::driver
