// Loads object code into this process and finds its functions.
//
//   JUMAR_ASSIGN(std::unique_ptr<Jit> jit, Jit::create());
//   JUMAR_ASSIGN(ObjectHandle handle, jit->add_object(bytes));
//   JUMAR_ASSIGN(void* address, jit->lookup(handle, "kernel_0"));
//   ... call it ...
//   jit->remove(handle);                                  // the address is dead from here on
//
// Each object has a symbol scope of its own, so two graphs may both define `kernel_0`. An object may refer to
// scalar functions of libm (sin, fmod, lgamma, ...) and to memcpy, memmove and memset; nothing else of the
// process is visible, so a kernel cannot depend by accident on what happens to be loaded.
//
// Invariants: all members may be called from several threads at once. The caller makes sure that no code of
// an object runs when it is removed, nor when the Jit is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "support/result.h"

namespace jumar::driver::jit {

// Names one loaded object; never reused within a Jit.
enum class ObjectHandle : uint64_t {};

class Jit {
 public:
  static Result<std::unique_ptr<Jit>> create();
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  // Checks that the bytes are an object file for this machine and links them on the first lookup. Bytes that
  // came from a cache may be damaged: that is an "input" diagnostic.
  Result<ObjectHandle> add_object(std::span<const uint8_t> bytes);
  // The address of a function that the object defines. Code "input" where it is missing or an external symbol
  // cannot be resolved.
  Result<void*> lookup(ObjectHandle handle, std::string_view symbol);
  // Unloads the object and frees its memory. The handle must be live.
  void remove(ObjectHandle handle);
  int num_objects() const;

 private:
  struct Impl;
  explicit Jit(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace jumar::driver::jit
