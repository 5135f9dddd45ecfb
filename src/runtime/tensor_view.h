// A tensor's memory and layout, borrowed: valid during the call that it is passed to.
#pragma once

#include <cstdint>

#include "ir/dtype.h"
#include "runtime/dlpack.h"

namespace jumar::runtime {

struct TensorView {
  void* data = nullptr;  // the first element: offsets are applied
  ir::DType dtype = ir::DType::kF32;
  int32_t rank = 0;
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;  // in elements; null means contiguous
  int32_t device_type = kDlCpu;      // DLPack's number
};

}  // namespace jumar::runtime
