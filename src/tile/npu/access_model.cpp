#include "tile/npu/access_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

#include "tile/axes.h"
#include "tile/npu/memory_parts.h"
#include "tile/npu/windows.h"

namespace jumar::tile::npu {
namespace {

using loop::Inst;
using loop::InstKind;
using loop::ScalarOp;
using sym::Expr;

// Vector instructions that an operator becomes, about; counted in compiled kernels.
double instructions_of(const Inst& inst) {
  if (inst.kind == InstKind::kReduce || inst.kind == InstKind::kScan) return 2;
  if (inst.kind != InstKind::kOp) return inst.kind == InstKind::kIndex ? 2 : 0;
  switch (inst.op) {
    case ScalarOp::kErf:
    case ScalarOp::kErfc:
      return 26;
    case ScalarOp::kTanh:
      return 10;
    case ScalarOp::kSigmoid:
      return 4;
    case ScalarOp::kSin:
    case ScalarOp::kCos:
    case ScalarOp::kTan:
    case ScalarOp::kAtan:
    case ScalarOp::kPow:
      return 24;
    case ScalarOp::kLog1p:
    case ScalarOp::kExpm1:
      return 4;
    case ScalarOp::kTruncDiv:
    case ScalarOp::kFloorDiv:
    case ScalarOp::kFmod:
    case ScalarOp::kRemainder:
      return ir::is_integer(inst.type) ? 24 : 4;
    case ScalarOp::kSelect:
      return 2;
    default:
      return 1;
  }
}

class Reader {
 public:
  Reader(const loop::Program& program, const PreparedNest& prepared, const NpuModel& model)
      : program_(program), cx_(program.cx()), prepared_(prepared), model_(model) {}

  NestShape run() {
    for (const loop::Axis& axis : prepared_.nest.kept) add_axis(axis, false);
    for (const loop::Axis& axis : prepared_.inner) add_axis(axis, true);
    for (uint32_t s = 0; s < prepared_.nest.stages.size(); ++s) read(prepared_.nest.stages[s], s);
    order();
    out_.loop_choices = {0};
    add_loop_choices();
    for (AccessShape& access : out_.accesses) {
      for (size_t k = 0; k < access.strides.size(); ++k)
        if (access.strides[k] != 0) access.by_stride.push_back(k);
      std::ranges::stable_sort(access.by_stride, {}, [&](size_t k) { return std::abs(access.strides[k]); });
    }
    int64_t least = 4;
    for (const AccessShape& access : out_.accesses) least = std::min(least, access.element_bytes);
    // Two blocks of it at least: what is read or made, and what is written.
    out_.least_bytes_per_point = std::max<int64_t>(2 * least, 4);
    return std::move(out_);
  }

 private:
  void add_axis(const loop::Axis& axis, bool is_inner) {
    AxisShape shape;
    shape.symbol = axis.symbol;
    shape.expr = axis.extent;
    shape.is_static = axis.extent.is_const();
    shape.extent = std::max<int64_t>(1, tile::estimated(program_, axis.extent));
    shape.is_inner = is_inner;
    for (const Window& window : prepared_.windows)
      if (window.kept == axis.symbol) shape.window = window;
    out_.axes.push_back(shape);
  }

  size_t position(Expr symbol) const {
    return static_cast<size_t>(std::ranges::find(out_.axes, symbol, &AxisShape::symbol) - out_.axes.begin());
  }

  void read(const loop::Stage& stage, uint32_t index) {
    StageShape shape;
    shape.inner.assign(out_.axes.size(), false);
    for (const loop::Axis& axis : stage.inner) shape.inner[position(axis.symbol)] = true;
    for (const loop::Stage::Line& line : stage.body) {
      const Inst& inst = line.inst;
      if (inst.kind == InstKind::kReduce) ++shape.folds;
      // Blocks are only carried on along one axis.
      if (inst.kind == InstKind::kScan && stage.inner.size() > 1)
        out_.axes[position(inst.axis)].must_be_whole = true;
      if (inst.kind == InstKind::kStoreLocal || inst.kind == InstKind::kLoadLocal)
        for (const loop::Axis& axis : stage.inner) out_.axes[position(axis.symbol)].must_be_whole = true;
      add_work(inst, note_axes(line), shape);
      if (inst.kind == InstKind::kLoad || inst.kind == InstKind::kStore) add_access(inst, index);
    }
    out_.stages.push_back(std::move(shape));
  }

