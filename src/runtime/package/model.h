// A loaded package: its plan, its constants, and calls of it.
//
//   JUMAR_ASSIGN(std::unique_ptr<Model> model, Model::create(jumar_package, weights, engine));
//   std::vector<Output> outputs(model->result_count());
//   if (std::optional<RunError> error = model->run(arguments, outputs)) ...
//
// `arguments` are the plan's inputs before its constants: the leaves of the call's argument tree that are
// not fixed. Several threads may run a model at once; changes of constants wait for the calls that are under
// way, and so do calls of a program that writes to its own constants. Where such a program's call fails,
// nothing has been written.
#pragma once

#include <functional>
#include <shared_mutex>

#include "runtime/package/constants.h"
#include "runtime/package/package_data.h"
#include "support/spares.h"

namespace jumar::runtime::package {

class Model {
 public:
  // What an embedder gives to a model once the manifest says what the model is like.
  using WeightsSource = std::function<jumar::Result<std::shared_ptr<Weights>>(const Manifest& manifest)>;
  using EngineSource = std::function<jumar::Result<Engine>(const Manifest& manifest)>;
  // Fails where the processor lacks an instruction set that the kernels use, or where what is linked in
  // does not fit this runtime, or where the engine can't make the plan's calls, or where kernels are for a
  // device.
  static jumar::Result<std::unique_ptr<Model>> create(const PackageData& data, const WeightsSource& weights,
                                                      const EngineSource& engine);

  const Manifest& manifest() const { return manifest_; }
  const PreparedPlan& plan() const { return *plan_; }
  // Null where nothing is computed of the constants.
  const PreparedPlan* folding_plan() const { return folding_plan_.get(); }
  const Engine& engine() const { return engine_; }
  size_t argument_count() const { return argument_count_; }
  size_t result_count() const { return result_count_; }

  // `outputs` has result_count() elements. A result that is an argument, or a view of one, is an
  // Output::kAlias; one that is a constant is a copy of it.
  // `host` may be null where the engine was said to have no calls of its own.
  std::optional<RunError> run(std::span<const InputValue> arguments, std::span<Output> outputs,
                              HostCalls* host = nullptr);

  enum class Bank : uint8_t { kActive, kInactive };
  // All or none of the updates are done. What is computed from constants follows at once.
  Status update(Bank bank, const std::vector<ConstantUpdate>& updates);
  Status swap();
  void free_inactive();
  std::optional<size_t> constant_index(std::string_view name) const;
  // Of a bank that has none: empty.
  std::vector<std::shared_ptr<const ConstantValue>> constants(Bank bank) const;

 private:
  // What a call needs, kept for the next one: the plan's inputs, of which the constants are filled in.
  struct Call {
    std::vector<InputValue> inputs;
    std::vector<Output> outputs;
    uint64_t generation = 0;  // of the constants
  };

  Model(Manifest manifest, ConstantBanks banks, Engine engine)
      : manifest_(std::move(manifest)), engine_(std::move(engine)), banks_(std::move(banks)) {}
  Status count_results();
  size_t index_of(Bank bank) const { return bank == Bank::kActive ? banks_.active() : banks_.inactive(); }
  Status fold(size_t bank);
  std::optional<RunError> run_locked(std::span<const InputValue> arguments, std::span<Output> outputs,
                                     HostCalls* host);
  std::unique_ptr<Call> take_call(std::span<const InputValue> arguments);
  const ConstantValue& plan_constant(const PlanConstant& which) const;
  std::optional<RunError> finish(Call& call, std::span<Output> outputs);

  Manifest manifest_;
  Engine engine_;
  mutable std::shared_mutex mutex_;  // guards banks_ and generation_
  ConstantBanks banks_;
  uint64_t generation_ = 1;
  Spares<Call> calls_;
  std::shared_ptr<const PreparedPlan> plan_;
  std::shared_ptr<const PreparedPlan> folding_plan_;  // null where nothing is folded
  size_t argument_count_ = 0;
  size_t result_count_ = 0;
  bool writes_constants_ = false;
};

// The message with its notes, one to a line.
std::string full_message(const Diagnostic& error);

}  // namespace jumar::runtime::package
