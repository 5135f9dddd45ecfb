#include "runtime/torch/c_api.h"

#include <dlfcn.h>

namespace jumar::runtime::torch {

Result<std::unique_ptr<const Api>> Api::load(const std::string& path) {
  // The name is matched with the SONAME of loaded libraries. Python loads libtorch without making its symbols
  // global, so they are looked up in the library and not in the process.
  void* library = path.empty() ? dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD)
                               : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    if (path.empty()) return diagnostic("unsupported", "no libtorch_cpu.so is loaded in this process");
    const char* reason = dlerror();
    return diagnostic("io", "{} cannot be loaded: {}", path, reason ? reason : "unknown reason");
  }
  std::unique_ptr<Api> api(new Api());
  api->library_ = library;
  const char* missing = nullptr;
#define JUMAR_TORCH(result, name, parameters)                                \
  api->name = reinterpret_cast<result(*) parameters>(dlsym(library, #name)); \
  if (!api->name && !missing) missing = #name;
#define JUMAR_TORCH_OPTIONAL(result, name, parameters) \
  api->name = reinterpret_cast<result(*) parameters>(dlsym(library, #name));
#include "runtime/torch/c_api.def"
#undef JUMAR_TORCH
#undef JUMAR_TORCH_OPTIONAL
  if (missing)
    return diagnostic("unsupported", "the loaded libtorch exports no {}: torch 2.10 or newer is needed",
                      missing);
  return std::unique_ptr<const Api>(std::move(api));
}

void* Api::symbol(const char* name) const { return dlsym(library_, name); }

Tensor Api::empty_strided(ir::DType dtype, int64_t rank, const int64_t* sizes, const int64_t* strides) const {
  Handle handle = nullptr;
  if (aoti_torch_empty_strided(rank, sizes, strides, ir::c10_code(dtype), aoti_torch_device_type_cpu(), 0,
                               &handle) != 0)
    return {};
  return Tensor(*this, handle);
}

Tensor Api::borrowed_blob(void* data, ir::DType dtype, int64_t rank, const int64_t* sizes,
                          const int64_t* strides) const {
  Handle handle = nullptr;
  if (aoti_torch_create_tensor_from_blob_v2(data, rank, sizes, strides, 0, ir::c10_code(dtype),
                                            aoti_torch_device_type_cpu(), 0, &handle,
                                            aoti_torch_layout_strided(), nullptr, 0) != 0)
    return {};
  return Tensor(*this, handle);
}

void Tensor::reset() {
  if (handle_) api_->aoti_torch_delete_tensor_object(std::exchange(handle_, nullptr));
}

Tensor Tensor::shared() const {
  if (!handle_) return {};
  Handle handle = nullptr;
  if (api_->aoti_torch_new_tensor_handle(handle_, &handle) != 0) return {};
  return Tensor(*api_, handle);
}

}  // namespace jumar::runtime::torch