  static void add_work(const Inst& inst, uint32_t axes, StageShape& out) {
    const double operations = instructions_of(inst);
    if (operations == 0) return;
    const auto known = std::ranges::find(out.work, axes, &WorkShape::axes);
    if (known == out.work.end())
      out.work.push_back({axes, operations});
    else
      known->operations += operations;
  }

  // Along which axes a line's operands differ; those of its value are kept. What has been folded differs
  // along inner axes no more.
  uint32_t note_axes(const loop::Stage::Line& line) {
    uint32_t axes = 0;
    const auto add = [&](Expr e) {
      if (!e) return;
      for (size_t k = 0; k < out_.axes.size(); ++k)
        if (sym::mentions(e, out_.axes[k].symbol)) axes |= 1u << k;
      for (Expr symbol : sym::symbols_of(e))
        if (symbol.is_symbol(sym::SymbolKind::kValue)) axes |= axes_of_value_[symbol];
    };
    add(line.inst.address);
    add(line.inst.guard);
    for (loop::ValueId operand : line.inst.operands)
      if (operand) axes |= axes_of_value_[cx_.value(operand.index())];
    if (line.result)
      axes_of_value_[cx_.value(line.result.index())] =
          line.inst.kind == InstKind::kReduce ? axes & kept_axes() : axes;
    return axes;
  }

  uint32_t kept_axes() const {
    uint32_t axes = 0;
    for (size_t k = 0; k < out_.axes.size(); ++k)
      if (!out_.axes[k].is_inner) axes |= 1u << k;
    return axes;
  }

  void add_access(const Inst& inst, uint32_t stage) {
    AccessShape access;
    access.stage = stage;
    access.is_store = inst.kind == InstKind::kStore;
    access.element_bytes = ir::dtype_bytes(program_.buffers[inst.buffer].type.dtype);
    access.strides.assign(out_.axes.size(), 0);
    const auto [address, guard] = as_loaded(inst, access);
    for (size_t k = 0; k < out_.axes.size(); ++k) {
      AxisShape& axis = out_.axes[k];
      if (!sym::mentions(address, axis.symbol)) continue;
      const std::optional<sym::Linear> linear = sym::linear_in(cx_, address, axis.symbol);
      const bool is_plain = linear && !sym::mentions_kind(linear->coefficient, sym::SymbolKind::kAxis) &&
                            !sym::mentions_kind(linear->coefficient, sym::SymbolKind::kValue);
      if (!is_plain) {
        axis.must_be_scalar = axis.must_be_scalar || !linear;
        access.gathers |= 1u << k;
        access.strides[k] = 1 << 20;
        continue;
      }
      access.strides[k] = tile::estimated(program_, linear->coefficient);
      if (std::abs(access.strides[k]) == 1) {
        axis.least_bytes =
            axis.is_contiguous ? std::min(axis.least_bytes, access.element_bytes) : access.element_bytes;
        axis.is_contiguous = true;
      }
    }
    if (guard) note_guard(guard);
    if (std::ranges::any_of(access.strides, [](int64_t stride) { return stride < 0; }))
      note_backward(access, guard);
    for (Expr symbol : sym::symbols_of(address)) {
      if (!symbol.is_symbol(sym::SymbolKind::kValue)) continue;
      access.gathers |= axes_of_value_[symbol];
      for (size_t k = 0; k < out_.axes.size(); ++k)
        if ((axes_of_value_[symbol] >> k & 1) && access.strides[k] == 0) access.strides[k] = 1 << 20;
    }
    const std::pair<loop::BufferId, Expr> key = {inst.buffer, inst.address};
    access.is_first = std::ranges::find(seen_, key) == seen_.end();
    seen_.push_back(key);
    out_.accesses.push_back(std::move(access));
  }

