#include "driver/least_traffic.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "ir/layout.h"
#include "loop/walk.h"
#include "tile/nest_cost.h"

namespace jumar::driver {
namespace {

using loop::Inst;
using loop::InstKind;
using sym::Expr;

// Points of a guard that are tried; one of more points counts as true.
constexpr int64_t kMostPoints = 1 << 18;

struct SizedAxis {
  Expr symbol;
  int64_t extent = 0;
  std::vector<bool> varying;  // values of the nest that differ along it
};

// What one buffer is accessed for.
struct Footprint {
  std::set<std::string> seen;  // addresses
  double elements = 0;
  bool is_broadcast = true;
};
using Footprints = std::map<loop::BufferId, Footprint>;

class Counter {
 public:
  Counter(const loop::Program& program, const SizeValues& sizes) : program_(program), sizes_(sizes) {}

  Status add(const loop::Nest& nest) {
    values_.clear();
    std::vector<SizedAxis> kept;
    JUMAR_RETURN_IF_ERROR(append(nest, nest.kept, kept));
    if (std::ranges::any_of(kept, [](const SizedAxis& axis) { return axis.extent <= 0; })) return {};
    for (const loop::Stage& stage : nest.stages) {
      std::vector<SizedAxis> axes = kept;
      JUMAR_RETURN_IF_ERROR(append(nest, stage.inner, axes));
      for (const loop::Stage::Line& line : stage.body) {
        define(line, axes);
        const Inst& inst = line.inst;
        const bool is_load = inst.kind == InstKind::kLoad;
        if (!is_load && inst.kind != InstKind::kStore) continue;
        if (is_load && writes_[inst.buffer].seen.contains(key(inst, axes))) continue;
        add((is_load ? reads_ : writes_)[inst.buffer], inst, axes, kept.size());
      }
    }
    return {};
  }

  Result<LeastTraffic> sum() const {
    LeastTraffic out;
    for (const auto& [id, print] : reads_) {
      JUMAR_ASSIGN(const int64_t bytes, bytes_of(id, print));
      out.read_bytes += bytes;
      if (print.is_broadcast) out.broadcast_bytes += bytes;
    }
    for (const auto& [id, print] : writes_) {
      JUMAR_ASSIGN(const int64_t bytes, bytes_of(id, print));
      out.written_bytes += bytes;
    }
    return out;
  }

 private:
  Result<int64_t> value(Expr e) const {
    return sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
      const auto row = sizes_.find(symbol.symbol_name());
      return row == sizes_.end() ? std::nullopt : std::optional(row->second);
    });
  }

  Status append(const loop::Nest& nest, const std::vector<loop::Axis>& from,
                std::vector<SizedAxis>& to) const {
    for (const loop::Axis& axis : from) {
      JUMAR_ASSIGN(const int64_t extent, value(axis.extent));
      to.push_back({axis.symbol, extent, tile::varying_values(nest, axis.symbol)});
    }
    return {};
  }

  static bool varies(Expr e, const SizedAxis& axis) {
    return std::ranges::any_of(sym::symbols_of(e), [&](Expr symbol) {
      return symbol == axis.symbol || (symbol.is_symbol(sym::SymbolKind::kValue) &&
                                       axis.varying[loop::value_of_symbol(symbol).index()]);
    });
  }

  void add(Footprint& print, const Inst& inst, const std::vector<SizedAxis>& axes, size_t kept) {
    double elements = 1;
    std::vector<const SizedAxis*> mine;
    bool misses_kept = false;
    for (size_t k = 0; k < axes.size(); ++k) {
      if (varies(inst.address, axes[k])) {
        mine.push_back(&axes[k]);
        elements *= static_cast<double>(axes[k].extent);
      } else {
        misses_kept = misses_kept || (k < kept && axes[k].extent > 1);
      }
    }
    print.is_broadcast = print.is_broadcast && misses_kept;
    if (!print.seen.insert(key(inst, axes)).second) return;
    print.elements += elements * (inst.guard ? share(inst.guard, mine) : 1.0);
  }

  // The same for the same elements: inner axes and values have other names in each stage.
  std::string renamed(Expr e, const std::vector<SizedAxis>& axes) const {
    sym::Context& cx = program_.cx();
    return sym::text(cx.substituted(e, [&](Expr symbol) -> Expr {
      if (symbol.is_symbol(sym::SymbolKind::kValue)) {
        const auto known = values_.find(loop::value_of_symbol(symbol));
        CHECK(known != values_.end(), "{} is used before it is defined", symbol.symbol_name());
        return cx.symbol(sym::SymbolKind::kAxis, fmt::format("v{}", known->second));
      }
      for (size_t k = 0; k < axes.size(); ++k)
        if (axes[k].symbol == symbol)
          return cx.symbol(sym::SymbolKind::kAxis, fmt::format("a{}_{}", k, axes[k].extent));
      return {};
    }));
  }

