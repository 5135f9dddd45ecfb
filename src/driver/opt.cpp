#include "driver/opt.h"

#include <algorithm>
#include <array>

#include "driver/build_id.h"
#include "driver/html_report.h"
#include "driver/jit/kernel_module.h"
#include "driver/npu_compile.h"
#include "driver/stages.h"
#include "emit/host/emit_cpp.h"
#include "emit/triton/emit_triton.h"
#include "plan/binary.h"

namespace jumar::driver {
namespace {

constexpr std::array<std::string_view, 10> kLevels = {"graph", "loop", "fused", "tiled", "llvm",
                                                      "asm",   "plan", "cpp",   "ttir",  "triton"};

Result<Level> level_of(std::string_view text, const std::string& file) {
  if (plan::is_binary(plan::bytes_of(text))) return Level::kPlan;
  Lexer lexer(text, file);
  if (lexer.peek_word("graph")) return Level::kGraph;
  if (lexer.peek_word("loop")) return Level::kLoop;
  if (lexer.peek_word("plan")) return Level::kPlan;
  return lexer.expected("'graph', 'loop' or 'plan'");
}

class Run {
 public:
  Run(const OptRequest& request, const Options& options, Report& report, Dumps& dumps, std::string& out)
      : request_(request), options_(options), report_(report), out_(out), stages_(options, report, dumps) {}

  Result<std::string> run(std::string_view text, const std::string& file) {
    Level from = Level::kGraph;
    if (request_.from) {
      from = *request_.from;
    } else {
      JUMAR_ASSIGN(from, level_of(text, file));
    }
    if (request_.html && from != Level::kGraph)
      return diagnostic("option", "a page is made of a graph, not of a {}",
                        kLevels[static_cast<size_t>(from)]);
    if (from == Level::kPlan) return plan(text, file);
    if (from > Level::kTiled || request_.to < from) {
      return diagnostic("option", "there is no way from {} to {}", kLevels[static_cast<size_t>(from)],
                        kLevels[static_cast<size_t>(request_.to)]);
    }
    if (from == Level::kGraph) return graph(text, file);
    JUMAR_ASSIGN(loop::Program program, loop::read_program(text, file));
    JUMAR_RETURN_IF_ERROR(loop::verify(program));
    return loops(std::move(program), from);
  }

  Result<std::string> run(graph::Graph graph) {
    JUMAR_RETURN_IF_ERROR(request_.passes ? stages_.run_passes(graph, *request_.passes)
                                          : stages_.optimize(graph));
    if (request_.html) return page(graph);
    if (request_.to == Level::kGraph) return out_ + graph::write_graph(graph);
    JUMAR_ASSIGN(const std::optional<Device> device, device_of(options_));
    if (device && request_.to > Level::kFused) {
      JUMAR_ASSIGN(NpuParts parts, compile_for_npu(stages_, graph, *device, nullptr, {}, report_));
      if (request_.to == Level::kPlan) return written(std::move(parts.plan));
      return device_kernels(parts.program, parts.kernels);
    }
    JUMAR_ASSIGN(loop::Program program,
                 device ? lowered_for_npu(stages_, graph, *device) : stages_.lower(graph));
    return loops(std::move(program), Level::kLoop);
  }

 private:
  Result<std::string> plan(std::string_view text, const std::string& file) {
    if (request_.to < Level::kPlan) return diagnostic("option", "a plan can only become a plan or C++");
    const std::span<const uint8_t> bytes = plan::bytes_of(text);
    JUMAR_ASSIGN(plan::Plan plan,
                 plan::is_binary(bytes) ? plan::read_binary(bytes, file) : plan::read_plan(text, file));
    JUMAR_RETURN_IF_ERROR(plan::verify(plan));
    return written(std::move(plan));
  }

  Result<std::string> written(plan::Plan plan) {
    if (request_.to == Level::kPlan) return out_ + plan::write_plan(plan);
    JUMAR_ASSIGN(const emit::host::CppSource source, emit::host::emit_cpp(std::move(plan), {}));
    return out_ + source.text;
  }

  Result<std::string> graph(std::string_view text, const std::string& file) {
    JUMAR_ASSIGN(graph::Graph graph, stages_.read(text, file));
    return run(std::move(graph));
  }

