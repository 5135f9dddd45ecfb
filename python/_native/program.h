// jumar._native.Program: a compiled graph that Python can run.
#pragma once

#include "py.h"
#include "state.h"

struct jumar_program;

namespace jumar::python {

// The type's specification, for PyType_FromModuleAndSpec.
PyType_Spec* program_type_spec();

// What belongs to a program beside its code; borrowed.
struct ProgramParts {
  PyObject* python_calls;  // tuple
  PyObject* constants;     // tuple
  bool is_guarded;         // as TorchBridge::view takes it
};

// Takes the program. Null with an exception set.
PyObject* new_program(State& state, jumar_program* program, const ProgramParts& parts);

}  // namespace jumar::python
