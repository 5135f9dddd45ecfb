// What compilations of one embedder share, and the way from graph text to something that runs.
//
//   JUMAR_ASSIGN(std::shared_ptr<Context> context, Context::create(process_environment()));
//   JUMAR_ASSIGN(Options options, context->options().with("max_fusions=3"));
//   JUMAR_ASSIGN(std::shared_ptr<const CompiledGraph> graph, context->compile(text, options));
//   graph->run(inputs, outputs, nullptr);
//
// A Context holds the options of the environment, the JIT, the kernels that are loaded, and one memory pool
// and one cache directory for each setting of the options that configure them. Several threads may compile at
// once. A CompiledGraph keeps alive what it needs, also when the Context is gone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "driver/cpp_program.h"
#include "driver/device.h"
#include "driver/kernels.h"
#include "driver/sim_kernels.h"
#include "driver/store.h"
#include "driver/toolchain/toolchain.h"
#include "graph/graph.h"
#include "runtime/executor.h"
#include "runtime/native/provider.h"
#include "runtime/package/model.h"
#include "runtime/torch/c_api.h"
#include "support/options.h"
#include "target/target.h"

namespace jumar::driver {

class Stages;

// How a compiled graph is going to be run.
struct Running {
  bool without_libtorch = false;    // and without a HostCalls: what needs them is refused
  std::string torch_library;        // to load libtorch from, without a HostCalls; empty: the process's own
  bool freezes_parameters = false;  // runtime::Engine::freezes_parameters
  int threads = 0;                  // of a provider; 0: one for each processor
};

class CompiledGraph {
 public:
  const runtime::PreparedPlan& plan() const { return model_ ? model_->plan() : *plan_; }
  // Of a package, whose constants are its own; null of other graphs.
  const runtime::package::Model* model() const { return model_.get(); }
  // What the kernels of a package are for; null of other graphs.
  const Device* device() const { return device_.get(); }
  size_t input_count() const { return model_ ? model_->argument_count() : plan_->input_count(); }
  size_t output_count() const { return model_ ? model_->result_count() : plan_->output_count(); }
  // As PreparedPlan::run, by the program that was made of the plan where there is one.
  std::optional<runtime::RunError> run(std::span<const runtime::InputValue> inputs,
                                       std::span<runtime::Output> outputs, runtime::HostCalls* host) const;
  int64_t last_arena_bytes() const {
    return program_ ? program_->last_arena_bytes() : plan().last_arena_bytes();
  }
  // Null without libtorch.
  const runtime::torch::Api* torch() const { return torch_.get(); }
  const std::string& plan_text() const { return plan_text_; }
  const std::string& report() const { return report_; }
  // Of a package: jumar_program_signature.
  const std::string& signature() const { return signature_; }

 private:
  friend class Context;
  // Declared first: they outlive the plan that uses them.
  std::shared_ptr<const runtime::torch::Api> torch_;
  LoadedKernels kernels_;
  SimKernels sim_kernels_;  // of a device, in place of those
  std::shared_ptr<const runtime::PreparedPlan> plan_;
  std::shared_ptr<const CppProgram> program_;  // null: the plan is executed
  std::unique_ptr<runtime::package::Model> model_;
  std::unique_ptr<const Device> device_;
  std::string plan_text_;
  std::string report_;
  std::string signature_;
};

class Context {
 public:
  static Result<std::shared_ptr<Context>> create(const Environment& environment);

  const Options& options() const { return options_; }
  Result<std::shared_ptr<const CompiledGraph>> compile(std::string_view text, const Options& options,
                                                       const Running& running = {});
  // A package for an NPU, its kernels in the simulator. Of the options those count that are about running:
  // device_limit, pool_bytes, provider, sim_library.
  Result<std::shared_ptr<const CompiledGraph>> simulate_package(const std::string& path,
                                                                const Options& options,
                                                                const Running& running = {});

 private:
  struct Job;

  explicit Context(Options options) : options_(std::move(options)) {}
  std::shared_ptr<runtime::Pool> pool(const Options& options);
  std::shared_ptr<const Store> store(const Options& options);
  // Null while the process has no libtorch.
  std::shared_ptr<const runtime::torch::Api> torch();
  Result<std::shared_ptr<const runtime::torch::Api>> torch_for(const Running& running);
  // Null where the options say that libtorch makes the calls.
  Result<std::shared_ptr<const runtime::native::Provider>> provider(const Options& options, int threads);
  Result<runtime::Engine> engine(const Options& options, const Running& running, const CompiledGraph& graph);
  Status build(Job& job);
  Status build_for_cpu(Job& job, Stages& stages, const graph::Graph& graph);
  Status build_for_device(Job& job, Stages& stages, const graph::Graph& graph);
  Status load_kernels(Job& job);
  // The toolchain that the options lead to; its programs are asked for their versions once.
  Result<toolchain::Toolchain> toolchain_for(const Options& options, const target::Target& target);
  void warn_once(const std::vector<std::string>& warnings);
  Status load_entry(Job& job, std::string_view entry);
  void make_program(Job& job, const runtime::Engine& engine);
  Status finish(Job& job);

  Options options_;
  KernelLibrary library_;
  SimKernelCache sim_library_;
  std::mutex mutex_;  // guards the members below
  std::shared_ptr<const runtime::torch::Api> torch_;
  std::map<int64_t, std::shared_ptr<runtime::Pool>> pools_;
  std::map<int, std::shared_ptr<const runtime::native::Provider>> providers_;  // by their threads
  std::map<std::pair<std::string, int64_t>, std::shared_ptr<const Store>> stores_;
  std::set<std::string> warned_;
  // By the option toolchain_dir and the target's compiler.
  std::map<std::pair<std::string, std::string>, toolchain::Toolchain> toolchains_;
};

// Saves what a compilation that hit a bug was given; gives the file's path, or "" when nothing can be
// written. The text begins with comments that hold the options and the message; `jumar opt` takes it as it
// is.
std::string write_reproducer(const Options& options, std::string_view text, std::string_view message);

}  // namespace jumar::driver