  Result<std::string> loops(loop::Program program, Level from) {
    if (request_.to == Level::kLoop) return out_ + loop::write_program(program);
    JUMAR_ASSIGN(const std::optional<Device> device, device_of(options_));
    if (from < Level::kFused) stages_.fuse(program, {{}, device.has_value()});
    if (request_.to == Level::kFused) return out_ + loop::write_program(program);
    if (device) return on_device(program, *device);
    if (request_.to >= Level::kTtir)
      return diagnostic("option", "{} is made for a device: name one with option target",
                        kLevels[static_cast<size_t>(request_.to)]);
    JUMAR_ASSIGN(const jit::CpuTarget target, target_of(options_, false));
    if (from < Level::kTiled) stages_.tile(program, target);
    if (from == Level::kTiled) stages_.note_items(program);
    if (request_.to == Level::kTiled) return out_ + loop::write_program(program);
    const DistinctKernels kernels = distinct_kernels(program, target.text(), build_id());
    if (request_.to >= Level::kPlan) return written(stages_.plan(program, kernels));
    jit::Codegen codegen(target);
    for (const KernelSource& source : kernels.sources) {
      jit::KernelModule module(codegen, program, *source.kernel, source.name);
      out_ += fmt::format("# kernel @{}\n", source.name);
      out_ += request_.to == Level::kLlvm ? module.optimized_ir(codegen) : module.assembly(codegen);
    }
    return out_;
  }

  // From a fused program, by whoever wrote it: what the device can't run is an error here.
  Result<std::string> on_device(loop::Program& program, const Device& device) {
    JUMAR_ASSIGN(const NpuKernels made, npu_kernels(program, device.target, nullptr, {}));
    JUMAR_RETURN_IF_ERROR(all_made(made, device.target));
    if (request_.to != Level::kPlan) return device_kernels(program, made);
    JUMAR_ASSIGN(plan::Plan plan, plan_for_npu(stages_, program, made, device.target));
    return written(std::move(plan));
  }

  Result<std::string> device_kernels(const loop::Program& program, const NpuKernels& made) {
    for (const NpuKernel& kernel : made.kernels) {
      switch (request_.to) {
        case Level::kTiled:
          out_ += tiling_text(kernel);
          break;
        case Level::kTtir:
          out_ += fmt::format("// kernel @{}\n{}", kernel.name, kernel.ttir);
          break;
        case Level::kTriton:
          out_ += fmt::format("# kernel @{}\n{}", kernel.name,
                              emit::triton::emit_triton(program, kernel.choice.kernel));
          break;
        default:
          return diagnostic("option", "there is no {} of kernels for a device",
                            kLevels[static_cast<size_t>(request_.to)]);
      }
    }
    return out_;
  }

  Result<std::string> page(const graph::Graph& graph) {
    JUMAR_ASSIGN(loop::Program program, stages_.lower(graph));
    stages_.fuse(program);
    JUMAR_ASSIGN(const jit::CpuTarget target, target_of(options_, false));
    stages_.tile(program, target);
    const DistinctKernels kernels = distinct_kernels(program, target.text(), build_id());
    const plan::Plan plan = stages_.plan(program, kernels);
    const std::string build = fmt::format("jumar {} (build {})", kVersion, build_id());
    return html_report({request_.title, build,
                        fmt::format("{}, {}-bit vectors", target.cpu, target.vector_bits), graph, program,
                        plan, report_, hinted_sizes(program)});
  }

  const OptRequest& request_;
  const Options& options_;
  Report& report_;
  std::string& out_;
  Stages stages_;
};

}  // namespace

std::optional<Level> level_from_name(std::string_view name) {
  const auto* const it = std::find(kLevels.begin(), kLevels.end(), name);
  if (it == kLevels.end()) return std::nullopt;
  return static_cast<Level>(it - kLevels.begin());
}

std::vector<std::string> level_names() { return {kLevels.begin(), kLevels.end()}; }

namespace {

// Runs the stages with a Run, and collects what print_after asked for before what it returns.
template <class Start>
Result<std::string> with_dumps(const OptRequest& request, const Options& options, Report& report,
                               Start&& start) {
  std::string dumped;
  JUMAR_ASSIGN(Dumps dumps,
               Dumps::create(request.print_after, [&](std::string_view name, const std::string& dump) {
                 dumped += fmt::format("# after {}\n{}", name, dump);
               }));
  Run run(request, options, report, dumps, dumped);
  Result<std::string> out = start(run);
  if (out.ok() && request.print_report) return remarks(report);
  return out;
}

}  // namespace

Result<std::string> opt(const OptRequest& request, std::string_view text, const std::string& file,
                        const Options& options, Report& report) {
  return with_dumps(request, options, report, [&](Run& run) { return run.run(text, file); });
}

Result<std::string> opt(const OptRequest& request, graph::Graph graph, const Options& options,
                        Report& report) {
  return with_dumps(request, options, report, [&](Run& run) { return run.run(std::move(graph)); });
}

std::string options_in_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(kOptionMark)) out += std::string(line.substr(kOptionMark.size())) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace jumar::driver
