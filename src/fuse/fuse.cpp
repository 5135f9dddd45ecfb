#include "fuse/fuse.h"

#include <algorithm>
#include <map>

#include "fuse/compact.h"
#include "fuse/dependence.h"
#include "fuse/forward.h"
#include "fuse/inline.h"
#include "fuse/known_indices.h"
#include "fuse/merge.h"
#include "fuse/updates.h"
#include "loop/walk.h"

namespace jumar::fuse {

using loop::BufferId;
using loop::InstKind;

namespace {

// A producer this light is computed again wherever it is loaded.
constexpr int kCheapWeight = 10;
// In blocks, one up to this weight is computed again where it has a point for so many of the consumer's.
constexpr int kBlockWeight = 64;
constexpr int64_t kPointsForEach = 256;
// A producer without loads (a constant, a range) is computed again even when its buffer must exist as well.
constexpr int kTrivialWeight = 3;
// Kernels that load one buffer are tried as siblings with so many neighbours.
constexpr size_t kSiblingsTried = 8;
// A kernel moves up past at most so many others to run beside one.
constexpr size_t kJoinDistance = 8;
// Results of parameter work up to this size may lie about until they are needed.
constexpr int64_t kSmallElems = 16384;

class Fusion {
 public:
  Fusion(loop::Program& program, const FuseOptions& options, FuseReport& report)
      : context_{program, options}, program_(program), report_(report), dependence_(program) {
    context_.written_in_parts = dependence_.written_in_parts();
    for (const Group& group : dependence_.groups) members_.push_back({group.name});
  }

  void run() {
    for (uint32_t k = 0; k < dependence_.groups.size(); ++k) inline_into(GroupId(k));
    drop_unread();
    for (uint32_t k = 0; k < dependence_.groups.size(); ++k) merge_producers_of(GroupId(k));
    for (uint32_t b = 0; b < program_.buffers.size(); ++b) merge_readers_of(BufferId(b));
    for (uint32_t k = 0; k < dependence_.groups.size(); ++k) clean(GroupId(k));
    drop_unread();
    join_neighbours();
    for (GroupId id : dependence_.ordered()) {
      if (const loop::Kernel* kernel = dependence_.groups[id].kernel())
        report_.members[kernel->name] = std::move(members_[id.index()]);
      program_.items.push_back(std::move(dependence_.groups[id].item));
    }
    drop_unused_buffers(program_);
  }

 private:
  bool budget_left() const {
    return report_.inlined + report_.merged + report_.siblings + report_.joined <
           context_.options.max_fusions;
  }

  bool is_apart(GroupId id) const { return context_.options.apart.contains(dependence_.groups[id].name); }

  // The only nest of a live kernel that may be fused. What is phased has been joined already and is left
  // alone.
  loop::Nest* single_nest(GroupId id) {
    if (!id.valid() || !dependence_.groups[id].alive || is_apart(id)) return nullptr;
    loop::Kernel* kernel = dependence_.groups[id].kernel();
    return kernel && !kernel->is_phased && kernel->nests.size() == 1 ? &kernel->nests[0] : nullptr;
  }

  void refuse(GroupId producer, GroupId consumer, std::string reason) {
    report_.refusals.push_back(
        {dependence_.groups[producer].name, dependence_.groups[consumer].name, std::move(reason)});
  }

  // ---- inlining

  void inline_into(GroupId consumer) {
    loop::Kernel* kernel = dependence_.groups[consumer].kernel();
    if (!kernel || kernel->is_phased || is_apart(consumer)) return;
    bool changed = false;
    for (loop::Nest& nest : kernel->nests) {
      std::set<BufferId> loaded;
      for (const loop::Stage& stage : nest.stages)
        for (const loop::Stage::Line& line : stage.body)
          if (line.inst.kind == InstKind::kLoad) loaded.insert(line.inst.buffer);
      for (BufferId buffer : loaded) {
        GroupId producer = dependence_.writer(buffer);
        loop::Nest* source = single_nest(producer);
        if (!source || producer == consumer || !budget_left()) continue;
        if (!worth_inlining(producer, buffer, nest) && !is_small_beside(producer, consumer, nest)) continue;
        if (!inline_producer(context_, *source, buffer, nest).empty()) continue;
        ++report_.inlined;
        changed = true;
        write_out_indices(program_, nest);
        take_origin(*kernel, *dependence_.groups[producer].kernel());
        add_members(consumer, producer);
      }
    }
    if (changed) dependence_.refresh(consumer);
  }

