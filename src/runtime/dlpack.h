// The C structures of DLPack 1.x that tensors cross the boundary with: https://dmlc.github.io/dlpack.
//
// Only the data layout of the standard is declared here, under its own names, so that a value can be handed
// to any consumer of DLPack; no function of a DLPack library is used.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/dtype.h"

extern "C" {

struct DLDevice {
  int32_t device_type;  // 1 is the CPU
  int32_t device_id;
};

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // extern "C"

namespace jumar::runtime {

constexpr int32_t kDlCpu = 1;

DLDataType dl_dtype(ir::DType dtype);
// Nothing for types that Jumar does not have: several lanes, sub-byte floats, opaque handles.
std::optional<ir::DType> dtype_from_dl(DLDataType type);

}  // namespace jumar::runtime
