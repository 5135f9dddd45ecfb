// What the module keeps: the library's context, the exception types and what it needs of torch. One State per
// module object; nothing is global.
#pragma once

#include "py.h"
#include "torch_bridge.h"

struct jumar_context;
struct jumar_error;

namespace jumar::python {

struct State {
  jumar_context* context = nullptr;
  TorchBridge torch;
  PyObject* program_type = nullptr;
  PyObject* error = nullptr;  // jumar.Error, the base of the others
  PyObject* compile_error = nullptr;
  PyObject* input_error = nullptr;
  PyObject* bounds_error = nullptr;
  PyObject* internal_error = nullptr;
  PyObject* operator_call = nullptr;  // jumar.calls.operator_call, looked up at the first use

  int visit(visitproc visit, void* arg);
  void clear();
};

State* state_of(PyObject* module);
// Of an instance of the module's Program type.
State* state_of_instance(PyObject* self);

// Raises the Python exception for `error` and frees it.
void raise(State& state, jumar_error* error);

// "name=value" lines of a str, a dict or None; null with an exception set.
PyObject* option_text(PyObject* options);

}  // namespace jumar::python
