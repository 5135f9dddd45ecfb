// The parts of Run (run.h) that make tensors and handles.
#pragma once

#include "emit/host/wrapper/run.h"

namespace jumar::wrapper {

// Below this libtorch's own allocator is used.
constexpr int64_t kLargeOutputBytes = 1 << 20;

inline Run::~Run() {
  drop_temporaries();
  for (Handle result : frame_.results)
    if (result) torch_.aoti_torch_delete_tensor_object(result);
  frame_.results.clear();
  for (uint32_t k = 0; k < tensor_count_; ++k) {
    release_slot(frame_.slots[k]);
    frame_.slots[k].last_output = -1;
  }
}

inline void Run::check_layout(const Layout& layout) const {
  if (layout.is_possible) return;
  fail(FailureKind::kNumber, std::string("%") + next_name() + " has the layout " + type_text(layout) +
                                 ", which no memory can have");
}

inline Tensor Run::input(uint32_t k, const Layout& layout) {
  check_layout(layout);
  inputs_.check_type(k, layout);
  return Tensor(layout, inputs_[k].data, &next_slot(), static_cast<int32_t>(k));
}

inline Tensor Run::weight(uint32_t k, const Layout& layout) {
  return Tensor(layout, shared_.weights.at(shared_.info.weights[k].offset_bytes), &next_slot());
}

inline void Run::arena(int64_t bytes) {
  arena_bytes_ = bytes;
  arena_.take(shared_.services, bytes);
}

inline Tensor Run::buffer(int64_t offset_bytes, const Layout& layout) {
  check_layout(layout);
  return Tensor(layout, arena_.at(offset_bytes), &next_slot());
}

inline Handle Run::made(const Layout& layout, void*& data) const {
  Handle handle = nullptr;
  if (layout.extent_bytes < kLargeOutputBytes) {
    const int32_t cpu = torch_.aoti_torch_device_type_cpu();
    torch_.aoti_torch_empty_strided(layout.rank, layout.sizes, layout.strides, layout.dtype.code, cpu, 0,
                                    &handle);
  } else {
    handle = shared_.services.large_output(shared_.services.context, layout.dtype.code, layout.rank,
                                           layout.sizes, layout.strides, layout.extent_bytes);
  }
  if (handle) torch_.aoti_torch_get_data_ptr(handle, &data);
  return handle;
}

inline Tensor Run::fresh(const Layout& layout) {
  check_layout(layout);
  const char* name = next_name();
  Slot& slot = next_slot();
  void* data = nullptr;
  slot.owned = made(layout, data);
  if (!slot.owned || (!data && layout.extent_bytes > 0))
    fail(FailureKind::kMemory,
         std::string("no memory for %") + name + ", " + std::to_string(layout.extent_bytes) + " bytes");
  return Tensor(layout, data, &slot);
}

inline Tensor Run::view(const Tensor& base, Int offset, const Layout& layout) {
  check_layout(layout);
  int64_t bytes = 0;
  int64_t place = 0;
  bool fits = !__builtin_mul_overflow(offset.value(), int64_t{layout.dtype.bytes}, &bytes) &&
              !__builtin_add_overflow(bytes, base.place_bytes, &place);
  fits = fits &&
         (layout.extent_bytes == 0 || (place >= 0 && place <= base.root->extent_bytes - layout.extent_bytes));
  if (!fits)
    fail(FailureKind::kNumber, std::string("%") + next_name() + " has the layout " + type_text(layout) +
                                   ", which reaches outside the tensor it is a view of");
  return Tensor(layout, base, bytes, &next_slot());
}

inline Handle Run::borrowed(const Tensor& tensor) const {
  Handle handle = nullptr;
  if (torch_.aoti_torch_create_tensor_from_blob_v2(tensor.data, tensor.rank, tensor.sizes, tensor.strides, 0,
                                                   tensor.dtype.code, torch_.aoti_torch_device_type_cpu(), 0,
                                                   &handle, torch_.aoti_torch_layout_strided(), nullptr,
                                                   0) != 0)
    fail(FailureKind::kMemory, std::string("no memory for %") + name_of(tensor));
  return handle;
}

// Buffers, inputs and weights mostly lie where they lay in the call before.
inline Handle Run::kept_blob(const Tensor& tensor) {
  Slot& slot = *tensor.slot;
  bool same = slot.blob && slot.blob_data == tensor.data;
  for (int32_t k = 0; same && k < tensor.rank; ++k)
    same = slot.blob_sizes[k] == tensor.sizes[k] && slot.blob_strides[k] == tensor.strides[k];
  if (same) return slot.blob;
  if (slot.blob) torch_.aoti_torch_delete_tensor_object(slot.blob);
  slot.blob = nullptr;
  slot.blob = borrowed(tensor);
  slot.blob_data = tensor.data;
  std::copy(tensor.sizes, tensor.sizes + tensor.rank, slot.blob_sizes);
  std::copy(tensor.strides, tensor.strides + tensor.rank, slot.blob_strides);
  return slot.blob;
}

// A handle for an operator to read; valid during its call.
inline Handle Run::handle(const Tensor& tensor) {
  if (tensor.is_lent()) {
    frame_.lent.push_back(&tensor);
    return kept_blob(tensor);
  }
  const Handle root = tensor.root->slot->owned;
  if (&tensor == tensor.root) return root;
  Handle view = nullptr;
  if (torch_.aoti_torch__reinterpret_tensor(root, tensor.rank, tensor.sizes, tensor.strides,
                                            tensor.place_bytes / tensor.dtype.bytes, &view) != 0)
    fail(FailureKind::kMemory, std::string("no memory for %") + name_of(tensor));
  frame_.temporaries.push_back(view);
  return view;
}

// A handle to write through. It is never one that was kept: one made in inference mode must not be written to
// outside of it.
inline Handle Run::target_handle(const Tensor& tensor) {
  if (!tensor.is_lent()) return handle(tensor);
  frame_.temporaries.push_back(borrowed(tensor));
  return frame_.temporaries.back();
}

inline void Run::drop_temporaries() {
  for (Handle temporary : frame_.temporaries) torch_.aoti_torch_delete_tensor_object(temporary);
  frame_.temporaries.clear();
  frame_.lent.clear();
}

}  // namespace jumar::wrapper
