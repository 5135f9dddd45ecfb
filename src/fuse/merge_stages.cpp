// A consumer's stages follow the producer's, over the same kept points.
#include <algorithm>

#include "fuse/merge_common.h"
#include "fuse/merge_ways.h"

namespace jumar::fuse {

using loop::InstKind;

namespace {

// Below this many kept points, elementwise work that could be spread over all cores is not tied to them.
constexpr int64_t kFewKeptPoints = 32;
constexpr int64_t kManyInnerPoints = 8192;
// A column reduction's columns are neighbours in memory; following it with elementwise work by columns
// strides through memory, which pays only while everything stays in cache.
constexpr int64_t kCachedPoints = 16384;

class StageMerge {
 public:
  StageMerge(MergeContext& context, loop::Nest producer, loop::Nest consumer)
      : context_(context),
        cx_(context.program.cx()),
        producer_(std::move(producer)),
        consumer_(std::move(consumer)),
        stores_(plain_stores(context_, producer_)) {}

  Merged run() {
    constexpr int kMostCuts = 8;
    for (int attempt = 0; attempt <= kMostCuts; ++attempt) {
      cut_producer_.reset();
      cut_consumer_.reset();
      reindexed_ = false;
      std::string failure = aligned();
      if (cut_consumer_) {
        split_axis(context_.program, consumer_, *cut_consumer_);
      } else if (cut_producer_) {
        split_axis(context_.program, producer_, *cut_producer_);
      } else if (!failure.empty()) {
        return failure;
      } else {
        if (std::string reason = not_worth_it(); !reason.empty()) return reason;
        if (reindexed_) move_producer();
        return built();
      }
    }
    return "the axes of both don't align";
  }

 private:
  struct Load {
    LoadSite site;
    StoreSite store;
    bool row = false;  // the stored value is known per kept point
  };

  std::string aligned() {
    loads_.clear();
    kept_map_.clear();
    facts_ = nest_facts(context_.program, consumer_);
    producer_facts_ = nest_facts(context_.program, producer_);
    for (const LoadSite& site : loads_of(consumer_, stores_)) {
      const loop::Inst& inst = inst_at(consumer_, site.stage, site.line);
      std::optional<StoreSite> store = stores_.at(inst.buffer);
      if (!store) return "the producer's stores are guarded or accumulate";
      if (inst.guard) return "the consumer loads it under a guard";
      loads_.push_back({site, *store, producer_.stages[store->stage].inner.empty()});
    }
    CHECK(!loads_.empty(), "the consumer loads nothing of the producer");
    for (const Load& load : loads_) {
      if (std::string failure = align_load(load); !failure.empty() || cut_consumer_) return failure;
    }
    return match_kept_axes();
  }

  // Adds what one load says about where the producer's kept axes are among the consumer's.
  std::string align_load(const Load& load) {
    Expr address = inst_at(consumer_, load.site.stage, load.site.line).address;
    std::vector<loop::Axis> consumer_axes = axes_at(consumer_, load.site.stage);
    const sym::Facts facts = stage_facts(context_.program, consumer_, load.site.stage);
    cut_consumer_ = cut_for(cx_, address, consumer_axes, facts);
    if (cut_consumer_) return "";
    PointMap map = point_at(cx_, inst_at(producer_, load.store.stage, load.store.line).address,
                            axes_at(producer_, load.store.stage), producer_facts_, address, facts);
    if (!map.failure.empty()) return map.failure;
    for (const loop::Axis& axis : producer_.kept) {
      Expr value = map.axes.at(axis.symbol);
      cut_consumer_ = cut_for(cx_, value, consumer_axes, facts);
      if (cut_consumer_) return "";
      auto [it, fresh] = kept_map_.emplace(axis.symbol, value);
      if (!fresh && it->second != value) return "the consumer loads different kept points at once";
    }
    return "";
  }

