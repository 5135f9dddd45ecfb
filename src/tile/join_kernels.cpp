#include "tile/join_kernels.h"

#include <algorithm>

#include "loop/accesses.h"
#include "loop/effects.h"
#include "loop/walk.h"
#include "tile/units.h"

namespace jumar::tile {
namespace {

using loop::BufferId;
using loop::InstKind;
using loop::Item;
using loop::Kernel;
using loop::NumberId;
using loop::Program;
using sym::Expr;

// Compile time grows faster than a function does.
constexpr size_t kMaxNests = 16;
constexpr size_t kMaxLines = 600;
// What is written long before it is read has left its core's cache by then: for more than this that costs
// more than a launch.
constexpr int64_t kMaxMovedBytes = 64 * 1024;

// Whether a kernel is small, and may move.
class SmallKernels {
 public:
  explicit SmallKernels(const Program& program) : program_(program), facts_(program.facts()) {
    for (const loop::SymbolInfo& info : program.symbols)
      has_unbacked_ |= info.symbol.is_symbol(sym::SymbolKind::kUnbacked);
  }

  bool contain(const Item& item) const {
    const auto* kernel = std::get_if<Kernel>(&item);
    return kernel && !kernel->nests.empty() && runs_on_one_thread(*kernel) && !mentions_unbacked(*kernel);
  }

 private:
  bool runs_on_one_thread(const Kernel& kernel) const {
    if (kernel.is_phased) return true;
    sym::Context& cx = program_.cx();
    Expr units = cx.constant(0);
    int64_t grain = kernel.nests[0].tiling->grain;
    for (const loop::Nest& nest : kernel.nests) {
      units = cx.add(units, units_of(cx, nest));
      grain = std::min(grain, nest.tiling->grain);
    }
    if (units.is_const()) return units.const_value() <= grain;
    return sym::proves_le(cx, units, cx.constant(grain), facts_);
  }

  static bool is_unbacked(Expr e) { return e && sym::mentions_kind(e, sym::SymbolKind::kUnbacked); }

  bool mentions_unbacked(BufferId id) const {
    const loop::Buffer& buffer = program_.buffers[id];
    return std::ranges::any_of(buffer.type.sizes, is_unbacked) ||
           std::ranges::any_of(buffer.type.strides, is_unbacked);
  }

  bool mentions_unbacked(const Kernel& kernel) const {
    if (!has_unbacked_) return false;
    const auto in_axis = [](const loop::Axis& axis) { return is_unbacked(axis.extent); };
    const auto in_line = [this](const loop::Stage::Line& line) {
      bool found = line.inst.buffer && mentions_unbacked(line.inst.buffer);
      loop::for_each_expr(line.inst, [&](Expr e) { found |= is_unbacked(e); });
      return found;
    };
    return std::ranges::any_of(kernel.nests, [&](const loop::Nest& nest) {
      return std::ranges::any_of(nest.kept, in_axis) ||
             std::ranges::any_of(nest.stages, [&](const loop::Stage& stage) {
               return std::ranges::any_of(stage.inner, in_axis) || std::ranges::any_of(stage.body, in_line);
             });
    });
  }

  const Program& program_;
  sym::Facts facts_;
  bool has_unbacked_ = false;
};

// What orders an item among the others.
struct Touched {
  loop::Accesses memory;
  std::vector<NumberId> numbers;  // that a kernel reads or an item defines
  bool has_effects = false;
  bool is_barrier = false;
};

class Toucher {
 public:
  explicit Toucher(const Program& program) : program_(program) {}

  Touched of(const Item& item) {
    touched_ = {};
    touched_.memory = loop::accesses_of(program_, item);
    std::visit([this](const auto& i) { visit(i); }, item);
    return std::move(touched_);
  }

 private:
  void visit(const Kernel& kernel) {
    for (const loop::Nest& nest : kernel.nests) {
      for (const loop::Stage& stage : nest.stages) {
        for (const loop::Stage::Line& line : stage.body) {
          const loop::Inst& inst = line.inst;
          if (inst.kind == InstKind::kParam) touched_.numbers.push_back(inst.number);
          touched_.has_effects |= inst.kind == InstKind::kWrapIndex || inst.kind == InstKind::kCheckIndex;
        }
      }
    }
  }

  void visit(const loop::Call& call) {
    touched_.has_effects = loop::is_ordered_call(call.op);
    // An operator outside ATen may write to what it is given, or to memory that is shared with it.
    touched_.is_barrier = !call.op.starts_with("aten.") && !call.op.starts_with("scalar.");
  }

  void visit(const loop::HostOp& host) { touched_.numbers.push_back(host.result); }

  // What stands below may be in bounds only where the predicate holds.
  void visit(const loop::Check&) { touched_.is_barrier = true; }

  const Program& program_;
  Touched touched_;
};

// How far down an item must stand because of the items above it, in gaps between fixed items: gap g is above
// the fixed item g.
class Frontier {
 public:
  explicit Frontier(const Program& program)
      : read_(program.buffers.size()), written_(program.buffers.size()), numbers_(program.numbers.size()) {}

  uint32_t first_gap(const Touched& t) const {
    uint32_t gap = barrier_;
    for (BufferId id : t.memory.reads) gap = std::max(gap, written_[id.index()]);
    for (BufferId id : t.memory.writes) gap = std::max({gap, written_[id.index()], read_[id.index()]});
    for (NumberId id : t.numbers) gap = std::max(gap, numbers_[id.index()]);
    return t.has_effects ? std::max(gap, effects_) : gap;
  }

