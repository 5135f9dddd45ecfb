#include "runtime/package/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "plan/binary.h"
#include "runtime/memory.h"
#include "runtime/package/cpu_features.h"
#include "runtime/torch/c_api.h"

namespace jumar::runtime::package {
namespace {

jumar::Result<std::shared_ptr<const PreparedPlan>> prepared(const PackageBytes& bytes,
                                                            const KernelTable& kernels,
                                                            const Engine& engine) {
  // The plan was verified when the package was made.
  if (checksum_of(bytes.data, bytes.size) != bytes.checksum)
    return diagnostic("format", "the package's plan is damaged");
  JUMAR_ASSIGN(plan::Plan plan, plan::read_binary({bytes.data, bytes.size}, "the package's plan"));
  return PreparedPlan::prepare_verified(std::move(plan), kernels, engine);
}

Status check_processor(const Manifest& manifest) {
  const std::vector<std::string> missing = missing_cpu_features(manifest.cpu_features);
  if (missing.empty()) return {};
  return diagnostic("unsupported",
                    "the package was compiled for {} and this processor lacks {}: compile it "
                    "with a lower --cpu, such as x86-64-v3",
                    manifest.cpu, fmt::join(missing, ", "));
}

InputValue input_of(const ConstantValue& value) {
  InputValue input;
  input.kind = InputValue::Kind::kTensor;
  input.tensor = value.view;
  return input;
}

RunError no_memory(const std::string& what) {
  return {RunError::Kind::kMemory, fmt::format("no memory for {}", what), std::nullopt};
}

}  // namespace

std::string full_message(const Diagnostic& error) {
  std::string out = error.message;
  for (const std::string& note : error.notes) out += "\n  " + note;
  return out;
}

jumar::Result<std::unique_ptr<Model>> Model::create(const PackageData& data, const WeightsSource& weights,
                                                    const EngineSource& engines) {
  if (data.format != kPackageFormat) {
    return diagnostic("input", "the package has format {}, but this runtime reads format {}", data.format,
                      kPackageFormat);
  }
  if (data.device != nullptr) {
    return diagnostic(
        "unsupported",
        "its kernels are for {}, and the runtime of packages launches kernels on no device yet: "
        "`jumar run --sim` and jumar.load(path, sim=True) run them in the simulator",
        data.device);
  }
  JUMAR_ASSIGN(Manifest manifest,
               Manifest::read({reinterpret_cast<const char*>(data.manifest.data), data.manifest.size}));
  JUMAR_RETURN_IF_ERROR(check_processor(manifest));
  JUMAR_ASSIGN(const std::shared_ptr<Weights> bytes, weights(manifest));
  JUMAR_ASSIGN(Engine engine, engines(manifest));
  engine.has_host_calls = engine.has_host_calls && !manifest.proxied_steps.empty();
  engine.freezes_parameters =
      std::none_of(manifest.results.begin(), manifest.results.end(),
                   [](const CallResult& r) { return r.role == CallResult::Role::kConstantMutation; });
  // Constants have the types that the manifest and the plan agree on.
  const auto arguments = std::count_if(manifest.arguments.begin(), manifest.arguments.end(),
                                       [](const Argument& a) { return !a.is_constant; });
  engine.checked_inputs = manifest.checks_arguments ? static_cast<uint32_t>(arguments) : 0;
  JUMAR_ASSIGN(ConstantBanks banks, ConstantBanks::create(manifest, bytes, engine.pool));
  std::unique_ptr<Model> model(new Model(std::move(manifest), std::move(banks), std::move(engine)));
  std::map<std::string_view, KernelFn> table;
  for (const PackageKernel& kernel : std::span(data.kernels, data.kernel_count)) {
    table[kernel.name] = kernel.function;
  }
  const KernelTable kernels = [&](std::string_view name) {
    const auto it = table.find(name);
    return it == table.end() ? nullptr : it->second;
  };
  JUMAR_ASSIGN(model->plan_, prepared(data.plan, kernels, model->engine_));
  JUMAR_RETURN_IF_ERROR(model->count_results());
  if (data.folding_plan.size > 0) {
    Engine folding = model->engine_;
    folding.checked_inputs = 0;
    folding.has_host_calls = false;
    JUMAR_ASSIGN(model->folding_plan_, prepared(data.folding_plan, kernels, folding));
    JUMAR_RETURN_IF_ERROR(model->fold(model->banks_.active()));
  }
  return model;
}

Status Model::count_results() {
  const Manifest& m = manifest_;
  argument_count_ = static_cast<size_t>(std::count_if(m.arguments.begin(), m.arguments.end(),
                                                      [](const Argument& a) { return !a.is_constant; }));
  for (const CallResult& result : m.results) {
    if (result.role == CallResult::Role::kConstantMutation) writes_constants_ = true;
    if (result.role == CallResult::Role::kUser) ++result_count_;
  }
  if (plan_->input_count() != argument_count_ + m.plan_constants.size() ||
      plan_->output_count() != m.results.size()) {
    return diagnostic("input", "the package's plan has {} inputs and {} results, its manifest {} and {}",
                      plan_->input_count(), plan_->output_count(), argument_count_ + m.plan_constants.size(),
                      m.results.size());
  }
  return {};
}

// ---- Constants ----

std::optional<size_t> Model::constant_index(std::string_view name) const {
  for (size_t k = 0; k < manifest_.constants.size(); ++k) {
    if (manifest_.constants[k].name == name) return k;
  }
  return std::nullopt;
}

std::vector<std::shared_ptr<const ConstantValue>> Model::constants(Bank bank) const {
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return banks_.values(index_of(bank));
}

Status Model::update(Bank bank, const std::vector<ConstantUpdate>& updates) {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  ++generation_;
  ConstantBanks changed = banks_;
  const size_t index = index_of(bank);
  JUMAR_RETURN_IF_ERROR(changed.update(manifest_, index, updates));
  std::swap(banks_, changed);
  Status folded = fold(index);
  if (!folded.ok()) std::swap(banks_, changed);
  plan_->parameters_changed();
  return folded;
}

Status Model::swap() {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  ++generation_;
  plan_->parameters_changed();
  return banks_.swap();
}

void Model::free_inactive() {
  const std::unique_lock<std::shared_mutex> lock(mutex_);
  banks_.free_inactive();
}

Status Model::fold(size_t bank) {
  if (folding_plan_ == nullptr) return {};
  std::vector<InputValue> inputs;
  for (const auto& value : banks_.values(bank)) inputs.push_back(input_of(*value));
  std::vector<Output> outputs(folding_plan_->output_count());
  if (const std::optional<RunError> error = folding_plan_->run(inputs, outputs, nullptr)) {
    return diagnostic("run", "what the package computes of its constants failed: {}", error->message);
  }
  std::vector<std::shared_ptr<const ConstantValue>> folded;
  for (Output& output : outputs) {
    const TensorView view = output_view(engine_.torch, output, inputs);
    CHECK(output.kind != Output::Kind::kAlias, "a folded constant is a constant");
    auto owner = std::make_shared<Output>(std::move(output));
    folded.push_back(constant_value(view.dtype, {view.sizes, view.sizes + view.rank},
                                    {view.strides, view.strides + view.rank}, view.data, std::move(owner)));
  }
  banks_.set_folded(bank, std::move(folded));
  return {};
}

// ---- Calls ----

const ConstantValue& Model::plan_constant(const PlanConstant& which) const {
  const size_t bank = banks_.active();
  return which.is_folded ? *banks_.folded(bank)[which.index] : *banks_.values(bank)[which.index];
}

std::unique_ptr<Model::Call> Model::take_call(std::span<const InputValue> arguments) {
  std::unique_ptr<Call> call = calls_.take();
  if (!call) call = std::make_unique<Call>();
  call->inputs.resize(argument_count_ + manifest_.plan_constants.size());
  call->outputs.resize(manifest_.results.size());
  std::copy(arguments.begin(), arguments.end(), call->inputs.begin());
  if (call->generation != generation_) {
    auto next = call->inputs.begin() + static_cast<std::ptrdiff_t>(argument_count_);
    for (const PlanConstant& which : manifest_.plan_constants) *next++ = input_of(plan_constant(which));
    call->generation = generation_;
  }
  return call;
}

std::optional<RunError> Model::run(std::span<const InputValue> arguments, std::span<Output> outputs,
                                   HostCalls* host) {
  CHECK(outputs.size() == result_count_, "{} outputs, the package has {}", outputs.size(), result_count_);
  if (arguments.size() != argument_count_) {
    return RunError{
        RunError::Kind::kInput,
        fmt::format("{} arguments given, the program takes {}", arguments.size(), argument_count_),
        std::nullopt};
  }
  if (writes_constants_) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    return run_locked(arguments, outputs, host);
  }
  const std::shared_lock<std::shared_mutex> lock(mutex_);
  return run_locked(arguments, outputs, host);
}

