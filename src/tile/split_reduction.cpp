#include "tile/split_reduction.h"

#include <algorithm>

#include "loop/walk.h"
#include "tile/axes.h"

namespace jumar::tile {
namespace {

using loop::Axis;
using loop::Inst;
using loop::InstKind;
using loop::Kernel;
using loop::Nest;
using loop::Program;
using loop::Stage;
using loop::ValueId;
using sym::Expr;

bool can_split(const Stage& stage) {
  bool folds = false;
  for (const Stage::Line& line : stage.body) {
    switch (line.inst.kind) {
      case InstKind::kStore:
      case InstKind::kLoadLocal:
      case InstKind::kStoreLocal:
      case InstKind::kScan:
      case InstKind::kWrapIndex:
      case InstKind::kCheckIndex:
        return false;
      case InstKind::kReduce:
        if (loop::is_arg_reduce(line.inst.reduce)) return false;
        folds = true;
        break;
      default:
        break;
    }
  }
  return folds;
}

// The chunks that the kernel's only nest should be cut into; 0 where it does not gain.
int64_t chunks_for(const Program& program, const Kernel& kernel, const SplitPolicy& policy) {
  if (kernel.nests.size() != 1) return 0;
  const Nest& nest = kernel.nests[0];
  int64_t results = 1;
  for (const Axis& axis : nest.kept) {
    if (!axis.extent.is_const()) return 0;
    results *= axis.extent.const_value();
  }
  const Stage& stage = nest.stages[0];
  if (stage.inner.empty() || !can_split(stage)) return 0;
  const int64_t units = (results + policy.results_per_unit - 1) / policy.results_per_unit;
  if (units > policy.most_units || units == 0) return 0;
  int64_t points = std::min(results, policy.results_per_unit);
  if (policy.most_units == 1) points = 1;
  for (const Axis& axis : stage.inner) points *= std::max<int64_t>(1, estimated(program, axis.extent));
  const int64_t chunks = policy.parallel / units;
  const bool is_long =
      points >= policy.least_points && estimated(program, stage.inner[0].extent) >= 2 * chunks;
  return is_long ? chunks : 0;
}

Expr fresh_axis(sym::Context& cx, const Nest& nest, const std::string& stem) {
  for (int k = 0;; ++k) {
    const Expr symbol = cx.symbol(sym::SymbolKind::kAxis, fmt::format("{}{}", stem, k));
    const auto is_it = [&](const Axis& axis) { return axis.symbol == symbol; };
    const bool used =
        std::ranges::any_of(nest.kept, is_it) ||
        std::ranges::any_of(nest.stages, [&](const Stage& s) { return std::ranges::any_of(s.inner, is_it); });
    if (!used) return symbol;
  }
}

std::string fresh_name(const Program& program, const std::string& stem) {
  for (int k = 0;; ++k) {
    const std::string name = k == 0 ? stem : fmt::format("{}_{}", stem, k);
    const bool used =
        std::ranges::any_of(program.buffers, [&](const loop::Buffer& b) { return b.name == name; }) ||
        std::ranges::any_of(program.items, [&](const loop::Item& item) {
          const auto* kernel = std::get_if<Kernel>(&item);
          return kernel && kernel->name == name;
        });
    if (!used) return name;
  }
}

class Splitter {
 public:
  Splitter(Program& program, Kernel& kernel, int64_t chunks, int64_t multiple)
      : program_(program), cx_(program.cx()), kernel_(kernel), chunks_(chunks), multiple_(multiple) {}

  // Makes `kernel_` the second phase, and returns the first.
  Kernel run() {
    const Nest& nest = kernel_.nests[0];
    const Stage& stage = nest.stages[0];
    const Expr extent = stage.inner[0].extent;
    const int64_t multiple = stage.inner.size() == 1 ? multiple_ : 1;
    length_ = cx_.mul(cx_.floordiv(extent, multiple * chunks_), multiple);
    rest_ = cx_.sub(extent, cx_.mul(length_, chunks_));
    parts_ = rest_.is_const(0) ? chunks_ : chunks_ + 1;
    for (const Stage::Line& line : stage.body) {
      if (line.inst.kind == InstKind::kReduce)
        partials_.push_back({line.result, line.inst, partial_buffer(line.inst)});
    }
    Kernel first;
    first.name = fresh_name(program_, kernel_.name + "_chunks");
    first.origin = kernel_.origin;
    first.nests.push_back(chunk_nest(true));
    if (!rest_.is_const(0)) first.nests.push_back(chunk_nest(false));
    rewrite_second();
    return first;
  }

