#include "program.h"

#include <string>
#include <vector>

#include "host.h"
#include "jumar/jumar.h"

namespace jumar::python {
namespace {

struct Program {
  PyObject_HEAD jumar_program* program;
  PyObject* python_calls;  // tuple
  PyObject* constants;     // tuple of tensors: the inputs after the call's arguments
};

Program* as_program(PyObject* object) { return reinterpret_cast<Program*>(object); }

// The inputs of one call: values for the library and references that keep them alive while the lock is
// released.
class Inputs {
 public:
  Inputs(State& state, size_t expected) : state_(state) {
    values_.reserve(expected);
    owned_.reserve(expected);
  }
  ~Inputs() {
    for (PyObject* object : owned_) Py_DECREF(object);
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  bool add_all(PyObject* sequence) {
    const bool is_list = PyList_Check(sequence);
    if (!is_list && !PyTuple_Check(sequence)) {
      PyErr_SetString(PyExc_TypeError, "run takes a list or a tuple of inputs");
      return false;
    }
    const Py_ssize_t count = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
    for (Py_ssize_t k = 0; k < count; ++k) {
      PyObject* item = is_list ? PyList_GetItem(sequence, k) : PyTuple_GetItem(sequence, k);
      if (item == nullptr || !add(item)) return false;
    }
    return true;
  }

  const std::vector<jumar_value>& values() const { return values_; }
  PyObject* object(int64_t index) const { return owned_[static_cast<size_t>(index)]; }

 private:
  bool add(PyObject* item) {
    owned_.push_back(Py_NewRef(item));
    jumar_value& value = values_.emplace_back();
    if (state_.torch.is_tensor(item)) {
      value.kind = JUMAR_TENSOR;
      value.object = item;
      const TorchBridge::Name name{"input", static_cast<long long>(values_.size() - 1)};
      return state_.torch.view(item, state_.input_error, name, &value.tensor);
    }
    if (item == Py_True || item == Py_False) {
      value.kind = JUMAR_BOOL;
      value.integer = item == Py_True;
      return true;
    }
    if (PyLong_Check(item)) {
      value.kind = JUMAR_INT;
      value.integer = PyLong_AsLongLong(item);
      return value.integer != -1 || PyErr_Occurred() == nullptr;
    }
    if (PyFloat_Check(item)) {
      value.kind = JUMAR_FLOAT;
      value.number = PyFloat_AsDouble(item);
      return true;
    }
    if (item == Py_None) {
      value.kind = JUMAR_NONE;
      return true;
    }
    PyErr_Format(state_.input_error, "input %zd has type %S; tensors, ints, floats and bools are supported",
                 static_cast<Py_ssize_t>(values_.size() - 1), reinterpret_cast<PyObject*>(Py_TYPE(item)));
    return false;
  }

  State& state_;
  std::vector<jumar_value> values_;
  std::vector<PyObject*> owned_;
};

PyObject* converted(const State& state, const Inputs& inputs, jumar_results* results, size_t index) {
  jumar_output output;
  jumar_results_get(results, index, &output);
  switch (output.kind) {
    case JUMAR_OUTPUT_NONE:
      return Py_NewRef(Py_None);
    case JUMAR_OUTPUT_INT:
      return PyLong_FromLongLong(output.integer);
    case JUMAR_OUTPUT_FLOAT:
      return PyFloat_FromDouble(output.number);
    case JUMAR_OUTPUT_BOOL:
      return PyBool_FromLong(output.integer != 0);
    case JUMAR_OUTPUT_TORCH:
      return state.torch.wrapped_and_deleted(results, index, output.torch_tensor);
    case JUMAR_OUTPUT_MANAGED:
      return state.torch.from_managed(jumar_results_take_managed(results, index));
    case JUMAR_OUTPUT_ALIAS:
      return state.torch.alias(
          output.input >= 0 ? inputs.object(output.input) : static_cast<PyObject*>(output.object), output);
  }
  PyErr_SetString(state.internal_error, "an output of an unknown kind");
  return nullptr;
}

PyObject* converted(const State& state, const Inputs& inputs, jumar_results* results) {
  const size_t count = jumar_results_count(results);
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t k = 0; tuple && k < count; ++k) {
    PyObject* item = converted(state, inputs, results, k);
    if (item == nullptr) return nullptr;
    PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(k), item);
  }
  return tuple.release();
}

PyObject* run(PyObject* self, PyObject* sequence) {
  Program* program = as_program(self);
  State* state = state_of_instance(self);
  if (state == nullptr) return nullptr;
  Inputs inputs(*state, jumar_program_input_count(program->program));
  if (!inputs.add_all(sequence) || !inputs.add_all(program->constants)) return nullptr;
  Host host(*state, program->python_calls);
  jumar_results* results = nullptr;
  host.release_lock();
  jumar_error* error = jumar_program_run(program->program, inputs.values().data(), inputs.values().size(),
                                         host.table(), &results);
  host.take_lock();
  if (error != nullptr) {
    raise(*state, error);
    return nullptr;
  }
  PyObject* out = converted(*state, inputs, results);
  jumar_results_free(results);
  return out;
}

PyObject* report(PyObject* self, PyObject*) {
  return PyUnicode_FromString(jumar_program_report(as_program(self)->program));
}

PyObject* plan_text(PyObject* self, PyObject*) {
  return PyUnicode_FromString(jumar_program_plan(as_program(self)->program));
}

PyObject* arena_bytes(PyObject* self, PyObject*) {
  return PyLong_FromLongLong(jumar_program_arena_bytes(as_program(self)->program));
}

PyObject* input_count(PyObject* self, void*) {
  return PyLong_FromSize_t(jumar_program_input_count(as_program(self)->program));
}

PyObject* output_count(PyObject* self, void*) {
  return PyLong_FromSize_t(jumar_program_output_count(as_program(self)->program));
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(as_program(self)->python_calls);
  Py_VISIT(as_program(self)->constants);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_program(self)->python_calls);
  Py_CLEAR(as_program(self)->constants);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  clear(self);
  jumar_program_free(as_program(self)->program);
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMethodDef kMethods[] = {
    {"run", run, METH_O,
     "run(inputs) -> tuple of results. The inputs are a list or tuple, in the graph's order."},
    {"report", report, METH_NOARGS, "report() -> JSON text: stages, kernels, calls with reasons, refusals."},
    {"plan_text", plan_text, METH_NOARGS, "plan_text() -> the host program as text."},
    {"arena_bytes", arena_bytes, METH_NOARGS,
     "arena_bytes() -> bytes of intermediate tensors of the last call."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef kProperties[] = {
    {"input_count", input_count, nullptr, "Number of inputs, constants included.", nullptr},
    {"output_count", output_count, nullptr, "Number of results.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot kSlots[] = {{Py_tp_methods, kMethods},
                        {Py_tp_getset, kProperties},
                        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                        {Py_tp_clear, reinterpret_cast<void*>(clear)},
                        {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                        {Py_tp_doc, const_cast<char*>("A compiled graph; made by compile().")},
                        {0, nullptr}};

PyType_Spec kSpec = {"jumar._native.Program", sizeof(Program), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, kSlots};

}  // namespace

PyType_Spec* program_type_spec() { return &kSpec; }

PyObject* new_program(State& state, jumar_program* program, PyObject* python_calls, PyObject* constants) {
  auto* type = reinterpret_cast<PyTypeObject*>(state.program_type);
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) {
    jumar_program_free(program);
    return nullptr;
  }
  as_program(self)->program = program;
  as_program(self)->python_calls = Py_NewRef(python_calls);
  as_program(self)->constants = Py_NewRef(constants);
  return self;
}

}  // namespace jumar::python
