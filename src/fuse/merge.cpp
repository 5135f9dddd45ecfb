#include "fuse/merge.h"

#include "fuse/merge_common.h"
#include "fuse/merge_ways.h"
#include "loop/walk.h"

namespace jumar::fuse {

Merged merged_nest(MergeContext& context, const loop::Nest& producer, const loop::Nest& consumer) {
  loop::Nest first = producer;
  loop::Nest second = consumer;
  rename_axes_apart(context.program.cx(), first, context.axis_counter);
  rename_axes_apart(context.program.cx(), second, context.axis_counter);
  if (loop::line_count(first) + loop::line_count(second) > context.options.max_lines)
    return "the merged body would be too long";
  if (is_pointwise(first)) return merged_into_stage(context, std::move(first), std::move(second));
  return merged_in_stages(context, std::move(first), std::move(second));
}

namespace {

// Maps axes of `from` to those of `to`, position by position, if extents are equal.
bool map_by_position(sym::Context& cx, const std::vector<loop::Axis>& from, const std::vector<loop::Axis>& to,
                     const sym::Facts& facts, AxisMap& axes) {
  if (from.size() != to.size()) return false;
  for (size_t k = 0; k < from.size(); ++k) {
    if (!sym::proves_eq(cx, from[k].extent, to[k].extent, facts)) return false;
    axes[from[k].symbol] = to[k].symbol;
  }
  return true;
}

bool loads_alike(const loop::Stage& stage, size_t old_lines) {
  for (size_t k = old_lines; k < stage.body.size(); ++k) {
    const loop::Inst& fresh = stage.body[k].inst;
    if (fresh.kind != loop::InstKind::kLoad) continue;
    for (size_t j = 0; j < old_lines; ++j) {
      const loop::Inst& old = stage.body[j].inst;
      if (old.kind == loop::InstKind::kLoad && old.buffer == fresh.buffer && old.address == fresh.address)
        return true;
    }
  }
  return false;
}

}  // namespace

Merged merged_siblings(MergeContext& context, const loop::Nest& first, const loop::Nest& second) {
  sym::Context& cx = context.program.cx();
  loop::Nest out = first;
  loop::Nest other = second;
  rename_axes_apart(cx, out, context.axis_counter);
  rename_axes_apart(cx, other, context.axis_counter);
  if (loop::line_count(out) + loop::line_count(other) > context.options.max_lines)
    return "the merged body would be too long";
  sym::Facts facts = nest_facts(context.program, out);
  AxisMap axes;
  if (!map_by_position(cx, other.kept, out.kept, facts, axes)) return "they run over different points";
  bool alike = false;
  bool appending = false;
  size_t old_stages = out.stages.size();
  LineCopier copier(cx, out, axes, facts);
  for (size_t s = 0; s < other.stages.size(); ++s) {
    const loop::Stage& stage = other.stages[s];
    appending =
        appending || s >= old_stages || !map_by_position(cx, stage.inner, out.stages[s].inner, facts, axes);
    if (appending) out.stages.push_back({stage.inner, {}});
    loop::Stage& target = appending ? out.stages.back() : out.stages[s];
    size_t old_lines = target.body.size();
    for (const loop::Stage::Line& line : stage.body) target.body.push_back(copier.copied(line));
    alike = alike || loads_alike(target, old_lines);
  }
  if (!alike) return "they load nothing at the same points";
  return out;
}

}  // namespace jumar::fuse
