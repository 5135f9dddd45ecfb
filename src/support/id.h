// Typed 32-bit ids and tables that they index.
//
//   using NodeId = Id<struct NodeTag>;
//   IdTable<NodeId, Node> nodes;
//   NodeId n = nodes.add({...});
//   nodes[n].op = ...;
//
// Ids of different kinds do not mix: that does not compile. A default id is invalid and converts to false.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "support/check.h"

namespace jumar {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(uint32_t index) : index_(index) {}
  constexpr uint32_t index() const { return index_; }
  constexpr bool valid() const { return index_ != kInvalid; }
  constexpr explicit operator bool() const { return valid(); }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr uint32_t kInvalid = UINT32_MAX;
  uint32_t index_ = kInvalid;
};

template <class IdType, class T>
class IdTable {
 public:
  IdType add(T value) {
    rows_.push_back(std::move(value));
    return IdType(static_cast<uint32_t>(rows_.size() - 1));
  }
  T& operator[](IdType id) {
    CHECK(id.index() < rows_.size(), "id {} of {}", id.index(), rows_.size());
    return rows_[id.index()];
  }
  const T& operator[](IdType id) const {
    CHECK(id.index() < rows_.size(), "id {} of {}", id.index(), rows_.size());
    return rows_[id.index()];
  }
  size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  void resize(size_t size) { rows_.resize(size); }
  IdType id_at(size_t index) const { return IdType(static_cast<uint32_t>(index)); }
  auto begin() { return rows_.begin(); }
  auto end() { return rows_.end(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  std::vector<T> rows_;
};

}  // namespace jumar

template <class Tag>
struct std::hash<jumar::Id<Tag>> {
  size_t operator()(jumar::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index()); }
};
