// libtorch's C functions, found in the library that the process has loaded. Nothing of torch is needed to
// compile a program, and no particular version of it to run one.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "emit/host/wrapper/failure.h"

namespace jumar::wrapper {

using Error = int32_t;  // 0 for success
struct OpaqueList;
using List = OpaqueList*;
struct OpaqueString;
using String = OpaqueString*;

// Null when libtorch has no such function; a failure when the process has no libtorch.
inline void* torch_symbol(const char* name) {
  // The name is matched with those of loaded libraries. Python loads libtorch without making its symbols
  // global, so they are looked up in the library and not in the process.
  void* library = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  if (!library) fail(FailureKind::kInput, "no libtorch_cpu.so is loaded in this process");
  return dlsym(library, name);
}

inline void* needed_torch_symbol(const char* name) {
  void* found = torch_symbol(name);
  if (!found) fail(FailureKind::kInput, std::string("the loaded libtorch exports no ") + name);
  return found;
}

struct Torch {
#define JUMAR_TORCH(result, name, parameters) result(*name) parameters = nullptr;
#define JUMAR_TORCH_OPTIONAL(result, name, parameters) result(*name) parameters = nullptr;
#include "runtime/torch/c_api.def"
#undef JUMAR_TORCH
#undef JUMAR_TORCH_OPTIONAL

  Torch() {
#define JUMAR_TORCH(result, name, parameters) \
  name = reinterpret_cast<result(*) parameters>(needed_torch_symbol(#name));
#define JUMAR_TORCH_OPTIONAL(result, name, parameters) \
  name = reinterpret_cast<result(*) parameters>(torch_symbol(#name));
#include "runtime/torch/c_api.def"
#undef JUMAR_TORCH
#undef JUMAR_TORCH_OPTIONAL
  }
};

}  // namespace jumar::wrapper
