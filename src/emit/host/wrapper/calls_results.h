// The parts of Calls (calls.h) that are no templates.
#pragma once

#include "emit/host/wrapper/calls.h"

namespace jumar::wrapper {

inline void Calls::wrong_result(const char* op, const std::string& message) const {
  fail(FailureKind::kOpResult, std::string(op) + " gave what the plan was not compiled for: " + message);
}

inline void Calls::begin_call(std::initializer_list<TensorRef> targets) {
  for (Handle& result : frame_.results)
    if (result) torch_.aoti_torch_delete_tensor_object(result);
  frame_.results.clear();
  frame_.result_ints.clear();
  frame_.targets.clear();
  for (const TensorRef& target : targets) frame_.targets.push_back(target_handle(*target.tensor));
}

// Operators resize a target that has other sizes than the result; then it is no longer the program's buffer.
inline void Calls::end_call_into(const char* op, Error error, std::initializer_list<TensorRef> targets) {
  if (error != 0) fail(FailureKind::kOpFailed, std::string(op) + " failed; libtorch's message is on stderr");
  size_t k = 0;
  for (const TensorRef& target : targets) {
    const Tensor& tensor = *target.tensor;
    Seen real;
    const bool same = seen(frame_.targets[k++], real) && real.rank == tensor.rank &&
                      std::equal(real.sizes, real.sizes + real.rank, tensor.sizes) &&
                      (real.data == tensor.data || tensor.extent_bytes == 0);
    if (!same)
      wrong_result(op, std::string("%") + name_of(tensor) + " is " + type_text(tensor) +
                           "; the operator made " +
                           type_text(real.dtype, real.rank, real.sizes, real.strides) + " of it");
  }
  drop_temporaries();
}

inline Results Calls::end_call(const char* op, Error error) {
  if (error != 0) {
    frame_.results.clear();  // nothing says which were made
    fail(FailureKind::kOpFailed, std::string(op) + " failed; libtorch's message is on stderr");
  }
  own_results();
  drop_temporaries();
  return {&frame_, op};
}

inline void Calls::call_into(const Dispatched& op, std::initializer_list<TensorRef> targets,
                             std::initializer_list<Arg> args) {
  begin_call(targets);
  std::vector<uint64_t> stack;
  stack.reserve(args.size() + targets.size() + 8);
  for (const Arg& arg : args) stack.push_back(word_of(arg, arg.is_optional));
  for (Handle target : frame_.targets) {
    Handle reference = nullptr;
    if (torch_.aoti_torch_new_tensor_handle(target, &reference) != 0)
      fail(FailureKind::kMemory, std::string("no memory for ") + op.name);
    stack.push_back(reinterpret_cast<uint64_t>(reference));
  }
  const Error error = torch_.aoti_torch_call_dispatcher(op.op, op.overload, stack.data());
  // What it returns are references to the targets.
  for (size_t k = 0; error == 0 && k < targets.size(); ++k)
    torch_.aoti_torch_delete_tensor_object(reinterpret_cast<Handle>(stack[k]));
  end_call_into(op.name, error, targets);
}

inline Results Calls::call(const Dispatched& op, std::initializer_list<Arg> args) {
  begin_call({});
  // The results take the arguments' place, and there may be more of them.
  std::vector<uint64_t> stack;
  stack.reserve(args.size() + std::strlen(op.results));
  for (const Arg& arg : args) stack.push_back(word_of(arg, arg.is_optional));
  stack.resize(stack.capacity());
  const Error error = torch_.aoti_torch_call_dispatcher(op.op, op.overload, stack.data());
  if (error == 0) take_stack(op, stack.data());
  return end_call(op.name, error);
}

inline void Calls::take_stack(const Dispatched& op, const uint64_t* stack) {
  for (size_t k = 0; op.results[k]; ++k) {
    if (op.results[k] == 't') {
      take_handle(stack[k]);
    } else if (op.results[k] == 'i') {
      frame_.result_ints.push_back(static_cast<int64_t>(stack[k]));
    } else if (op.results[k] == 'b') {  // it occupies one byte of its word
      frame_.result_ints.push_back((stack[k] & 0xff) != 0);
    } else {
      List list = reinterpret_cast<List>(stack[k]);
      size_t size = 0;
      torch_.torch_list_size(list, &size);
      for (size_t i = 0; i < size; ++i) {
        uint64_t item = 0;
        torch_.torch_list_get_item(list, i, &item);
        take_handle(item);
      }
      torch_.torch_delete_list(list);
    }
  }
}

// None and undefined tensors become null.
inline void Calls::take_handle(uint64_t word) {
  Handle handle = reinterpret_cast<Handle>(word);
  bool is_defined = false;
  if (handle && (torch_.aoti_torch_is_defined(handle, &is_defined) != 0 || !is_defined)) {
    torch_.aoti_torch_delete_tensor_object(handle);
    handle = nullptr;
  }
  frame_.results.push_back(handle);
}

inline void Calls::own_results() {
  for (Handle& result : frame_.results) {
    if (!result || !is_borrowed(result)) continue;
    Handle copy = nullptr;
    if (torch_.aoti_torch_clone_preserve_strides(result, &copy) != 0)
      fail(FailureKind::kMemory, "no memory for an operator's result");
    torch_.aoti_torch_delete_tensor_object(result);
    result = copy;
  }
}

// Whether it lies in the memory of an operand whose handle does not own that memory.
inline bool Calls::is_borrowed(Handle result) const {
  void* data = nullptr;
  int64_t offset = 0;
  int32_t code = 0;
  if (frame_.lent.empty() || torch_.aoti_torch_get_data_ptr(result, &data) != 0 || !data) return false;
  if (torch_.aoti_torch_get_storage_offset(result, &offset) != 0) return false;
  if (torch_.aoti_torch_get_dtype(result, &code) != 0) return false;
  int64_t bytes = 1;
  for (const DType& dtype : kDTypes)
    if (dtype.code == code) bytes = dtype.bytes;
  const void* storage = static_cast<char*>(data) - offset * bytes;
  for (const Tensor* operand : frame_.lent)
    if (storage == operand->data) return true;
  return false;
}

inline bool Calls::seen(Handle handle, Seen& out) const {
  int32_t layout = 0;
  int32_t device = 0;
  return torch_.aoti_torch_get_layout(handle, &layout) == 0 && layout == torch_.aoti_torch_layout_strided() &&
         torch_.aoti_torch_get_dtype(handle, &out.dtype) == 0 &&
         torch_.aoti_torch_get_dim(handle, &out.rank) == 0 &&
         torch_.aoti_torch_get_sizes(handle, &out.sizes) == 0 &&
         torch_.aoti_torch_get_strides(handle, &out.strides) == 0 &&
         torch_.aoti_torch_get_device_type(handle, &device) == 0 &&
         device == torch_.aoti_torch_device_type_cpu() &&
         torch_.aoti_torch_get_data_ptr(handle, &out.data) == 0;
}

inline Calls::Seen Calls::seen_result(const Results& results, size_t k, const char* name) const {
  if (k >= frame_.results.size())
    wrong_result(results.op, "it returned " + std::to_string(frame_.results.size()) + " tensors");
  if (!frame_.results[k]) wrong_result(results.op, std::string("%") + name + " is no tensor");
  Seen real;
  if (!seen(frame_.results[k], real))
    wrong_result(results.op, std::string("%") + name + " is no strided tensor on the CPU");
  return real;
}

inline void Calls::expect_count(const Results& results, size_t count) const {
  if (frame_.results.size() == count) return;
  wrong_result(results.op, "it returned " + std::to_string(frame_.results.size()) + " tensors, not " +
                               std::to_string(count));
}

inline Tensor Calls::result(const Results& results, size_t k, const Layout& wanted) {
  check_layout(wanted);
  const char* name = next_name();
  const Seen real = seen_result(results, k, name);
  const bool same = real.dtype == wanted.dtype.code && real.rank == wanted.rank &&
                    std::equal(real.sizes, real.sizes + real.rank, wanted.sizes);
  if (!same)
    wrong_result(results.op, std::string("%") + name + " is " +
                                 type_text(real.dtype, real.rank, real.sizes, real.strides) + ", not " +
                                 type_text(wanted));
  Slot& slot = next_slot();
  slot.owned = frame_.results[k];
  frame_.results[k] = nullptr;
  void* data = real.data;
  if (!same_places(real.rank, real.sizes, real.strides, wanted.strides)) {
    const Handle copy = made(wanted, data);
    const bool is_copied = copy && torch_.aoti_torch_copy_(copy, slot.owned, 0) == 0;
    torch_.aoti_torch_delete_tensor_object(slot.owned);
    slot.owned = copy;
    if (!is_copied) fail(FailureKind::kMemory, std::string("%") + name + " cannot be copied");
  }
  return Tensor(wanted, data, &slot);
}

inline void Calls::copy_result(const Results& results, size_t k, const Tensor& target) {
  const Seen real = seen_result(results, k, name_of(target));
  const bool same = real.dtype == target.dtype.code && real.rank == target.rank &&
                    std::equal(real.sizes, real.sizes + real.rank, target.sizes);
  if (!same)
    wrong_result(results.op, std::string("%") + name_of(target) + " is " + type_text(target) +
                                 ", the operator returned " +
                                 type_text(real.dtype, real.rank, real.sizes, real.strides));
  const Error error = torch_.aoti_torch_copy_(target_handle(target), frame_.results[k], 0);
  drop_temporaries();
  if (error != 0) fail(FailureKind::kOpFailed, std::string("%") + name_of(target) + " cannot be copied");
}

inline int64_t Calls::size_of(const Results& results, size_t k, int64_t dim) const {
  const Seen real = seen_result(results, k, "a result");
  if (dim >= real.rank) wrong_result(results.op, "a result has no dimension " + std::to_string(dim));
  return real.sizes[dim];
}

inline int64_t Calls::stride_of(const Results& results, size_t k, int64_t dim) const {
  const Seen real = seen_result(results, k, "a result");
  if (dim >= real.rank) wrong_result(results.op, "a result has no dimension " + std::to_string(dim));
  return real.strides[dim];
}

inline int64_t Calls::int_of(const Results& results, size_t k, size_t count) const {
  if (frame_.result_ints.size() != count)
    wrong_result(results.op, "it returned " + std::to_string(frame_.result_ints.size()) + " numbers, not " +
                                 std::to_string(count));
  return frame_.result_ints[k];
}

}  // namespace jumar::wrapper
