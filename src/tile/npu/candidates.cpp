#include "tile/npu/candidates.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tile/npu/access_model.h"
#include "tile/npu/lower_nest.h"

namespace jumar::tile::npu {
namespace {

using loop::Axis;

constexpr int64_t kMostPoints = 16384;  // of one axis in a block
constexpr int64_t kLoops[] = {1,  2,  3,  4,  5,  6,  7,  8,  10,  12,  14, 16,
                              20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256};
constexpr size_t kMostCombinations = 1500;
constexpr size_t kMostBuilt = 24;

int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

class Search {
 public:
  Search(const loop::Program& program, const PreparedNest& nest, const NpuModel& model)
      : program_(program), nest_(nest), model_(model), shape_(nest_shape(program, nest, model)) {}

  std::vector<Candidate> run(size_t most, std::string& reason) {
    for (const AxisShape& axis : shape_.axes) options_.push_back(sizes_of(axis));
    sizes_.assign(shape_.axes.size(), 1);
    thin_options();
    enumerate(0, 1);
    std::ranges::stable_sort(choices_, {}, &Choice::us);
    std::vector<Candidate> out;
    size_t built = 0;
    double most_points = INFINITY;
    for (const Choice& choice : choices_) {
      if (out.size() >= most || built >= kMostBuilt) break;
      if (static_cast<double>(choice.points) > most_points || padded(choice) > most_points) continue;
      ++built;
      Candidate candidate{tiling_of(choice), choice.us, 0};
      const std::optional<std::string> refusal = measure(candidate);
      if (refusal) {
        reason = *refusal;
        continue;
      }
      if (candidate.buffer_bytes > model_.buffer_bytes) {
        reason = fmt::format("{} bytes on chip, of {}", candidate.buffer_bytes, model_.buffer_bytes);
        const double share =
            static_cast<double>(model_.buffer_bytes) / static_cast<double>(candidate.buffer_bytes);
        most_points = std::min(most_points, padded(choice) * std::max(share, 0.25));
        --built;
        if (++misses_ > kMostBuilt) break;
        continue;
      }
      out.push_back(std::move(candidate));
    }
    if (out.empty()) add_smallest(out, reason);
    return out;
  }

 private:
  struct Choice {
    size_t first_size = 0;  // in all_sizes_
    uint32_t looped = 0;    // kept axes that tasks loop over
    double us = 0;
    int64_t points = 0;
  };

  std::vector<int64_t> sizes_of(const AxisShape& axis) const;
  void thin_options();
  size_t combinations(size_t k, int64_t points) const;
  bool is_too_large(size_t k, int64_t points, int64_t size) const {
    // More points than the smallest imaginable use of a few bytes each allows need not be looked at.
    return points * size * shape_.least_bytes_per_point > model_.buffer_bytes && size > options_[k].front();
  }
  void enumerate(size_t k, int64_t points);
  double padded(const Choice& choice) const {
    const std::span sizes =
        std::span<const int64_t>(all_sizes_).subspan(choice.first_size, shape_.axes.size());
    return static_cast<double>(std::max(choice.points, padded_points(shape_, sizes, model_)));
  }
  NestTiling tiling_of(const Choice& choice) const;
  std::optional<std::string> measure(Candidate& candidate) const;
  void add_smallest(std::vector<Candidate>& out, std::string& reason);

