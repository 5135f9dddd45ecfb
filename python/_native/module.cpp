// The extension module jumar._native: compile graph text and run it on torch tensors.
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "jumar/jumar.h"
#include "program.h"
#include "state.h"

namespace jumar::python {

int State::visit(visitproc visit, void* arg) {
  Py_VISIT(program_type);
  Py_VISIT(error);
  Py_VISIT(compile_error);
  Py_VISIT(input_error);
  Py_VISIT(bounds_error);
  Py_VISIT(internal_error);
  Py_VISIT(operator_call);
  return torch.visit(visit, arg);
}

void State::clear() {
  Py_CLEAR(program_type);
  Py_CLEAR(error);
  Py_CLEAR(compile_error);
  Py_CLEAR(input_error);
  Py_CLEAR(bounds_error);
  Py_CLEAR(internal_error);
  Py_CLEAR(operator_call);
  torch.clear();
}

State* state_of(PyObject* module) { return static_cast<State*>(PyModule_GetState(module)); }

State* state_of_instance(PyObject* self) { return static_cast<State*>(PyType_GetModuleState(Py_TYPE(self))); }

namespace {

// An exception with the error's code and place as attributes.
void raise_with_details(PyObject* type, const jumar_error* error, bool with_reproducer) {
  const Ref exception(PyObject_CallFunction(type, "s", jumar_error_message(error)));
  if (!exception) return;
  const Ref code(PyUnicode_FromString(jumar_error_code(error)));
  const Ref where(PyUnicode_FromString(jumar_error_where(error)));
  if (!code || !where || PyObject_SetAttrString(exception.get(), "code", code.get()) != 0 ||
      PyObject_SetAttrString(exception.get(), "where", where.get()) != 0) {
    return;
  }
  if (with_reproducer) {
    const Ref path(PyUnicode_FromString(jumar_error_reproducer(error)));
    if (!path || PyObject_SetAttrString(exception.get(), "reproducer", path.get()) != 0) return;
  }
  PyErr_SetObject(type, exception.get());
}

bool append_value(PyObject* value, std::string& out) {
  if (PyBool_Check(value)) {
    out += value == Py_True ? "true" : "false";
    return true;
  }
  if (PyList_Check(value) || PyTuple_Check(value)) {
    const Py_ssize_t count = PySequence_Size(value);
    for (Py_ssize_t k = 0; k < count; ++k) {
      const Ref item(PySequence_GetItem(value, k));
      if (k > 0) out += ',';
      if (!item || !append_value(item.get(), out)) return false;
    }
    return true;
  }
  const Ref text(PyObject_Str(value));
  if (!text) return false;
  Py_ssize_t length = 0;
  const char* data = PyUnicode_AsUTF8AndSize(text.get(), &length);
  if (data == nullptr) return false;
  if (std::memchr(data, '\n', static_cast<size_t>(length)) != nullptr) {
    PyErr_SetString(PyExc_ValueError, "an option's value has a line break");
    return false;
  }
  out.append(data, static_cast<size_t>(length));
  return true;
}

PyObject* text_of_dict(PyObject* options) {
  std::string out;
  const Ref items(PyDict_Items(options));
  if (!items) return nullptr;
  for (Py_ssize_t k = 0; k < PyList_Size(items.get()); ++k) {
    PyObject* pair = PyList_GetItem(items.get(), k);
    PyObject* name = PyTuple_GetItem(pair, 0);
    if (!PyUnicode_Check(name)) {
      PyErr_SetString(PyExc_TypeError, "names of options are strings");
      return nullptr;
    }
    if (!append_value(name, out)) return nullptr;
    out += '=';
    if (!append_value(PyTuple_GetItem(pair, 1), out)) return nullptr;
    out += '\n';
  }
  return PyUnicode_FromStringAndSize(out.data(), static_cast<Py_ssize_t>(out.size()));
}

PyObject* compile(PyObject* module, PyObject* args, PyObject* kwargs) {
  State& state = *state_of(module);
  const char* text = nullptr;
  Py_ssize_t length = 0;
  PyObject* options = Py_None;
  PyObject* python_calls = nullptr;
  PyObject* constants = nullptr;
  int is_guarded = 0;
  const char* names[] = {"text", "options", "python_calls", "constants", "guarded", nullptr};
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "s#|OOOp:compile", const_cast<char**>(names), &text, &length,
                                  &options, &python_calls, &constants, &is_guarded) == 0) {
    return nullptr;
  }
  const Ref option_lines(option_text(options));
  const Ref calls(python_calls != nullptr ? PySequence_Tuple(python_calls) : PyTuple_New(0));
  const Ref tensors(constants != nullptr ? PySequence_Tuple(constants) : PyTuple_New(0));
  if (!option_lines || !calls || !tensors) return nullptr;
  const char* option_data = PyUnicode_AsUTF8AndSize(option_lines.get(), nullptr);
  if (option_data == nullptr) return nullptr;
  jumar_program* program = nullptr;
  PyThreadState* thread = PyEval_SaveThread();
  jumar_error* error = jumar_compile(state.context, text, static_cast<size_t>(length), option_data, &program);
  PyEval_RestoreThread(thread);
  if (error != nullptr) {
    raise(state, error);
    return nullptr;
  }
  return new_program(state, program, {calls.get(), tensors.get(), is_guarded != 0});
}

