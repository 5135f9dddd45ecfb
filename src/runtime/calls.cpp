#include <algorithm>

#include "runtime/run.h"

namespace jumar::runtime {

bool names_storage(const Code& code, const plan::CallStep& call) {
  const bool is_view = call.op == "aten.as_strided.default";
  if (!is_view && call.op != "aten.as_strided_scatter.default") return false;
  const auto* operand = call.args[0].as<plan::TensorId>();
  return operand && !call.args[is_view ? 3 : 4].as<ir::NoneArg>() &&
         code.tensors[code.tensors[operand->index()].root].place == Place::kInput;
}

// A call that libtorch fails is repeated by the embedder, which raises the exception with libtorch's own
// text.
bool Run::call(const CallCode& call) {
  if (call.native) return call_native(call);
  if (!call.site) return call_host(call, false);
  bool done = false;
  if (!call_site(call, done)) return false;
  if (done) return true;
  if (host_) return call_host(call, true);
  return fail(RunError::Kind::kOpFailed, fmt::format("{} failed; libtorch's message is on stderr", call.name),
              call.step);
}

// The provider writes its result where the plan wants it, with the plan's strides.
bool Run::call_native(const CallCode& call) {
  const uint32_t result = call.results[0];
  if (!call.into && !make(result)) return false;
  frame_.operands.clear();
  for (uint32_t operand : call.operands) frame_.operands.push_back(view_of(operand));
  const native::CallContext context{*code_.engine.pool, frame_.generation};
  const std::optional<std::string> failure = call.native->call(context, frame_.operands, view_of(result));
  if (!failure) return true;
  return fail(RunError::Kind::kOpFailed, fmt::format("{} failed: {}", call.name, *failure), call.step);
}

bool Run::call_site(const CallCode& call, bool& done) {
  frame_.temporaries.clear();
  frame_.handles.clear();
  for (uint32_t operand : call.operands) frame_.handles.push_back(handle_of(operand));
  if (call.site->writes() && !add_targets(call)) return false;
  for (torch::Handle handle : frame_.handles)
    if (!handle) return fail(RunError::Kind::kMemory, fmt::format("no memory for {}", call.name), call.step);
  torch::CallValues values{frame_.handles.data(), frame_.values.data(), frame_.numbers.data()};
  std::span<const torch::Handle> targets(frame_.handles.data() + call.operands.size(),
                                         frame_.handles.size() - call.operands.size());
  done = call.site->call(values, targets, frame_.results);
  if (!done) {
    if (!call.into)
      for (uint32_t result : call.results)
        if (result != kNoIndex) release_root(result);
    return true;
  }
  if (!(call.site->writes() ? check_targets(call) : take_results(call))) return false;
  frame_.temporaries.clear();
  return take_ints(call, frame_.results.ints);
}

// Handles of what the operator writes to: the plan's own buffers, or fresh memory for its results.
bool Run::add_targets(const CallCode& call) {
  for (uint32_t result : call.results) {
    if (!call.into && !make(result)) return false;
    frame_.handles.push_back(target_handle(result));
  }
  return true;
}

// Operators resize a target that has other sizes than the result; then it is no longer the plan's buffer.
bool Run::check_targets(const CallCode& call) {
  for (size_t k = 0; k < call.results.size(); ++k) {
    uint32_t tensor = call.results[k];
    TensorView real;
    bool same = handle_layout(frame_.handles[call.operands.size() + k], real) &&
                real.rank == static_cast<int32_t>(code_.tensors[tensor].rank) &&
                std::equal(real.sizes, real.sizes + real.rank, sizes(tensor)) &&
                (real.data == data_of(tensor) || frame_.extent_bytes[tensor] == 0);
    if (same) continue;
    std::string message = fmt::format("%{} is {}; the operator made {} of it", name_of(tensor),
                                      type_text(view_of(tensor)), type_text(real));
    return result_error(call.step, message);
  }
  return true;
}

// Whether a call sees the tensor through a handle that does not own its memory.
bool Run::is_lent(uint32_t tensor) const {
  const TensorCode& t = code_.tensors[tensor];
  return !frame_.tensors[t.root].handle || t.dtype != code_.tensors[t.root].dtype;
}

torch::Handle Run::handle_of(uint32_t tensor) {
  if (is_lent(tensor)) return blob_of(tensor);
  const TensorCode& t = code_.tensors[tensor];
  torch::Handle root = frame_.tensors[t.root].handle.get();
  if (t.base == kNoIndex) return root;
  torch::Handle view = nullptr;
  if (torch_->aoti_torch__reinterpret_tensor(root, t.rank, sizes(tensor), strides(tensor),
                                             frame_.view_bytes[tensor] / t.element_bytes, &view) != 0)
    return nullptr;
  frame_.temporaries.emplace_back(*torch_, view);
  return view;
}

// A handle to write through. It is never one that was kept: one made in inference mode must not be written to
// outside of it.
torch::Handle Run::target_handle(uint32_t tensor) {
  if (!is_lent(tensor)) return handle_of(tensor);
  const TensorCode& t = code_.tensors[tensor];
  torch::Tensor blob =
      torch_->borrowed_blob(data_of(tensor), t.dtype, t.rank, sizes(tensor), strides(tensor));
  return frame_.temporaries.emplace_back(std::move(blob)).get();
}

// Handles on the arena and on inputs stay for the next call, where parameters and the arena mostly are in the
// same place.
torch::Handle Run::blob_of(uint32_t tensor) {
  TensorState& state = frame_.tensors[tensor];
  void* data = data_of(tensor);
  if (!state.blob || state.blob_data != data) {
    const TensorCode& t = code_.tensors[tensor];
    state.blob = torch_->borrowed_blob(data, t.dtype, t.rank, sizes(tensor), strides(tensor));
    state.blob_data = data;
  }
  return state.blob.get();
}

bool Run::take_results(const CallCode& call) {
  std::vector<torch::Tensor>& tensors = frame_.results.tensors;
  if (tensors.size() != call.results.size() && !call.results.empty())
    return result_error(call.step,
                        fmt::format("it returned {} tensors, not {}", tensors.size(), call.results.size()));
  for (size_t k = 0; k < call.results.size(); ++k) {
    if (call.results[k] == kNoIndex) continue;
    if (!tensors[k])
      return result_error(call.step, fmt::format("%{} is no tensor", name_of(call.results[k])));
    if (!take_result(call, call.results[k], std::move(tensors[k]))) return false;
  }
  tensors.clear();
  return true;
}

bool Run::take_result(const CallCode& call, uint32_t tensor, torch::Tensor result) {
  if (call.into) return copy_result(call, tensor, std::move(result));
  if (borrows_operand(call, tensor, result)) {
    torch::Handle copy = nullptr;
    if (torch_->aoti_torch_clone_preserve_strides(result.get(), &copy) != 0)
      return fail(RunError::Kind::kMemory, fmt::format("no memory for %{}", name_of(tensor)), call.step);
    result = torch::Tensor(*torch_, copy);
  }
  frame_.tensors[tensor].handle = std::move(result);
  return true;
}

// An operator may return an argument, or a view of one. Arguments in the arena are overwritten later and
// those of the caller are only lent, so a result that would outlive them is copied.
bool Run::borrows_operand(const CallCode& call, uint32_t tensor, const torch::Tensor& result) const {
  void* data = nullptr;
  int64_t offset = 0;
  int32_t code = 0;
  if (torch_->aoti_torch_get_data_ptr(result.get(), &data) != 0 || !data) return false;
  if (torch_->aoti_torch_get_storage_offset(result.get(), &offset) != 0) return false;
  if (torch_->aoti_torch_get_dtype(result.get(), &code) != 0) return false;
  std::optional<ir::DType> dtype = ir::dtype_from_c10(code);
  void* storage = static_cast<char*>(data) - offset * (dtype ? ir::dtype_bytes(*dtype) : 1);
  for (uint32_t operand : call.operands) {
    if (!is_lent(operand) || storage != data_of(operand)) continue;
    Place place = code_.tensors[code_.tensors[operand].root].place;
    if (place != Place::kInput || code_.tensors[tensor].escapes) return true;
  }
  return false;
}

bool Run::copy_result(const CallCode& call, uint32_t target, torch::Tensor result) {
  TensorView real;
  bool same = handle_layout(result.get(), real) && real.dtype == code_.tensors[target].dtype &&
              real.rank == static_cast<int32_t>(code_.tensors[target].rank) &&
              std::equal(real.sizes, real.sizes + real.rank, sizes(target));
  if (!same)
    return result_error(call.step, fmt::format("%{} is {}, the operator returned {}", name_of(target),
                                               type_text(view_of(target)), type_text(real)));
  torch::Handle handle = target_handle(target);
  if (!handle || torch_->aoti_torch_copy_(handle, result.get(), 0) != 0)
    return fail(RunError::Kind::kOpFailed, fmt::format("%{} cannot be copied", name_of(target)), call.step);
  return true;
}

bool Run::take_ints(const CallCode& call, const std::vector<int64_t>& ints) {
  if (call.result_ints.empty()) return true;
  if (ints.size() != call.result_ints.size())
    return result_error(call.step,
                        fmt::format("it returned {} numbers, not {}", ints.size(), call.result_ints.size()));
  for (size_t k = 0; k < ints.size(); ++k) {
    frame_.values[call.result_ints[k]] = ints[k];
    if (!check_symbol(call.result_ints[k], call.step)) return false;
  }
  return run_stage(call.stage, call.step);
}

bool Run::result_error(uint32_t step, const std::string& message) {
  const plan::StepData& data = code_.plan.steps[step].data;
  const plan::CallStep* call = std::get_if<plan::CallStep>(&data);
  std::string name = call                                             ? call->op
                     : std::holds_alternative<plan::PythonStep>(data) ? "a Python call"
                                                                      : "a bind";
  return fail(RunError::Kind::kOpResult,
              fmt::format("{} (step {}) gave what the plan was not compiled for: {}", name, step, message),
              step);
}

}  // namespace jumar::runtime
