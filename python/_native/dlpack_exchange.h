// DLPack's C exchange table, as torch.Tensor.__dlpack_c_exchange_api__ holds it: layout only.
#pragma once

#include <cstdint>

#include "runtime/dlpack.h"

extern "C" {

struct DLPackExchangeAPIHeader {
  DLPackVersion version;
  DLPackExchangeAPIHeader* previous;
};

struct DLPackExchangeAPI {
  DLPackExchangeAPIHeader header;
  int (*allocate)(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, DLManagedTensorVersioned** out);
  int (*object_from_managed)(DLManagedTensorVersioned* managed, void** out);
  int (*view_of_object)(void* object, DLTensor* out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
};

}  // extern "C"
