#include "tile/npu/windows.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "sym/facts.h"
#include "tile/axes.h"

namespace jumar::tile::npu {

using loop::Inst;
using sym::Expr;

namespace {

constexpr int64_t kMostPoints = 16;  // of a window along one axis: each is a round of a loop

// With the inner axis written by way of the window's symbol.
Expr through(sym::Context& cx, const Window& window, Expr e) {
  if (!e || !sym::mentions(e, window.inner)) return e;
  const Expr inner = cx.sub(window.symbol, cx.mul(window.kept, window.step));
  const Expr moved = cx.substituted(e, [&](Expr symbol) { return symbol == window.inner ? inner : Expr(); });
  return sym::simplified(cx, moved, sym::Facts());
}

// Whether all that an access says of the window's axes is by way of its symbol.
bool is_through(const Window& window, Expr address, Expr guard) {
  const auto mentions = [&](Expr e) {
    return e && (sym::mentions(e, window.kept) || sym::mentions(e, window.inner));
  };
  return sym::mentions(address, window.symbol) && !mentions(address) && !mentions(guard);
}

class Finder {
 public:
  Finder(const loop::Program& program, const PreparedNest& nest)
      : program_(program), cx_(program.cx()), nest_(nest) {}

  std::vector<Window> run() {
    for (const loop::Stage& stage : nest_.nest.stages) {
      for (const loop::Stage::Line& line : stage.body) {
        if (line.inst.kind != loop::InstKind::kLoad) continue;
        for (const loop::Axis& inner : stage.inner)
          for (const loop::Axis& kept : nest_.nest.kept) try_add(line.inst, inner, kept);
      }
    }
    return std::move(found_);
  }

 private:
  void try_add(const Inst& load, const loop::Axis& inner, const loop::Axis& kept) {
    const int64_t count = inner.extent.as_const().value_or(0);
    if (count < 2 || count > kMostPoints) return;
    for (const Window& known : found_)
      if (known.kept == kept.symbol || known.inner == inner.symbol) return;
    const std::optional<sym::Linear> by_inner = sym::linear_in(cx_, load.address, inner.symbol);
    const std::optional<sym::Linear> by_kept = sym::linear_in(cx_, load.address, kept.symbol);
    if (!by_inner || !by_kept || is_densest(load.address, by_inner->coefficient)) return;
    for (int64_t step = 1; step < count; ++step) {
      if (cx_.mul(by_inner->coefficient, step) != by_kept->coefficient) continue;
      Window window{kept.symbol, inner.symbol, {}, step, count};
      window.symbol = cx_.symbol(sym::SymbolKind::kAxis, fmt::format("w{}", found_.size()));
      const Expr guard = load.guard ? through(cx_, window, load.guard) : Expr();
      if (is_through(window, through(cx_, window, load.address), guard)) found_.push_back(window);
      return;
    }
  }

  // Whether no other axis has a lesser stride.
  bool is_densest(Expr address, Expr stride) const {
    const auto distance = [&](Expr e) -> int64_t {
      const bool is_place =
          sym::mentions_kind(e, sym::SymbolKind::kAxis) || sym::mentions_kind(e, sym::SymbolKind::kValue);
      return is_place ? 0 : std::abs(tile::estimated(program_, e));
    };
    const int64_t own = distance(stride);
    const auto is_denser = [&](const loop::Axis& axis) {
      const std::optional<sym::Linear> linear = sym::linear_in(cx_, address, axis.symbol);
      const int64_t other = linear ? distance(linear->coefficient) : 0;
      return other > 0 && other < own;
    };
    return std::ranges::none_of(nest_.nest.kept, is_denser) && std::ranges::none_of(nest_.inner, is_denser);
  }

  const loop::Program& program_;
  sym::Context& cx_;
  const PreparedNest& nest_;
  std::vector<Window> found_;
};

}  // namespace

void add_windows(const loop::Program& program, PreparedNest& nest) {
  sym::Context& cx = program.cx();
  nest.windows = Finder(program, nest).run();
  if (nest.windows.empty()) return;
  for (const loop::Stage& stage : nest.nest.stages) {
    for (const loop::Stage::Line& line : stage.body) {
      const Inst& load = line.inst;
      if (load.kind != loop::InstKind::kLoad || windowed_load(nest, load)) continue;
      WindowedLoad made{load.address, load.guard, {}, load.address, load.guard};
      for (const Window& window : nest.windows) {
        const Expr address = through(cx, window, made.windowed_address);
        const Expr guard = through(cx, window, made.windowed_guard);
        if (!is_through(window, address, guard)) continue;
        made.windowed_address = address;
        made.windowed_guard = guard;
        made.windows.push_back(window);
      }
      if (!made.windows.empty()) nest.windowed.push_back(std::move(made));
    }
  }
}

const WindowedLoad* windowed_load(const PreparedNest& nest, const Inst& load) {
  for (const WindowedLoad& each : nest.windowed)
    if (each.address == load.address && each.guard == load.guard) return &each;
  return nullptr;
}

}  // namespace jumar::tile::npu