  const loop::Program& program_;
  const PreparedNest& nest_;
  const NpuModel& model_;
  NestShape shape_;
  std::vector<std::vector<int64_t>> options_;
  std::vector<int64_t> sizes_;
  std::vector<Choice> choices_;
  std::vector<int64_t> all_sizes_;
  size_t misses_ = 0;
};

// The whole axis, or it in a number of equal loops.
std::vector<int64_t> Search::sizes_of(const AxisShape& axis) const {
  if (axis.must_be_scalar || (axis.must_be_exact && !axis.is_static)) return {1};
  std::set<int64_t> sizes;
  if (axis.must_be_exact) {
    for (int64_t size = 1; size <= std::min(axis.extent, kMostPoints); ++size)
      if (axis.extent % size == 0) sizes.insert(size);
    return {sizes.begin(), sizes.end()};
  }
  const int64_t unit = axis.is_contiguous ? std::max<int64_t>(1, model_.align_bytes / axis.least_bytes) : 1;
  if (!axis.is_static) {
    for (int64_t size = axis.is_contiguous ? unit : 1;
         size <= std::max<int64_t>(axis.extent, unit) && size <= 4096; size *= 2)
      sizes.insert(size);
    return {sizes.begin(), sizes.end()};
  }
  if (axis.must_be_whole) return {axis.extent};
  for (int64_t loops : kLoops) {
    for (int64_t pieces : {loops, loops * model_.vector_cores}) {
      int64_t size = (axis.extent + pieces - 1) / pieces;
      if (pieces > 1) size = std::min(rounded_up(size, unit), axis.extent);
      if (size > kMostPoints || (size < unit && size != axis.extent)) continue;
      sizes.insert(size);
    }
  }
  if (axis.is_inner) {
    // Blocks that are all full need no masks.
    for (int64_t size = unit; size <= std::min(axis.extent, kMostPoints); size += unit)
      if (axis.extent % size == 0) sizes.insert(size);
  } else if (!axis.is_contiguous) {
    for (int64_t size = 1; size < axis.extent && size <= 256; size *= 2) sizes.insert(size);
  } else {
    for (int64_t size = unit; size < axis.extent && size <= kMostPoints; size *= 2) sizes.insert(size);
  }
  if (sizes.empty()) sizes.insert(std::min(axis.extent, unit));
  std::vector<int64_t> list(sizes.begin(), sizes.end());
  // Rows of blocks need no alignment, and cores that all have as much wait for none. Columns that are folded
  // need none either where whole units leave cores without any.
  const int64_t share = (axis.extent + model_.vector_cores - 1) / model_.vector_cores;
  const bool is_last = axis.symbol == shape_.axes.back().symbol;
  const bool is_row = !axis.is_inner && axis.is_contiguous && (!is_last || !nest_.inner.empty());
  if (is_row && share <= kMostPoints && std::ranges::find(list, share) == list.end())
    list.insert(std::ranges::upper_bound(list, share), share);
  return list;
}

size_t Search::combinations(size_t k, int64_t points) const {
  if (k == shape_.axes.size()) return 1;
  size_t count = 0;
  for (int64_t size : options_[k]) {
    if (is_too_large(k, points, size) || count * shape_.loop_choices.size() > kMostCombinations) break;
    count += combinations(k + 1, points * size);
  }
  return count;
}

// As many sizes as can be looked at in time: every other one of the longest list goes, the ends stay.
void Search::thin_options() {
  while (combinations(0, 1) * shape_.loop_choices.size() > kMostCombinations) {
    std::vector<int64_t>& list = *std::ranges::max_element(options_, {}, &std::vector<int64_t>::size);
    if (list.size() <= 2) return;
    std::vector<int64_t> fewer;
    for (size_t k = 0; k < list.size(); ++k)
      if (k % 2 == 0 || k + 1 == list.size()) fewer.push_back(list[k]);
    list = std::move(fewer);
  }
}

void Search::enumerate(size_t k, int64_t points) {
  if (k == shape_.axes.size()) {
    for (uint32_t looped : shape_.loop_choices) {
      Choice choice{all_sizes_.size(), looped, 0, points};
      all_sizes_.insert(all_sizes_.end(), sizes_.begin(), sizes_.end());
      choice.us = modelled_us(shape_, sizes_, looped, model_);
      choices_.push_back(std::move(choice));
    }
    return;
  }
  for (int64_t size : options_[k]) {
    if (is_too_large(k, points, size)) break;
    sizes_[k] = size;
    enumerate(k + 1, points * size);
  }
}

// The axis of a window that blocks of a kept axis move along.
AxisTiling window_tiling(sym::Context& cx, const AxisTiling& kept, const Window& window) {
  AxisTiling made;
  made.symbol = window.symbol;
  made.extent = cx.add(cx.mul(cx.sub(kept.extent, 1), window.step), window.count);
  made.size = window.reach(kept.size);
  made.window = window;
  return made;
}

NestTiling Search::tiling_of(const Choice& choice) const {
  NestTiling tiling;
  tiling.divides_i32 = model_.divides_i32;
  // The compiler that makes vector functions has none for a product.
  tiling.has_scalar_products = model_.has_vector_functions;
  tiling.has_two_buffers = model_.multi_buffer > 1;
  const bool has_inner = !nest_.inner.empty();
  // With inner axes the last kept axis stays a dimension even if it is 1, so that results are blocks.
  const auto last_kept = [&](size_t k) {
    for (size_t j = k + 1; j < shape_.axes.size(); ++j)
      if (!shape_.axes[j].is_inner) return false;
    return true;
  };
  for (size_t k = 0; k < shape_.axes.size(); ++k) {
    const AxisShape& axis = shape_.axes[k];
    AxisTiling made;
    made.symbol = axis.symbol;
    made.extent = axis.expr;
    made.is_inner = axis.is_inner;
    made.size = all_sizes_[choice.first_size + k];
    made.is_scalar =
        made.size == 1 && (axis.must_be_scalar || !(has_inner && !axis.is_inner && last_kept(k)));
    made.in_tasks = !axis.is_inner && (choice.looped >> k & 1) == 0;
    made.is_scalar = made.is_scalar && !axis.window;
    tiling.axes.push_back(made);
    if (axis.window && !axis.must_be_scalar)
      tiling.axes.push_back(window_tiling(program_.cx(), made, *axis.window));
  }
  return tiling;
}

std::optional<std::string> Search::measure(Candidate& candidate) const {
  const auto measured = [&](Expr& tasks) {
    BlockKernel kernel;
    kernel.name = "candidate";
    Arguments arguments(program_, kernel);
    std::optional<std::string> refusal = add_nest(program_, nest_, candidate.tiling, arguments, kernel);
    if (refusal) return refusal;
    candidate.buffer_bytes = buffer_bytes(kernel, memory_model(model_));
    tasks = kernel.nests.back().tasks;
    return refusal;
  };
  Expr tasks;
  std::optional<std::string> refusal = measured(tasks);
  const bool fits = candidate.buffer_bytes <= model_.buffer_bytes;
  if (refusal || fits || !candidate.tiling.has_two_buffers || !tasks.is_const()) return refusal;
  if (tasks.const_value() > model_.vector_cores) return refusal;
  candidate.tiling.is_one_round = true;
  return measured(tasks);
}

// Every axis as small as it can be.
void Search::add_smallest(std::vector<Candidate>& out, std::string& reason) {
  Choice choice;
  sizes_.clear();
  for (const std::vector<int64_t>& options : options_) sizes_.push_back(options.front());
  choice.first_size = all_sizes_.size();
  all_sizes_.insert(all_sizes_.end(), sizes_.begin(), sizes_.end());
  Candidate candidate{tiling_of(choice), 0, 0};
  candidate.us = modelled_us(shape_, sizes_, 0, model_);
  const std::optional<std::string> refusal = measure(candidate);
  if (refusal)
    reason = *refusal;
  else if (candidate.buffer_bytes > model_.buffer_bytes)
    reason = fmt::format("the least blocks take {} bytes on chip, of {}", candidate.buffer_bytes,
                         model_.buffer_bytes);
  else
    out.push_back(std::move(candidate));
}

}  // namespace

std::vector<Candidate> candidates(const loop::Program& program, const PreparedNest& nest,
                                  const NpuModel& model, size_t most, std::string& reason) {
  return Search(program, nest, model).run(most, reason);
}

}  // namespace jumar::tile::npu
