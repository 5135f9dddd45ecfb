// Errors of the C API, and the wall that no exception passes.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "jumar/jumar.h"
#include "runtime/executor.h"
#include "support/result.h"

struct jumar_error {
  jumar_error_kind kind = JUMAR_ERROR_INTERNAL;
  std::string code;
  std::string message;
  std::string where;
  std::string reproducer;
};

namespace jumar::driver {

jumar_error* new_error(const Diagnostic& diagnostic);
jumar_error* new_error(const runtime::RunError& error);
jumar_error* new_error(jumar_error_kind kind, std::string code, std::string message);

// Runs `body`, which returns an error or null. `on_bug(message)` gives the path of a reproducer, or "".
template <class Body, class OnBug>
jumar_error* guarded(Body&& body, OnBug&& on_bug) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return new_error(JUMAR_ERROR_MEMORY, "memory", "out of memory");
  } catch (const std::exception& e) {
    jumar_error* error = new_error(JUMAR_ERROR_INTERNAL, "internal", e.what());
    error->reproducer = on_bug(error->message);
    if (!error->reproducer.empty()) error->message += "\n  note: the input was saved in " + error->reproducer;
    return error;
  }
}

template <class Body>
jumar_error* guarded(Body&& body) {
  return guarded(std::forward<Body>(body), [](const std::string&) { return std::string(); });
}

}  // namespace jumar::driver