  // Each producer kept axis must be one consumer kept axis; a sum of several asks for a cut of the
  // producer's.
  std::string match_kept_axes() {
    matched_.clear();
    for (const loop::Axis& axis : producer_.kept) {
      Expr value = kept_map_.at(axis.symbol);
      if (axis.extent.is_const(1)) continue;
      auto it = std::find_if(consumer_.kept.begin(), consumer_.kept.end(),
                             [&](const loop::Axis& c) { return c.symbol == value; });
      if (it != consumer_.kept.end()) {
        if (!sym::proves_eq(cx_, it->extent, axis.extent, facts_))
          return "the consumer runs over part of the kept points";
        if (std::find(matched_.begin(), matched_.end(), value) != matched_.end())
          return "one consumer axis would be two kept axes";
        matched_.push_back(value);
        continue;
      }
      std::optional<Strided> sum = strided(cx_, value, consumer_.kept);
      if (!sum || !sum->rest.is_const(0) || sum->terms.size() < 2 ||
          !sort_mixed_radix(cx_, *sum, at_points(facts_, consumer_.kept)))
        return reindex("the kept axes of both don't align");
      Expr divisor = sum->terms.front().coefficient;
      if (!sym::proves_divisible(cx_, axis.extent, divisor, producer_facts_))
        return reindex("the kept axes of both don't align");
      cut_producer_ = Cut{axis.symbol, divisor};
      return "";
    }
    return free_consumer_axes();
  }

  // Consumer kept axes beside the matched ones become inner axes.
  std::string free_consumer_axes() {
    free_.clear();
    for (const loop::Axis& axis : consumer_.kept) {
      bool matched = std::find(matched_.begin(), matched_.end(), axis.symbol) != matched_.end();
      if (!matched && !axis.extent.is_const(1)) free_.push_back(axis);
    }
    if (!free_.empty() && !is_pointwise(consumer_)) return "the consumer reduces by other axes";
    return "";
  }

  // The producer may run at the consumer's kept points instead of its own, where these are some of its points
  // or all of them in another order: the rows of a rolled image, the first token only. No point may come
  // twice, and where somebody else needs what the producer stores, each must come once.
  std::string reindex(const std::string& refusal) {
    matched_.clear();
    bool whole = true;
    for (const loop::Axis& axis : producer_.kept) {
      if (axis.extent.is_const(1)) continue;
      Expr value = kept_map_.at(axis.symbol);
      // A consumer without points promises nothing about its addresses, but the producer's reductions would
      // run.
      if (!sym::proves_le(cx_, cx_.constant(0), value, facts_) ||
          !sym::proves_lt(cx_, value, axis.extent, facts_))
        return refusal;
      const bool wraps = value.op() == sym::Op::kMod && value.operands()[1] == axis.extent;
      std::optional<Strided> sum = strided(cx_, wraps ? value.operands()[0] : value, consumer_.kept);
      if (!sum || !sort_mixed_radix(cx_, *sum, facts_) || !is_fixed(sum->rest)) return refusal;
      Expr points = cx_.constant(1);
      Expr span = cx_.constant(0);
      for (const Strided::Term& term : sum->terms) {
        if (std::find(matched_.begin(), matched_.end(), term.axis.symbol) != matched_.end()) return refusal;
        matched_.push_back(term.axis.symbol);
        points = cx_.mul(points, term.axis.extent);
        span = cx_.add(span, cx_.mul(term.coefficient, cx_.sub(term.axis.extent, 1)));
      }
      if (wraps && !sym::proves_lt(cx_, span, axis.extent, facts_)) return refusal;
      whole = whole && sym::proves_eq(cx_, points, axis.extent, facts_);
    }
    if (!whole && context_.others_need_producer) return refusal;
    reindexed_ = true;
    return free_consumer_axes();
  }

  // Whether an expression is the same at all points of the consumer.
  bool is_fixed(Expr e) const {
    for (Expr symbol : sym::symbols_of(e)) {
      if (symbol.is_symbol(sym::SymbolKind::kValue)) return false;
      for (const loop::Stage& stage : consumer_.stages)
        for (const loop::Axis& axis : stage.inner)
          if (axis.symbol == symbol) return false;
    }
    return true;
  }

  // The producer over the matched kept axes of the consumer.
  void move_producer() {
    loop::Nest moved;
    for (const loop::Axis& axis : consumer_.kept)
      if (std::find(matched_.begin(), matched_.end(), axis.symbol) != matched_.end())
        moved.kept.push_back(axis);
    sym::Facts facts = facts_;
    for (const loop::Stage& stage : producer_.stages)
      for (const loop::Axis& axis : stage.inner) facts.set_extent(axis.symbol, axis.extent);
    AxisMap axes = kept_map_;
    for (const loop::Axis& axis : producer_.kept)
      if (axis.extent.is_const(1)) axes[axis.symbol] = cx_.constant(0);
    const sym::Facts moved_facts = at_points(facts, moved.kept);
    LineCopier copier(cx_, moved, axes, moved_facts);
    for (const loop::Stage& stage : producer_.stages) {
      moved.stages.push_back({stage.inner, {}});
      for (const loop::Stage::Line& line : stage.body)
        moved.stages.back().body.push_back(copier.copied(line));
    }
    moved.locals = producer_.locals;
    producer_ = std::move(moved);
    producer_facts_ = facts;
    kept_map_.clear();
    for (const loop::Axis& axis : producer_.kept) kept_map_[axis.symbol] = axis.symbol;
  }

