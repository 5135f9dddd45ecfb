// Memory and layouts of tensors; internal to the runtime.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace jumar::runtime {

// Memory that several owners share where there is no libtorch.
struct SharedBlock {
  Block block;
  std::atomic<int> references{1};
};
void release(SharedBlock* block);

// Takes over the reference.
HostReference owned(HostObject host);

// A tensor of fresh memory; from libtorch's allocator below the engine's limit, else from its pool. Empty
// when there is no memory.
torch::Tensor fresh_tensor(const Engine& engine, ir::DType dtype, int64_t rank, const int64_t* sizes,
                           const int64_t* strides, int64_t bytes);
// The layout of a libtorch tensor, and where its first element is; borrowed from the tensor. False for what
// is no strided tensor on the CPU.
bool handle_layout(const torch::Api& api, torch::Handle handle, TensorView& view);
// A result of fresh memory, with the view of it; false when there is none.
bool fresh_output(const Engine& engine, ir::DType dtype, const std::vector<int64_t>& sizes,
                  const std::vector<int64_t>& strides, Output& output, TensorView& view);
// Where the elements of a result are that is a tensor; an alias is a view of one of `inputs`. Valid as long
// as the result. `api` is not null where there are libtorch's tensors.
TensorView output_view(const torch::Api* api, const Output& output, std::span<const InputValue> inputs);
// The same elements in fresh memory; false when there is none.
bool copied_output(const Engine& engine, const Output& output, std::span<const InputValue> inputs,
                   Output& copy);
// A DLPack tensor with this layout. It takes over `owner`, which keeps the memory and is released with it.
DLManagedTensorVersioned* managed_tensor(HostObject owner, const TensorView& view);
// Bytes from a tensor's first element to the end of its last.
int64_t extent_bytes(const TensorView& view);
// Copies the elements of one layout to another; sizes are equal.
void copy_elements(const TensorView& from, const TensorView& to);
// Whether a tensor with these strides has its elements where `wanted` says: strides of dimensions of size 1,
// and all strides of empty tensors, do not matter.
bool same_places(int64_t rank, const int64_t* sizes, const int64_t* strides, const int64_t* wanted);
std::vector<int64_t> contiguous_strides(const TensorView& view);
// "f32[4, 8]{8, 1}", the strides only where they are not contiguous.
std::string type_text(const TensorView& view);

}  // namespace jumar::runtime
