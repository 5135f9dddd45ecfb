#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "fuse/access.h"
#include "fuse/rewrite.h"
#include "tile/axes.h"
#include "tile/npu/windows.h"

namespace jumar::tile::npu {

using loop::Axis;
using loop::Nest;
using loop::Stage;
using sym::Expr;

namespace {

// What is known of an index that was checked makes addresses simpler: r0 + %5//1000 is r0 where %5 is below
// 1000.
void use_checked_indices(const loop::Program& program, Nest& nest) {
  sym::Context& cx = program.cx();
  sym::Facts facts = fuse::nest_facts(program, nest);
  bool has_any = false;
  for (const Stage& stage : nest.stages) {
    for (const Stage::Line& line : stage.body) {
      const bool is_checked =
          line.inst.kind == loop::InstKind::kCheckIndex || line.inst.kind == loop::InstKind::kWrapIndex;
      if (is_checked) facts.set_extent(cx.value(line.result.index()), line.inst.address);
      has_any = has_any || is_checked;
    }
  }
  if (!has_any) return;
  for (Stage& stage : nest.stages) {
    for_each_body_expr(stage, [&](Expr& e) {
      if (sym::mentions_kind(e, sym::SymbolKind::kValue)) e = sym::simplified(cx, e, facts);
    });
  }
}

// Cuts axes until no address divides by something that an axis can be cut at.
void remove_divisions(loop::Program& program, Nest& nest) {
  constexpr int kMostCuts = 16;
  for (int round = 0; round < kMostCuts; ++round) {
    const sym::Facts facts = fuse::nest_facts(program, nest);
    std::optional<fuse::Cut> cut;
    for (Stage& stage : nest.stages) {
      std::vector<Axis> axes = nest.kept;
      axes.insert(axes.end(), stage.inner.begin(), stage.inner.end());
      for_each_body_expr(stage, [&](Expr& e) {
        if (!cut) cut = fuse::cut_for(program.cx(), e, axes, facts);
      });
    }
    if (!cut) return;
    fuse::split_axis(program, nest, *cut);
  }
}

bool have_a_load_in_common(const Stage& a, const Stage& b) {
  const auto loads = [](const Stage& stage, loop::BufferId buffer) {
    return std::ranges::any_of(stage.body, [&](const Stage::Line& line) {
      return line.inst.kind == loop::InstKind::kLoad && line.inst.buffer == buffer;
    });
  };
  return std::ranges::any_of(a.body, [&](const Stage::Line& line) {
    return line.inst.kind == loop::InstKind::kLoad && loads(b, line.inst.buffer);
  });
}

// What one stage goes along as one axis and another one as several is the several ones in both: (r0 in 6272)
// beside (r1 in 8, r2 in 784) of a group norm. Both load the same elements, and then load them once.
void split_as_others(loop::Program& program, Nest& nest) {
  for (size_t k = 0; k < nest.stages.size(); ++k) {
    const Stage& stage = nest.stages[k];
    if (stage.inner.size() != 1 || !stage.inner[0].extent.is_const()) continue;
    const bool scans = std::ranges::any_of(
        stage.body, [](const Stage::Line& line) { return line.inst.kind == loop::InstKind::kScan; });
    if (scans) continue;
    for (const Stage& other : nest.stages) {
      if (other.inner.size() < 2 || !have_a_load_in_common(stage, other)) continue;
      Expr all = program.cx().constant(1);
      for (const Axis& axis : other.inner) all = program.cx().mul(all, axis.extent);
      if (all != stage.inner[0].extent) continue;
      std::vector<Expr> extents;
      for (const Axis& axis : other.inner) extents.push_back(axis.extent);
      for (size_t j = extents.size(); j-- > 1;)
        fuse::split_axis(program, nest, {nest.stages[k].inner[0].symbol, extents[j]});
      break;
    }
  }
}

// Gives inner axes of the same extent in different stages one name.
std::vector<Axis> unify_inner_axes(sym::Context& cx, Nest& nest) {
  std::vector<Axis> distinct;
  for (Stage& stage : nest.stages) {
    std::vector<bool> taken(distinct.size(), false);
    for (Axis& axis : stage.inner) {
      size_t k = 0;
      while (k < distinct.size() && (taken[k] || distinct[k].extent != axis.extent)) ++k;
      if (k == distinct.size()) {
        distinct.push_back({cx.symbol(sym::SymbolKind::kAxis, fmt::format("q{}", k)), axis.extent});
        taken.push_back(false);
      }
      taken[k] = true;
      const Expr from = axis.symbol;
      const Expr to = distinct[k].symbol;
      const auto renamed = [&](Expr e) {
        return cx.substituted(e, [&](Expr symbol) { return symbol == from ? to : Expr(); });
      };
      for_each_body_expr(stage, [&](Expr& e) { e = renamed(e); });
      for (Stage::Line& line : stage.body)
        if (line.inst.axis == from) line.inst.axis = to;
      axis.symbol = to;
    }
  }
  return distinct;
}

// Whether two addresses are the same number at every point. Their difference is a sum of parts that have no
// axis in common, so each part has to be one number: seen by trying all values of its axes, where those are
// few.
class Agreement {
 public:
  Agreement(sym::Context& cx, const PreparedNest& nest) : cx_(cx) {
    for (const Axis& axis : nest.nest.kept) extents_[axis.symbol] = axis.extent;
    for (const Axis& axis : nest.inner) extents_[axis.symbol] = axis.extent;
  }

