// libFuzzer's target for the reader of binary plans. Built on request only, with Clang:
//
//   cmake -S . -B build-fuzz -G Ninja -DJUMAR_BUILD_FUZZERS=ON -DCMAKE_CXX_COMPILER=clang++-14
//   ninja -C build-fuzz jumar_plan_fuzz
//   mkdir corpus && build-fuzz/tests/fuzz/jumar_plan_fuzz -max_len=16384 corpus
//
// It needs no corpus to begin with: mutations start from the golden plans.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "../../src/plan/test/binary_checks.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

std::vector<std::string> golden_blobs() {
  std::vector<std::string> blobs;
  for (const auto& entry : std::filesystem::directory_iterator(JUMAR_TEST_DIR)) {
    if (entry.path().extension() != ".plan") continue;
    std::ifstream in(entry.path());
    const auto plan = jumar::plan::read_plan(std::string(std::istreambuf_iterator<char>(in), {}));
    CHECK(plan.ok(), "{}", plan.error().text());
    blobs.push_back(jumar::plan::write_binary(*plan));
  }
  std::sort(blobs.begin(), blobs.end());
  return blobs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  jumar::plan::test::reads_and_round_trips({data, size});
  return 0;
}

// What does not begin like a binary plan becomes a golden one; the size in the header is mostly kept right,
// as nothing behind it is read otherwise.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  static const std::vector<std::string> blobs = golden_blobs();
  constexpr size_t kSizeAt = 16;
  const std::string& golden = blobs[seed % blobs.size()];
  if ((size < kSizeAt + 8 || std::memcmp(data, golden.data(), 8) != 0) && golden.size() <= max_size) {
    size = golden.size();
    std::memcpy(data, golden.data(), size);
  }
  size = LLVMFuzzerMutate(data, size, max_size);
  const uint64_t bytes = size;
  if (seed % 64 != 0 && size >= kSizeAt + 8) std::memcpy(data + kSizeAt, &bytes, sizeof(bytes));
  return size;
}
