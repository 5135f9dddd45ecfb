// 128-bit content hashes for cache keys (XXH3). Not for security: a store that others may write to must not
// be trusted because of them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace jumar {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  // 32 lower-case hexadecimal digits.
  std::string hex() const;
};

Hash128 hash_of(std::string_view bytes);

}  // namespace jumar
