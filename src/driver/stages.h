// The stages between graph text and a plan, each timed, verified and printable.
//
//   Stages stages(options, report, dumps);
//   JUMAR_ASSIGN(graph::Graph graph, stages.read(text, file));
//   JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
//   JUMAR_ASSIGN(loop::Program program, stages.lower(graph));
//   stages.fuse(program);
//   stages.tile(program, target);
//   plan::Plan plan = stages.plan(program, kernels);
//
// What a user's text can break is a diagnostic of read(); a later stage that leaves something that does not
// verify is a bug of that stage, and raises InternalError with its name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "driver/jit/cpu_target.h"
#include "driver/kernels.h"
#include "driver/report.h"
#include "emit/host/emit_plan.h"
#include "graph/graph.h"
#include "loop/loop.h"
#include "plan/plan.h"
#include "support/options.h"

namespace jumar::driver {

// Where the text after a stage or pass goes: wanted by name, by `all`, or by `changed`.
class Dumps {
 public:
  using Sink = std::function<void(std::string_view name, const std::string& text)>;
  // An unknown name is an "option" diagnostic that lists the known ones.
  static Result<Dumps> create(const std::vector<std::string>& wanted, Sink sink);

  void after(std::string_view name, const std::function<std::string()>& text);
  void print(std::string_view name, const std::string& text) { sink_(name, text); }
  // The wanted names without those of stages, for the runner of passes.
  std::vector<std::string> wanted_passes() const;

 private:
  Dumps(std::vector<std::string> wanted, Sink sink) : wanted_(std::move(wanted)), sink_(std::move(sink)) {}
  bool wants(std::string_view name) const;

  std::vector<std::string> wanted_;
  Sink sink_;
  std::string last_;  // for `changed`
};

// One line per graph pass, in the order in which they are run.
std::string pass_list();

// Whether libtorch makes the program's calls, or a provider does that needs none.
bool calls_libtorch(const Options& options);

// The processor that the options name; it must be one that this process can run when `must_run`.
Result<jit::CpuTarget> target_of(const Options& options, bool must_run);

class Stages {
 public:
  Stages(const Options& options, Report& report, Dumps& dumps)
      : options_(options), report_(report), dumps_(dumps) {}

  Result<graph::Graph> read(std::string_view text, const std::string& file);
  Status optimize(graph::Graph& graph);
  // Runs the named passes, in order; an unknown name is an "option" diagnostic.
  Status run_passes(graph::Graph& graph, const std::vector<std::string>& names);
  // What a target adds to lowering: loop::LowerOptions says what these are.
  struct LowerFor {
    std::map<std::string, std::string> call_kernels;
    bool has_f64 = true;
    std::function<std::optional<std::string>(const loop::Program&, const loop::Kernel&)> refuses;
  };
  Result<loop::Program> lower(const graph::Graph& graph) { return lower(graph, {}); }
  Result<loop::Program> lower(const graph::Graph& graph, const LowerFor& how);
  // What a target adds to fusion: fuse::FuseOptions says what these are.
  struct FuseFor {
    std::set<std::string> apart;
    bool in_blocks = false;
  };
  // For each kernel afterwards: those from before that are in it.
  std::map<std::string, std::set<std::string>> fuse(loop::Program& program) { return fuse(program, {}); }
  std::map<std::string, std::set<std::string>> fuse(loop::Program& program, const FuseFor& how);
  void tile(loop::Program& program, const jit::CpuTarget& target);
  plan::Plan plan(const loop::Program& program, const DistinctKernels& kernels);
  plan::Plan plan(const loop::Program& program, std::span<const emit::host::KernelLaunch> launches);
  // Adds the program's kernels and calls to the report; tile() does it.
  void note_items(const loop::Program& program);

 private:
  const Options& options_;
  Report& report_;
  Dumps& dumps_;
};

}  // namespace jumar::driver
