#include "tile/axes.h"

#include <algorithm>
#include <cstdlib>

#include "loop/walk.h"

namespace jumar::tile {

using loop::Axis;
using loop::InstKind;
using loop::Nest;
using loop::Program;
using loop::Stage;
using sym::Expr;

namespace {

// What a size is taken for when nothing is known about it.
constexpr int64_t kUnknownSize = 256;

int64_t plausible(const Program& program, Expr symbol) {
  for (const loop::SymbolInfo& info : program.symbols) {
    if (info.symbol != symbol) continue;
    if (info.hint) return *info.hint;
    return std::clamp(kUnknownSize, info.range.lo, std::max(info.range.lo, info.range.hi));
  }
  return kUnknownSize;
}

void substitute(Program const& program, Nest& nest, Expr axis, Expr by) {
  for_each_body_expr(nest, [&](Expr& e) {
    if (sym::mentions(e, axis))
      e = program.cx().substituted(e, [&](Expr s) { return s == axis ? by : Expr(); });
  });
}

bool is_scanned(const Stage& stage, Expr axis) {
  return std::ranges::any_of(stage.body, [&](const Stage::Line& line) {
    return line.inst.kind == InstKind::kScan && line.inst.axis == axis;
  });
}

// Calls visit(exprs) for what must agree to a change of kept axes: everything; of a stage's axes: the stage.
bool mergeable(sym::Context& cx, const Axis& outer, const Axis& inner, const std::vector<Expr*>& exprs) {
  return std::ranges::all_of(exprs, [&](const Expr* e) {
    const bool mentions_outer = sym::mentions(*e, outer.symbol);
    const bool mentions_inner = sym::mentions(*e, inner.symbol);
    if (!mentions_outer && !mentions_inner) return true;
    if (!mentions_outer || !mentions_inner) return false;
    const std::optional<sym::Linear> by_outer = sym::linear_in(cx, *e, outer.symbol);
    if (!by_outer || sym::mentions(by_outer->coefficient, inner.symbol)) return false;
    const std::optional<sym::Linear> by_inner = sym::linear_in(cx, by_outer->rest, inner.symbol);
    return by_inner && by_outer->coefficient == cx.mul(by_inner->coefficient, inner.extent);
  });
}

// (outer*extent + inner)*c + rest  ->  outer*c + rest, where `outer` now counts both.
void merge_pair(sym::Context& cx, std::vector<Axis>& axes, size_t k, const std::vector<Expr*>& exprs) {
  const Expr outer = axes[k].symbol;
  const Expr inner = axes[k + 1].symbol;
  for (Expr* e : exprs) {
    if (!sym::mentions(*e, inner)) continue;
    const sym::Linear by_outer = *sym::linear_in(cx, *e, outer);
    const sym::Linear by_inner = *sym::linear_in(cx, by_outer.rest, inner);
    *e = cx.add(by_inner.rest, cx.mul(by_inner.coefficient, outer));
  }
  axes[k].extent = cx.mul(axes[k].extent, axes[k + 1].extent);
  axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(k) + 1);
}

void merge_list(sym::Context& cx, std::vector<Axis>& axes, const std::vector<Expr*>& exprs,
                const std::function<bool(Expr)>& fixed) {
  for (size_t k = axes.size(); k-- > 1;) {
    if (fixed(axes[k].symbol) || fixed(axes[k - 1].symbol)) continue;
    if (mergeable(cx, axes[k - 1], axes[k], exprs)) merge_pair(cx, axes, k - 1, exprs);
  }
}

void sort_by_strides(const Program& program, std::vector<Axis>& axes, const std::vector<Expr>& addresses) {
  if (axes.size() < 2 || addresses.empty()) return;
  const auto stride = [&](const Axis& axis) {
    int64_t greatest = 0;
    for (Expr address : addresses) {
      const std::optional<sym::Linear> linear = sym::linear_in(program.cx(), address, axis.symbol);
      if (!linear) return int64_t{-1};
      if (sym::mentions_kind(linear->coefficient, sym::SymbolKind::kAxis) ||
          sym::mentions_kind(linear->coefficient, sym::SymbolKind::kValue))
        return int64_t{-1};
      greatest = std::max(greatest, std::abs(estimated(program, linear->coefficient)));
    }
    return greatest;
  };
  std::vector<std::pair<int64_t, Axis>> keyed;
  for (const Axis& axis : axes) keyed.emplace_back(stride(axis), axis);
  if (std::ranges::any_of(keyed, [](const auto& k) { return k.first < 0; })) return;
  std::ranges::stable_sort(keyed, [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t k = 0; k < axes.size(); ++k) axes[k] = keyed[k].second;
}

}  // namespace

int64_t estimated(const Program& program, Expr e) {
  const Result<int64_t> value =
      sym::evaluate(e, [&](Expr symbol) { return std::optional(plausible(program, symbol)); });
  return value.ok() ? *value : kUnknownSize;
}

void for_each_body_expr(Stage& stage, const std::function<void(Expr&)>& visit) {
  for (Stage::Line& line : stage.body) {
    if (line.inst.address) visit(line.inst.address);
    if (line.inst.guard) visit(line.inst.guard);
  }
}

void for_each_body_expr(Nest& nest, const std::function<void(Expr&)>& visit) {
  for (Stage& stage : nest.stages) for_each_body_expr(stage, visit);
}

void drop_unit_axes(const Program& program, Nest& nest) {
  const Expr zero = program.cx().constant(0);
  std::erase_if(nest.kept, [&](const Axis& axis) {
    if (!axis.extent.is_const(1)) return false;
    substitute(program, nest, axis.symbol, zero);
    return true;
  });
  for (Stage& stage : nest.stages) {
    std::erase_if(stage.inner, [&](const Axis& axis) {
      if (!axis.extent.is_const(1) || is_scanned(stage, axis.symbol)) return false;
      substitute(program, nest, axis.symbol, zero);
      return true;
    });
  }
}

void merge_axes(const Program& program, Nest& nest) {
  sym::Context& cx = program.cx();
  std::vector<Expr*> all;
  for_each_body_expr(nest, [&](Expr& e) { all.push_back(&e); });
  merge_list(cx, nest.kept, all, [](Expr) { return false; });
  for (Stage& stage : nest.stages) {
    std::vector<Expr*> own;
    for_each_body_expr(stage, [&](Expr& e) { own.push_back(&e); });
    merge_list(cx, stage.inner, own, [&](Expr axis) { return is_scanned(stage, axis); });
  }
}

void order_axes(const Program& program, Nest& nest) {
  std::vector<Expr> stores;
  for (const Stage& stage : nest.stages) {
    for (const Stage::Line& line : stage.body) {
      if (line.inst.kind == InstKind::kStore) stores.push_back(line.inst.address);
    }
  }
  if (!stores.empty()) sort_by_strides(program, nest.kept, {stores.front()});
  for (Stage& stage : nest.stages) {
    std::vector<Expr> loads;
    for (const Stage::Line& line : stage.body) {
      const bool access = line.inst.kind == InstKind::kLoad || line.inst.kind == InstKind::kStore;
      const bool inner = access && std::ranges::any_of(stage.inner, [&](const Axis& axis) {
                           return sym::mentions(line.inst.address, axis.symbol);
                         });
      if (inner) loads.push_back(line.inst.address);
    }
    if (!loads.empty()) sort_by_strides(program, stage.inner, {loads.front()});
    std::ranges::stable_sort(stage.inner, {},
                             [&](const Axis& axis) { return is_scanned(stage, axis.symbol); });
  }
}

}  // namespace jumar::tile
