#include "plan/binary_cursor.h"

namespace jumar::plan::binary {

uint32_t Cursor::count(size_t row_bytes) {
  const uint32_t rows = u32();
  if (rows <= rest() / row_bytes) return rows;
  fail(fmt::format("{} rows do not fit", rows));
  return 0;
}

uint32_t Cursor::below(size_t limit, std::string_view what) {
  const uint32_t value = u32();
  if (value < limit) return value;
  fail_below(what, value, limit);
  return 0;
}

std::string_view Cursor::text(size_t size) {
  if (size > rest()) {
    fail("ends early");
    return {};
  }
  const std::string_view out(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
  at_ += size;
  return out;
}

void Cursor::expect_end() {
  if (rest() != 0) fail(fmt::format("{} bytes follow the last row", rest()));
}

void Cursor::fail(std::string_view message) {
  if (!failed()) message_ = fmt::format("{} at byte {}: {}", section_, section_offset_ + at_, message);
}

void Cursor::fail_below(std::string_view what, uint64_t value, uint64_t limit) {
  fail(fmt::format("{} {} of {}", what, value, limit));
}

}  // namespace jumar::plan::binary
