// jumar._native.Program: a compiled graph that Python can run.
#pragma once

#include "py.h"
#include "state.h"

struct jumar_program;

namespace jumar::python {

// The type's specification, for PyType_FromModuleAndSpec.
PyType_Spec* program_type_spec();

// Takes the program; `python_calls` and `constants` are tuples, borrowed. Null with an exception set.
PyObject* new_program(State& state, jumar_program* program, PyObject* python_calls, PyObject* constants);

}  // namespace jumar::python
