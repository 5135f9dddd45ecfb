#include "tile/tile_cpu.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "loop/walk.h"
#include "tile/axes.h"
#include "tile/collisions.h"
#include "tile/guards.h"
#include "tile/join_kernels.h"
#include "tile/nest_cost.h"
#include "tile/split_reduction.h"
#include "tile/transpose.h"

namespace jumar::tile {
namespace {

using loop::Axis;
using loop::InstKind;
using loop::Nest;
using loop::Program;
using loop::Stage;
using loop::StageTiling;
using loop::Tail;
using loop::Tiling;
using sym::Expr;

// Locals of a nest that runs several points at once exist once for each lane; more than this falls out of the
// first-level cache.
constexpr int64_t kMaxLaneLocalBytes = 16 * 1024;
// Each range between cuts is a copy of the body.
constexpr size_t kMaxCuts = 2;
constexpr size_t kMaxCutLines = 60;

class NestTiler {
 public:
  NestTiler(const Program& program, Nest& nest, const CpuModel& model)
      : program_(program), cx_(program.cx()), nest_(nest), model_(model) {}

  void run() {
    drop_unit_axes(program_, nest_);
    order_axes(program_, nest_);
    merge_axes(program_, nest_);
    facts_ = program_.facts();
    for (const Axis& axis : nest_.kept) facts_.set_extent(axis.symbol, axis.extent);
    for (const Stage& stage : nest_.stages)
      for (const Axis& axis : stage.inner) facts_.set_extent(axis.symbol, axis.extent);
    natural_ = natural_lanes(nest_, model_);
    tiling_.stages.resize(nest_.stages.size());
    choose_vectors();
    choose_units();
    nest_.tiling = std::move(tiling_);
  }

 private:
  int64_t points(const Axis& axis) const { return std::max<int64_t>(1, estimated(program_, axis.extent)); }

  double points(const std::vector<Axis>& axes) const {
    double product = 1;
    for (const Axis& axis : axes) product *= static_cast<double>(points(axis));
    return product;
  }

  // The lanes among natural_ and its halves that take the least rounds.
  uint32_t lanes_for(const Axis& axis) const {
    uint32_t best = natural_;
    const std::optional<int64_t> extent = axis.extent.as_const();
    if (!extent) return best;
    for (uint32_t lanes = natural_ / 2; lanes >= 2 && 4 * lanes >= natural_; lanes /= 2) {
      if (rounds(*extent, lanes, model_) < rounds(*extent, best, model_)) best = lanes;
    }
    return *extent < best && !model_.cheap_masks ? 1 : best;
  }

  double kept_work(const Axis& axis) const;
  double stage_work(size_t s, Expr* choice) const;
  void choose_vectors();
  void choose_kept_vector(const Axis& axis);
  Expr transpose_for(Expr vector, uint32_t lanes) const;
  void choose_transpose();
  void choose_stage_vector(size_t s, Expr axis);
  Tail tail_for(Expr extent, uint32_t lanes) const;
  std::vector<Expr> cuts_for(Expr axis, Expr extent, size_t first_stage, size_t end_stage) const;
  void choose_units();
  uint32_t safe_axes() const;

