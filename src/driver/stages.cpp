#include "driver/stages.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "driver/device.h"
#include "emit/cpu/signature.h"
#include "emit/host/emit_plan.h"
#include "fuse/fuse.h"
#include "graph/passes/passes.h"
#include "loop/lower/lower.h"
#include "loop/walk.h"
#include "tile/tile_cpu.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kAll = "all";
constexpr std::string_view kChanged = "changed";
constexpr std::string_view kTorch = "torch";  // the word of option provider
constexpr std::array<std::string_view, 5> kStages = {"read", "lower", "fuse", "tile", "plan"};

void check_stage(const Status& status, std::string_view stage) {
  CHECK(status.ok(), "after {}: {}", stage, status.error().text());
}

std::vector<std::string> called_ops(const Options& options, const graph::Graph& graph) {
  if (std::find(options.call_ops().begin(), options.call_ops().end(), kAll) == options.call_ops().end()) {
    return options.call_ops();
  }
  std::set<std::string> ops;
  for (const graph::NodeId id : graph.order) ops.insert(graph.nodes[id].op);
  return {ops.begin(), ops.end()};
}

}  // namespace

Result<Dumps> Dumps::create(const std::vector<std::string>& wanted, Sink sink) {
  std::vector<std::string> known(kStages.begin(), kStages.end());
  for (const ir::Pass<graph::Graph>& pass : graph::graph_passes()) known.emplace_back(pass.name);
  known.insert(known.end(), {std::string(kAll), std::string(kChanged)});
  for (const std::string& word : wanted) {
    if (std::find(known.begin(), known.end(), word) != known.end()) continue;
    return diagnostic("option", "print_after names '{}', but must name some of {}", word,
                      fmt::join(known, ", "));
  }
  return Dumps(wanted, std::move(sink));
}

std::vector<std::string> Dumps::wanted_passes() const {
  std::vector<std::string> passes;
  for (const std::string& word : wanted_) {
    if (std::find(kStages.begin(), kStages.end(), word) == kStages.end()) passes.push_back(word);
  }
  return passes;
}

bool Dumps::wants(std::string_view name) const {
  return std::any_of(wanted_.begin(), wanted_.end(), [&](const std::string& word) {
    return word == name || word == kAll || word == kChanged;
  });
}

void Dumps::after(std::string_view name, const std::function<std::string()>& text) {
  if (!wants(name)) return;
  std::string now = text();
  const bool only_changed = std::find(wanted_.begin(), wanted_.end(), kChanged) != wanted_.end();
  if (!only_changed || now != last_) sink_(name, now);
  last_ = std::move(now);
}

std::string pass_list() {
  std::string out;
  for (const ir::Pass<graph::Graph>& pass : graph::graph_passes()) {
    out += fmt::format("{:<16} {}\n", pass.name, pass.summary);
  }
  return out;
}

bool calls_libtorch(const Options& options) { return options.provider() == kTorch; }

Result<jit::CpuTarget> target_of(const Options& options, bool must_run) {
  JUMAR_ASSIGN(const std::optional<Device> device, device_of(options));
  if (device)
    return diagnostic("unsupported", "{} is '{}', for which this command makes no kernels",
                      options.source("target"), options.target());
  JUMAR_ASSIGN(jit::CpuTarget target, jit::cpu_target(options.cpu()));
  if (!must_run || options.cpu() == "host") return target;
  JUMAR_ASSIGN(const jit::CpuTarget host, jit::host_cpu_target());
  const bool runs = host.is_x86() == target.is_x86() && host.vector_bits >= target.vector_bits &&
                    (host.has_avx512 || !target.has_avx512) &&
                    (host.has_avx512_bf16 || !target.has_avx512_bf16);
  if (!runs) {
    return diagnostic("option", "option cpu is '{}', but this processor ({}) cannot run code for it",
                      options.cpu(), host.cpu);
  }
  return target;
}

Result<graph::Graph> Stages::read(std::string_view text, const std::string& file) {
  const StageTimer timer(report_, "read");
  JUMAR_ASSIGN(graph::Graph graph, graph::read_graph(text, file));
  JUMAR_RETURN_IF_ERROR(graph::verify(graph));
  dumps_.after("read", [&] { return graph::write_graph(graph); });
  return graph;
}

Status Stages::optimize(graph::Graph& graph) {
  const std::span<const std::string_view> names =
      calls_libtorch(options_) ? graph::default_graph_pipeline() : graph::provider_graph_pipeline();
  return run_passes(graph, {names.begin(), names.end()});
}

