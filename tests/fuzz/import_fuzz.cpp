// libFuzzer's target for the reader of `.pt2` archives. Built on request only, with Clang:
//
//   cmake -S . -B build-fuzz -G Ninja -DJUMAR_BUILD_FUZZERS=ON -DCMAKE_CXX_COMPILER=clang++-14
//   ninja -C build-fuzz jumar_import_fuzz
//   build-fuzz/tests/fuzz/jumar_import_fuzz -max_len=65536 corpus src/import/test/archives
#include <cstddef>
#include <cstdint>

#include "../../src/import/test/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  jumar::import::test::import_any({data, size});
  return 0;
}
