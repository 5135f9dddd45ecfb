// A directory of checksummed entries that several processes use at once: the persistent cache.
//
//   Store store("/home/u/.cache/jumar", 1 << 30);
//   if (std::optional<std::string> bytes = store.get("graph", key)) ...
//   store.put("graph", key, bytes);
//
// An entry is one file, v1/<kind>/<two digits>/<key>, with a header of magic, length and XXH3 hash. It is
// written to a temporary file and renamed, so readers see a whole entry or none. An entry that is truncated,
// has a flipped bit or is anything else than what was put is dropped and counts as missing. Getting an entry
// marks it as used; when the files together exceed the limit, those that were not used for longest are
// removed. What they take together stands in v1.size, so that no process has to look at all of them to know.
//
// The hash protects from damage, not from malice: whoever may write to the directory chooses the code that
// runs, so it is made with access for its owner only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/hash.h"
#include "support/result.h"

namespace jumar::driver {

class Store {
 public:
  Store(std::string directory, int64_t limit_bytes);

  std::optional<std::string> get(std::string_view kind, Hash128 key) const;
  // A failure (a full disk, no permission) is worth a remark and nothing more.
  Status put(std::string_view kind, Hash128 key, std::string_view payload) const;

  struct Stats {
    int64_t entries = 0;
    int64_t bytes = 0;
  };
  Stats stats() const;
  // Removes every entry; gives what was removed.
  Stats clear() const;
  const std::string& directory() const { return directory_; }

 private:
  std::string path_of(std::string_view kind, Hash128 key) const;
  // Adds to the total that all processes count, and trims where it exceeds the limit.
  void account(int64_t bytes) const;
  // Removes entries if they exceed the limit; gives the bytes of those that are left.
  int64_t trim() const;

  std::string directory_;
  int64_t limit_bytes_;
};

}  // namespace jumar::driver
