// The order that items of a program must keep, and groups of items that have become one.
//
// Group a must run before group b when b reads a buffer or host number that a writes, b mentions an unbacked
// symbol that a defines, both are ordered calls (loop/effects.h) and a comes first in the program, or a is a
// check above b: what is below a check may rely on it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loop/loop.h"

namespace jumar::fuse {

using GroupId = Id<struct GroupTag>;

struct Group {
  loop::Item item;
  std::string name;  // of a kernel
  bool alive = true;
  uint32_t first = 0;  // least and greatest position of its items in the program
  uint32_t last = 0;
  std::set<loop::BufferId> reads;  // buffers with storage, views resolved
  std::set<loop::BufferId> writes;
  std::set<uint32_t> before;  // groups that must run earlier, by index
  std::set<uint32_t> after;

  loop::Kernel* kernel() { return std::get_if<loop::Kernel>(&item); }
  const loop::Kernel* kernel() const { return std::get_if<loop::Kernel>(&item); }
};

class Dependence {
 public:
  explicit Dependence(loop::Program& program);

  IdTable<GroupId, Group> groups;

  // The group that writes a buffer; invalid for inputs and for buffers that several groups write in parts.
  GroupId writer(loop::BufferId buffer) const;
  // Buffers that several items of the program write.
  const std::set<loop::BufferId>& written_in_parts() const { return written_in_parts_; }
  // Groups that read the buffer, in order.
  std::vector<GroupId> readers(loop::BufferId buffer) const;
  // Whether the buffer must exist in memory whatever kernels do: a call reads it or the program returns it.
  bool escapes(loop::BufferId buffer) const { return escapes_[buffer.index()]; }

  // Whether `a` and `b` may become one: no path leads from one to the other through a third.
  bool may_merge(GroupId a, GroupId b) const;
  // Makes `b` one with `a`; the new item is `item`.
  void merge(GroupId a, GroupId b, loop::Kernel item);
  // After a kernel's nests changed: brings reads and edges up to date.
  void refresh(GroupId group);
  // Takes a group out; nobody needs what it writes.
  void remove(GroupId group);
  // Groups in an order that keeps every dependence and stays close to the program's.
  std::vector<GroupId> ordered() const;

 private:
  void collect_accesses(Group& group) const;
  void add_edges(uint32_t index);
  void add_number_edges(uint32_t index);
  void add_edge(uint32_t from, uint32_t to);
  bool reaches_indirectly(uint32_t from, uint32_t to) const;

  loop::Program& program_;
  std::vector<bool> escapes_;
  std::set<loop::BufferId> written_in_parts_;
  std::vector<std::vector<uint32_t>> writers_;  // by buffer: group indexes in program order
  std::vector<std::set<uint32_t>> readers_;     // by buffer
  std::map<std::string, uint32_t> symbol_definers_;
  std::map<uint32_t, uint32_t> number_definers_;  // by number
};

}  // namespace jumar::fuse
