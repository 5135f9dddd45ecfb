// libtorch's C functions as a value, and its tensors as owning handles.
//
//   Result<std::unique_ptr<const torch::Api>> api = torch::Api::load();   // torch/c_api.h
//   torch::Tensor t = (*api)->empty_strided(ir::DType::kF32, rank, sizes, strides);
//
// Nothing links to libtorch: the functions are found in the library that the process has loaded already. A
// Handle is libtorch's AtenTensorHandle.
#pragma once

#include <cstdint>
#include <utility>

#include "ir/dtype.h"

namespace jumar::runtime::torch {

struct OpaqueTensor;
using Handle = OpaqueTensor*;

class Api;

// Owns one reference to a tensor.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Api& api, Handle handle) : api_(&api), handle_(handle) {}
  Tensor(Tensor&& other) noexcept : api_(other.api_), handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    if (this != &other) {
      reset();
      api_ = other.api_;
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Tensor() { reset(); }

  explicit operator bool() const { return handle_ != nullptr; }
  Handle get() const { return handle_; }
  // Gives up ownership: the caller deletes the handle, or passes it to a function that consumes it.
  Handle release() { return std::exchange(handle_, nullptr); }
  void reset();
  // Another reference to the same tensor.
  Tensor shared() const;

 private:
  const Api* api_ = nullptr;
  Handle handle_ = nullptr;
};

}  // namespace jumar::runtime::torch
