#include "support/result.h"

namespace jumar {

std::string Diagnostic::text() const {
  std::string out;
  if (!where.file.empty()) out += where.file + ":";
  if (where.line > 0) out += fmt::format("{}:{}:", where.line, where.column);
  if (!out.empty()) out += " ";
  out += fmt::format("error[{}]: {}", code, message);
  for (const std::string& note : notes) out += "\n  note: " + note;
  return out;
}

}  // namespace jumar
