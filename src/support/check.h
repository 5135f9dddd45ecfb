// Broken invariants of Jumar itself.
//
// CHECK(condition, "message with {} fields", ...) throws InternalError when the condition is false. It is for
// what only a bug in Jumar can cause; anything a user, a file or a tool can cause is a Diagnostic
// (support/result.h). InternalError is caught at the C API, the command line and nowhere else.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace jumar {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void raise_internal_error(const char* file, int line, const char* condition,
                                       const std::string& message);

}  // namespace jumar

#define CHECK(condition, ...)                                                                       \
  do {                                                                                              \
    if (!(condition)) [[unlikely]]                                                                  \
      ::jumar::raise_internal_error(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