Status Stages::run_passes(graph::Graph& graph, const std::vector<std::string>& names) {
  const StageTimer timer(report_, "optimize");
  ir::PassOptions options;
  options.disabled = options_.disable_passes();
  options.print_after = dumps_.wanted_passes();
  options.print = [this](std::string_view name, std::string_view text) {
    dumps_.print(name, std::string(text));
  };
  const std::vector<std::string_view> pipeline(names.begin(), names.end());
  JUMAR_ASSIGN(const std::vector<ir::PassRecord> records, graph::run_graph_passes(graph, pipeline, options));
  for (const ir::PassRecord& record : records) {
    for (const std::string& remark : record.remarks) report_.notes.push_back(record.name + ": " + remark);
  }
  return {};
}

Result<loop::Program> Stages::lower(const graph::Graph& graph, const LowerFor& how) {
  const StageTimer timer(report_, "lower");
  loop::LowerOptions options;
  options.strict = options_.emulate_precision_casts();
  options.call = called_ops(options_, graph);
  options.call_kernels = how.call_kernels;
  options.refuses = how.refuses;
  options.has_f64 = how.has_f64;
  JUMAR_ASSIGN(loop::Program program, loop::lower(graph, options));
  check_stage(loop::verify(program), "lower");
  dumps_.after("lower", [&] { return loop::write_program(program); });
  return program;
}

std::map<std::string, std::set<std::string>> Stages::fuse(loop::Program& program, const FuseFor& how) {
  const StageTimer timer(report_, "fuse");
  fuse::FuseOptions options;
  options.max_fusions = static_cast<uint32_t>(options_.max_fusions());
  options.in_blocks = how.in_blocks;
  options.apart = how.apart;
  fuse::FuseReport fusions;
  fuse::fuse(program, options, fusions);
  check_stage(loop::verify(program), "fuse");
  report_.inlined = fusions.inlined;
  report_.merged = fusions.merged;
  report_.siblings = fusions.siblings;
  report_.joined = fusions.joined;
  report_.refusals.clear();
  for (const fuse::Refusal& refusal : fusions.refusals) {
    report_.refusals.push_back({refusal.producer, refusal.consumer, refusal.reason});
  }
  dumps_.after("fuse", [&] { return loop::write_program(program); });
  return std::move(fusions.members);
}

void Stages::tile(loop::Program& program, const jit::CpuTarget& target) {
  const StageTimer timer(report_, "tile");
  tile::CpuModel model;
  model.vector_bytes = target.vector_bits / 8;
  model.cheap_masks = target.has_avx512;
  tile::tile_cpu(program, model);
  check_stage(loop::verify(program), "tile");
  note_items(program);
  dumps_.after("tile", [&] { return loop::write_program(program); });
}

void Stages::note_items(const loop::Program& program) {
  for (const loop::Item& item : program.items) {
    if (const auto* kernel = std::get_if<loop::Kernel>(&item)) {
      Report::Kernel row{kernel->name,
                         kernel->origin,
                         kernel->nests.size(),
                         0,
                         loop::line_count(*kernel),
                         kernel->is_phased,
                         ""};
      for (const loop::Nest& nest : kernel->nests) row.stages += nest.stages.size();
      report_.kernels.push_back(std::move(row));
    } else if (const auto* call = std::get_if<loop::Call>(&item)) {
      if (call->op.starts_with("python.")) {
        report_.python_calls.push_back({call->op.substr(7), call->reason});
      } else {
        report_.add_call(call->op, call->reason);
      }
    }
  }
}

plan::Plan Stages::plan(const loop::Program& program, const DistinctKernels& kernels) {
  std::vector<emit::host::KernelLaunch> launches;
  for (const loop::Item& item : program.items) {
    const auto* kernel = std::get_if<loop::Kernel>(&item);
    if (kernel == nullptr) continue;
    const std::string& name = kernels.sources[kernels.source_of[launches.size()]].name;
    emit::cpu::KernelSignature s = emit::cpu::signature(program, *kernel);
    Report::Kernel& row = report_.kernels[launches.size()];
    if (row.name != name) row.shared_with = name;
    launches.push_back(
        {name, std::move(s.buffers), std::move(s.ints), std::move(s.numbers), s.checks, std::move(s.phases)});
  }
  return plan(program, launches);
}

plan::Plan Stages::plan(const loop::Program& program, std::span<const emit::host::KernelLaunch> launches) {
  const StageTimer timer(report_, "plan");
  plan::Plan plan = emit::host::emit_plan(program, launches);
  check_stage(plan::verify(plan), "plan");
  dumps_.after("plan", [&] { return plan::write_plan(plan); });
  return plan;
}

}  // namespace jumar::driver
