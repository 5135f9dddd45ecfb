#include "driver/c_api/error.h"

namespace jumar::driver {
namespace {

jumar_error_kind kind_of(runtime::RunError::Kind kind) {
  using Kind = runtime::RunError::Kind;
  switch (kind) {
    case Kind::kInput:
      return JUMAR_ERROR_INPUT;
    case Kind::kIndex:
      return JUMAR_ERROR_INDEX;
    case Kind::kFault:
      return JUMAR_ERROR_RESULT;
    case Kind::kCheck:
      return JUMAR_ERROR_CHECK;
    case Kind::kNumber:
      return JUMAR_ERROR_NUMBER;
    case Kind::kOpFailed:
      return JUMAR_ERROR_OPERATOR;
    case Kind::kOpResult:
      return JUMAR_ERROR_RESULT;
    case Kind::kPythonRaised:
      return JUMAR_ERROR_HOST;
    case Kind::kMemory:
      return JUMAR_ERROR_MEMORY;
  }
  return JUMAR_ERROR_INTERNAL;
}

}  // namespace

jumar_error* new_error(jumar_error_kind kind, std::string code, std::string message) {
  return new jumar_error{kind, std::move(code), std::move(message), {}, {}};
}

jumar_error* new_error(const Diagnostic& diagnostic) {
  jumar_error* error = new_error(JUMAR_ERROR_COMPILE, diagnostic.code, diagnostic.text());
  const Location& where = diagnostic.where;
  if (where.line > 0) {
    error->where = fmt::format("{}:{}:{}", where.file, where.line, where.column);
  } else {
    error->where = where.file;
  }
  return error;
}

jumar_error* new_error(const runtime::RunError& error) {
  return new_error(kind_of(error.kind), "run", error.message);
}

}  // namespace jumar::driver

jumar_error_kind jumar_error_kind_of(const jumar_error* error) { return error->kind; }
const char* jumar_error_code(const jumar_error* error) { return error->code.c_str(); }
const char* jumar_error_message(const jumar_error* error) { return error->message.c_str(); }
const char* jumar_error_where(const jumar_error* error) { return error->where.c_str(); }
const char* jumar_error_reproducer(const jumar_error* error) { return error->reproducer.c_str(); }
void jumar_error_free(jumar_error* error) { delete error; }