  // The address and the guard, with a kept axis in the place of its window's.
  std::pair<Expr, Expr> as_loaded(const Inst& inst, AccessShape& access) {
    const WindowedLoad* load = inst.kind == InstKind::kLoad ? windowed_load(prepared_, inst) : nullptr;
    if (!load) return {inst.address, inst.guard};
    Expr address = load->windowed_address;
    Expr guard = load->windowed_guard;
    for (const Window& window : load->windows) {
      access.windows |= 1u << position(window.kept);
      out_.axes[position(window.inner)].must_be_scalar = true;
      const auto kept = [&](Expr symbol) { return symbol == window.symbol ? window.kept : Expr(); };
      address = cx_.substituted(address, kept);
      if (guard) guard = cx_.substituted(guard, kept);
    }
    return {address, guard};
  }

  // The toolchain takes the part of a block for which bounds of single axes hold. Of a bound on several axes
  // together, such as the padding of a window, it would read all points, those outside of memory too: blocks
  // hold one point of all but one of them.
  void note_guard(Expr guard) {
    if (guard.op() == sym::Op::kAnd) {
      for (Expr part : guard.operands()) note_guard(part);
      return;
    }
    std::vector<size_t> axes;
    for (size_t k = 0; k < out_.axes.size(); ++k)
      if (sym::mentions(guard, out_.axes[k].symbol)) axes.push_back(k);
    // Kept axes come first: they have the more points.
    for (size_t k = 1; k < axes.size(); ++k) out_.axes[axes[k]].must_be_scalar = true;
  }

  // The densest dimension of an access that runs backwards is turned round on chip, and others are done point
  // by point. Where a guard moves along the densest one the toolchain has to take it, which it does for full
  // blocks of one dimension.
  void note_backward(const AccessShape& access, Expr guard) {
    std::optional<size_t> densest;
    const auto distance = [&](size_t k) { return std::abs(access.strides[k]); };
    for (size_t k = 0; k < out_.axes.size(); ++k)
      if (access.strides[k] != 0 && (!densest || distance(k) < distance(*densest))) densest = k;
    const bool is_guarded =
        access.strides[*densest] < 0 && guard && sym::mentions(guard, out_.axes[*densest].symbol);
    out_.axes[*densest].must_be_exact = out_.axes[*densest].must_be_exact || is_guarded;
    for (size_t k = 0; k < out_.axes.size(); ++k)
      if (k != *densest && access.strides[k] != 0 && (is_guarded || access.strides[k] < 0))
        out_.axes[k].must_be_scalar = true;
  }

  // Axes by the strides that most accesses agree on, the greatest first.
  void order() {
    const size_t n = out_.axes.size();
    std::vector<size_t> order;
    std::vector<int> wins(n, 0);
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = 0; b < n; ++b) {
        int balance = 0;
        for (const AccessShape& access : out_.accesses) {
          const int64_t left = std::abs(access.strides[a]);
          const int64_t right = std::abs(access.strides[b]);
          if (left == 0 || right == 0) continue;
          const int weight = access.is_store ? 3 : 2;
          balance += left > right ? weight : left < right ? -weight : 0;
        }
        if (balance > 0 || (balance == 0 && a < b)) ++wins[a];
      }
      order.push_back(a);
    }
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return wins[a] > wins[b]; });
    NestShape sorted = out_;
    for (size_t k = 0; k < n; ++k) {
      sorted.axes[k] = out_.axes[order[k]];
      for (size_t j = 0; j < out_.accesses.size(); ++j) {
        sorted.accesses[j].strides[k] = out_.accesses[j].strides[order[k]];
      }
      for (size_t j = 0; j < out_.stages.size(); ++j)
        sorted.stages[j].inner[k] = out_.stages[j].inner[order[k]];
    }
    const auto moved = [&](uint32_t axes) {
      uint32_t out = 0;
      for (size_t k = 0; k < n; ++k)
        if (axes >> order[k] & 1) out |= 1u << k;
      return out;
    };
    for (AccessShape& access : sorted.accesses) {
      access.gathers = moved(access.gathers);
      access.windows = moved(access.windows);
    }
    for (StageShape& stage : sorted.stages)
      for (WorkShape& work : stage.work) work.axes = moved(work.axes);
    out_ = std::move(sorted);
  }

  // Kept axes that a load of some size does not move along: looping over them reads it once, and computes
  // once what is made of it. Looping over some of them leaves more tasks.
  void add_loop_choices() {
    constexpr size_t kMost = 4;
    const uint32_t kept = kept_axes();
    for (const AccessShape& access : out_.accesses) {
      if (access.is_store) continue;
      uint32_t repeated = 0;
      int64_t elements = 1;
      for (size_t k = 0; k < out_.axes.size(); ++k) {
        if (out_.axes[k].is_inner) continue;
        if (access.strides[k] == 0)
          repeated |= 1u << k;
        else
          elements *= out_.axes[k].extent;
      }
      if (repeated == 0 || repeated == kept || elements < 2) continue;
      const auto add = [&](uint32_t axes) {
        if (out_.loop_choices.size() < kMost &&
            std::ranges::find(out_.loop_choices, axes) == out_.loop_choices.end())
          out_.loop_choices.push_back(axes);
      };
      add(repeated);
      for (size_t k = out_.axes.size(); k-- > 0;)
        if (repeated >> k & 1) add(1u << k);
    }
  }

  const loop::Program& program_;
  sym::Context& cx_;
  const PreparedNest& prepared_;
  const NpuModel& model_;
  NestShape out_;
  std::unordered_map<Expr, uint32_t> axes_of_value_;
  std::vector<std::pair<loop::BufferId, Expr>> seen_;
};