// Calls a Python function with the stage's name. What it raises is kept and ends in compile_package.
struct Progress {
  PyObject* function;
  bool has_failed = false;
  static void tell(void* user, const char* stage) {
    auto* progress = static_cast<Progress*>(user);
    const PyGILState_STATE lock = PyGILState_Ensure();
    if (!progress->has_failed) {
      const Ref text(PyUnicode_FromString(stage));
      const Ref result(text ? PyObject_CallFunctionObjArgs(progress->function, text.get(), nullptr)
                            : nullptr);
      // The exception stays set in this thread, which is the one that compile_package runs in.
      progress->has_failed = !result;
    }
    PyGILState_Release(lock);
  }
};

PyObject* compile_package(PyObject* module, PyObject* args, PyObject* kwargs) {
  State& state = *state_of(module);
  const char* archive = nullptr;
  const char* output = nullptr;
  PyObject* options = Py_None;
  PyObject* function = Py_None;
  const char* names[] = {"archive", "output", "options", "progress", nullptr};
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "ss|OO:compile_package", const_cast<char**>(names), &archive,
                                  &output, &options, &function) == 0) {
    return nullptr;
  }
  const Ref lines(option_text(options));
  const char* data = lines ? PyUnicode_AsUTF8AndSize(lines.get(), nullptr) : nullptr;
  if (data == nullptr) return nullptr;
  Progress progress{function};
  jumar_text* report = nullptr;
  PyThreadState* thread = PyEval_SaveThread();
  jumar_error* error =
      jumar_compile_package(state.context, archive, nullptr, output, data,
                            function != Py_None ? Progress::tell : nullptr, &progress, &report);
  PyEval_RestoreThread(thread);
  if (error != nullptr) {
    if (progress.has_failed) {
      jumar_error_free(error);
    } else {
      raise(state, error);
    }
    return nullptr;
  }
  PyObject* out = progress.has_failed ? nullptr : PyUnicode_FromString(jumar_text_data(report));
  jumar_text_free(report);
  return out;
}

PyObject* simulate_package(PyObject* module, PyObject* args, PyObject* kwargs) {
  State& state = *state_of(module);
  const char* path = nullptr;
  PyObject* options = Py_None;
  const char* names[] = {"path", "options", nullptr};
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "s|O:simulate_package", const_cast<char**>(names), &path,
                                  &options) == 0) {
    return nullptr;
  }
  const Ref lines(option_text(options));
  const char* data = lines ? PyUnicode_AsUTF8AndSize(lines.get(), nullptr) : nullptr;
  const Ref none(PyTuple_New(0));
  if (data == nullptr || !none) return nullptr;
  jumar_program* program = nullptr;
  PyThreadState* thread = PyEval_SaveThread();
  jumar_error* error = jumar_simulate_package(state.context, path, data, &program);
  PyEval_RestoreThread(thread);
  if (error != nullptr) {
    raise(state, error);
    return nullptr;
  }
  return new_program(state, program, {none.get(), none.get(), false});
}

