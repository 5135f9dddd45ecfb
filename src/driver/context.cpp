#include "driver/context.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

#include "driver/build_id.h"
#include "driver/canonical.h"
#include "driver/compile_graph.h"
#include "driver/device_report.h"
#include "driver/entry.h"
#include "driver/npu_compile.h"
#include "driver/stages.h"
#include "runtime/native/onednn.h"
#include "support/files.h"

namespace jumar::driver {
namespace {

constexpr std::string_view kStoreKind = "graph";

bool logs(const Options& options, std::string_view channel) {
  return std::find(options.log().begin(), options.log().end(), channel) != options.log().end();
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// A plan from the cache may be that of a graph with other names: messages should use this one's.
void rename_inputs(plan::Plan& plan, const std::vector<std::string>& names) {
  std::unordered_set<std::string> taken;
  for (const plan::Tensor& tensor : plan.tensors) taken.insert(tensor.name);
  for (const plan::Number& number : plan.numbers) taken.insert(number.name);
  for (const plan::IntInput& input : plan.int_inputs) taken.insert(input.name);
  for (plan::Tensor& tensor : plan.tensors) {
    const bool is_input =
        tensor.storage == plan::Storage::kInput || tensor.storage == plan::Storage::kParameter;
    if (!is_input || tensor.index >= names.size() || names[tensor.index].empty()) continue;
    if (taken.insert(names[tensor.index]).second) tensor.name = names[tensor.index];
  }
}

}  // namespace

// An operator that fails in a program is called again by the plan, whose embedder raises PyTorch's own
// exception: nothing that a call has done by then is seen outside of it.
std::optional<runtime::RunError> CompiledGraph::run(std::span<const runtime::InputValue> inputs,
                                                    std::span<runtime::Output> outputs,
                                                    runtime::HostCalls* host) const {
  if (model_) return model_->run(inputs, outputs, host);
  if (!program_) return plan_->run(inputs, outputs, host);
  std::optional<runtime::RunError> error = program_->run(inputs, outputs);
  const bool repeats = error && error->kind == runtime::RunError::Kind::kOpFailed && host != nullptr;
  return repeats ? plan_->run(inputs, outputs, host) : error;
}

struct Context::Job {
  std::string_view text;
  const Options& options;
  const Running& running;
  const jit::CpuTarget& target;
  const Store* store;                 // null: no cache
  const Device* device;               // null: kernels are for the processor
  const toolchain::Toolchain* tools;  // of the device
  Report report;
  CanonicalGraph canonical;
  Hash128 key;
  GraphEntry entry;
  std::optional<plan::Plan> plan;
  std::shared_ptr<CompiledGraph> graph;
};

Result<std::shared_ptr<Context>> Context::create(const Environment& environment) {
  JUMAR_ASSIGN(Options options, Options::from_environment(environment));
  return std::shared_ptr<Context>(new Context(std::move(options)));
}

std::shared_ptr<runtime::Pool> Context::pool(const Options& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<runtime::Pool>& pool = pools_[options.pool_bytes()];
  if (pool == nullptr) pool = runtime::Pool::create(options.pool_bytes());
  return pool;
}

std::shared_ptr<const Store> Context::store(const Options& options) {
  if (!options.cache() || options.resolved_cache_dir().empty() || build_id().empty()) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<const Store>& store = stores_[{options.resolved_cache_dir(), options.cache_size_bytes()}];
  if (store == nullptr) {
    store = std::make_shared<const Store>(options.resolved_cache_dir(), options.cache_size_bytes());
  }
  return store;
}

std::shared_ptr<const runtime::torch::Api> Context::torch() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (torch_ == nullptr) {
    Result<std::unique_ptr<const runtime::torch::Api>> api = runtime::torch::Api::load();
    if (api.ok()) torch_ = std::move(*api);
  }
  return torch_;
}

Result<std::shared_ptr<const runtime::torch::Api>> Context::torch_for(const Running& running) {
  if (running.without_libtorch) return std::shared_ptr<const runtime::torch::Api>();
  if (running.torch_library.empty()) return torch();
  JUMAR_ASSIGN(std::unique_ptr<const runtime::torch::Api> api,
               runtime::torch::Api::load(running.torch_library));
  return std::shared_ptr<const runtime::torch::Api>(std::move(api));
}

Result<std::shared_ptr<const runtime::native::Provider>> Context::provider(const Options& options,
                                                                           int threads) {
  if (calls_libtorch(options)) return std::shared_ptr<const runtime::native::Provider>();
  const std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<const runtime::native::Provider>& provider = providers_[threads];
  if (provider == nullptr) {
    JUMAR_ASSIGN(provider, runtime::native::OneDnn::load({"", threads}));
  }
  return provider;
}

Result<runtime::Engine> Context::engine(const Options& options, const Running& running,
                                        const CompiledGraph& graph) {
  runtime::Engine engine;
  engine.pool = pool(options);
  engine.torch = graph.torch_.get();
  JUMAR_ASSIGN(engine.native, provider(options, running.threads));
  engine.has_host_calls = !running.without_libtorch && running.torch_library.empty();
  engine.freezes_parameters = running.freezes_parameters;
  engine.free_results = static_cast<uint32_t>(options.free_results());
  return engine;
}

Result<std::shared_ptr<const CompiledGraph>> Context::compile(std::string_view text, const Options& options,
                                                              const Running& running) {
  JUMAR_ASSIGN(const std::optional<Device> device, device_of(options));
  JUMAR_ASSIGN(const jit::CpuTarget target, device ? jit::host_cpu_target() : target_of(options, true));
  std::optional<toolchain::Toolchain> tools;
  if (device) {
    warn_once(device->warnings);
    JUMAR_ASSIGN(tools, toolchain_for(options, device->target));
  }
  const std::shared_ptr<const Store> store = this->store(options);
  Job job{text,
          options,
          running,
          target,
          store.get(),
          device ? &*device : nullptr,
          tools ? &*tools : nullptr,
          Report(),
          {},
          {},
          {},
          {},
          std::make_shared<CompiledGraph>()};
  std::optional<std::string> kept;
  if (store != nullptr) {
    const StageTimer timer(job.report, "look up");
    job.canonical = canonical_graph(text);
    const std::string made_for =
        device ? target::write_target(device->target) + tools->identity() : target.text();
    job.key = hash_of(
        fmt::format("graph\n{}\n{}\n{}\n{}", build_id(), options.code_text(), made_for, job.canonical.text));
    kept = store->get(kStoreKind, job.key);
  }
  bool loaded = false;
  if (kept) {
    const Status status = load_entry(job, *kept);
    loaded = status.ok();
    if (!loaded) job.report.notes.push_back("the cache entry was not usable: " + status.error().text());
  }
  if (loaded) {
    job.report.cache = "hit";
  } else {
    job.report.cache = store == nullptr ? "off" : "miss";
    JUMAR_RETURN_IF_ERROR(build(job));
  }
  JUMAR_RETURN_IF_ERROR(finish(job));
  return std::shared_ptr<const CompiledGraph>(std::move(job.graph));
}

Status Context::build(Job& job) {
  JUMAR_ASSIGN(Dumps dumps,
               Dumps::create(job.options.print_after(), [](std::string_view name, const std::string& text) {
                 print(fmt::format("# after {}\n{}", name, text));
               }));
  Stages stages(job.options, job.report, dumps);
  JUMAR_ASSIGN(graph::Graph graph, stages.read(job.text, "<graph>"));
  JUMAR_RETURN_IF_ERROR(stages.optimize(graph));
  JUMAR_RETURN_IF_ERROR(job.device != nullptr ? build_for_device(job, stages, graph)
                                              : build_for_cpu(job, stages, graph));
  job.entry.plan_text = plan::write_plan(*job.plan);
  job.entry.report_body = json_body(job.report);
  {
    const StageTimer timer(job.report, "load");
    JUMAR_RETURN_IF_ERROR(load_kernels(job));
  }
  if (job.store != nullptr) {
    const StageTimer timer(job.report, "save");
    const Status status = job.store->put(kStoreKind, job.key, entry_bytes(job.entry));
    if (!status.ok()) job.report.notes.push_back("not cached: " + status.error().text());
  }
  return {};
}

Status Context::build_for_cpu(Job& job, Stages& stages, const graph::Graph& graph) {
  JUMAR_ASSIGN(CompiledParts parts,
               compile_graph(stages, graph, job.target, job.options, job.store, job.report));
  job.entry.kernels = std::move(parts.kernels);
  job.plan = std::move(parts.plan);
  return {};
}

// The code of a kernel is its linalg text, which the simulator takes.
Status Context::build_for_device(Job& job, Stages& stages, const graph::Graph& graph) {
  NpuOptions options;
  options.toolchain_threads = static_cast<int>(job.options.toolchain_threads());
  options.store = job.store;
  if (job.options.costmodel()) options.ranked_share = job.options.costmodel_ratio();
  JUMAR_ASSIGN(NpuParts parts, compile_for_npu(stages, graph, *job.device, job.tools, options, job.report));
  JUMAR_RETURN_IF_ERROR(note_device_kernels(parts, job.device->target, job.options, job.report));
  for (NpuKernel& kernel : parts.kernels.kernels) {
    const std::string& linalg = kernel.linalg();
    job.entry.kernels.push_back({kernel.name, hash_of("linalg\n" + linalg), linalg});
  }
  job.plan = std::move(parts.plan);
  return {};
}

Status Context::load_kernels(Job& job) {
  if (job.device != nullptr) {
    JUMAR_ASSIGN(job.graph->sim_kernels_, sim_library_.load(job.entry.kernels, job.options));
  } else {
    JUMAR_ASSIGN(job.graph->kernels_, library_.load(job.entry.kernels));
  }
  return {};
}

Result<toolchain::Toolchain> Context::toolchain_for(const Options& options, const target::Target& target) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::pair<std::string, std::string> key(options.toolchain_dir(), target.compiler);
  if (const auto known = toolchains_.find(key); known != toolchains_.end()) return known->second;
  JUMAR_ASSIGN(toolchain::Toolchain tools, needed_toolchain(options, target));
  toolchains_.emplace(key, tools);
  return tools;
}

