// The functions of a program that its library exports. No exception leaves them.
//
//   const Entry bert_entry = entry_of<Model<Bert, Operators>>(kProgram);
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

#include "emit/host/wrapper/model.h"

#define JUMAR_WRAPPER_EXPORT extern "C" __attribute__((visibility("default")))

namespace jumar::wrapper {

// Runs `work`; a failure goes to the sink and gives 1.
template <class Work>
int32_t guarded(const FailureSink& sink, Work&& work) {
  try {
    work();
    return 0;
  } catch (const Failure& failure) {
    sink.report(sink.context, failure.kind, failure.message.c_str());
  } catch (const std::exception& error) {
    sink.report(sink.context, FailureKind::kMemory, error.what());
  }
  return 1;
}

// A sink that copies the message to a buffer of the caller's, which may be null.
struct MessageBuffer {
  char* text;
  size_t bytes;

  FailureSink sink() { return {this, write}; }
  static void write(void* context, FailureKind, const char* message) {
    const MessageBuffer& self = *static_cast<MessageBuffer*>(context);
    if (!self.text || self.bytes == 0) return;
    const size_t length = std::strlen(message);
    const size_t kept = length < self.bytes ? length : self.bytes - 1;
    std::memcpy(self.text, message, kept);
    self.text[kept] = '\0';
  }
};

inline void drop_outputs(const Torch& torch, Output* outputs, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    if (outputs[k].tensor) torch.aoti_torch_delete_tensor_object(outputs[k].tensor);
    std::free(outputs[k].dims);
    outputs[k] = Output();
  }
}

template <class M>
int32_t call_model(M& model, const Input* inputs, size_t input_count, Output* outputs, size_t output_count,
                   const FailureSink& sink) {
  return guarded(sink, [&] {
    if (output_count != model.info().output_count)
      fail(FailureKind::kInput, "the plan has " + std::to_string(model.info().output_count) +
                                    " results, the call takes " + std::to_string(output_count));
    try {
      model.call(inputs, input_count, outputs);
    } catch (...) {
      drop_outputs(model.torch(), outputs, output_count);
      throw;
    }
  });
}

// A tensor that somebody passes as libtorch's handle.
inline Input tensor_of(const Torch& torch, Handle handle) {
  Input out;
  int32_t layout = 0;
  int32_t device = 0;
  int64_t rank = 0;
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;
  const bool ok =
      handle && torch.aoti_torch_get_layout(handle, &layout) == 0 &&
      layout == torch.aoti_torch_layout_strided() && torch.aoti_torch_get_dtype(handle, &out.dtype) == 0 &&
      torch.aoti_torch_get_device_type(handle, &device) == 0 &&
      torch.aoti_torch_get_dim(handle, &rank) == 0 && torch.aoti_torch_get_sizes(handle, &sizes) == 0 &&
      torch.aoti_torch_get_strides(handle, &strides) == 0 &&
      torch.aoti_torch_get_data_ptr(handle, &out.data) == 0;
  if (!ok) fail(FailureKind::kInput, "an input is no strided tensor");
  out.device = device == torch.aoti_torch_device_type_cpu() ? 1 : device + 1;
  out.rank = static_cast<int32_t>(rank);
  out.sizes = sizes;
  out.strides = strides;
  return out;
}

// A handle on an input, or on a view of one.
inline Handle alias_of(const Torch& torch, Handle base, const Input& input, const Output& output) {
  Handle out = nullptr;
  const int64_t* sizes = output.dims;
  const int64_t* strides = output.dims + output.rank;
  if (output.whole) {
    if (torch.aoti_torch_new_tensor_handle(base, &out) == 0) return out;
  } else if (output.dtype == input.dtype) {
    if (torch.aoti_torch__reinterpret_tensor(base, output.rank, sizes, strides, output.offset, &out) == 0)
      return out;
  } else {  // no handle can be made of it, so its elements are copied
    int64_t bytes = 0;
    for (const DType& dtype : kDTypes)
      if (dtype.code == output.dtype) bytes = dtype.bytes;
    Handle blob = nullptr;
    void* data = static_cast<char*>(input.data) + output.offset * bytes;
    if (torch.aoti_torch_create_tensor_from_blob_v2(data, output.rank, sizes, strides, 0, output.dtype,
                                                    torch.aoti_torch_device_type_cpu(), 0, &blob,
                                                    torch.aoti_torch_layout_strided(), nullptr, 0) == 0) {
      const Error error = torch.aoti_torch_clone_preserve_strides(blob, &out);
      torch.aoti_torch_delete_tensor_object(blob);
      if (error == 0) return out;
    }
  }
  fail(FailureKind::kMemory, "no memory for a result");
}

// Inputs are borrowed, results are the caller's.
template <class M>
int32_t run_model(M& model, const Value* inputs, size_t input_count, Value* outputs, size_t output_count,
                  const FailureSink& sink) {
  return guarded(sink, [&] {
    const ProgramInfo& info = model.info();
    std::vector<Input> given(input_count);
    for (size_t k = 0; k < input_count && k < info.input_count; ++k) {
      const ValueKind kind = info.inputs[k].kind;
      if (kind == ValueKind::kTensor) given[k] = tensor_of(model.torch(), inputs[k].tensor);
      if (kind == ValueKind::kFloat) given[k].number = inputs[k].number;
      if (kind == ValueKind::kInt || kind == ValueKind::kBool) given[k].integer = inputs[k].integer;
      given[k].kind = kind;
    }
    if (output_count != info.output_count)
      fail(FailureKind::kInput, "the plan has " + std::to_string(info.output_count) +
                                    " results, the call takes " + std::to_string(output_count));
    std::vector<Output> made(output_count);
    try {
      model.call(given.data(), input_count, made.data());
      for (Output& output : made) {
        if (output.kind != ValueKind::kAlias) continue;
        const size_t k = static_cast<size_t>(output.input);
        output.tensor = alias_of(model.torch(), inputs[k].tensor, given[k], output);
        std::free(output.dims);
        output.dims = nullptr;
      }
    } catch (...) {
      drop_outputs(model.torch(), made.data(), made.size());
      throw;
    }
    for (size_t k = 0; k < output_count; ++k) {
      const Output& output = made[k];
      outputs[k].integer = 0;
      if (output.kind == ValueKind::kFloat) outputs[k].number = output.number;
      if (output.kind == ValueKind::kInt || output.kind == ValueKind::kBool)
        outputs[k].integer = output.integer;
      if (output.tensor) outputs[k].tensor = output.tensor;
    }
  });
}

template <class M>
M* open_model(const ProgramInfo& info, const Services* services, const char* weights_file,
              const FailureSink& sink) {
  M* model = nullptr;
  guarded(sink, [&] { model = new M(info, services, weights_file); });
  return model;
}

// The table by which Jumar itself runs a program.
template <class M, const ProgramInfo& kInfo>
constexpr Entry entry_of() {
  Entry entry;
  entry.input_count = kInfo.input_count;
  entry.output_count = kInfo.output_count;
  entry.open = [](const Services* services, const char* weights_file, const FailureSink* sink) -> void* {
    return open_model<M>(kInfo, services, weights_file, *sink);
  };
  entry.call = [](void* model, const Input* inputs, size_t input_count, Output* outputs, size_t output_count,
                  const FailureSink* sink) {
    return call_model(*static_cast<M*>(model), inputs, input_count, outputs, output_count, *sink);
  };
  entry.close = [](void* model) { delete static_cast<M*>(model); };
  entry.arena_bytes = [](void* model) { return static_cast<M*>(model)->arena_bytes(); };
  return entry;
}

}  // namespace jumar::wrapper
