#include "torch_bridge.h"

#include <dlfcn.h>

#include <cstring>
#include <string>

#include "dlpack_exchange.h"
#include "jumar/jumar.h"

namespace jumar::python {
namespace {

constexpr uint8_t kDlFloat = 2;
constexpr uint8_t kDlBFloat = 4;
constexpr uint8_t kDlComplex = 5;

PyObject* attribute_path(PyObject* object, std::initializer_list<const char*> names) {
  Ref at = Ref::borrowed(object);
  for (const char* name : names) {
    if (!at) return nullptr;
    at = Ref(PyObject_GetAttrString(at.get(), name));
  }
  return at.release();
}

PyObject* tuple_of(const int64_t* values, int32_t count) {
  Ref tuple(PyTuple_New(count));
  for (int32_t k = 0; tuple && k < count; ++k) {
    PyObject* value = PyLong_FromLongLong(values[k]);
    if (value == nullptr) return nullptr;
    PyTuple_SetItem(tuple.get(), k, value);
  }
  return tuple.release();
}

struct DTypeName {
  const char* text;
  uint8_t code;
  uint8_t bits;
  const char* attribute;
};
constexpr DTypeName kDTypes[] = {
    {"bool", 6, 8, "bool"},
    {"u8", 1, 8, "uint8"},
    {"i8", 0, 8, "int8"},
    {"i16", 0, 16, "int16"},
    {"i32", 0, 32, "int32"},
    {"i64", 0, 64, "int64"},
    {"f16", 2, 16, "float16"},
    {"bf16", 4, 16, "bfloat16"},
    {"f32", 2, 32, "float32"},
    {"f64", 2, 64, "float64"},
    {"c32", 5, 32, "complex32"},
    {"c64", 5, 64, "complex64"},
    {"c128", 5, 128, "complex128"},
    {"u16", 1, 16, "uint16"},
    {"u32", 1, 32, "uint32"},
    {"u64", 1, 64, "uint64"},
    {"f8e5m2", 12, 8, "float8_e5m2"},
    {"f8e4m3fn", 10, 8, "float8_e4m3fn"},
    {"f8e5m2fnuz", 13, 8, "float8_e5m2fnuz"},
    {"f8e4m3fnuz", 11, 8, "float8_e4m3fnuz"},
};

const DTypeName* dtype_row(uint8_t code, uint8_t bits) {
  for (const DTypeName& row : kDTypes) {
    if (row.code == code && row.bits == bits) return &row;
  }
  return nullptr;
}

std::string full(const TorchBridge::Name& name) {
  return name.index < 0 ? name.text : std::string(name.text) + " " + std::to_string(name.index);
}

// Replaces the exception that is set by one of `error_type` with `message`.
void raise_instead(PyObject* error_type, const std::string& message) {
  PyErr_Clear();
  PyErr_SetString(error_type, message.c_str());
}

}  // namespace

bool TorchBridge::setup() {
  torch_ = PyImport_ImportModule("torch");
  if (torch_ == nullptr) return false;
  tensor_type_ = PyObject_GetAttrString(torch_, "Tensor");
  parameter_type_ = attribute_path(torch_, {"nn", "Parameter"});
  no_dispatch_ = attribute_path(torch_, {"_C", "_disabled_torch_dispatch_impl"});
  if (tensor_type_ == nullptr || parameter_type_ == nullptr || no_dispatch_ == nullptr) return false;
  is_conj_ = PyObject_GetAttrString(tensor_type_, "is_conj");
  is_neg_ = PyObject_GetAttrString(tensor_type_, "is_neg");
  reinterpret_ = attribute_path(torch_, {"_C", "_dynamo", "guards", "_reinterpret_tensor"});
  steal_handle_ = attribute_path(torch_, {"_C", "_aoti", "alloc_tensor_by_stealing_from_void_ptr"});
  if (is_conj_ == nullptr || is_neg_ == nullptr || reinterpret_ == nullptr || steal_handle_ == nullptr)
    return false;
  const Ref capsule(PyObject_GetAttrString(tensor_type_, "__dlpack_c_exchange_api__"));
  if (!capsule) {
    raise_instead(PyExc_ImportError,
                  "jumar needs a PyTorch whose tensors have DLPack's C exchange table (2.10 or newer)");
    return false;
  }
  exchange_ =
      static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api"));
  if (exchange_ == nullptr) return false;
  if (exchange_->header.version.major != 1) {
    raise_instead(PyExc_ImportError, "jumar needs a PyTorch with DLPack 1");
    return false;
  }
  if (void* library = dlopen("libtorch_python.so", RTLD_NOW | RTLD_NOLOAD)) {
    wrap_ = reinterpret_cast<WrapFn>(dlsym(library, "_Z16THPVariable_WrapRKN2at10TensorBaseE"));
    wrap_moved_ = reinterpret_cast<WrapFn>(dlsym(library, "_Z16THPVariable_WrapON2at10TensorBaseE"));
    dlclose(library);
  }
  return true;
}

int TorchBridge::visit(visitproc visit, void* arg) {
  Py_VISIT(torch_);
  Py_VISIT(tensor_type_);
  Py_VISIT(parameter_type_);
  Py_VISIT(no_dispatch_);
  Py_VISIT(is_conj_);
  Py_VISIT(is_neg_);
  Py_VISIT(reinterpret_);
  Py_VISIT(steal_handle_);
  return 0;
}

void TorchBridge::clear() {
  Py_CLEAR(torch_);
  Py_CLEAR(tensor_type_);
  Py_CLEAR(parameter_type_);
  Py_CLEAR(no_dispatch_);
  Py_CLEAR(is_conj_);
  Py_CLEAR(is_neg_);
  Py_CLEAR(reinterpret_);
  Py_CLEAR(steal_handle_);
}

bool TorchBridge::is_tensor(PyObject* object) const {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type == tensor_type_ || type == parameter_type_) return true;
  return PyObject_IsInstance(object, tensor_type_) == 1;
}

