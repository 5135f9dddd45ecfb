// What a written program says about itself: its inputs, for checks and messages, and its size.
#pragma once

#include <cstdint>

#include "emit/host/wrapper/layout.h"

namespace jumar::wrapper {

struct InputInfo {
  const char* name;
  ValueKind kind;
  DType dtype;       // of a tensor
  int32_t rank;      // of a tensor
  const char* type;  // of a tensor, as the plan writes it
};
inline constexpr InputInfo tensor_input(const char* name, DType dtype, int32_t rank, const char* type) {
  return {name, ValueKind::kTensor, dtype, rank, type};
}
inline constexpr InputInfo int_input(const char* name) { return {name, ValueKind::kInt, {}, 0, ""}; }
inline constexpr InputInfo float_input(const char* name) { return {name, ValueKind::kFloat, {}, 0, ""}; }
inline constexpr InputInfo bool_input(const char* name) { return {name, ValueKind::kBool, {}, 0, ""}; }

// A tensor of the file of weights.
struct Weight {
  const char* name;
  int64_t offset_bytes;
  int64_t bytes;
};

struct ProgramInfo {
  const InputInfo* inputs;
  uint32_t input_count;
  uint32_t output_count;
  const char* const* tensors;  // names, by the order in which tensors appear
  uint32_t tensor_count;
  const Weight* weights = nullptr;
  uint32_t weight_count = 0;
  int64_t weights_bytes = 0;  // of the file
  bool updates_weights = false;
};

// Compiled code of a loop: does units [begin, end) of it.
using KernelFunction = void(int64_t begin, int64_t end, void** args);
struct Kernel {
  const char* name;
  KernelFunction* function;
};

}  // namespace jumar::wrapper
