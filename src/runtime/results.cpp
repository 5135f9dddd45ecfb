#include <algorithm>

#include "runtime/run.h"

namespace jumar::runtime {

bool Run::handle_layout(torch::Handle handle, TensorView& view) const {
  int32_t layout = 0;
  int32_t code = 0;
  int64_t rank = 0;
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;
  int32_t device = 0;
  bool ok =
      torch_->aoti_torch_get_layout(handle, &layout) == 0 && layout == torch_->aoti_torch_layout_strided() &&
      torch_->aoti_torch_get_dtype(handle, &code) == 0 && torch_->aoti_torch_get_dim(handle, &rank) == 0 &&
      torch_->aoti_torch_get_sizes(handle, &sizes) == 0 &&
      torch_->aoti_torch_get_strides(handle, &strides) == 0 &&
      torch_->aoti_torch_get_device_type(handle, &device) == 0 &&
      device == torch_->aoti_torch_device_type_cpu() &&
      torch_->aoti_torch_get_data_ptr(handle, &view.data) == 0;
  std::optional<ir::DType> dtype = ir::dtype_from_c10(code);
  if (!ok || !dtype) return false;
  view.dtype = *dtype;
  view.rank = static_cast<int32_t>(rank);
  view.sizes = sizes;
  view.strides = strides;
  view.device_type = kDlCpu;
  return true;
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
  if (!same_places(real.rank, real.sizes, real.strides, strides(tensor))) return restride(tensor, real);
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