PyObject* resolve_options(PyObject* module, PyObject* options) {
  State& state = *state_of(module);
  const Ref lines(option_text(options));
  const char* data = lines ? PyUnicode_AsUTF8AndSize(lines.get(), nullptr) : nullptr;
  if (data == nullptr) return nullptr;
  jumar_text* values = nullptr;
  if (jumar_error* error = jumar_resolve_options(state.context, data, &values)) {
    raise(state, error);
    return nullptr;
  }
  const std::string text = jumar_text_data(values);
  jumar_text_free(values);
  Ref out(PyDict_New());
  for (size_t begin = 0; out && begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const size_t equals = text.find('=', begin);
    const Ref name(PyUnicode_FromStringAndSize(text.data() + begin, static_cast<Py_ssize_t>(equals - begin)));
    const Ref value(
        PyUnicode_FromStringAndSize(text.data() + equals + 1, static_cast<Py_ssize_t>(end - equals - 1)));
    if (!name || !value || PyDict_SetItem(out.get(), name.get(), value.get()) != 0) return nullptr;
    begin = end + 1;
  }
  return out.release();
}

PyObject* command_line(PyObject*, PyObject* arguments) {
  const Ref list(PySequence_List(arguments));
  if (!list) return nullptr;
  std::vector<std::string> texts;
  for (Py_ssize_t k = 0; k < PyList_Size(list.get()); ++k) {
    const char* text = PyUnicode_AsUTF8AndSize(PyList_GetItem(list.get(), k), nullptr);
    if (text == nullptr) return nullptr;
    texts.emplace_back(text);
  }
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  PyThreadState* thread = PyEval_SaveThread();
  const int status = jumar_main(static_cast<int>(texts.size()), argv.data());
  PyEval_RestoreThread(thread);
  return PyLong_FromLong(status);
}

PyMethodDef kFunctions[] = {
    {"compile", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(compile)),
     METH_VARARGS | METH_KEYWORDS,
     "compile(text, options=None, python_calls=(), constants=(), guarded=False) -> Program\n\n"
     "Compiles graph text. `options` is a dict or option text; `python_calls[k]` is the callable of the "
     "node\n"
     "python.<k>; `constants` are tensors that follow the arguments of each run. `guarded`: the caller sees "
     "to it that no\ninput has a pending conjugation or negation."},
    {"compile_package", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(compile_package)),
     METH_VARARGS | METH_KEYWORDS,
     "compile_package(archive, output, options=None, progress=None) -> JSON report\n\n"
     "Makes a package of what torch.export.save wrote. `progress(stage)` is called before each stage."},
    {"simulate_package", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(simulate_package)),
     METH_VARARGS | METH_KEYWORDS,
     "simulate_package(path, options=None) -> Program\n\n"
     "A package for an NPU whose kernels the simulator runs."},
    {"resolve_options", resolve_options, METH_O,
     "resolve_options(options) -> dict\n\nChecks a dict, option text or None and returns the values of all "
     "options as text."},
    {"main", command_line, METH_O, "main(argv) -> exit status of the `jumar` command."},
    {nullptr, nullptr, 0, nullptr}};

PyObject* new_exception(PyObject* module, const char* name, const char* full_name, const char* doc,
                        PyObject* base) {
  PyObject* type = PyErr_NewExceptionWithDoc(full_name, doc, base, nullptr);
  if (type == nullptr || PyModule_AddObjectRef(module, name, type) != 0) return nullptr;
  return type;
}

bool add_exceptions(PyObject* module, State& state) {
  state.error = new_exception(module, "Error", "jumar.Error", "What Jumar raises.", PyExc_RuntimeError);
  if (state.error == nullptr) return false;
  state.compile_error =
      new_exception(module, "CompileError", "jumar.CompileError",
                    "A graph, an option or a file cannot be compiled. Attributes: code, where.", state.error);
  state.input_error = new_exception(module, "InputError", "jumar.InputError",
                                    "An input is not what the graph was compiled for.", state.error);
  state.internal_error =
      new_exception(module, "InternalError", "jumar.InternalError",
                    "A bug of Jumar. Attributes: code, where, reproducer (a file, or \"\").", state.error);
  // Eager raises IndexError or RuntimeError, depending on the operator.
  PyObject* bases = PyTuple_Pack(2, state.error, PyExc_IndexError);
  if (bases == nullptr) return false;
  state.bounds_error = new_exception(module, "BoundsError", "jumar.BoundsError",
                                     "An index read from a tensor is out of bounds.", bases);
  Py_DECREF(bases);
  return state.compile_error != nullptr && state.input_error != nullptr && state.internal_error != nullptr &&
         state.bounds_error != nullptr;
}

