#include "tile/units.h"

namespace jumar::tile {

sym::Expr units_of(sym::Context& cx, const loop::Nest& nest) {
  CHECK(nest.tiling, "a nest without a tiling has no units");
  const loop::Tiling& tiling = *nest.tiling;
  sym::Expr units = cx.constant(1);
  for (uint32_t k = 0; k < tiling.parallel; ++k) units = cx.mul(units, nest.kept[k].extent);
  if (tiling.block_elems == 0) return units;
  return cx.mul(units, cx.ceildiv(nest.kept[tiling.parallel].extent, cx.constant(tiling.block_elems)));
}

}  // namespace jumar::tile