  // Why a legal merge would be slower than two kernels; empty when it wouldn't.
  std::string not_worth_it() {
    int64_t kept = 1;
    for (const loop::Axis& axis : consumer_.kept)
      if (std::find(matched_.begin(), matched_.end(), axis.symbol) != matched_.end())
        kept *= estimated(context_.program, axis.extent);
    int64_t inner = estimated(context_.program, point_count(cx_, free_));
    for (const loop::Stage& stage : consumer_.stages)
      inner = std::max(inner, estimated(context_.program, point_count(cx_, stage.inner)));
    if (inner > 1 && kept < kFewKeptPoints && kept * inner > kManyInnerPoints)
      return "too few kept points to keep the cores busy with the consumer's work";
    if (inner > 1 && is_column_reduction() && consumer_runs_along_rows() && kept * inner > kCachedPoints)
      return "the producer reduces columns, the consumer would stride";
    return "";
  }

  // Whether the producer's reductions run along an axis that is not the contiguous one.
  bool is_column_reduction() const {
    bool column = false;
    for (const loop::Stage& stage : producer_.stages) {
      if (stage.inner.empty()) continue;
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind != InstKind::kLoad) continue;
        for (const loop::Axis& axis : stage.inner) {
          std::optional<sym::Linear> linear = sym::linear_in(cx_, line.inst.address, axis.symbol);
          if (linear && linear->coefficient.is_const(1)) return false;
        }
        for (const loop::Axis& axis : producer_.kept) {
          std::optional<sym::Linear> linear = sym::linear_in(cx_, line.inst.address, axis.symbol);
          if (linear && linear->coefficient.is_const(1)) column = true;
        }
      }
    }
    return column;
  }