void Context::warn_once(const std::vector<std::string>& warnings) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& warning : warnings)
    if (warned_.insert(warning).second) print("jumar: " + warning + "\n");
}

Status Context::load_entry(Job& job, std::string_view bytes) {
  const StageTimer timer(job.report, "load");
  std::optional<GraphEntry> entry = entry_from_bytes(bytes);
  if (!entry) return diagnostic("input", "it has another form");
  JUMAR_ASSIGN(plan::Plan plan, plan::read_plan(entry->plan_text, "<cache>"));
  rename_inputs(plan, job.canonical.input_names);
  job.plan = std::move(plan);
  job.entry = std::move(*entry);
  return load_kernels(job);
}

// The plan is kept beside the program: for operators that fail, and where there can be no program.
void Context::make_program(Job& job, const runtime::Engine& engine) {
  const StageTimer timer(job.report, "cpp_wrapper");
  Result<std::shared_ptr<const CppProgram>> program =
      CppProgram::create(*job.plan, job.entry.kernels, {job.options, job.store, engine});
  if (program.ok()) {
    job.graph->program_ = std::move(*program);
    return;
  }
  job.report.notes.push_back(
      fmt::format("cpp_wrapper: {}; the plan is executed as it is", program.error().message));
}

Status Context::finish(Job& job) {
  CompiledGraph& graph = *job.graph;
  {
    const StageTimer timer(job.report, "prepare");
    const bool is_simulated = job.device != nullptr;
    const runtime::KernelTable table = [&](std::string_view name) {
      return is_simulated ? graph.sim_kernels_.find(name) : graph.kernels_.find(name);
    };
    JUMAR_ASSIGN(graph.torch_, torch_for(job.running));
    JUMAR_ASSIGN(runtime::Engine engine, this->engine(job.options, job.running, graph));
    if (is_simulated) graph.sim_kernels_.equip(engine, job.device->limit);
    graph.plan_text_ = job.entry.plan_text;
    if (job.options.cpp_wrapper()) make_program(job, engine);
    JUMAR_ASSIGN(graph.plan_, runtime::PreparedPlan::prepare(std::move(*job.plan), table, std::move(engine)));
  }
  graph.report_ = json(job.report, job.entry.report_body);
  if (logs(job.options, "remarks")) print(remarks(job.report));
  if (logs(job.options, "timing")) {
    for (const Report::Stage& stage : job.report.stages)
      print(fmt::format("{:8.2f} ms  {}\n", stage.ms, stage.name));
  }
  return {};
}

std::string write_reproducer(const Options& options, std::string_view text, std::string_view message) {
  std::string out = fmt::format("# jumar {} (build {})\n", kVersion, build_id());
  const auto comment = [&](std::string_view prefix, std::string_view lines) {
    while (!lines.empty()) {
      const size_t end = std::min(lines.find('\n'), lines.size());
      out += fmt::format("# {}{}\n", prefix, lines.substr(0, end));
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  };
  comment("", message);
  comment("OPTION: ", options.code_text());
  out += text;
  const std::string path =
      fmt::format("{}/jumar-{}.graph", options.resolved_reproducer_dir(), hash_of(out).hex().substr(0, 16));
  return write_file(path, out).ok() ? path : std::string();
}

}  // namespace jumar::driver
