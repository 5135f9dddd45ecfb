#include "tile/transpose.h"

#include <algorithm>

namespace jumar::tile {

using loop::InstKind;
using sym::Expr;

bool is_transposed_load(sym::Context& cx, const loop::Inst& inst, Expr vector, Expr by) {
  if (inst.kind != InstKind::kLoad || inst.guard) return false;
  if (sym::mentions_kind(inst.address, sym::SymbolKind::kValue)) return false;
  const std::optional<sym::Linear> along = sym::linear_in(cx, inst.address, by);
  if (!along || !along->coefficient.is_const(1)) return false;
  const std::optional<sym::Linear> across = sym::linear_in(cx, along->rest, vector);
  if (!across || sym::mentions_kind(across->coefficient, sym::SymbolKind::kAxis)) return false;
  const std::optional<int64_t> stride = across->coefficient.as_const();
  return !stride || (*stride != 0 && *stride != 1 && *stride != -1);
}

Expr best_transpose_axis(sym::Context& cx, const loop::Nest& nest, Expr vector) {
  Expr best;
  int64_t most = 0;
  for (const loop::Axis& axis : nest.kept) {
    if (axis.symbol == vector) continue;
    const int64_t loads = std::ranges::count_if(nest.stages[0].body, [&](const loop::Stage::Line& line) {
      return is_transposed_load(cx, line.inst, vector, axis.symbol);
    });
    if (loads > most) best = axis.symbol;
    most = std::max(most, loads);
  }
  return best;
}

}  // namespace jumar::tile
