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

namespace {

// One axis of a copy; strides in bytes.
struct CopyAxis {
  int64_t size;
  int64_t from;
  int64_t to;
};

template <class T>
void copy_row(const char* from, char* to, const CopyAxis& axis) {
  for (int64_t k = 0; k < axis.size; ++k) {
    T element;
    std::memcpy(&element, from + k * axis.from, sizeof element);
    std::memcpy(to + k * axis.to, &element, sizeof element);
  }
}

void copy_row(size_t element_bytes, const char* from, char* to, const CopyAxis& axis) {
  const auto bytes = static_cast<int64_t>(element_bytes);
  if (axis.from == bytes && axis.to == bytes) {
    std::memcpy(to, from, element_bytes * static_cast<size_t>(axis.size));
    return;
  }
  switch (element_bytes) {
    case 1:
      return copy_row<uint8_t>(from, to, axis);
    case 2:
      return copy_row<uint16_t>(from, to, axis);
    case 4:
      return copy_row<uint32_t>(from, to, axis);
    case 8:
      return copy_row<uint64_t>(from, to, axis);
    default:
      for (int64_t k = 0; k < axis.size; ++k)
        std::memcpy(to + k * axis.to, from + k * axis.from, element_bytes);
  }
}

}  // namespace

void copy_elements(const TensorView& from, const TensorView& to) {
  const auto bytes = static_cast<size_t>(ir::dtype_bytes(from.dtype));
  std::vector<CopyAxis> axes;
  for (int32_t k = 0; k < from.rank; ++k) {
    if (from.sizes[k] == 0) return;
    if (from.sizes[k] == 1) continue;
    const auto element = static_cast<int64_t>(bytes);
    axes.push_back({from.sizes[k], from.strides[k] * element, to.strides[k] * element});
  }
  // The target is written in the order of its memory.
  std::stable_sort(axes.begin(), axes.end(),
                   [](const CopyAxis& a, const CopyAxis& b) { return a.to > b.to; });
  // Axes that are one run in both are one axis.
  for (size_t k = axes.size(); k-- > 1;) {
    CopyAxis& outer = axes[k - 1];
    const CopyAxis& inner = axes[k];
    if (outer.from != inner.from * inner.size || outer.to != inner.to * inner.size) continue;
    outer = {outer.size * inner.size, inner.from, inner.to};
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(k));
  }
  const CopyAxis row = axes.empty() ? CopyAxis{1, 0, 0} : axes.back();
  if (!axes.empty()) axes.pop_back();
  const auto* source = static_cast<const char*>(from.data);
  auto* target = static_cast<char*>(to.data);
  std::vector<int64_t> index(axes.size(), 0);
  while (true) {
    copy_row(bytes, source, target, row);
    size_t k = axes.size();
    for (; k > 0; --k) {
      const CopyAxis& axis = axes[k - 1];
      source += axis.from;
      target += axis.to;
      if (++index[k - 1] < axis.size) break;
      source -= axis.from * axis.size;
      target -= axis.to * axis.size;
      index[k - 1] = 0;
    }
    if (k == 0) return;
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