// True when the tensor must not be read through a pointer; an exception is set then. The same for
// refuse_flags.
bool TorchBridge::refuse_subclass(PyObject* object, PyObject* error_type, Name name) const {
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type == tensor_type_ || type == parameter_type_) return false;
  const Ref dispatch(PyObject_GetAttrString(type, "__torch_dispatch__"));
  if (dispatch && dispatch.get() == no_dispatch_) return false;
  PyErr_Clear();
  PyErr_Format(error_type, "%s is a %S, a tensor subclass with its own dispatch", full(name).c_str(), type);
  return true;
}

bool TorchBridge::refuse_flags(PyObject* object, PyObject* error_type, Name name, uint8_t dtype_code) const {
  const bool is_complex = dtype_code == kDlComplex;
  if (!is_complex && dtype_code != kDlFloat && dtype_code != kDlBFloat) return false;
  // A parameter is a leaf: it cannot be a view that negates.
  if (!is_complex && reinterpret_cast<PyObject*>(Py_TYPE(object)) == parameter_type_) return false;
  for (PyObject* test : {is_neg_, is_complex ? is_conj_ : nullptr}) {
    if (test == nullptr) continue;
    const Ref answer(PyObject_CallFunctionObjArgs(test, object, nullptr));
    if (!answer) return true;
    if (answer.get() == Py_True) {
      PyErr_Format(error_type, "%s has a pending %s; call resolve_%s() on it first", full(name).c_str(),
                   test == is_neg_ ? "negation" : "conjugation", test == is_neg_ ? "neg" : "conj");
      return true;
    }
  }
  return false;
}

bool TorchBridge::view(PyObject* object, PyObject* error_type, Name name, bool is_guarded,
                       jumar_tensor* out) const {
  DLTensor view;
  if (exchange_->view_of_object(object, &view) != 0) {
    PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
    PyErr_Fetch(&type, &value, &traceback);
    const Ref t(type), v(value), b(traceback);
    PyErr_Format(error_type, "%s cannot be read through a pointer: %S", full(name).c_str(),
                 value != nullptr ? value : Py_None);
    return false;
  }
  if (refuse_subclass(object, error_type, name)) return false;
  if (!is_guarded && refuse_flags(object, error_type, name, view.dtype.code)) return false;
  if (view.dtype.lanes != 1) {
    PyErr_Format(error_type, "%s has an element type that is not supported", full(name).c_str());
    return false;
  }
  out->data = view.data == nullptr ? nullptr : static_cast<char*>(view.data) + view.byte_offset;
  out->sizes = view.shape;
  out->strides = view.strides;
  out->rank = view.ndim;
  out->device_type = view.device.device_type;
  out->dtype_code = view.dtype.code;
  out->dtype_bits = view.dtype.bits;
  return true;
}

