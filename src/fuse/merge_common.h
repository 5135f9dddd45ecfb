// What both ways of merging use.
#pragma once

#include <map>

#include "fuse/merge.h"

namespace jumar::fuse {

struct StoreSite {
  uint32_t stage = 0;
  uint32_t line = 0;
};
struct LoadSite {
  uint32_t stage = 0;
  uint32_t line = 0;
};

// Stores of a nest by buffer. A buffer that is stored twice, in parts by several items, under a guard or with
// a mode other than set maps to nothing: its elements are not one value per point.
std::map<loop::BufferId, std::optional<StoreSite>> plain_stores(const MergeContext& context,
                                                                const loop::Nest& nest);
std::vector<LoadSite> loads_of(const loop::Nest& nest,
                               const std::map<loop::BufferId, std::optional<StoreSite>>& stores);

const loop::Inst& inst_at(const loop::Nest& nest, uint32_t stage, uint32_t line);

// Kept and inner axes at a stage, outermost first.
std::vector<loop::Axis> axes_at(const loop::Nest& nest, uint32_t stage);

// Whether an address, at every inner point of its stage, is one that `store_address` has at some inner point
// (inner_axes) of the same kept point.
bool same_kept_point(sym::Context& cx, Expr store_address, std::span<const loop::Axis> inner_axes,
                     Expr address, std::span<const loop::Axis> kept_axes, const sym::Facts& facts);

// The value of each axis (by symbol) at which the store has this address.
struct PointMap {
  AxisMap axes;
  std::string failure;  // empty: the map holds
};
PointMap point_at(sym::Context& cx, Expr store_address, std::span<const loop::Axis> axes,
                  const sym::Facts& store_facts, Expr address, const sym::Facts& facts);

}  // namespace jumar::fuse