  bool holds(Expr a, Expr b) const {
    int64_t sum = 0;
    for (Expr part : parts_of(cx_.sub(a, b))) {
      const std::optional<int64_t> value = only_value(part);
      if (!value) return false;
      sum += *value;
    }
    return sum == 0;
  }

 private:
  std::vector<Expr> parts_of(Expr sum) const {
    if (sum.op() != sym::Op::kAdd) return {sum};
    std::vector<Expr> parts;
    for (Expr term : sum.operands()) {
      const std::vector<Expr> symbols = sym::symbols_of(term);
      // The new term joins all parts that it shares an axis with.
      for (size_t k = parts.size(); k-- > 0;) {
        const Expr part = parts[k];
        if (std::ranges::none_of(symbols, [&](Expr s) { return sym::mentions(part, s); })) continue;
        term = cx_.add(term, part);
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(k));
      }
      parts.push_back(term);
    }
    return parts;
  }

  std::optional<int64_t> only_value(Expr e) const {
    constexpr int64_t kMostPoints = 1024;
    std::vector<std::pair<Expr, int64_t>> axes;
    int64_t points = 1;
    for (Expr symbol : sym::symbols_of(e)) {
      const auto extent = extents_.find(symbol);
      if (extent == extents_.end() || !extent->second.is_const()) return std::nullopt;
      axes.emplace_back(symbol, extent->second.const_value());
      if (axes.back().second > kMostPoints) return std::nullopt;
      points *= axes.back().second;
      if (points > kMostPoints) return std::nullopt;
    }
    std::optional<int64_t> only;
    for (int64_t point = 0; point < points; ++point) {
      const Result<int64_t> value = sym::evaluate(e, [&](Expr symbol) -> std::optional<int64_t> {
        int64_t rest = point;
        for (const auto& [axis, extent] : axes) {
          if (axis == symbol) return rest % extent;
          rest /= extent;
        }
        return std::nullopt;
      });
      if (!value.ok() || (only && *only != value.value())) return std::nullopt;
      only = value.value();
    }
    return only;
  }

  sym::Context& cx_;
  std::unordered_map<Expr, Expr> extents_;
};

// Stages that read one element by addresses of different forms get one form: it is loaded once then. What a
// window's neighbour reads of a rolled tensor comes in such forms.
void unify_addresses(sym::Context& cx, PreparedNest& prepared) {
  const Agreement agreement(cx, prepared);
  std::map<loop::BufferId, std::vector<Expr>> known;
  for (Stage& stage : prepared.nest.stages) {
    for (Stage::Line& line : stage.body) {
      loop::Inst& inst = line.inst;
      if (inst.kind != loop::InstKind::kLoad) continue;
      std::vector<Expr>& addresses = known[inst.buffer];
      if (std::ranges::find(addresses, inst.address) != addresses.end()) continue;
      const auto same =
          std::ranges::find_if(addresses, [&](Expr other) { return agreement.holds(inst.address, other); });
      if (same != addresses.end())
        inst.address = *same;
      else
        addresses.push_back(inst.address);
    }
  }
}

}  // namespace

PreparedNest prepared(loop::Program& program, const Nest& nest) {
  PreparedNest out;
  out.nest = nest;
  out.nest.tiling.reset();
  drop_unit_axes(program, out.nest);
  use_checked_indices(program, out.nest);
  remove_divisions(program, out.nest);
  drop_unit_axes(program, out.nest);
  merge_axes(program, out.nest);
  split_as_others(program, out.nest);
  order_axes(program, out.nest);
  out.inner = unify_inner_axes(program.cx(), out.nest);
  unify_addresses(program.cx(), out);
  add_windows(program, out);
  return out;
}

}  // namespace jumar::tile::npu