PyObject* TorchBridge::wrapped(void* handle) const {
  if (wrap_ != nullptr) return wrap_(handle);
  PyErr_SetString(PyExc_RuntimeError, "this PyTorch cannot show a tensor of a called operator to Python");
  return nullptr;
}

PyObject* TorchBridge::wrapped_and_deleted(jumar_results* results, size_t index, void* handle) const {
  // The results keep the handle and delete it.
  if (wrap_moved_ != nullptr) return wrap_moved_(handle);
  if (wrap_ != nullptr) return wrap_(handle);
  const Ref capsule(PyCapsule_New(jumar_results_take_torch(results, index), nullptr, nullptr));
  if (!capsule) return nullptr;
  return PyObject_CallFunctionObjArgs(steal_handle_, capsule.get(), nullptr);
}

PyObject* TorchBridge::from_managed(DLManagedTensorVersioned* managed) const {
  void* object = nullptr;
  if (exchange_->object_from_managed(managed, &object) != 0) return nullptr;
  return static_cast<PyObject*>(object);
}

PyObject* TorchBridge::alias(PyObject* base, const jumar_output& output) const {
  if (output.whole) {
    Py_INCREF(base);
    return base;
  }
  DLTensor view;
  if (exchange_->view_of_object(base, &view) != 0) return nullptr;
  if (view.dtype.code != output.dtype_code || view.dtype.bits != output.dtype_bits) {
    return alias_of_other_type(base, output);
  }
  const Ref sizes(tuple_of(output.sizes, output.rank));
  const Ref strides(tuple_of(output.strides, output.rank));
  const Ref offset(PyLong_FromLongLong(output.offset));
  if (!sizes || !strides || !offset) return nullptr;
  return PyObject_CallFunctionObjArgs(reinterpret_, base, sizes.get(), strides.get(), offset.get(), nullptr);
}

// A view with another element type: a new tensor over the base's storage.
PyObject* TorchBridge::alias_of_other_type(PyObject* base, const jumar_output& output) const {
  const DTypeName* row = dtype_row(output.dtype_code, output.dtype_bits);
  if (row == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "a view with an unknown element type");
    return nullptr;
  }
  const Ref dtype(PyObject_GetAttrString(torch_, row->attribute));
  const Ref storage(PyObject_CallMethod(base, "untyped_storage", nullptr));
  if (!dtype || !storage) return nullptr;
  const Ref storage_address(PyObject_CallMethod(storage.get(), "data_ptr", nullptr));
  const Ref base_address(PyObject_CallMethod(base, "data_ptr", nullptr));
  if (!storage_address || !base_address) return nullptr;
  const long long bytes = PyLong_AsLongLong(base_address.get()) - PyLong_AsLongLong(storage_address.get());
  if (PyErr_Occurred() != nullptr) return nullptr;
  const long long offset = bytes / (row->bits / 8) + output.offset;
  const Ref empty(PyObject_CallMethod(torch_, "empty", "i", 0));
  if (!empty) return nullptr;
  const Ref typed(PyObject_CallMethod(empty.get(), "to", "O", dtype.get()));
  const Ref sizes(tuple_of(output.sizes, output.rank));
  const Ref strides(tuple_of(output.strides, output.rank));
  if (!typed || !sizes || !strides) return nullptr;
  return PyObject_CallMethod(typed.get(), "set_", "OLOO", storage.get(), offset, sizes.get(), strides.get());
}

PyObject* TorchBridge::dtype(const char* text, size_t length) const {
  for (const DTypeName& row : kDTypes) {
    if (std::strlen(row.text) == length && std::memcmp(row.text, text, length) == 0) {
      return PyObject_GetAttrString(torch_, row.attribute);
    }
  }
  PyErr_SetString(PyExc_RuntimeError, "an unknown element type");
  return nullptr;
}

}  // namespace jumar::python
