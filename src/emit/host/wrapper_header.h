// The text of the header that written programs include: src/emit/host/wrapper, joined by
// scripts/join_headers.py when Jumar is built.
#pragma once

namespace jumar::emit::host {

extern const char* const kWrapperHeader;

}  // namespace jumar::emit::host