  bool worth_inlining(GroupId producer, BufferId buffer, const loop::Nest& consumer) {
    const loop::Nest& nest = *single_nest(producer);
    if (!may_repeat(nest, consumer)) return false;
    const auto of_kind = [](InstKind kind) {
      return [kind](const loop::Stage::Line& line) { return line.inst.kind == kind; };
    };
    if (std::ranges::count_if(nest.stages[0].body, of_kind(InstKind::kStore)) != 1) return false;
    const bool loads = std::ranges::any_of(nest.stages[0].body, of_kind(InstKind::kLoad));
    int weight = body_weight(nest);
    if (!loads && weight <= kTrivialWeight) return true;
    if (dependence_.escapes(buffer)) return false;
    if (weight <= kCheapWeight) return true;
    return loaded_once(producer, buffer, consumer);
  }

  bool may_repeat(const loop::Nest& producer, const loop::Nest& consumer) const {
    if (!is_pointwise(producer)) return false;
    // An index is checked where eager checks it: for every point of the operator, once.
    for (const loop::Stage::Line& line : producer.stages[0].body)
      if (line.inst.kind == InstKind::kWrapIndex) return false;
    return loop::line_count(producer) + loop::line_count(consumer) <= context_.options.max_lines;
  }

  // Work that goes away as a kernel, and that blocks do once for a great many points of the consumer: the
  // scale and the shift of each channel of a normalisation.
  bool is_small_beside(GroupId producer, GroupId consumer, const loop::Nest& nest) {
    const loop::Nest& source = *single_nest(producer);
    if (!context_.options.in_blocks || !may_repeat(source, nest)) return false;
    if (body_weight(source) > kBlockWeight) return false;
    for (BufferId buffer : dependence_.groups[producer].writes)
      if (needed_by_others(producer, consumer, buffer)) return false;
    sym::Context& cx = program_.cx();
    const int64_t there = estimated(program_, point_count(cx, source.kept));
    return there <= kSmallElems && estimated(program_, point_count(cx, nest.kept)) >= there * kPointsForEach;
  }

  // One load, in one nest, that runs over no more points than the producer does: nothing is computed twice. A
  // guarded load is taken at the producer's points only; its nest may run over as many points beside them.
  bool loaded_once(GroupId producer, BufferId buffer, const loop::Nest& consumer) {
    if (dependence_.readers(buffer).size() != 1) return false;
    sym::Context& cx = program_.cx();
    const loop::Kernel& reader = *dependence_.groups[dependence_.readers(buffer).front()].kernel();
    size_t count = 0;
    for (const loop::Nest& nest : reader.nests)
      for (const loop::Stage& stage : nest.stages)
        for (const loop::Stage::Line& line : stage.body)
          if (line.inst.kind == InstKind::kLoad && line.inst.buffer == buffer) ++count;
    if (count != 1) return false;
    Expr there = point_count(cx, single_nest(producer)->kept);
    for (const loop::Stage& stage : consumer.stages) {
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind != InstKind::kLoad || line.inst.buffer != buffer) continue;
        Expr here = cx.mul(point_count(cx, consumer.kept), point_count(cx, stage.inner));
        if (line.inst.guard) there = cx.mul(there, 2);
        return sym::proves_le(cx, here, there, program_.facts());
      }
    }
    return false;
  }

  // ---- vertical merging

  void merge_producers_of(GroupId consumer) {
    std::set<uint32_t> refused;
    while (loop::Nest* nest = single_nest(consumer)) {
      std::vector<GroupId> producers;
      for (BufferId buffer : dependence_.groups[consumer].reads) {
        GroupId producer = dependence_.writer(buffer);
        if (single_nest(producer) && producer != consumer && !refused.contains(producer.index()) &&
            std::find(producers.begin(), producers.end(), producer) == producers.end())
          producers.push_back(producer);
      }
      // The nearest first: it is the one whose results the consumer is made for.
      std::sort(producers.begin(), producers.end(), [&](GroupId a, GroupId b) {
        return dependence_.groups[a].last != dependence_.groups[b].last
                   ? dependence_.groups[a].last > dependence_.groups[b].last
                   : a > b;
      });
      bool merged = false;
      for (GroupId producer : producers) {
        merged = try_merge(producer, consumer, *nest);
        if (merged) break;
        refused.insert(producer.index());
      }
      if (!merged) return;
      refused.clear();
    }
  }

