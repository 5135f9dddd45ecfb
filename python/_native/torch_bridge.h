// Tensors between Python and the library.
//
// In: a view of the tensor's memory by DLPack's exchange table. Out: libtorch's handle is wrapped by the
// function that libtorch_python exports for it, found by its name at run time; where it is missing, by
// torch._C._aoti, which is slower. Nothing links to libtorch.
//
// A DLPack view does not tell of a pending conjugation or negation, and takes fake tensors and subclasses
// that keep their data elsewhere, so these are refused before a pointer is taken. Asking a tensor for these
// flags costs more than the view; where the inputs are `guarded`, whoever calls has done so: Dynamo's guards
// compare them.
#pragma once

#include <cstdint>

#include "py.h"

struct jumar_tensor;
struct jumar_output;
struct jumar_results;
struct DLPackExchangeAPI;
struct DLManagedTensorVersioned;

namespace jumar::python {

class TorchBridge {
 public:
  // Imports torch; false with an exception set.
  bool setup();
  int visit(visitproc visit, void* arg);
  void clear();

  bool is_tensor(PyObject* object) const;
  // Names a tensor in messages: "input 3".
  struct Name {
    const char* text;
    long long index = -1;
  };
  // A view of a tensor's memory, valid while the tensor lives. False with an exception of type `error_type`
  // set.
  bool view(PyObject* object, PyObject* error_type, Name name, bool is_guarded, jumar_tensor* out) const;
  // The Python tensor for a borrowed libtorch handle; null with an exception set.
  PyObject* wrapped(void* handle) const;
  // As wrapped, but takes the handle's reference.
  PyObject* wrapped_and_deleted(jumar_results* results, size_t index, void* handle) const;
  PyObject* from_managed(DLManagedTensorVersioned* managed) const;
  // The view of `base` that a jumar_output of kind alias describes.
  PyObject* alias(PyObject* base, const jumar_output& output) const;
  // torch.float32 and so on for "f32"; torch.strided, torch.channels_last, torch.device("cpu").
  PyObject* dtype(const char* text, size_t length) const;
  PyObject* attribute(const char* name) const { return PyObject_GetAttrString(torch_, name); }

 private:
  using WrapFn = PyObject* (*)(void* handle);

  bool refuse_subclass(PyObject* object, PyObject* error_type, Name name) const;
  bool refuse_flags(PyObject* object, PyObject* error_type, Name name, uint8_t dtype_code) const;
  PyObject* alias_of_other_type(PyObject* base, const jumar_output& output) const;

  PyObject* torch_ = nullptr;
  PyObject* tensor_type_ = nullptr;
  PyObject* parameter_type_ = nullptr;
  PyObject* no_dispatch_ = nullptr;  // torch._C._disabled_torch_dispatch_impl
  PyObject* is_conj_ = nullptr;
  PyObject* is_neg_ = nullptr;
  PyObject* reinterpret_ = nullptr;
  PyObject* steal_handle_ = nullptr;
  const DLPackExchangeAPI* exchange_ = nullptr;
  WrapFn wrap_ = nullptr;
  WrapFn wrap_moved_ = nullptr;  // leaves the handle without a tensor
};

}  // namespace jumar::python
