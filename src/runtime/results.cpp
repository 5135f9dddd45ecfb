#include <algorithm>

#include "runtime/run.h"

namespace jumar::runtime {

void free_layouts(Code& code) {
  std::vector<uint32_t> uses(code.tensors.size(), 0);  // of roots, outputs included
  const auto use = [&](uint32_t tensor) { ++uses[code.tensors[tensor].root]; };
  for (const LaunchCode& launch : code.launches) std::ranges::for_each(launch.tensors, use);
  for (const CallCode& call : code.calls) std::ranges::for_each(call.operands, use);
  for (const BindCode& bind : code.binds)
    if (bind.source == plan::BindStep::Source::kItem) use(bind.tensor);
  for (const NumberCode& number : code.numbers)
    for (const NumberOperand& operand : number.operands)
      if (operand.kind == NumberOperand::Kind::kTensor) use(operand.index);
  for (const OutputCode& output : code.outputs)
    if (output.kind == Output::Kind::kTensor) use(output.source.index);
  const size_t count = std::min<size_t>(code.outputs.size(), code.engine.free_results);
  for (size_t k = 0; k < count; ++k) {
    if (code.outputs[k].kind != Output::Kind::kTensor) continue;
    TensorCode& t = code.tensors[code.outputs[k].source.index];
    t.has_free_layout =
        t.place == Place::kResult && t.base == kNoIndex && uses[code.outputs[k].source.index] == 1;
  }
}

bool Run::handle_layout(torch::Handle handle, TensorView& view) const {
  return runtime::handle_layout(*torch_, handle, view);
}

// What a called operator really returned.
bool Run::real_layout(uint32_t tensor, TensorView& view) {
  TensorState& state = frame_.tensors[tensor];
  if (state.host.object) {
    view = state.host_view;
    return true;
  }
  // A provider's result is memory of the call's own.
  if (state.block) {
    view = view_of(tensor);
    return true;
  }
  CHECK(static_cast<bool>(state.handle), "%{} has no result", name_of(tensor));
  if (handle_layout(state.handle.get(), view)) return true;
  return result_error(code_.tensors[tensor].producer,
                      fmt::format("%{} is no strided tensor on the CPU", name_of(tensor)));
}

bool Run::settle(uint32_t tensor) {
  const TensorCode& t = code_.tensors[tensor];
  TensorView real;
  if (!real_layout(tensor, real)) return false;
  bool same = real.dtype == t.dtype && real.rank == static_cast<int32_t>(t.rank) &&
              real.device_type == kDlCpu && std::equal(real.sizes, real.sizes + real.rank, sizes(tensor));
  if (!same) {
    TensorView wanted{nullptr, t.dtype, static_cast<int32_t>(t.rank), sizes(tensor), strides(tensor), kDlCpu};
    return result_error(
        t.producer, fmt::format("%{} is {}, not {}", name_of(tensor), type_text(real), type_text(wanted)));
  }
  const bool is_as_planned = same_places(real.rank, real.sizes, real.strides, strides(tensor));
  if (!is_as_planned && !t.has_free_layout) return restride(tensor, real);
  frame_.data[tensor] = real.data;
  return true;
}

// Kernels and the plan's own results rely on the strides that the graph was captured with.
bool Run::restride(uint32_t tensor, const TensorView& view) {
  TensorState old = std::move(frame_.tensors[tensor]);
  TensorState& state = frame_.tensors[tensor];
  state = TensorState{};
  bool ok = make(tensor);
  if (ok && torch_) {
    torch::Tensor source;
    if (!old.handle)
      source = torch_->borrowed_blob(view.data, view.dtype, view.rank, view.sizes, view.strides);
    torch::Handle from = old.handle ? old.handle.get() : source.get();
    ok = from && torch_->aoti_torch_copy_(state.handle.get(), from, 0) == 0;
    if (!ok) fail(RunError::Kind::kMemory, fmt::format("%{} cannot be copied", name_of(tensor)));
  } else if (ok) {
    copy_elements(view, view_of(tensor));
  }
  return ok;
}

}  // namespace jumar::runtime
