// Reads the streams of a binary plan. The first failure is kept and sticks: from then on every read gives 0
// and every count is 0, so that loops end by themselves and callers look at `failed` where they would
// otherwise use what was read.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "support/result.h"

namespace jumar::plan::binary {

class Cursor {
 public:
  // The bytes of one section, for diagnostics by its name and place in the plan.
  void enter(std::span<const uint8_t> bytes, std::string_view section, uint64_t offset) {
    bytes_ = bytes;
    section_ = section;
    section_offset_ = offset;
    at_ = 0;
  }

  uint32_t u32() { return number<uint32_t>(); }
  uint64_t u64() { return number<uint64_t>(); }

  // A count of rows of which each takes at least `row_bytes`: more than there is room for fails here, so that
  // it can be trusted for an allocation.
  uint32_t count(size_t row_bytes);
  // A number below `limit`, of something called `what`; 0 after a failure.
  uint32_t below(size_t limit, std::string_view what);
  bool flag() { return below(2, "flag") != 0; }
  std::string_view text(size_t size);

  size_t rest() const { return failed() ? 0 : bytes_.size() - at_; }
  void expect_end();

  bool failed() const { return !message_.empty(); }
  const std::string& message() const { return message_; }
  void fail(std::string_view message);
  // "<what> <value> of <limit>"
  void fail_below(std::string_view what, uint64_t value, uint64_t limit);

 private:
  template <class T>
  T number() {
    T value = 0;
    if (rest() < sizeof(T)) {
      fail("ends early");
      return 0;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::span<const uint8_t> bytes_;
  std::string_view section_;
  uint64_t section_offset_ = 0;
  size_t at_ = 0;
  std::string message_;
};

}  // namespace jumar::plan::binary