  // Whether neighbours of an axis that would be an inner one are neighbours in memory anywhere in the
  // consumer.
  bool consumer_runs_along_rows() const {
    for (const loop::Stage& stage : consumer_.stages)
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind != InstKind::kLoad && line.inst.kind != InstKind::kStore) continue;
        for (const std::vector<loop::Axis>* axes : {&stage.inner, &free_})
          for (const loop::Axis& axis : *axes) {
            std::optional<sym::Linear> linear = sym::linear_in(cx_, line.inst.address, axis.symbol);
            if (linear && linear->coefficient.is_const(1)) return true;
          }
      }
    return false;
  }

  loop::Nest built() {
    out_ = producer_;
    axes_.clear();
    for (const loop::Axis& axis : producer_.kept)
      if (!axis.extent.is_const(1)) axes_[kept_map_.at(axis.symbol)] = axis.symbol;
    for (const loop::Axis& axis : consumer_.kept)
      if (axis.extent.is_const(1)) axes_[axis.symbol] = cx_.constant(0);
    std::optional<uint32_t> home = home_of_first_stage();
    // Facts of everything that will be in the nest, for simplifying copied addresses.
    sym::Facts facts = producer_facts_;
    for (const loop::Axis& axis : free_) facts.set_extent(axis.symbol, axis.extent);
    for (const loop::Stage& stage : consumer_.stages)
      for (const loop::Axis& axis : stage.inner) facts.set_extent(axis.symbol, axis.extent);
    facts = at_points(std::move(facts), out_.kept);
    LineCopier copier(cx_, out_, axes_, facts);
    for (uint32_t s = 0; s < consumer_.stages.size(); ++s) {
      std::vector<loop::Axis> inner = consumer_.stages[s].inner;
      if (!free_.empty()) inner = free_;
      uint32_t target = 0;
      if (s == 0 && home) {
        target = *home;
      } else if (inner.empty() && !out_.stages.empty() && out_.stages.back().inner.empty()) {
        target = static_cast<uint32_t>(out_.stages.size() - 1);
      } else {
        out_.stages.push_back({inner, {}});
        target = static_cast<uint32_t>(out_.stages.size() - 1);
      }
      copy_stage(copier, s, target);
    }
    return std::move(out_);
  }

  void copy_stage(LineCopier& copier, uint32_t from, uint32_t target) {
    for (uint32_t k = 0; k < consumer_.stages[from].body.size(); ++k) {
      const loop::Stage::Line& line = consumer_.stages[from].body[k];
      auto load = std::find_if(loads_.begin(), loads_.end(),
                               [&](const Load& l) { return l.site.stage == from && l.site.line == k; });
      if (load != loads_.end() && (load->row || load->store.stage == target)) {
        copier.map_value(line.result, inst_at(producer_, load->store.stage, load->store.line).operands[0]);
        continue;
      }
      out_.stages[target].body.push_back(copier.copied(line));
    }
  }

  // The existing stage that the consumer's first stage can join: the one that stores what it loads element by
  // element (or the last one, when it loads nothing so), if what it needs per kept point is known there. Also
  // fixes where the stage's inner axes are in it.
  std::optional<uint32_t> home_of_first_stage() {
    const std::vector<loop::Axis>& inner = free_.empty() ? consumer_.stages[0].inner : free_;
    if (inner.empty()) return std::nullopt;
    std::optional<uint32_t> home;
    AxisMap joined;
    for (const Load& load : loads_) {
      if (load.site.stage != 0 || load.row) continue;
      home = home ? std::max(*home, load.store.stage) : load.store.stage;
    }
    if (!home) return home_by_shape(inner);
    for (const Load& load : loads_) {
      if (load.site.stage != 0) continue;
      if (load.row && load.store.stage >= *home) return std::nullopt;
      if (load.row || load.store.stage != *home) continue;
      if (!join_axes(load, inner, joined)) return std::nullopt;
    }
    if (joined.size() != inner.size()) return std::nullopt;
    for (const auto& [from, to] : joined) axes_[from] = to;
    return home;
  }

  // The load reads exactly the element of its own point: each inner axis of the store's stage is one of ours.
  bool join_axes(const Load& load, const std::vector<loop::Axis>& inner, AxisMap& joined) {
    PointMap map = point_at(cx_, inst_at(producer_, load.store.stage, load.store.line).address,
                            axes_at(producer_, load.store.stage), producer_facts_,
                            inst_at(consumer_, load.site.stage, load.site.line).address,
                            stage_facts(context_.program, consumer_, load.site.stage));
    if (!map.failure.empty()) return false;
    for (const loop::Axis& axis : producer_.stages[load.store.stage].inner) {
      Expr value = map.axes.at(axis.symbol);
      if (axis.extent.is_const(1)) continue;
      auto it =
          std::find_if(inner.begin(), inner.end(), [&](const loop::Axis& a) { return a.symbol == value; });
      if (it == inner.end() || !sym::proves_eq(cx_, it->extent, axis.extent, facts_)) return false;
      auto [entry, fresh] = joined.emplace(value, axis.symbol);
      if (!fresh && entry->second != axis.symbol) return false;
      // Another load may read the same axis at another point: x[i] beside x[j].
      const bool is_taken = std::ranges::any_of(
          joined, [&](const auto& known) { return known.first != value && known.second == axis.symbol; });
      if (is_taken) return false;
    }
    return true;
  }

  std::optional<uint32_t> home_by_shape(const std::vector<loop::Axis>& inner) {
    uint32_t last = static_cast<uint32_t>(producer_.stages.size() - 1);
    const std::vector<loop::Axis>& there = producer_.stages[last].inner;
    if (there.size() != inner.size()) return std::nullopt;
    for (size_t k = 0; k < inner.size(); ++k)
      if (!sym::proves_eq(cx_, inner[k].extent, there[k].extent, facts_)) return std::nullopt;
    for (const Load& load : loads_)
      if (load.site.stage == 0 && load.store.stage >= last) return std::nullopt;
    for (size_t k = 0; k < inner.size(); ++k) axes_[inner[k].symbol] = there[k].symbol;
    return last;
  }

  MergeContext& context_;
  sym::Context& cx_;
  loop::Nest producer_;
  loop::Nest consumer_;
  loop::Nest out_;
  std::map<loop::BufferId, std::optional<StoreSite>> stores_;
  std::vector<Load> loads_;
  sym::Facts facts_;
  sym::Facts producer_facts_;
  AxisMap kept_map_;              // producer kept axis -> consumer expression
  AxisMap axes_;                  // consumer axis -> merged axis
  std::vector<Expr> matched_;     // consumer kept axes that are kept axes of the producer
  std::vector<loop::Axis> free_;  // consumer kept axes that become inner axes
  bool reindexed_ = false;        // the producer runs at the consumer's kept points
  std::optional<Cut> cut_producer_;
  std::optional<Cut> cut_consumer_;
};

}  // namespace

Merged merged_in_stages(MergeContext& context, loop::Nest producer, loop::Nest consumer) {
  return StageMerge(context, std::move(producer), std::move(consumer)).run();
}

}  // namespace jumar::fuse
