// Errors that somebody other than Jumar caused, as values.
//
//   Result<Graph> read_graph(std::string_view text);
//   Status parse(...) {
//     JUMAR_ASSIGN(Graph g, read_graph(text));      // returns the diagnostic on failure
//     JUMAR_RETURN_IF_ERROR(verify(g));
//     return {};
//   }
//
// A Diagnostic names the thing, its value and what is allowed. `code` is a short stable word that tests and
// callers may compare ("syntax", "type", "option", "io", "limit", "unsupported", "input"); `message` is for
// people. A location's line and column count from 1; 0 means unknown.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/check.h"

namespace jumar {

struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

struct Diagnostic {
  std::string code;
  std::string message;
  Location where;
  std::vector<std::string> notes;

  // "file:line:column: error[code]: message", then one indented line per note.
  std::string text() const;
};

template <class... Args>
Diagnostic diagnostic(std::string code, fmt::format_string<Args...> format, Args&&... args) {
  return {std::move(code), fmt::format(format, std::forward<Args>(args)...), {}, {}};
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Diagnostic error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    CHECK(ok(), "{}", error().text());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CHECK(ok(), "{}", error().text());
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK(ok(), "{}", error().text());
    return std::get<0>(std::move(state_));
  }
  const Diagnostic& error() const { return std::get<1>(state_); }
  Diagnostic& error() { return std::get<1>(state_); }

  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  std::variant<T, Diagnostic> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Diagnostic error) : error_(std::move(error)) {}

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Diagnostic& error() const { return *error_; }
  Diagnostic& error() { return *error_; }

 private:
  std::optional<Diagnostic> error_;
};

using Status = Result<void>;

}  // namespace jumar

#define JUMAR_CONCAT_(a, b) a##b
#define JUMAR_CONCAT(a, b) JUMAR_CONCAT_(a, b)

#define JUMAR_RETURN_IF_ERROR(expression)                                    \
  do {                                                                       \
    if (auto jumar_status_ = (expression); !jumar_status_.ok()) [[unlikely]] \
      return std::move(jumar_status_.error());                               \
  } while (false)

#define JUMAR_ASSIGN_(temporary, declaration, expression) \
  auto temporary = (expression);                          \
  if (!temporary.ok()) [[unlikely]]                       \
    return std::move(temporary.error());                  \
  declaration = std::move(temporary).value()

#define JUMAR_ASSIGN(declaration, expression) \
  JUMAR_ASSIGN_(JUMAR_CONCAT(jumar_result_, __LINE__), declaration, expression)
