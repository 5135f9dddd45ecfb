#include "fuse/merge_common.h"

namespace jumar::fuse {

using loop::InstKind;

bool is_pointwise(const loop::Nest& nest) {
  if (nest.stages.size() != 1 || !nest.stages[0].inner.empty() || !nest.locals.empty()) return false;
  for (const loop::Stage::Line& line : nest.stages[0].body)
    if (line.inst.kind == InstKind::kReduce || line.inst.kind == InstKind::kScan) return false;
  return true;
}

int64_t estimated(const loop::Program& program, Expr count) {
  constexpr int64_t kTypicalSize = 64;
  Result<int64_t> value = sym::evaluate(count, [&](Expr symbol) -> std::optional<int64_t> {
    for (const loop::SymbolInfo& info : program.symbols)
      if (info.symbol == symbol && info.hint) return *info.hint;
    return kTypicalSize;
  });
  return value.ok() ? *value : kTypicalSize;
}

std::map<loop::BufferId, std::optional<StoreSite>> plain_stores(const MergeContext& context,
                                                                const loop::Nest& nest) {
  std::map<loop::BufferId, std::optional<StoreSite>> stores;
  for (uint32_t s = 0; s < nest.stages.size(); ++s) {
    const std::vector<loop::Stage::Line>& body = nest.stages[s].body;
    for (uint32_t k = 0; k < body.size(); ++k) {
      const loop::Inst& inst = body[k].inst;
      if (inst.kind != InstKind::kStore) continue;
      bool shared = context.written_in_parts.contains(inst.buffer);
      bool plain =
          !shared && inst.mode == loop::StoreMode::kSet && !inst.guard && !stores.contains(inst.buffer);
      stores[inst.buffer] = plain ? std::optional<StoreSite>({s, k}) : std::nullopt;
    }
  }
  return stores;
}

std::vector<LoadSite> loads_of(const loop::Nest& nest,
                               const std::map<loop::BufferId, std::optional<StoreSite>>& stores) {
  std::vector<LoadSite> loads;
  for (uint32_t s = 0; s < nest.stages.size(); ++s) {
    const std::vector<loop::Stage::Line>& body = nest.stages[s].body;
    for (uint32_t k = 0; k < body.size(); ++k)
      if (body[k].inst.kind == InstKind::kLoad && stores.contains(body[k].inst.buffer))
        loads.push_back({s, k});
  }
  return loads;
}

const loop::Inst& inst_at(const loop::Nest& nest, uint32_t stage, uint32_t line) {
  return nest.stages[stage].body[line].inst;
}

std::vector<loop::Axis> axes_at(const loop::Nest& nest, uint32_t stage) {
  std::vector<loop::Axis> axes = nest.kept;
  const std::vector<loop::Axis>& inner = nest.stages[stage].inner;
  axes.insert(axes.end(), inner.begin(), inner.end());
  return axes;
}

bool same_kept_point(sym::Context& cx, Expr store_address, std::span<const loop::Axis> inner_axes,
                     Expr address, std::span<const loop::Axis> kept_axes, const sym::Facts& facts) {
  std::optional<Strided> store = strided(cx, store_address, inner_axes);
  if (!store || !sort_mixed_radix(cx, *store, facts)) return false;
  Expr distance = sym::simplified(cx, cx.sub(address, store->rest), facts);
  for (const loop::Axis& axis : kept_axes)
    if (sym::mentions(distance, axis.symbol)) return false;
  std::optional<std::vector<Expr>> values = inverted(cx, *store, address, facts);
  return values && proves_in_range(cx, *store, *values, facts);
}

PointMap point_at(sym::Context& cx, Expr store_address, std::span<const loop::Axis> axes,
                  const sym::Facts& store_facts, Expr address, const sym::Facts& facts) {
  PointMap map;
  std::optional<Strided> store = strided(cx, store_address, axes);
  if (!store) {
    map.failure = "the producer's addresses are not strided";
    return map;
  }
  for (const loop::Axis& axis : axes) {
    if (axis.extent.is_const(1)) map.axes[axis.symbol] = cx.constant(0);
  }
  if (store->terms.size() + map.axes.size() != axes.size()) {
    map.failure = "the producer stores an element at several points";
    return map;
  }
  if (!sort_mixed_radix(cx, *store, at_points(store_facts, axes))) {
    map.failure = "the producer's elements can't be told apart";
    return map;
  }
  std::optional<std::vector<Expr>> values = inverted(cx, *store, address, facts);
  if (!values) {
    map.failure = "the consumer's addresses don't fall on the producer's points";
    return map;
  }
  for (size_t k = 0; k < store->terms.size(); ++k) map.axes[store->terms[k].axis.symbol] = (*values)[k];
  return map;
}

}  // namespace jumar::fuse
