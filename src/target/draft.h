// What one block of a target file says, before it is known to be complete. Internal to src/target.
#pragma once

#include <set>

#include "target/target.h"

namespace jumar::target {

// Products of two counts fit 64 bits.
inline constexpr int64_t kMaxCount = 2147483647;

struct Draft {
  Target target;                // with the entries of the block that it is made from
  std::set<std::string> given;  // entries and constants that have a value
  bool is_base = false;
  Location where;
};

// The blocks of one file, added to those that `from` may name: later ones hide earlier ones of another file.
Status read_drafts(std::string_view text, const std::string& file, std::vector<Draft>& drafts);
// The complete, verified target of a block.
Result<Target> completed(const Draft& draft);
// Blocks of all embedded files.
Result<std::vector<Draft>> embedded_drafts();

}  // namespace jumar::target
