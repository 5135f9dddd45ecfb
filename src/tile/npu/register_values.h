// Values that never get a block of memory where the compiler makes functions of vector code (A5).
//
//   %x = load; %a = exp %x; %s = reduce sum %a; %b = div %a, broadcast %s; store %b
//
// What lies between two stores, or between a store and the begin or end of a loop, becomes one function. It
// goes over its blocks in loops: a reduction ends one, so that what needs its result is in the next. Here %a
// is a block, since two loops need it, while the broadcast only ever is in a register. Rows that one register
// holds are reduced there if the block is not small (kCutElements): no loop ends, and %a would be in a
// register as well.
//
// The compiler may also cut long chains of operators: what it keeps between is scratch memory of the
// operators that are known to do it (memory_parts.h).
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "tile/npu/block.h"

namespace jumar::tile::npu {

class RegisterValues {
 public:
  RegisterValues(const BlockNest& nest, const std::set<BlockId>& data);

  bool contains(BlockId id) const { return found_.contains(id); }
  // Whether a reduction folds a block of its own, which it overwrites.
  bool is_folded_in_copy(const BlockInst& reduction) const;

 private:
  // The loop of a function.
  struct Place {
    uint32_t function = 0;
    uint32_t loop = 0;
    bool operator==(const Place&) const = default;
  };

  struct User {
    const BlockInst* inst;
    const Region* region;
  };

  void note_users(const Region& region);
  void place(const Region& region);
  void place(const BlockInst& inst, const Region& region);
  void hold(const BlockInst& user, BlockId operand, Place where);
  bool is_computed(const BlockInst& inst) const;
  bool is_repeated_anywhere(const BlockInst& broadcast, const Region& region) const;
  bool is_folded_on(const BlockInst& reduction) const;
  int64_t folded_points(const BlockInst& reduction) const;
  bool ends_loop(const BlockInst& reduction) const;
  bool folds_in_memory(const BlockInst& reduction) const;

  const BlockNest& nest_;
  const std::set<BlockId>& data_;
  uint32_t function_ = 0;
  std::unordered_map<BlockId, Place> places_;
  std::unordered_map<BlockId, Place> known_from_;  // the first loop that can use a value
  std::unordered_map<BlockId, std::vector<User>> users_;
  std::unordered_map<BlockId, int64_t> folded_;  // points of one loop that a reduction's result stands for
  std::set<BlockId> converted_;
  std::set<BlockId> found_;
};

}  // namespace jumar::tile::npu
