#include "runtime/memory.h"

#include <algorithm>
#include <cstring>

#include "runtime/torch/c_api.h"

namespace jumar::runtime {

void release(SharedBlock* block) {
  if (block && block->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
}

HostReference owned(HostObject host) {
  if (!host.object) return {};
  return {host.object, std::shared_ptr<void>(host.object, host.release)};
}

torch::Tensor fresh_tensor(const Engine& engine, ir::DType dtype, int64_t rank, const int64_t* sizes,
                           const int64_t* strides, int64_t bytes) {
  const torch::Api& api = *engine.torch;
  if (bytes < engine.torch_output_limit_bytes || !api.torch_from_blob)
    return api.empty_strided(dtype, rank, sizes, strides);
  Block block = engine.pool->take(bytes);
  if (!block) return {};
  void* data = block.data();
  auto owner = std::make_unique<Block>(std::move(block));
  torch::Handle handle = nullptr;
  auto give_back = [](void*, void* context) { delete static_cast<Block*>(context); };
  // The device has no index: this function compares it with that of the memory, which has none.
  if (api.torch_from_blob(data, rank, sizes, strides, 0, ir::c10_code(dtype),
                          api.aoti_torch_device_type_cpu(), -1, &handle, api.aoti_torch_layout_strided(),
                          nullptr, 0, give_back, owner.get()) != 0)
    return {};
  static_cast<void>(owner.release());  // the tensor gives it back
  return torch::Tensor(api, handle);
}

bool handle_layout(const torch::Api& api, torch::Handle handle, TensorView& view) {
  int32_t layout = 0;
  int32_t code = 0;
  int64_t rank = 0;
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;
  int32_t device = 0;
  bool ok =
      api.aoti_torch_get_layout(handle, &layout) == 0 && layout == api.aoti_torch_layout_strided() &&
      api.aoti_torch_get_dtype(handle, &code) == 0 && api.aoti_torch_get_dim(handle, &rank) == 0 &&
      api.aoti_torch_get_sizes(handle, &sizes) == 0 && api.aoti_torch_get_strides(handle, &strides) == 0 &&
      api.aoti_torch_get_device_type(handle, &device) == 0 && device == api.aoti_torch_device_type_cpu() &&
      api.aoti_torch_get_data_ptr(handle, &view.data) == 0;
  std::optional<ir::DType> dtype = ir::dtype_from_c10(code);
  if (!ok || !dtype) return false;
  view.dtype = *dtype;
  view.rank = static_cast<int32_t>(rank);
  view.sizes = sizes;
  view.strides = strides;
  view.device_type = kDlCpu;
  return true;
}

int64_t extent_bytes(const TensorView& view) {
  int64_t elements = 1;
  for (int32_t k = 0; k < view.rank; ++k) {
    if (view.sizes[k] == 0) return 0;
    elements += (view.sizes[k] - 1) * view.strides[k];
  }
  return elements * ir::dtype_bytes(view.dtype);
}

void copy_elements(const TensorView& from, const TensorView& to) {
  size_t bytes = static_cast<size_t>(ir::dtype_bytes(from.dtype));
  int64_t count = 1;
  for (int32_t k = 0; k < from.rank; ++k) count *= from.sizes[k];
  bool dense = true;
  int64_t next = 1;
  for (int32_t k = from.rank - 1; k >= 0; --k) {
    dense = dense && (from.sizes[k] <= 1 || (from.strides[k] == next && to.strides[k] == next));
    next *= from.sizes[k];
  }
  if (dense) {
    if (count > 0) std::memcpy(to.data, from.data, static_cast<size_t>(count) * bytes);
    return;
  }
  std::vector<int64_t> index(static_cast<size_t>(from.rank), 0);
  int64_t from_offset = 0;
  int64_t to_offset = 0;
  for (int64_t n = 0; n < count; ++n) {
    std::memcpy(static_cast<char*>(to.data) + to_offset * static_cast<int64_t>(bytes),
                static_cast<const char*>(from.data) + from_offset * static_cast<int64_t>(bytes), bytes);
    for (int32_t k = from.rank - 1; k >= 0; --k) {
      size_t axis = static_cast<size_t>(k);
      from_offset += from.strides[k];
      to_offset += to.strides[k];
      if (++index[axis] < from.sizes[k]) break;
      from_offset -= from.strides[k] * from.sizes[k];
      to_offset -= to.strides[k] * from.sizes[k];
      index[axis] = 0;
    }
  }
}

bool same_places(int64_t rank, const int64_t* sizes, const int64_t* strides, const int64_t* wanted) {
  bool same = true;
  for (int64_t k = 0; k < rank; ++k) {
    if (sizes[k] == 0) return true;
    same = same && (strides[k] == wanted[k] || sizes[k] == 1);
  }
  return same;
}

std::vector<int64_t> contiguous_strides(const TensorView& view) {
  std::vector<int64_t> strides(static_cast<size_t>(view.rank));
  int64_t next = 1;
  for (int32_t k = view.rank - 1; k >= 0; --k) {
    strides[static_cast<size_t>(k)] = next;
    next *= std::max<int64_t>(view.sizes[k], 1);
  }
  return strides;
}

std::string type_text(const TensorView& view) {
  std::string sizes;
  std::string strides;
  std::vector<int64_t> contiguous = contiguous_strides(view);
  for (int32_t k = 0; k < view.rank; ++k) {
    sizes += fmt::format("{}{}", k > 0 ? ", " : "", view.sizes[k]);
    if (view.strides) strides += fmt::format("{}{}", k > 0 ? ", " : "", view.strides[k]);
  }
  std::string out = fmt::format("{}[{}]", ir::dtype_name(view.dtype), sizes);
  if (view.strides && !same_places(view.rank, view.sizes, view.strides, contiguous.data()))
    out += "{" + strides + "}";
  return out;
}

}  // namespace jumar::runtime