  std::string key(const Inst& inst, const std::vector<SizedAxis>& axes) const {
    std::string out = renamed(inst.address, axes);
    if (inst.guard) out += " if " + renamed(inst.guard, axes);
    return out;
  }

  // Values that are computed in the same way have the same number.
  void define(const loop::Stage::Line& line, const std::vector<SizedAxis>& axes) {
    if (!line.inst.defines_value()) return;
    const Inst& inst = line.inst;
    std::string how =
        fmt::format("{} {} {} {} {}", static_cast<int>(inst.kind), static_cast<int>(inst.op),
                    static_cast<int>(inst.type), static_cast<int>(inst.reduce), inst.constant.integer);
    if (inst.kind == InstKind::kLoad) how += fmt::format(" %{}", inst.buffer.index());
    if (inst.kind == InstKind::kParam) how += fmt::format(" number {}", inst.number.index());
    // Locals and scans are not looked into: each is its own.
    if (inst.kind == InstKind::kLoadLocal || inst.kind == InstKind::kScan)
      how += fmt::format(" at {}", values_.size());
    for (int k = 0; k < loop::operand_count(inst); ++k)
      how += fmt::format(" v{}", values_.at(inst.operands[k]));
    loop::for_each_expr(inst, [&](Expr e) { how += " [" + renamed(e, axes) + "]"; });
    values_[line.result] = numbers_.try_emplace(how, numbers_.size()).first->second;
  }

  // The share of the points of these axes at which the guard holds. Conditions on other axes do not count.
  double share(Expr guard, const std::vector<const SizedAxis*>& axes) const {
    std::map<std::vector<size_t>, std::vector<Expr>> groups;
    const std::span<const Expr> all =
        guard.op() == sym::Op::kAnd ? guard.operands() : std::span<const Expr>(&guard, 1);
    for (const Expr condition : all) {
      std::vector<size_t> named;
      for (size_t k = 0; k < axes.size(); ++k)
        if (sym::mentions(condition, axes[k]->symbol)) named.push_back(k);
      groups[named].push_back(condition);
    }
    double out = 1;
    for (const auto& [named, conditions] : groups) out *= share(conditions, named, axes);
    return out;
  }

  double share(const std::vector<Expr>& conditions, const std::vector<size_t>& named,
               const std::vector<const SizedAxis*>& axes) const {
    int64_t points = 1;
    for (const size_t k : named)
      points = points > kMostPoints ? points : points * std::max<int64_t>(axes[k]->extent, 1);
    if (points > kMostPoints) return 1;
    int64_t true_points = 0;
    for (int64_t point = 0; point < points; ++point) {
      const auto value_of = [&](Expr symbol) -> std::optional<int64_t> {
        int64_t rest = point;
        for (const size_t k : named) {
          if (axes[k]->symbol == symbol) return rest % axes[k]->extent;
          rest /= axes[k]->extent;
        }
        const auto row = sizes_.find(symbol.symbol_name());
        return row == sizes_.end() ? std::nullopt : std::optional(row->second);
      };
      const bool holds = std::ranges::all_of(conditions, [&](Expr condition) {
        const Result<int64_t> truth = sym::evaluate(condition, value_of);
        return !truth.ok() || *truth != 0;
      });
      true_points += holds ? 1 : 0;
    }
    return static_cast<double>(true_points) / static_cast<double>(points);
  }

  Result<int64_t> bytes_of(loop::BufferId id, const Footprint& print) const {
    const ir::TensorType& type = program_.buffers[id].type;
    JUMAR_ASSIGN(const int64_t storage, value(ir::storage_extent(program_.cx(), type)));
    const double elements = std::min(print.elements, static_cast<double>(storage));
    return std::llround(elements) * ir::dtype_bytes(type.dtype);
  }

  const loop::Program& program_;
  const SizeValues& sizes_;
  std::map<loop::ValueId, size_t> values_;  // of the nest
  std::map<std::string, size_t> numbers_;
  Footprints reads_;
  Footprints writes_;
};

}  // namespace

Result<LeastTraffic> least_traffic(const loop::Program& program, const loop::Kernel& kernel,
                                   const SizeValues& sizes) {
  Counter counter(program, sizes);
  for (const loop::Nest& nest : kernel.nests) JUMAR_RETURN_IF_ERROR(counter.add(nest));
  return counter.sum();
}

}  // namespace jumar::driver
