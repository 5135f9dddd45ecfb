// The parts of Run (run.h) that launch kernels and return results.
#pragma once

#include <cstdlib>

#include "emit/host/wrapper/run_memory.h"

namespace jumar::wrapper {

struct KernelCall {
  KernelFunction* function;
  void** words;
};

inline void run_range(int64_t begin, int64_t end, void* context) {
  const KernelCall* call = static_cast<const KernelCall*>(context);
  call->function(begin, end, call->words);
}

// Few units are one thread's; libtorch is asked for its threads once per call, and only where they may help.
inline void Run::run_units(const Kernel& kernel, int64_t begin, int64_t end, int64_t grain, void** words) {
  if (end - begin > grain) {
    if (threads_ == 0 && torch_.torch_get_num_threads(&threads_) != 0) threads_ = 1;
    if (threads_ > 1) {
      KernelCall call{kernel.function, words};
      if (torch_.torch_parallel_for(begin, end, grain, run_range, &call) != 0)
        fail(FailureKind::kOpFailed, std::string("libtorch's thread pool failed in @") + kernel.name);
      return;
    }
  }
  kernel.function(begin, end, words);
}

inline void Run::launch(const Kernel& kernel, std::initializer_list<Units> phases,
                        std::initializer_list<LaunchWord> words) {
  constexpr size_t kInlineWords = 64;
  uint64_t few[kInlineWords];
  std::vector<uint64_t> many(words.size() > kInlineWords ? words.size() : 0);
  uint64_t* args = many.empty() ? few : many.data();
  IndexStatus found{};
  bool checks = false;
  size_t count = 0;
  for (const LaunchWord& word : words) {
    args[count++] = word.is_status ? reinterpret_cast<uint64_t>(&found) : word.bits;
    checks = checks || word.is_status;
  }
  int64_t begin = 0;
  for (const Units& phase : phases) {
    const int64_t units = phase.units.value();
    if (units <= 0) continue;
    const int64_t grain = phase.grain.value() > 1 ? phase.grain.value() : 1;
    run_units(kernel, begin, begin + units, grain, reinterpret_cast<void**>(args));
    // What a later phase reads may not be there after a bad index.
    if (checks && found.flag != 0)
      fail(FailureKind::kIndex, "index " + std::to_string(found.index) +
                                    " is out of bounds for a dimension of size " +
                                    std::to_string(found.size));
    begin += units;
  }
}

// A tensor's own handle leaves with the last output that needs it.
inline void Run::outputs(std::initializer_list<Returned> values) {
  for (size_t k = values.size(); k-- > 0;) {
    const Returned& value = values.begin()[k];
    if (value.kind != ValueKind::kTensor) continue;
    Slot& slot = *value.tensor->root->slot;
    if (slot.last_output < 0) slot.last_output = static_cast<int64_t>(k);
  }
  int64_t k = 0;
  for (const Returned& value : values) {
    Output& output = outputs_[k];
    output.kind = value.kind;
    output.integer = value.integer;
    output.number = value.number;
    if (value.kind == ValueKind::kTensor)
      give_tensor(*value.tensor, value.tensor->root->slot->last_output == k, output);
    ++k;
  }
}

inline void Run::give_tensor(const Tensor& tensor, bool is_last, Output& output) {
  output.dtype = tensor.dtype.code;
  if (tensor.root->input >= 0) return give_alias(tensor, output);
  if (is_last && &tensor == tensor.root && !tensor.is_lent()) {
    output.tensor = tensor.slot->owned;
    tensor.slot->owned = nullptr;
    return;
  }
  // A view with another element type can't be made of a handle, and what is only lent must not leave the
  // call, so their elements are copied.
  const Handle given = handle(tensor);
  const Error error = tensor.is_lent() ? torch_.aoti_torch_clone_preserve_strides(given, &output.tensor)
                                       : torch_.aoti_torch_new_tensor_handle(given, &output.tensor);
  drop_temporaries();
  if (error != 0) fail(FailureKind::kMemory, std::string("no memory for %") + name_of(tensor));
}

inline void Run::give_alias(const Tensor& tensor, Output& output) const {
  output.kind = ValueKind::kAlias;
  output.input = tensor.root->input;
  output.whole = &tensor == tensor.root;
  output.offset = tensor.place_bytes / tensor.dtype.bytes;
  output.rank = tensor.rank;
  const size_t rank = static_cast<size_t>(tensor.rank);
  output.dims = static_cast<int64_t*>(std::malloc((2 * rank + 1) * sizeof(int64_t)));
  if (!output.dims) fail(FailureKind::kMemory, std::string("no memory for %") + name_of(tensor));
  std::copy(tensor.sizes, tensor.sizes + rank, output.dims);
  std::copy(tensor.strides, tensor.strides + rank, output.dims + rank);
}

inline void Run::update(const Tensor& target, const Tensor& value) {
  const Error error = torch_.aoti_torch_copy_(target_handle(target), handle(value), 0);
  drop_temporaries();
  if (error != 0) fail(FailureKind::kOpFailed, std::string("%") + name_of(target) + " cannot be updated");
}

}  // namespace jumar::wrapper
