// Links objects into a shared library, in this process: neither a linker nor a compiler need be installed.
//
//   JUMAR_RETURN_IF_ERROR(link_shared_library({objects, "/tmp/x/model.so"}));
//
// The prebuilt runtime of packages is linked in, and what the library exports is what that runtime exports.
// It depends on the C and C++ runtime libraries that this process itself uses, in their versions or newer.
// One link runs at a time.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"

namespace jumar::driver::link {

struct LinkRequest {
  bool needs_onednn = false;  // link what calls oneDNN, too
  std::vector<std::string_view> objects;
  std::string output;   // path; replaced if there is one
  std::string scratch;  // an existing folder for the objects while they are linked
};

// Fails with code "io" when a file can't be written. Objects that do not link are a bug: InternalError with
// the linker's messages.
Status link_shared_library(const LinkRequest& request);

}  // namespace jumar::driver::link
