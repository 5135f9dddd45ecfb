// What a compiler's start files would bring: a package's library is linked without any.
#include "runtime/package/package_data.h"

extern "C" {
// NOLINTNEXTLINE(bugprone-reserved-identifier): the C++ ABI's names
void __cxa_finalize(void* library);
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern void* const __dso_handle __attribute__((visibility("hidden")));
}

namespace {

// Destroys this library's static objects when it is unloaded, not when the process ends.
__attribute__((destructor)) void finish() { __cxa_finalize(const_cast<void**>(&__dso_handle)); }

}  // namespace
