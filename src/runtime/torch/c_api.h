// The table of libtorch's C functions, found in the library that the process has loaded.
//
//   Result<std::unique_ptr<const Api>> api = Api::load();
//   (*api)->aoti_torch_get_dim(handle, &rank);
//
// Jumar links to no libtorch and includes none of its headers: one build works with every version that
// exports the functions of c_api.def. The table must live as long as every Tensor made with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/torch/tensor.h"
#include "support/result.h"

namespace jumar::runtime::torch {

using Error = int32_t;
struct OpaqueList;
using List = OpaqueList*;
struct OpaqueString;
using String = OpaqueString*;

class Api {
 public:
#define JUMAR_TORCH(result, name, parameters) result(*name) parameters = nullptr;
#define JUMAR_TORCH_OPTIONAL(result, name, parameters) result(*name) parameters = nullptr;
#include "runtime/torch/c_api.def"
#undef JUMAR_TORCH
#undef JUMAR_TORCH_OPTIONAL

  // Without a path: the libtorch_cpu that the process has loaded already; none is loaded. With one: that file
  // is loaded, and stays so.
  static Result<std::unique_ptr<const Api>> load(const std::string& path = "");

  // A function of libtorch by its C name, or null.
  void* symbol(const char* name) const;

  Tensor empty_strided(ir::DType dtype, int64_t rank, const int64_t* sizes, const int64_t* strides) const;
  // A tensor on memory that it does not own and that must outlive it and its views.
  Tensor borrowed_blob(void* data, ir::DType dtype, int64_t rank, const int64_t* sizes,
                       const int64_t* strides) const;

 private:
  Api() = default;
  void* library_ = nullptr;
};

}  // namespace jumar::runtime::torch
