#include "program.h"

#include <structmember.h>

#include <cstddef>
#include <memory>

#include "host.h"
#include "jumar/jumar.h"

namespace jumar::python {
namespace {

// PEP 590's protocol, by which a call makes no tuple of its arguments. Every CPython from 3.9 on has it; the
// limited API's headers name it from 3.12 on. The highest bit of `count` is a flag of the caller's.
using VectorcallFn = PyObject* (*)(PyObject* self, PyObject* const* args, size_t count, PyObject* names);
constexpr unsigned long kHasVectorcall = 1UL << 11;
constexpr size_t kCountMask = ~size_t{0} >> 1;

struct Program {
  PyObject_HEAD PyObject* attributes;  // a dict, or null while there are none
  VectorcallFn vectorcall;
  State* state;  // of the module, which the type keeps alive
  jumar_program* program;
  PyObject* python_calls;  // tuple
  PyObject* constants;     // tuple of tensors: the inputs after the call's arguments
  Py_ssize_t constant_count;
  bool is_brief;  // a call is over before another thread could make use of the interpreter's lock
  bool is_guarded;
};

Program* as_program(PyObject* object) { return reinterpret_cast<Program*>(object); }

// The inputs of one call: values for the library, and references that keep the objects alive while the lock
// is released. Few inputs need no memory of their own.
class Inputs {
 public:
  Inputs(const Program& program, Py_ssize_t argument_count)
      : state_(*program.state),
        is_guarded_(program.is_guarded),
        capacity_(static_cast<size_t>(argument_count + program.constant_count)) {
    if (capacity_ > kInlineCount) heap_.reset(new jumar_value[capacity_]);
    values_ = heap_ ? heap_.get() : inline_;
  }
  ~Inputs() {
    for (size_t k = 0; k < count_; ++k) Py_DECREF(static_cast<PyObject*>(values_[k].object));
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  // The first `count` items of a list or a tuple; `item_at` is PyList_GetItem or PyTuple_GetItem.
  bool add_all(PyObject* sequence, Py_ssize_t count, PyObject* (*item_at)(PyObject*, Py_ssize_t)) {
    for (Py_ssize_t k = 0; k < count; ++k) {
      PyObject* item = item_at(sequence, k);
      if (item == nullptr || !add(item)) return false;
    }
    return true;
  }
  bool add_constants(const Program& program) {
    return add_all(program.constants, program.constant_count, PyTuple_GetItem);
  }

  const jumar_value* values() const { return values_; }
  size_t count() const { return count_; }
  PyObject* object(int64_t index) const { return static_cast<PyObject*>(values_[index].object); }

 private:
  bool add(PyObject* item) {
    const size_t index = count_++;
    jumar_value& value = values_[index];
    value.object = Py_NewRef(item);
    if (state_.torch.is_tensor(item)) {
      value.kind = JUMAR_TENSOR;
      const TorchBridge::Name name{"input", static_cast<long long>(index)};
      return state_.torch.view(item, state_.input_error, name, is_guarded_, &value.tensor);
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
                 static_cast<Py_ssize_t>(index), reinterpret_cast<PyObject*>(Py_TYPE(item)));
    return false;
  }

  static constexpr size_t kInlineCount = 16;

  const State& state_;
  const bool is_guarded_;
  const size_t capacity_;
  size_t count_ = 0;
  jumar_value* values_;
  std::unique_ptr<jumar_value[]> heap_;
  jumar_value inline_[kInlineCount];
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

PyObject* converted_list(const State& state, const Inputs& inputs, jumar_results* results) {
  const size_t count = jumar_results_count(results);
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t k = 0; list && k < count; ++k) {
    PyObject* item = converted(state, inputs, results, k);
    if (item == nullptr) return nullptr;
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(k), item);
  }
  return list.release();
}

// Null with an exception set.
jumar_results* results_of(const Program& program, const Inputs& inputs) {
  jumar_results* results = nullptr;
  jumar_error* error = nullptr;
  if (program.is_brief) {  // and makes no calls
    error = jumar_program_run(program.program, inputs.values(), inputs.count(), nullptr, &results);
  } else {
    Host host(*program.state, program.python_calls);
    host.release_lock();
    error = jumar_program_run(program.program, inputs.values(), inputs.count(), host.table(), &results);
    host.take_lock();
  }
  if (error != nullptr) raise(*program.state, error);
  return results;
}

// With the constants added: the results of a call, as a list.
PyObject* results_list(const Program& program, Inputs& inputs) {
  if (!inputs.add_constants(program)) return nullptr;
  jumar_results* results = results_of(program, inputs);
  if (results == nullptr) return nullptr;
  PyObject* out = converted_list(*program.state, inputs, results);
  jumar_results_free(results);
  return out;
}

PyObject* run(PyObject* self, PyObject* sequence) {
  const Program& program = *as_program(self);
  const bool is_list = PyList_Check(sequence);
  if (!is_list && !PyTuple_Check(sequence)) {
    PyErr_SetString(PyExc_TypeError, "run takes a list or a tuple of inputs");
    return nullptr;
  }
  const Py_ssize_t count = is_list ? PyList_Size(sequence) : PyTuple_Size(sequence);
  Inputs inputs(program, count);
  if (!inputs.add_all(sequence, count, is_list ? PyList_GetItem : PyTuple_GetItem)) return nullptr;
  const Ref list(results_list(program, inputs));
  return list ? PyList_AsTuple(list.get()) : nullptr;
}

PyObject* called(const Program& program, PyObject* list) {
  const Py_ssize_t count = PyList_Size(list);
  Inputs inputs(program, count);
  const bool is_added = inputs.add_all(list, count, PyList_GetItem);
  // The caller's references go first, so that the call's own are the last ones.
  if (PyList_SetSlice(list, 0, PyList_Size(list), nullptr) != 0 || !is_added) return nullptr;
  return results_list(program, inputs);
}

PyObject* raise_arguments() {
  PyErr_SetString(PyExc_TypeError, "a program is called with one list of inputs");
  return nullptr;
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const bool is_one_list = (count & kCountMask) == 1 && names == nullptr && PyList_Check(args[0]);
  return is_one_list ? called(*as_program(self), args[0]) : raise_arguments();
}

// For callers that have a tuple: f(*args), PyObject_Call.
PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (PyTuple_Size(args) != 1 || (kwargs != nullptr && PyDict_Size(kwargs) != 0)) return raise_arguments();
  PyObject* list = PyTuple_GetItem(args, 0);
  return vectorcall(self, &list, 1, nullptr);
}

PyObject* report(PyObject* self, PyObject*) {
  return PyUnicode_FromString(jumar_program_report(as_program(self)->program));
}

PyObject* plan_text(PyObject* self, PyObject*) {
  return PyUnicode_FromString(jumar_program_plan(as_program(self)->program));
}

PyObject* signature(PyObject* self, PyObject*) {
  return PyUnicode_FromString(jumar_program_signature(as_program(self)->program));
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
  Py_VISIT(as_program(self)->attributes);
  Py_VISIT(as_program(self)->python_calls);
  Py_VISIT(as_program(self)->constants);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_program(self)->attributes);
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
    {"signature", signature, METH_NOARGS, "signature() -> JSON text of a package's call; or nothing."},
    {"arena_bytes", arena_bytes, METH_NOARGS,
     "arena_bytes() -> bytes of intermediate tensors of the last call."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef kProperties[] = {
    {"input_count", input_count, nullptr, "Number of inputs, constants included.", nullptr},
    {"output_count", output_count, nullptr, "Number of results.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// Attributes can be set as on a function: AOTAutograd reads `_boxed_call`.
PyMemberDef kMembers[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Program, attributes), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Program, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot kSlots[] = {
    {Py_tp_call, reinterpret_cast<void*>(call)},
    {Py_tp_members, kMembers},
    {Py_tp_methods, kMethods},
    {Py_tp_getset, kProperties},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {Py_tp_doc, const_cast<char*>("A compiled graph; made by compile(). Called with one list of inputs "
                                  "it returns the list of results; the inputs' list is empty then.")},
    {0, nullptr}};

PyType_Spec kSpec = {"jumar._native.Program", sizeof(Program), 0,
                     Py_TPFLAGS_DEFAULT | kHasVectorcall | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC |
                         Py_TPFLAGS_DISALLOW_INSTANTIATION,
                     kSlots};

}  // namespace

PyType_Spec* program_type_spec() { return &kSpec; }

PyObject* new_program(State& state, jumar_program* program, const ProgramParts& parts) {
  auto* type = reinterpret_cast<PyTypeObject*>(state.program_type);
  PyObject* self = PyType_GenericAlloc(type, 0);
  if (self == nullptr) {
    jumar_program_free(program);
    return nullptr;
  }
  Program& made = *as_program(self);
  made.state = &state;
  made.vectorcall = vectorcall;
  made.program = program;
  made.python_calls = Py_NewRef(parts.python_calls);
  made.constants = Py_NewRef(parts.constants);
  made.constant_count = PyTuple_Size(parts.constants);
  made.is_brief = jumar_program_is_brief(program) != 0;
  made.is_guarded = parts.is_guarded;
  return self;
}

}  // namespace jumar::python
