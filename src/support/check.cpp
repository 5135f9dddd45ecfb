#include "support/check.h"

namespace jumar {

void raise_internal_error(const char* file, int line, const char* condition, const std::string& message) {
  std::string text = fmt::format("internal error at {}:{}: '{}' does not hold", file, line, condition);
  if (!message.empty()) text += ": " + message;
  throw InternalError(text);
}

}  // namespace jumar
