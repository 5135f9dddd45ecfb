// What a written program and whoever loads it hand to each other: plain structs, and functions that return 0
// for success. No C++ object crosses, so that two compilers' standard libraries may meet.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jumar::wrapper {

constexpr int32_t kAbiVersion = 1;

struct OpaqueTensor;
using Handle = OpaqueTensor*;  // libtorch's AtenTensorHandle

enum class ValueKind : int32_t { kNone, kTensor, kInt, kFloat, kBool, kAlias };

// Borrowed during the call.
struct Input {
  ValueKind kind = ValueKind::kTensor;
  int32_t dtype = 0;   // c10's number
  int32_t device = 1;  // DLPack's number; 1 is the CPU
  int32_t rank = 0;
  void* data = nullptr;  // the first element
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;  // in elements; null means contiguous
  int64_t integer = 0;               // of ints and bools
  double number = 0;
};

// A tensor comes as a handle that the caller owns. An alias is input `input`, or, unless `whole`, the view of
// it with these sizes and strides that begins `offset` elements of `dtype` after its first.
struct Output {
  ValueKind kind = ValueKind::kNone;
  int32_t dtype = 0;
  int32_t rank = 0;
  int32_t input = -1;
  int32_t whole = 0;
  int64_t offset = 0;
  int64_t* dims = nullptr;  // of an alias: sizes, then strides, in memory of malloc that the caller frees
  int64_t integer = 0;
  double number = 0;
  Handle tensor = nullptr;
};

enum class FailureKind : int32_t { kInput, kIndex, kCheck, kNumber, kOpFailed, kOpResult, kMemory };

// Where the message of a failure goes.
struct FailureSink {
  void* context = nullptr;
  void (*report)(void* context, FailureKind kind, const char* message) = nullptr;
};

// Memory that whoever loads the program lends to it: blocks of 64-byte alignment for one call, and outputs
// that are too large for libtorch's allocator. Both give null when there is no memory.
struct Services {
  void* context = nullptr;
  void* (*take)(void* context, int64_t bytes, void** token) = nullptr;
  void (*give)(void* token) = nullptr;
  Handle (*large_output)(void* context, int32_t dtype, int64_t rank, const int64_t* sizes,
                         const int64_t* strides, int64_t bytes) = nullptr;
};

// The functions of one program. A model may be called by several threads at once.
struct Entry {
  int32_t abi_version = kAbiVersion;
  uint32_t input_count = 0;
  uint32_t output_count = 0;
  // Null after a failure. Without services the model brings its own.
  void* (*open)(const Services* services, const char* weights_file, const FailureSink* sink) = nullptr;
  int32_t (*call)(void* model, const Input* inputs, size_t input_count, Output* outputs, size_t output_count,
                  const FailureSink* sink) = nullptr;
  void (*close)(void* model) = nullptr;
  // Bytes of intermediate tensors of the most recent call.
  int64_t (*arena_bytes)(void* model) = nullptr;
};

// One input or output as the exported C functions take it: by the kind that the program's text names.
union Value {
  Handle tensor;
  int64_t integer;  // of ints and bools
  double number;
};

}  // namespace jumar::wrapper
