#include "host.h"

#include <string>

namespace jumar::python {
namespace {

// Called when the program is done with a tensor that Python returned; the lock may be held or not.
void release_object(void* object) {
  const PyGILState_STATE lock = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject*>(object));
  PyGILState_Release(lock);
}

}  // namespace

Host::Host(State& state, PyObject* calls)
    : state_(state), calls_(calls), table_{this, &Host::call_python, &Host::call_op} {}

PyObject* Host::converted_word(const jumar_arg& arg) const {
  const std::string text(arg.text, arg.text_length);
  switch (arg.word) {
    case JUMAR_WORD_DTYPE:
      return state_.torch.dtype(arg.text, arg.text_length);
    case JUMAR_WORD_LAYOUT:
      return state_.torch.attribute(text.c_str());
    case JUMAR_WORD_MEMORY_FORMAT: {
      const bool is_last = text == "channels_last" || text == "channels_last_3d";
      return state_.torch.attribute((is_last ? text : text + "_format").c_str());
    }
    case JUMAR_WORD_DEVICE: {
      const Ref device(state_.torch.attribute("device"));
      const Ref name(PyUnicode_FromStringAndSize(arg.text, static_cast<Py_ssize_t>(arg.text_length)));
      return device && name ? PyObject_CallFunctionObjArgs(device.get(), name.get(), nullptr) : nullptr;
    }
  }
  PyErr_SetString(state_.internal_error, "an argument of an unknown enumeration");
  return nullptr;
}

PyObject* Host::converted(const jumar_arg& arg) const {
  switch (arg.kind) {
    case JUMAR_NONE:
      return Py_NewRef(Py_None);
    case JUMAR_INT:
      return PyLong_FromLongLong(arg.integer);
    case JUMAR_FLOAT:
      return PyFloat_FromDouble(arg.number);
    case JUMAR_BOOL:
      return PyBool_FromLong(arg.integer != 0);
    case JUMAR_STRING:
      return PyUnicode_FromStringAndSize(arg.text, static_cast<Py_ssize_t>(arg.text_length));
    case JUMAR_WORD:
      return converted_word(arg);
    case JUMAR_TENSOR:
      if (arg.object != nullptr) return Py_NewRef(static_cast<PyObject*>(arg.object));
      return state_.torch.wrapped(arg.torch_tensor);
    case JUMAR_LIST: {
      Ref list(PyList_New(static_cast<Py_ssize_t>(arg.item_count)));
      for (size_t k = 0; list && k < arg.item_count; ++k) {
        PyObject* item = converted(arg.items[k]);
        if (item == nullptr) return nullptr;
        PyList_SetItem(list.get(), static_cast<Py_ssize_t>(k), item);
      }
      return list.release();
    }
  }
  PyErr_SetString(state_.internal_error, "an argument of an unknown kind");
  return nullptr;
}

PyObject* Host::converted_args(const jumar_arg* args, size_t count) const {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t k = 0; tuple && k < count; ++k) {
    PyObject* item = converted(args[k]);
    if (item == nullptr) return nullptr;
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(k), item);
  }
  return tuple.release();
}

// Tensors, ints and None, sequences of them flattened. A function that returns nothing has no results: only
// None in a sequence is one.
bool Host::add_results(PyObject* value, const char* what, jumar_host_results* results) const {
  if (state_.torch.is_tensor(value)) {
    jumar_tensor view;
    if (!state_.torch.view(value, PyExc_RuntimeError, {what}, false, &view)) return false;
    jumar_host_results_add_tensor(results, &view, Py_NewRef(value), release_object);
    return true;
  }
  if (PyTuple_Check(value) || PyList_Check(value)) {
    const Py_ssize_t count = PySequence_Size(value);
    for (Py_ssize_t k = 0; k < count; ++k) {
      const Ref item(PySequence_GetItem(value, k));
      if (item && item.get() == Py_None) {
        jumar_host_results_add_none(results);
        continue;
      }
      if (!item || !add_results(item.get(), what, results)) return false;
    }
    return true;
  }
  if (PyLong_Check(value)) {
    const long long number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred() != nullptr) return false;
    jumar_host_results_add_int(results, number);
    return true;
  }
  if (value == Py_None) return true;
  PyErr_Format(PyExc_RuntimeError, "%s has type %S, which a compiled graph cannot hold", what,
               reinterpret_cast<PyObject*>(Py_TYPE(value)));
  return false;
}

bool Host::call(PyObject* callable, const char* what, const jumar_arg* args, size_t count,
                jumar_host_results* results) {
  const Ref arguments(converted_args(args, count));
  if (!arguments) return false;
  const Ref value(PyObject_Call(callable, arguments.get(), nullptr));
  return value && add_results(value.get(), what, results);
}

int Host::call_python(void* user, uint32_t callable, const jumar_arg* args, size_t count,
                      jumar_host_results* results) {
  Host& host = *static_cast<Host*>(user);
  host.take_lock();
  bool done = false;
  PyObject* function = PyTuple_GetItem(host.calls_, callable);  // raises IndexError when there is none
  if (function != nullptr) done = host.call(function, "the result of a Python call", args, count, results);
  host.release_lock();
  return done ? 0 : 1;
}

int Host::call_op(void* user, const char* op, const jumar_arg* args, size_t count,
                  jumar_host_results* results) {
  Host& host = *static_cast<Host*>(user);
  host.take_lock();
  bool done = false;
  // A kernel in C++ that failed before may have left an exception; the call that follows raises it again.
  PyErr_Clear();
  if (host.state_.operator_call == nullptr) {
    const Ref calls(PyImport_ImportModule("jumar.calls"));
    if (calls) host.state_.operator_call = PyObject_GetAttrString(calls.get(), "operator_call");
  }
  if (host.state_.operator_call != nullptr) {
    const Ref name(PyUnicode_FromString(op));
    const Ref function(name ? PyObject_CallFunctionObjArgs(host.state_.operator_call, name.get(), nullptr)
                            : nullptr);
    if (function) done = host.call(function.get(), op, args, count, results);
  }
  host.release_lock();
  return done ? 0 : 1;
}

}  // namespace jumar::python
