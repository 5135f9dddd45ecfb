// Whole files as byte strings.
//
//   JUMAR_ASSIGN(const std::string text, bytes_of_file("model.graph"));
//   JUMAR_RETURN_IF_ERROR(write_file("model.html", page));
//
// What the system refuses is an "io" diagnostic that names the path.
#pragma once

#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar {

Result<std::string> bytes_of_file(const std::string& path);
// A file that is there is replaced.
Status write_file(const std::string& path, std::string_view bytes);

}  // namespace jumar