 private:
  struct Partial {
    ValueId result;
    Inst inst;
    loop::BufferId buffer;
  };

  loop::BufferId partial_buffer(const Inst& inst) {
    loop::Buffer buffer;
    buffer.name = fresh_name(program_, kernel_.name + "_part");
    buffer.type.dtype = inst.type;
    buffer.storage = loop::Storage::kTemp;
    Expr elems = cx_.constant(parts_);
    for (const Axis& axis : kernel_.nests[0].kept) elems = cx_.mul(elems, axis.extent);
    buffer.type.sizes = {elems};
    buffer.type.strides = {cx_.constant(1)};
    return program_.buffers.add(std::move(buffer));
  }

  // Parts of neighbouring results are neighbours.
  Expr part_address(Expr part) {
    Expr flat = part;
    for (const Axis& axis : kernel_.nests[0].kept) flat = cx_.add(cx_.mul(flat, axis.extent), axis.symbol);
    return flat;
  }

  // The first stage over the points of one chunk (of all chunks but the rest, or of the rest).
  Nest chunk_nest(bool full) {
    const Nest& old = kernel_.nests[0];
    Nest nest;
    nest.kept = old.kept;
    nest.value_count = old.value_count;
    nest.stages.push_back(old.stages[0]);
    Stage& stage = nest.stages[0];
    Axis& axis = stage.inner[0];
    const Expr chunk = full ? fresh_axis(cx_, old, "i") : cx_.constant(chunks_);
    if (full) nest.kept.push_back({chunk, cx_.constant(chunks_)});
    const Expr moved = cx_.add(axis.symbol, cx_.mul(length_, chunk));
    for_each_body_expr(stage, [&](Expr& e) {
      if (sym::mentions(e, axis.symbol))
        e = cx_.substituted(e, [&](Expr s) { return s == axis.symbol ? moved : Expr(); });
    });
    axis.extent = full ? length_ : rest_;
    Stage& end = nest.stages.emplace_back();
    for (const Partial& partial : partials_) {
      Inst store;
      store.kind = InstKind::kStore;
      store.type = partial.inst.type;
      store.buffer = partial.buffer;
      store.address = part_address(chunk);
      store.operands[0] = partial.result;
      end.body.push_back({ValueId(), store});
    }
    loop::tidy(program_, nest);
    return nest;
  }

  // The first stage of the second phase folds the parts into the values that later stages know.
  void rewrite_second() {
    Nest& nest = kernel_.nests[0];
    Stage stage;
    const Expr axis = fresh_axis(cx_, nest, "r");
    stage.inner.push_back({axis, cx_.constant(parts_)});
    for (const Partial& partial : partials_) {
      Inst load;
      load.kind = InstKind::kLoad;
      load.type = partial.inst.type;
      load.buffer = partial.buffer;
      load.address = part_address(axis);
      const ValueId loaded(nest.value_count++);
      stage.body.push_back({loaded, load});
      Inst reduce = partial.inst;
      reduce.operands[0] = loaded;
      stage.body.push_back({partial.result, reduce});
    }
    nest.stages[0] = std::move(stage);
    loop::tidy(program_, nest);
  }

  Program& program_;
  sym::Context& cx_;
  Kernel& kernel_;
  int64_t chunks_;
  int64_t multiple_;
  Expr length_;
  Expr rest_;
  int64_t parts_ = 0;
  std::vector<Partial> partials_;
};

}  // namespace

std::map<std::string, std::string> split_reductions(Program& program, const SplitPolicy& policy) {
  std::map<std::string, std::string> made;
  for (size_t k = 0; k < program.items.size(); ++k) {
    auto* kernel = std::get_if<Kernel>(&program.items[k]);
    if (!kernel || kernel->is_phased || kernel->nests.size() != 1) continue;
    Kernel shaped = *kernel;
    for (Nest& nest : shaped.nests) {
      drop_unit_axes(program, nest);
      order_axes(program, nest);
      merge_axes(program, nest);
    }
    const int64_t chunks = chunks_for(program, shaped, policy);
    if (chunks < 2) continue;
    Kernel first = Splitter(program, shaped, chunks, policy.chunk_multiple).run();
    made[first.name] = shaped.name;
    program.items[k] = std::move(shaped);
    program.items.insert(program.items.begin() + static_cast<std::ptrdiff_t>(k), std::move(first));
    ++k;
  }
  return made;
}

}  // namespace jumar::tile