  bool try_merge(GroupId producer, GroupId consumer, const loop::Nest& nest) {
    if (!budget_left()) return false;
    if (!dependence_.may_merge(producer, consumer)) {
      refuse(producer, consumer, "an operator between them needs the one and is needed by the other");
      return false;
    }
    context_.others_need_producer =
        std::ranges::any_of(dependence_.groups[producer].writes,
                            [&](BufferId buffer) { return needed_by_others(producer, consumer, buffer); });
    Merged result = merged_nest(context_, *single_nest(producer), nest);
    if (auto* reason = std::get_if<std::string>(&result)) {
      refuse(producer, consumer, *reason);
      return false;
    }
    join(consumer, producer, std::get<loop::Nest>(std::move(result)));
    ++report_.merged;
    return true;
  }

  void join(GroupId into, GroupId from, loop::Nest nest) {
    loop::Kernel kernel = *dependence_.groups[into].kernel();
    take_origin(kernel, *dependence_.groups[from].kernel());
    kernel.nests = {std::move(nest)};
    dependence_.merge(into, from, std::move(kernel));
    add_members(into, from);
    settle(into);
  }

  // Keeps a merged body small while more is merged into it.
  void settle(GroupId id) {
    loop::Nest& nest = *single_nest(id);
    write_out_indices(program_, nest);
    fold_conversions(program_, nest);
    merge_equal_lines(program_, nest);
    auto needed = [&](BufferId buffer) { return needed_elsewhere(id, buffer); };
    drop_dead_stores(nest, needed);
    loop::tidy(program_, nest);
    dependence_.refresh(id);
  }

  bool needed_elsewhere(GroupId id, BufferId buffer) const { return needed_by_others(id, id, buffer); }

  bool needed_by_others(GroupId a, GroupId b, BufferId buffer) const {
    if (dependence_.escapes(buffer) || program_.buffers[buffer].storage != loop::Storage::kTemp) return true;
    for (GroupId reader : dependence_.readers(buffer))
      if (reader != a && reader != b) return true;
    return false;
  }

  void add_members(GroupId into, GroupId from) {
    members_[into.index()].insert(members_[from.index()].begin(), members_[from.index()].end());
  }

  static void take_origin(loop::Kernel& into, const loop::Kernel& from) {
    if (from.origin.empty() || into.origin.find(from.origin) != std::string::npos) return;
    into.origin = into.origin.empty() ? from.origin : from.origin + " " + into.origin;
  }

  // ---- siblings

  void merge_readers_of(BufferId buffer) {
    std::vector<GroupId> readers = dependence_.readers(buffer);
    for (size_t k = 0; k < readers.size(); ++k) {
      size_t end = std::min(readers.size(), k + 1 + kSiblingsTried);
      for (size_t j = k + 1; j < end && single_nest(readers[k]); ++j) {
        if (!single_nest(readers[j]) || !budget_left()) continue;
        if (!dependence_.may_merge(readers[k], readers[j]) || depend(readers[k], readers[j])) continue;
        Merged result = merged_siblings(context_, *single_nest(readers[k]), *single_nest(readers[j]));
        if (auto* nest = std::get_if<loop::Nest>(&result)) {
          join(readers[k], readers[j], std::move(*nest));
          ++report_.siblings;
        }
      }
    }
  }

  bool depend(GroupId a, GroupId b) const {
    const Group& group = dependence_.groups[a];
    return group.before.contains(b.index()) || group.after.contains(b.index());
  }

  // ---- one launch for neighbours that don't wait for each other

  // Nests beside each other in one kernel. A kernel moves up to one that runs when all it needs is there: the
  // three parts of an attention's projection, masks, weights brought into another layout beside the
  // activation that runs before their convolution.
  void join_neighbours() {
    std::vector<GroupId> order = dependence_.ordered();
    std::vector<size_t> position(dependence_.groups.size());
    for (size_t k = 0; k < order.size(); ++k) position[order[k].index()] = k;
    for (size_t k = 1; k < order.size(); ++k) {
      if (!budget_left() || !is_joinable(order[k])) continue;
      size_t ready = 0;  // the first place where it could run
      for (uint32_t earlier : dependence_.groups[order[k]].before)
        ready = std::max(ready, position[earlier] + 1);
      if (std::optional<GroupId> into = neighbour(order, k, ready)) join_beside(*into, order[k]);
    }
  }

