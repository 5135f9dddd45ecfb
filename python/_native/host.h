// Calls that a running program makes into Python: `python.<k>` nodes, and operators that libtorch's C
// functions cannot call or that failed and are repeated here, so that PyTorch's own exception reaches the
// user.
//
// The interpreter's lock is released while a program runs; Host takes it back for each call. When a call
// raises, the exception stays set in the thread until the run returns.
#pragma once

#include "jumar/jumar.h"
#include "py.h"
#include "state.h"

namespace jumar::python {

class Host {
 public:
  // `calls` is the graph's tuple of callables; both are borrowed.
  Host(State& state, PyObject* calls);

  const jumar_host* table() const { return &table_; }
  void release_lock() { thread_ = PyEval_SaveThread(); }
  void take_lock() { PyEval_RestoreThread(thread_); }

 private:
  static int call_python(void* user, uint32_t callable, const jumar_arg* args, size_t count,
                         jumar_host_results* results);
  static int call_op(void* user, const char* op, const jumar_arg* args, size_t count,
                     jumar_host_results* results);

  PyObject* converted(const jumar_arg& arg) const;
  PyObject* converted_word(const jumar_arg& arg) const;
  PyObject* converted_args(const jumar_arg* args, size_t count) const;
  bool add_results(PyObject* value, const char* what, jumar_host_results* results) const;
  bool call(PyObject* callable, const char* what, const jumar_arg* args, size_t count,
            jumar_host_results* results);

  State& state_;
  PyObject* calls_;
  PyThreadState* thread_ = nullptr;
  jumar_host table_;
};

}  // namespace jumar::python