  // What depends on the item must not stand above `gap`.
  void add(const Touched& t, uint32_t gap) {
    const auto raise = [gap](uint32_t& bound) { bound = std::max(bound, gap); };
    for (BufferId id : t.memory.reads) raise(read_[id.index()]);
    for (BufferId id : t.memory.writes) raise(written_[id.index()]);
    for (NumberId id : t.numbers) raise(numbers_[id.index()]);
    if (t.has_effects) raise(effects_);
    if (t.is_barrier) raise(barrier_);
  }

 private:
  std::vector<uint32_t> read_;  // by buffer
  std::vector<uint32_t> written_;
  std::vector<uint32_t> numbers_;
  uint32_t effects_ = 0;
  uint32_t barrier_ = 0;
};

class Joiner {
 public:
  explicit Joiner(Program& program) : program_(program) {}

  void run() {
    find_places();
    if (places_.size() < 2) return;
    choose_gaps();
    rebuild();
  }

  // As few kernels as the limits allow.
  static void add_joined(std::vector<Kernel> group, std::vector<Item>& items) {
    std::optional<Kernel> open;
    size_t lines = 0;
    for (Kernel& kernel : group) {
      const size_t more = loop::line_count(kernel);
      if (open && open->nests.size() + kernel.nests.size() <= kMaxNests && lines + more <= kMaxLines) {
        append(*open, std::move(kernel));
        lines += more;
        continue;
      }
      if (open) items.emplace_back(std::move(*open));
      open = std::move(kernel);
      lines = more;
    }
    if (open) items.emplace_back(std::move(*open));
  }

 private:
  // Where a small kernel stands, and the first gap where it may.
  struct Place {
    uint32_t item;
    uint32_t gap;
    uint32_t first;
  };

  void find_places() {
    const SmallKernels small(program_);
    Toucher toucher(program_);
    Frontier frontier(program_);
    for (uint32_t k = 0; k < program_.items.size(); ++k) {
      const Touched touched = toucher.of(program_.items[k]);
      const uint32_t here = static_cast<uint32_t>(fixed_.size());
      if (small.contain(program_.items[k])) {
        places_.push_back({k, here, writes_little(touched) ? frontier.first_gap(touched) : here});
        frontier.add(touched, places_.back().first);
      } else {
        fixed_.push_back(k);
        frontier.add(touched, here + 1);
      }
    }
  }

  bool writes_little(const Touched& touched) const {
    int64_t bytes = 0;
    for (BufferId id : touched.memory.writes) {
      const ir::TensorType& type = program_.buffers[id].type;
      const Expr own =
          program_.cx().mul(ir::element_count(program_.cx(), type.sizes), ir::dtype_bytes(type.dtype));
      if (!own.is_const()) return false;
      bytes += std::min(own.const_value(), kMaxMovedBytes + 1);
    }
    return bytes <= kMaxMovedBytes;
  }

  // The highest kernel takes all that may stand beside it. What one of them needs may stand there too, or has
  // been taken by a kernel above.
  void choose_gaps() {
    std::ranges::stable_sort(places_, {}, &Place::first);
    std::vector<uint32_t> highest(places_.size());  // of this kernel and those after it
    uint32_t least = UINT32_MAX;
    for (size_t k = places_.size(); k-- > 0;) highest[k] = least = std::min(least, places_[k].gap);
    for (size_t begin = 0; begin < places_.size();) {
      const uint32_t gap = highest[begin];
      for (; begin < places_.size() && places_[begin].first <= gap; ++begin) places_[begin].gap = gap;
    }
    std::ranges::sort(places_, [](const Place& a, const Place& b) {
      return a.gap != b.gap ? a.gap < b.gap : a.item < b.item;
    });
  }

  void rebuild() {
    std::vector<Item> items = std::move(program_.items);
    program_.items.clear();
    size_t next = 0;
    for (uint32_t gap = 0; gap <= fixed_.size(); ++gap) {
      std::vector<Kernel> group;
      for (; next < places_.size() && places_[next].gap == gap; ++next)
        group.push_back(std::get<Kernel>(std::move(items[places_[next].item])));
      add_joined(std::move(group), program_.items);
      if (gap < fixed_.size()) program_.items.push_back(std::move(items[fixed_[gap]]));
    }
  }

  static void append(Kernel& into, Kernel kernel) {
    into.name = std::move(kernel.name);
    into.is_phased = true;
    std::ranges::move(kernel.nests, std::back_inserter(into.nests));
    if (kernel.origin.empty() || into.origin.find(kernel.origin) != std::string::npos) return;
    into.origin += into.origin.empty() ? kernel.origin : " " + kernel.origin;
  }

  Program& program_;
  std::vector<uint32_t> fixed_;  // items that keep their order
  std::vector<Place> places_;
};

}  // namespace

void join_kernels(Program& program) {
  Joiner(program).run();
  std::vector<Item> items = std::move(program.items);
  program.items.clear();
  std::vector<Kernel> run;
  const auto flush = [&] { Joiner::add_joined(std::exchange(run, {}), program.items); };
  for (Item& item : items) {
    auto* kernel = std::get_if<Kernel>(&item);
    if (kernel && (kernel->is_phased || kernel->nests.size() == 1)) {
      run.push_back(std::move(*kernel));
      continue;
    }
    flush();
    program.items.push_back(std::move(item));
  }
  flush();
}

}  // namespace jumar::tile