// Of a block, along an axis.
int64_t points_of(const NestShape& shape, const AccessShape& access, size_t axis, int64_t size) {
  const AxisShape& it = shape.axes[axis];
  const int64_t points = std::min(size, it.extent);
  return (access.windows >> axis & 1) != 0 ? it.window->reach(points) : points;
}

// What a core does. It reads, computes and writes at the same time; waiting and scalar work come on top.
struct Spent {
  double read_us = 0;
  double write_us = 0;
  double vector_us = 0;
  double other_us = 0;
  double bytes = 0;
};

class Cost {
 public:
  Cost(const NestShape& shape, const std::vector<int64_t>& sizes, uint32_t looped, const NpuModel& model)
      : shape_(shape), sizes_(sizes), model_(model), looped_(looped) {
    for (size_t k = 0; k < sizes.size(); ++k) blocks_[k] = (shape.axes[k].extent + sizes[k] - 1) / sizes[k];
  }

  double us() {
    double tasks = 1;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      if (in_tasks(k))
        tasks *= static_cast<double>(blocks_[k]);
      else if (shape_.axes[k].is_inner)
        any_looped_ = any_looped_ || blocks_[k] > 1;
    }
    const double rounds = std::ceil(tasks / static_cast<double>(model_.vector_cores));
    for (const AccessShape& access : shape_.accesses) add(access, rounds);
    for (const StageShape& stage : shape_.stages) add(stage, rounds);
    const double busiest =
        std::max({spent_.read_us, spent_.write_us, spent_.vector_us}) + spent_.other_us + model_.start_us;
    // The busiest core does as many tasks as there are rounds; all of them together do each once.
    const double cores = tasks / rounds;
    // What waiting for memory hides counts a little: so that the least work wins where it decides nothing.
    constexpr double kHidden = 0.05;
    // Bytes that are read again are missing elsewhere: it has to be worth more than a little.
    constexpr double kReadAgain = 1.15;
    return (std::max(busiest, spent_.bytes * cores / model_.device_bytes_per_us) + kHidden * busiest) *
           (reads_again_ ? kReadAgain : 1);
  }

 private:
  bool in_tasks(size_t k) const { return !shape_.axes[k].is_inner && (looped_ >> k & 1) == 0; }

  // How often a core makes the access.
  double times_of(const AccessShape& access, double rounds) const {
    double times = 1;
    bool moves_with_task = access.is_store;
    bool moves_with_loop = access.is_store;
    for (const size_t k : access.by_stride) {
      if (blocks_[k] == 1) continue;
      if (shape_.axes[k].is_inner) {
        if (shape_.stages[access.stage].inner[k]) times *= static_cast<double>(blocks_[k]);
      } else if (in_tasks(k)) {
        moves_with_task = true;
      } else {
        moves_with_loop = true;
      }
    }
    if (moves_with_task || moves_with_loop) times *= rounds;
    for (size_t k = 0; moves_with_loop && k < sizes_.size(); ++k)
      if (looped_ >> k & 1) times *= static_cast<double>(blocks_[k]);
    return times;
  }

  void add(const AccessShape& access, double rounds) {
    // What an earlier stage has loaded is still there, unless stages loop.
    if (!access.is_first && !any_looped_) return;
    reads_again_ = reads_again_ || (!access.is_first && !access.is_store);
    const double times = times_of(access, rounds);
    int64_t elements = 1;
    int64_t gathered = 1;  // elements or rows that have an address of their own
    for (const size_t k : access.by_stride) {
      elements *= points_of(shape_, access, k, sizes_[k]);
      if (access.gathers >> k & 1) gathered *= std::min(sizes_[k], shape_.axes[k].extent);
    }
    const auto count = static_cast<double>(elements);
    spent_.bytes += times * count * static_cast<double>(access.element_bytes);
    if (gathered > 1) {
      const double each =
          gathered == elements ? model_.memory_scalar_us : model_.transfer_us + model_.sync_us;
      spent_.other_us += times * static_cast<double>(gathered) * (each + model_.scalar_us);
    }
    const int64_t rows = elements / run_of(access);
    const double bytes = std::max(count * static_cast<double>(access.element_bytes),
                                  static_cast<double>(rows) * model_.burst_bytes);
    const double us = times * (model_.transfer_us + bytes / model_.core_bytes_per_us);
    (access.is_store ? spent_.write_us : spent_.read_us) += us;
    spent_.other_us += times * 2 * model_.sync_us;
    add_turns(access, times * count);
  }

  // Elements that lie together in memory.
  int64_t run_of(const AccessShape& access) const {
    int64_t run = 1;
    for (const size_t k : access.by_stride) {
      if (std::abs(access.strides[k]) != run) break;
      run *= points_of(shape_, access, k, sizes_[k]);
      if (blocks_[k] != 1) break;
    }
    return run;
  }

  // Turning a block costs about four instructions for each vector of it.
  void add_turns(const AccessShape& access, double elements) {
    size_t last = sizes_.size();
    for (const size_t k : access.by_stride) {
      if (sizes_[k] == 1) continue;
      if (last != sizes_.size() && k > last)
        spent_.vector_us += elements * 4 / static_cast<double>(model_.vector_bytes) * 4 * model_.vector_us;
      last = k;
    }
    if (access.by_stride.empty()) return;
    // What runs backwards is turned round row by row.
    const size_t densest = access.by_stride.front();
    if (access.strides[densest] < 0 && sizes_[densest] > 1)
      spent_.vector_us += elements / static_cast<double>(sizes_[densest]) * model_.instruction_us +
                          elements * 4 / static_cast<double>(model_.vector_bytes) * model_.vector_us;
  }

  void add(const StageShape& stage, double rounds) {
    uint32_t all = 0;
    bool is_exact = true;
    bool is_looped = false;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      if (shape_.axes[k].is_inner && !stage.inner[k]) continue;
      all |= 1u << k;
      if (!shape_.axes[k].is_inner) continue;
      is_exact = is_exact && shape_.axes[k].is_static && shape_.axes[k].extent % sizes_[k] == 0;
      is_looped = is_looped || blocks_[k] > 1;
    }
    for (const WorkShape& work : stage.work) add_work(stage, work.axes, work.operations, rounds);
    // A mask of what is inside is made of numbers, and a fold that goes on has to begin.
    constexpr double kMask = 10;
    constexpr double kBegin = 2;
    const double more = (is_exact || stage.folds == 0 ? 0 : kMask) + (is_looped ? kBegin * stage.folds : 0);
    if (more > 0) add_work(stage, all, more, rounds);
    spent_.other_us += computed_times(stage, all, rounds) * model_.round_us;
  }

  // How often a core computes what differs along these axes: the innermost loop along one of them counts.
  double computed_times(const StageShape& stage, uint32_t axes, double rounds) const {
    bool in_task = false;
    bool in_loop = false;
    bool in_stage = false;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      if ((axes >> k & 1) == 0 || blocks_[k] == 1) continue;
      (shape_.axes[k].is_inner ? in_stage : in_tasks(k) ? in_task : in_loop) = true;
    }
    double times = in_task || in_loop || in_stage ? rounds : 1;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      const bool is_stage_loop = in_stage && shape_.axes[k].is_inner && stage.inner[k];
      const bool is_kept_loop = (in_loop || in_stage) && (looped_ >> k & 1) != 0;
      if (is_stage_loop || is_kept_loop) times *= static_cast<double>(blocks_[k]);
    }
    return times;
  }

  void add_work(const StageShape& stage, uint32_t axes, double operations, double rounds) {
    int64_t points = 1;
    int64_t last = 1;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      if ((axes >> k & 1) == 0) continue;
      points *= sizes_[k];
      if (sizes_[k] > 1) last = sizes_[k];
    }
    // Rows that don't fill whole units of the alignment lie apart: each takes vectors of its own, of the one
    // instruction that repeats over them. Loops of vector functions go along rows in any case.
    const int64_t unit = model_.align_bytes / 4;
    const int64_t row = last % unit == 0 && !model_.has_vector_functions ? points : last;
    const int64_t rows = points / row;
    const double vectors = static_cast<double>(rows) *
                           std::ceil(static_cast<double>(row) * 4 / static_cast<double>(model_.vector_bytes));
    const double times = computed_times(stage, axes, rounds);
    const double starts = model_.has_vector_functions ? functions_of(operations, points) : operations;
    // What functions hand on is stored and loaded again.
    constexpr double kHandedOn = 2;
    const double handed_on = model_.has_vector_functions ? kHandedOn * starts : 0;
    spent_.vector_us +=
        times * (starts * model_.instruction_us + (operations + handed_on) * vectors * model_.vector_us);
    spent_.other_us += times * starts * model_.barrier_us;
  }

  // That a compiler makes of so many operations. It cuts what small blocks need.
  static double functions_of(double operations, int64_t points) {
    constexpr double kOperations = 6;  // of a function that is cut, about
    return 1 + (points > kCutElements ? 0 : std::floor(operations / kOperations));
  }

  const NestShape& shape_;
  const std::vector<int64_t>& sizes_;
  const NpuModel& model_;
  uint32_t looped_;
  std::array<int64_t, 32> blocks_;  // an AxisSet has no more
  bool any_looped_ = false;
  bool reads_again_ = false;
  Spent spent_;
};

}  // namespace