int execute(PyObject* module) {
  State* state = new (state_of(module)) State();
  if (jumar_abi_version() != JUMAR_ABI_VERSION) {
    PyErr_SetString(PyExc_ImportError, "jumar._native and libjumar.so are of different versions");
    return -1;
  }
  if (!add_exceptions(module, *state) || !state->torch.setup()) return -1;
  state->program_type = PyType_FromModuleAndSpec(module, program_type_spec(), nullptr);
  if (state->program_type == nullptr || PyModule_AddObjectRef(module, "Program", state->program_type) != 0)
    return -1;
  if (PyModule_AddStringConstant(module, "version", jumar_version()) != 0 ||
      PyModule_AddStringConstant(module, "build_id", jumar_build_id()) != 0) {
    return -1;
  }
  if (jumar_error* error = jumar_context_create(&state->context)) {
    raise(*state, error);
    return -1;
  }
  return 0;
}

int traverse_module(PyObject* module, visitproc visit, void* arg) {
  State* state = state_of(module);
  return state == nullptr ? 0 : state->visit(visit, arg);
}

int clear_module(PyObject* module) {
  if (State* state = state_of(module)) state->clear();
  return 0;
}

void free_module(void* module) {
  State* state = state_of(static_cast<PyObject*>(module));
  if (state == nullptr) return;
  state->clear();
  jumar_context_free(state->context);
  state->context = nullptr;
}

PyModuleDef_Slot kSlots[] = {{Py_mod_exec, reinterpret_cast<void*>(execute)}, {0, nullptr}};

PyModuleDef kModule = {
    PyModuleDef_HEAD_INIT, "jumar._native", "Compiles graph text and runs it on torch tensors.",
    sizeof(State),         kFunctions,      kSlots,
    traverse_module,       clear_module,    free_module};

}  // namespace

void raise(State& state, jumar_error* error) {
  switch (jumar_error_kind_of(error)) {
    case JUMAR_ERROR_COMPILE:
      raise_with_details(state.compile_error, error, false);
      break;
    case JUMAR_ERROR_INTERNAL:
      raise_with_details(state.internal_error, error, true);
      break;
    case JUMAR_ERROR_INPUT:
      PyErr_SetString(state.input_error, jumar_error_message(error));
      break;
    case JUMAR_ERROR_INDEX:
      PyErr_SetString(state.bounds_error, jumar_error_message(error));
      break;
    case JUMAR_ERROR_MEMORY:
      PyErr_SetString(PyExc_MemoryError, jumar_error_message(error));
      break;
    case JUMAR_ERROR_HOST:
      if (PyErr_Occurred() == nullptr) PyErr_SetString(state.internal_error, jumar_error_message(error));
      break;
    case JUMAR_ERROR_CHECK:
    case JUMAR_ERROR_NUMBER:
    case JUMAR_ERROR_OPERATOR:
    case JUMAR_ERROR_RESULT:
      PyErr_SetString(PyExc_RuntimeError, jumar_error_message(error));
      break;
  }
  jumar_error_free(error);
}

PyObject* option_text(PyObject* options) {
  if (options == Py_None) return PyUnicode_FromString("");
  if (PyUnicode_Check(options)) return Py_NewRef(options);
  if (PyDict_Check(options)) return text_of_dict(options);
  PyErr_SetString(PyExc_TypeError, "options are a dict, option text or None");
  return nullptr;
}

}  // namespace jumar::python

// The name is CPython's choice. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"))) PyObject* PyInit__native() {
  return PyModuleDef_Init(&jumar::python::kModule);
}