  // Work on parameters only, with small results (the scales of a normalisation), goes to the first kernel
  // there is; other work stays near its place, so that its results don't lie about. A kernel that reads the
  // same is preferred.
  std::optional<GroupId> neighbour(const std::vector<GroupId>& order, size_t place, size_t ready) {
    if (is_small_parameter_work(order[place])) {
      for (size_t k = ready; k < place; ++k)
        if (may_join(order[k], order[place])) return order[k];
    }
    std::optional<GroupId> nearest;
    for (size_t k = place; k-- > ready && place - k <= kJoinDistance;) {
      if (!may_join(order[k], order[place])) continue;
      if (share_reads(order[k], order[place])) return order[k];
      if (!nearest) nearest = order[k];
    }
    return nearest;
  }

  // Only nests whose units are alike: threads get equal numbers of them.
  bool is_joinable(GroupId id) {
    const loop::Kernel* kernel = dependence_.groups[id].alive ? dependence_.groups[id].kernel() : nullptr;
    if (!kernel || kernel->is_phased || is_apart(id)) return false;
    if (!std::ranges::all_of(kernel->nests, is_pointwise)) return false;
    return std::ranges::none_of(dependence_.groups[id].writes,
                                [&](BufferId b) { return context_.written_in_parts.contains(b); });
  }

  bool may_join(GroupId into, GroupId from) {
    if (!is_joinable(into)) return false;
    if (is_small_parameter_work(into) && is_small_parameter_work(from)) return true;
    return loop::line_count(*dependence_.groups[into].kernel()) +
               loop::line_count(*dependence_.groups[from].kernel()) <=
           context_.options.max_lines;
  }

  bool share_reads(GroupId a, GroupId b) const {
    return std::ranges::any_of(dependence_.groups[a].reads,
                               [&](BufferId id) { return dependence_.groups[b].reads.contains(id); });
  }

  void join_beside(GroupId into, GroupId from) {
    loop::Kernel kernel = *dependence_.groups[into].kernel();
    loop::Kernel& other = *dependence_.groups[from].kernel();
    take_origin(kernel, other);
    std::ranges::move(other.nests, std::back_inserter(kernel.nests));
    dependence_.merge(into, from, std::move(kernel));
    add_members(into, from);
    ++report_.joined;
  }

  bool is_small_parameter_work(GroupId id) {
    const Group& group = dependence_.groups[id];
    for (BufferId buffer : group.reads)
      if (program_.buffers[buffer].storage != loop::Storage::kParameter) return false;
    for (BufferId buffer : group.writes) {
      const Expr elems = ir::element_count(program_.cx(), program_.buffers[buffer].type.sizes);
      if (estimated(program_, elems) > kSmallElems) return false;
    }
    return !group.reads.empty();
  }

  // ---- cleaning up

  void clean(GroupId id) {
    loop::Kernel* kernel = dependence_.groups[id].alive ? dependence_.groups[id].kernel() : nullptr;
    if (!kernel || kernel->is_phased) return;
    auto needed = [&](BufferId buffer) { return needed_elsewhere(id, buffer); };
    for (loop::Nest& nest : kernel->nests) {
      write_out_indices(program_, nest);
      fold_conversions(program_, nest);
      merge_equal_lines(program_, nest);
      forward_stores(context_, nest, needed);
      drop_dead_stores(nest, needed);
      fold_conversions(program_, nest);
      merge_equal_lines(program_, nest);
      loop::tidy(program_, nest);
      drop_empty_stages(nest);
      rename_axes_plainly(program_, nest);
    }
    dependence_.refresh(id);
  }

  static void drop_empty_stages(loop::Nest& nest) {
    std::erase_if(nest.stages, [](const loop::Stage& stage) { return stage.body.empty(); });
  }

  // Kernels whose buffers nobody reads, from the last to the first, so that what only they read goes too.
  void drop_unread() {
    for (uint32_t k = static_cast<uint32_t>(dependence_.groups.size()); k-- > 0;) {
      Group& group = dependence_.groups[GroupId(k)];
      if (!group.alive || !group.kernel()) continue;
      bool needed = false;
      for (BufferId buffer : group.writes) needed = needed || needed_elsewhere(GroupId(k), buffer);
      if (!needed) dependence_.remove(GroupId(k));
    }
  }

  MergeContext context_;
  loop::Program& program_;
  FuseReport& report_;
  Dependence dependence_;
  std::vector<std::set<std::string>> members_;  // by group: kernels, as before fusion, that are in it
};

}  // namespace

void fuse(loop::Program& program, const FuseOptions& options, FuseReport& report) {
  Updates updates(program);
  if (!updates.has_others()) Fusion(program, options, report).run();
  updates.put_back(report, options);
}

}  // namespace jumar::fuse
