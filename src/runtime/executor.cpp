#include "runtime/executor.h"

#include "runtime/run.h"
#include "support/spares.h"

namespace jumar::runtime {

// A frame keeps its layouts and handles, so that the next call of the same sizes does no work on expressions.
struct PreparedPlan::Impl {
  std::unique_ptr<Code> code;
  Spares<Frame> idle;
  std::atomic<int64_t> last_arena_bytes{0};
  std::atomic<uint64_t> generation{0};  // of the parameters' elements

  std::unique_ptr<Frame> take_frame() {
    if (std::unique_ptr<Frame> idle_frame = idle.take()) return idle_frame;
    auto frame = std::make_unique<Frame>();
    frame->values = code->program.initial_values();
    frame->numbers.assign(code->plan.numbers.size(), 0);
    frame->dims.assign(code->dims_size, 0);
    size_t tensors = code->tensors.size();
    frame->view_bytes.assign(tensors, 0);
    frame->extent_bytes.assign(tensors, 0);
    frame->data.assign(tensors, nullptr);
    frame->tensors.resize(tensors);
    frame->entry_numbers.assign(code->entries.size(), 0);
    frame->words.assign(code->words_size, 0);
    return frame;
  }
};

PreparedPlan::PreparedPlan() : impl_(std::make_unique<Impl>()) {}
PreparedPlan::~PreparedPlan() = default;

Result<std::shared_ptr<const PreparedPlan>> PreparedPlan::prepare(plan::Plan plan, const KernelTable& kernels,
                                                                  Engine engine) {
  JUMAR_RETURN_IF_ERROR(plan::verify(plan));
  return prepare_verified(std::move(plan), kernels, std::move(engine));
}

Result<std::shared_ptr<const PreparedPlan>> PreparedPlan::prepare_verified(plan::Plan plan,
                                                                           const KernelTable& kernels,
                                                                           Engine engine) {
  CHECK(engine.pool != nullptr, "an engine needs a pool");
  std::shared_ptr<PreparedPlan> prepared(new PreparedPlan());
  JUMAR_ASSIGN(prepared->impl_->code, compiled(std::move(plan), kernels, std::move(engine)));
  return std::shared_ptr<const PreparedPlan>(std::move(prepared));
}

size_t PreparedPlan::input_count() const { return impl_->code->inputs.size(); }
size_t PreparedPlan::output_count() const { return impl_->code->outputs.size(); }
const plan::Plan& PreparedPlan::plan() const { return impl_->code->plan; }
const std::vector<PreparedPlan::HostCalledOp>& PreparedPlan::host_called_ops() const {
  return impl_->code->host_called;
}
void PreparedPlan::parameters_changed() const { impl_->generation.fetch_add(1, std::memory_order_relaxed); }
bool PreparedPlan::is_brief() const { return impl_->code->is_brief; }
int64_t PreparedPlan::last_arena_bytes() const {
  return impl_->last_arena_bytes.load(std::memory_order_relaxed);
}

std::optional<RunError> PreparedPlan::run(std::span<const InputValue> inputs, std::span<Output> outputs,
                                          HostCalls* host) const {
  CHECK(outputs.size() == output_count(), "{} outputs, the plan has {}", outputs.size(), output_count());
  std::unique_ptr<Frame> frame = impl_->take_frame();
  for (Output& output : outputs) output.drop();
  std::optional<RunError> error;
  {
    frame->generation = impl_->generation.load(std::memory_order_relaxed);
    Run run(*impl_->code, *frame, inputs, host);
    if (!(run.enter() && run.execute() && run.give_outputs(outputs))) error = std::move(run.error);
    if (frame->arena)
      impl_->last_arena_bytes.store(frame->arena_plans.front().layout.total_bytes, std::memory_order_relaxed);
  }
  impl_->idle.give(std::move(frame));
  if (error)
    for (Output& output : outputs) output.drop();
  return error;
}

}  // namespace jumar::runtime