  const Program& program_;
  sym::Context& cx_;
  Nest& nest_;
  const CpuModel& model_;
  sym::Facts facts_;
  Tiling tiling_;
  uint32_t natural_ = 1;
  double work_ = 0;  // of the whole nest as chosen
};

// Work of the nest when neighbours of the kept axis run in lanes.
double NestTiler::kept_work(const Axis& axis) const {
  const uint32_t lanes = lanes_for(axis);
  double each = 0;
  const Expr by = transpose_for(axis.symbol, lanes);
  for (const Stage& stage : nest_.stages)
    each +=
        points(stage.inner) * round_work(program_, nest_, stage, lanes > 1 ? axis.symbol : Expr(), lanes, by);
  const double others = points(nest_.kept) / static_cast<double>(points(axis));
  return each * others * rounds(points(axis), lanes, model_);
}

// Work of one stage for one kept point, with the best of its axes in lanes.
double NestTiler::stage_work(size_t s, Expr* choice) const {
  const Stage& stage = nest_.stages[s];
  double best = points(stage.inner) * round_work(program_, nest_, stage, Expr(), 1);
  const bool scans = std::ranges::any_of(
      stage.body, [](const Stage::Line& line) { return line.inst.kind == InstKind::kScan; });
  if (scans) return best;
  const auto folds = std::ranges::count_if(
      stage.body, [](const Stage::Line& line) { return line.inst.kind == InstKind::kReduce; });
  for (const Axis& axis : stage.inner) {
    const uint32_t lanes = lanes_for(axis);
    if (lanes == 1) continue;
    const double others = points(stage.inner) / static_cast<double>(points(axis));
    double work =
        others * rounds(points(axis), lanes, model_) * round_work(program_, nest_, stage, axis.symbol, lanes);
    work += 8.0 * static_cast<double>(folds);
    if (work < best) {
      best = work;
      *choice = axis.symbol;
    }
  }
  return best;
}

void NestTiler::choose_vectors() {
  std::vector<Expr> choices(nest_.stages.size());
  double staged = 0;
  for (size_t s = 0; s < nest_.stages.size(); ++s) staged += stage_work(s, &choices[s]);
  work_ = staged * points(nest_.kept);
  int64_t local_bytes = 0;
  for (const loop::Local& local : nest_.locals) local_bytes += local.elems * ir::dtype_bytes(local.type);
  const Axis* kept = nullptr;
  for (const Axis& axis : nest_.kept) {
    if (lanes_for(axis) == 1 || local_bytes * natural_ > kMaxLaneLocalBytes) continue;
    const double work = kept_work(axis);
    if (work <= work_) {
      work_ = work;
      kept = &axis;
    }
  }
  if (kept) {
    choose_kept_vector(Axis(*kept));
    choose_transpose();
    return;
  }
  for (size_t s = 0; s < nest_.stages.size(); ++s) {
    if (choices[s]) choose_stage_vector(s, choices[s]);
  }
}

Tail NestTiler::tail_for(Expr extent, uint32_t lanes) const {
  if (sym::proves_divisible(cx_, extent, cx_.constant(lanes), facts_)) return Tail::kNone;
  return model_.cheap_masks ? Tail::kMasked : Tail::kScalar;
}

// Flips of the guards, where they are few and their order is known; else the guards become masks.
std::vector<Expr> NestTiler::cuts_for(Expr axis, Expr extent, size_t first_stage, size_t end_stage) const {
  std::vector<Expr> cuts;
  size_t lines = 0;
  for (size_t s = first_stage; s < end_stage; ++s) {
    lines += nest_.stages[s].body.size();
    for (const Stage::Line& line : nest_.stages[s].body) {
      const bool is_predicate = line.inst.kind == InstKind::kIndex && line.inst.type == ir::DType::kBool;
      const Expr guard = is_predicate ? line.inst.address : line.inst.guard;
      if (!guard) continue;
      const std::optional<std::vector<Expr>> flips = guard_flips(cx_, guard, axis);
      if (!flips) continue;
      for (Expr flip : *flips) {
        const bool outside =
            sym::proves_le(cx_, flip, cx_.constant(0), facts_) || sym::proves_le(cx_, extent, flip, facts_);
        if (!outside && std::ranges::find(cuts, flip) == cuts.end()) cuts.push_back(flip);
      }
    }
  }
  if (cuts.size() > kMaxCuts || (!cuts.empty() && lines > kMaxCutLines)) return {};
  if (cuts.size() == 2) {
    if (sym::proves_le(cx_, cuts[1], cuts[0], facts_)) std::swap(cuts[0], cuts[1]);
    if (!sym::proves_le(cx_, cuts[0], cuts[1], facts_)) return {};
  }
  return cuts;
}

void move_last(std::vector<Axis>& axes, Expr symbol) {
  const auto at = std::ranges::find(axes, symbol, &Axis::symbol);
  std::rotate(at, at + 1, axes.end());
}

// Halves `multiple` until vectors of lanes*multiple fit the extent well.
uint32_t fitting_multiple(Expr extent, uint32_t lanes, uint32_t multiple) {
  const std::optional<int64_t> points = extent.as_const();
  while (points && multiple > 1 && *points % (lanes * multiple) != 0 && *points < 8 * lanes * multiple)
    multiple /= 2;
  return multiple;
}

void NestTiler::choose_kept_vector(const Axis& axis) {
  move_last(nest_.kept, axis.symbol);
  const uint32_t lanes = lanes_for(axis);
  double heaviest = 0;
  bool folds = false;
  size_t lines = 0;
  for (const Stage& stage : nest_.stages) {
    heaviest = std::max(heaviest, round_work(program_, nest_, stage, axis.symbol, lanes));
    folds |= has_fold(stage) && !stage.inner.empty();
    lines += stage.body.size();
  }
  uint32_t registers = folds && heaviest < 5 ? 4 : heaviest < 14 && lines < 40 ? 2 : 1;
  registers = fitting_multiple(axis.extent, lanes, registers);
  tiling_.vector_axis = axis.symbol;
  tiling_.lanes = lanes;
  tiling_.registers = registers;
  tiling_.cuts = cuts_for(axis.symbol, axis.extent, 0, nest_.stages.size());
  tiling_.tail = tiling_.cuts.empty() ? tail_for(axis.extent, lanes)
                 : model_.cheap_masks ? Tail::kMasked
                                      : Tail::kScalar;
}

// A pointwise nest whose loads lie across the vector axis runs in square tiles where both axes are long
// enough.
Expr NestTiler::transpose_for(Expr vector, uint32_t lanes) const {
  if (nest_.stages.size() != 1 || !nest_.stages[0].inner.empty() || lanes < 4) return {};
  const Expr by = best_transpose_axis(cx_, nest_, vector);
  const auto long_enough = [&](Expr symbol) {
    return points(*std::ranges::find(nest_.kept, symbol, &Axis::symbol)) >= lanes;
  };
  if (!by || !long_enough(by) || !long_enough(vector)) return {};
  return by;
}

void NestTiler::choose_transpose() {
  const Expr by = transpose_for(tiling_.vector_axis, tiling_.lanes);
  if (!by || !tiling_.cuts.empty()) return;
  const auto axis = std::ranges::find(nest_.kept, by, &Axis::symbol);
  std::rotate(axis, axis + 1, nest_.kept.end() - 1);
  tiling_.transpose_axis = by;
  tiling_.registers = 1;
}

void NestTiler::choose_stage_vector(size_t s, Expr symbol) {
  Stage& stage = nest_.stages[s];
  move_last(stage.inner, symbol);
  const Axis& axis = stage.inner.back();
  StageTiling& out = tiling_.stages[s];
  out.vector_axis = symbol;
  out.lanes = lanes_for(axis);
  const double work = round_work(program_, nest_, stage, symbol, out.lanes);
  const uint32_t wanted = has_fold(stage) ? (work < 6 ? 4 : work < 16 ? 2 : 1) : (work < 8 ? 2 : 1);
  out.accumulators = fitting_multiple(axis.extent, out.lanes, wanted);
  out.cuts = cuts_for(symbol, axis.extent, s, s + 1);
  out.tail = out.cuts.empty()     ? tail_for(axis.extent, out.lanes)
             : model_.cheap_masks ? Tail::kMasked
                                  : Tail::kScalar;
}

// How many leading kept axes may be cut into units.
uint32_t NestTiler::safe_axes() const {
  uint32_t safe = 0;
  while (safe < nest_.kept.size() && axis_is_safe(program_, nest_, nest_.kept[safe])) ++safe;
  return safe;
}

void NestTiler::choose_units() {
  const uint32_t safe = safe_axes();
  const uint32_t count = static_cast<uint32_t>(nest_.kept.size());
  // Axes that run in vectors or tiles inside a unit.
  const uint32_t inside = (tiling_.vector_axis ? 1 : 0) + (tiling_.transpose_axis ? 1 : 0);
  const uint32_t most = std::min(safe, count - inside);
  double unit = work_;
  while (tiling_.parallel < most) {
    const double next = unit / static_cast<double>(points(nest_.kept[tiling_.parallel]));
    // The outermost axis of what is left may be cut into blocks instead.
    if (next < static_cast<double>(model_.unit_work)) break;
    unit = next;
    ++tiling_.parallel;
  }
  if (tiling_.parallel < safe) {
    const Axis& axis = nest_.kept[tiling_.parallel];
    const double each = unit / static_cast<double>(points(axis));
    const bool in_vectors = axis.symbol == tiling_.vector_axis || axis.symbol == tiling_.transpose_axis;
    const uint32_t step = in_vectors ? tiling_.lanes * tiling_.registers : 1;
    const double wanted = std::ceil(static_cast<double>(model_.unit_work) / each / step);
    const int64_t block =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::clamp(wanted, 1.0, 1048576.0)))) * step;
    const std::optional<int64_t> extent = axis.extent.as_const();
    if (!extent || *extent > block) {
      tiling_.block_elems = block;
      unit = each * static_cast<double>(block);
    }
  }
  tiling_.grain =
      std::max<int64_t>(1, std::llround(std::ceil(static_cast<double>(model_.thread_work) / unit)));
}

}  // namespace

void tile_cpu(const Program& program, loop::Kernel& kernel, const CpuModel& model) {
  for (Nest& nest : kernel.nests) NestTiler(program, nest, model).run();
}

void tile_cpu(Program& program, const CpuModel& model) {
  split_reductions(program);
  for (loop::Item& item : program.items) {
    if (auto* kernel = std::get_if<loop::Kernel>(&item)) tile_cpu(program, *kernel, model);
  }
  join_kernels(program);
}

}  // namespace jumar::tile