NestShape nest_shape(const loop::Program& program, const PreparedNest& nest, const NpuModel& model) {
  return Reader(program, nest, model).run();
}

int64_t padded_points(const NestShape& shape, std::span<const int64_t> sizes, const NpuModel& model) {
  int64_t most = 0;
  for (const AccessShape& access : shape.accesses) {
    int64_t points = 1;
    std::optional<size_t> densest;  // in memory
    size_t last = 0;                // of the block's axes
    for (const size_t k : access.by_stride) {
      if (sizes[k] <= 1) continue;
      points *= points_of(shape, access, k, sizes[k]);
      if (!densest) densest = k;
      last = std::max(last, k);
    }
    const int64_t unit = model.align_bytes / access.element_bytes;
    // The compiler of vector functions turns as it loads.
    if (densest && !model.has_vector_functions) {
      if (*densest != last) {
        const auto [kept, dense] = padded_turn(sizes[last], sizes[*densest], unit);
        points = points / (sizes[last] * sizes[*densest]) * kept * dense;
      } else if (std::abs(access.strides[last]) != 1 && access.gathers == 0) {
        points *= unit;
      }
    }
    most = std::max(most, points);
  }
  return most;
}

double modelled_us(const NestShape& shape, const std::vector<int64_t>& sizes, uint32_t looped,
                   const NpuModel& model) {
  return Cost(shape, sizes, looped, model).us();
}

}  // namespace jumar::tile::npu