std::optional<RunError> Model::run_locked(std::span<const InputValue> arguments, std::span<Output> outputs,
                                          HostCalls* host) {
  std::unique_ptr<Call> call = take_call(arguments);
  std::optional<RunError> error = plan_->run(call->inputs, call->outputs, host);
  if (!error) error = finish(*call, outputs);
  if (error) {
    for (Output& output : outputs) output.drop();
  }
  for (Output& output : call->outputs) output.drop();
  calls_.give(std::move(call));
  return error;
}

// Results are given to the caller, or written to what they are the new elements of. All memory is found
// before anything is written.
std::optional<RunError> Model::finish(Call& call, std::span<Output> outputs) {
  size_t next = 0;
  for (size_t k = 0; k < manifest_.results.size(); ++k) {
    Output& result = call.outputs[k];
    const bool is_constant =
        result.kind == Output::Kind::kAlias && result.input && *result.input >= argument_count_;
    if (manifest_.results[k].role != CallResult::Role::kUser) continue;
    Output& output = outputs[next++];
    if (!is_constant) {
      output = std::move(result);
      continue;
    }
    if (!copied_output(engine_, result, call.inputs, output)) {
      return no_memory(fmt::format("result {}", next - 1));
    }
  }
  for (size_t k = 0; k < manifest_.results.size(); ++k) {
    const CallResult& result = manifest_.results[k];
    if (result.role == CallResult::Role::kUser) continue;
    const bool is_constant = result.role == CallResult::Role::kConstantMutation;
    const TensorView target =
        is_constant ? banks_.values(banks_.active())[result.index]->view : call.inputs[result.index].tensor;
    copy_elements(output_view(engine_.torch, call.outputs[k], call.inputs), target);
  }
  return std::nullopt;
}

}  // namespace jumar::runtime::package
