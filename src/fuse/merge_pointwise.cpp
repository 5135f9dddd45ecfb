// A pointwise producer moves into the consumer's stage.
#include <algorithm>

#include "fuse/merge_common.h"
#include "fuse/merge_ways.h"

namespace jumar::fuse {

using loop::InstKind;

namespace {

class PointwiseMerge {
 public:
  PointwiseMerge(MergeContext& context, loop::Nest producer, loop::Nest consumer)
      : context_(context),
        cx_(context.program.cx()),
        producer_(std::move(producer)),
        consumer_(std::move(consumer)),
        stores_(plain_stores(context_, producer_)) {}

  Merged run() {
    constexpr int kMostCuts = 8;
    for (int attempt = 0; attempt <= kMostCuts; ++attempt) {
      std::optional<Cut> cut;
      std::string failure = aligned(cut);
      if (cut) {
        split_axis(context_.program, consumer_, *cut);
        continue;
      }
      if (!failure.empty()) return failure;
      return built();
    }
    return "the axes of both don't align";
  }

 private:
  // Finds the producer's point for every point of the consumer's stage; a cut is asked for where a consumer
  // axis runs over several producer axes.
  std::string aligned(std::optional<Cut>& cut) {
    loads_ = loads_of(consumer_, stores_);
    CHECK(!loads_.empty(), "the consumer loads nothing of the producer");
    for (const LoadSite& load : loads_) {
      const loop::Inst& inst = inst_at(consumer_, load.stage, load.line);
      if (!stores_.at(inst.buffer)) return "the producer's stores are guarded or accumulate";
      if (inst.guard) return "the consumer loads it under a guard";
    }
    stage_ = loads_.front().stage;
    const loop::Inst& first = inst_at(consumer_, stage_, loads_.front().line);
    sym::Facts facts = stage_facts(context_.program, consumer_, stage_);
    std::vector<loop::Axis> axes = axes_at(consumer_, stage_);
    cut = cut_for(cx_, first.address, axes, facts);
    if (cut) return "";

    StoreSite site = *stores_.at(first.buffer);
    sym::Facts producer_facts = nest_facts(context_.program, producer_);
    PointMap map = point_at(cx_, inst_at(producer_, site.stage, site.line).address, producer_.kept,
                            producer_facts, first.address, facts);
    if (!map.failure.empty()) return map.failure;
    for (const loop::Axis& axis : producer_.kept) {
      cut = cut_for(cx_, map.axes.at(axis.symbol), axes, facts);
      if (cut) return "";
    }
    // The map is one to one: as many points, none included, and no two with one address.
    Expr here = point_count(cx_, axes);
    Expr there = point_count(cx_, producer_.kept);
    if (!sym::proves_eq(cx_, here, there, context_.program.facts()))
      return "the consumer runs over other points";
    std::optional<Strided> access = strided(cx_, first.address, axes);
    if (!access || !mentions_all(*access, axes) || !sort_mixed_radix(cx_, *access, facts))
      return "the consumer loads an element at several points";
    axes_ = std::move(map.axes);
    return other_loads_fit(facts);
  }

  // Points that differ in an axis which the address does not mention share an element.
  static bool mentions_all(const Strided& access, const std::vector<loop::Axis>& axes) {
    return std::ranges::count_if(axes, [](const loop::Axis& axis) { return !axis.extent.is_const(1); }) ==
           std::ssize(access.terms);
  }

  // Every other load reads, in the same stage, what its own point makes, and in later stages what its own
  // kept point makes.
  std::string other_loads_fit(const sym::Facts& facts) {
    loop::Nest scratch = consumer_;
    LineCopier copier(cx_, scratch, axes_, facts);
    for (const LoadSite& load : loads_) {
      const loop::Inst& inst = inst_at(consumer_, load.stage, load.line);
      StoreSite site = *stores_.at(inst.buffer);
      Expr stored = substituted_axes(inst_at(producer_, site.stage, site.line).address, facts);
      if (load.stage == stage_) {
        if (sym::simplified(cx_, inst.address, facts) != stored)
          return "the consumer loads it at two points at once";
      } else if (!same_kept_point(cx_, stored, consumer_.stages[stage_].inner, inst.address, consumer_.kept,
                                  facts)) {
        return "a later stage loads it from other points";
      }
    }
    return "";
  }

  Expr substituted_axes(Expr e, const sym::Facts& facts) {
    Expr out = cx_.substituted(e, [&](Expr symbol) -> Expr {
      auto it = axes_.find(symbol);
      return it == axes_.end() ? Expr() : it->second;
    });
    return sym::simplified(cx_, out, facts);
  }

  loop::Nest built() {
    loop::Nest out = consumer_;
    sym::Facts facts = stage_facts(context_.program, consumer_, stage_);
    LineCopier copier(cx_, out, axes_, facts);
    std::vector<loop::Stage::Line> lines;
    for (const loop::Stage::Line& line : producer_.stages[0].body) lines.push_back(copier.copied(line));
    std::unordered_map<loop::ValueId, loop::ValueId> replacements;
    for (const LoadSite& load : loads_) {
      if (load.stage != stage_) continue;
      const loop::Stage::Line& line = consumer_.stages[stage_].body[load.line];
      StoreSite site = *stores_.at(line.inst.buffer);
      replacements[line.result] = copier.mapped(inst_at(producer_, site.stage, site.line).operands[0]);
    }
    std::vector<loop::Stage::Line>& body = out.stages[stage_].body;
    std::erase_if(body, [&](const loop::Stage::Line& line) {
      return line.result && replacements.contains(line.result);
    });
    body.insert(body.begin(), lines.begin(), lines.end());
    replace_uses(cx_, out, replacements);
    return out;
  }

  MergeContext& context_;
  sym::Context& cx_;
  loop::Nest producer_;
  loop::Nest consumer_;
  std::map<loop::BufferId, std::optional<StoreSite>> stores_;
  std::vector<LoadSite> loads_;
  uint32_t stage_ = 0;
  AxisMap axes_;
};

}  // namespace

Merged merged_into_stage(MergeContext& context, loop::Nest producer, loop::Nest consumer) {
  return PointwiseMerge(context, std::move(producer), std::move(consumer)).run();
}

}  // namespace jumar::fuse
