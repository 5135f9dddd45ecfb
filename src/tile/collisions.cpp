#include "tile/collisions.h"

#include <algorithm>

namespace jumar::tile {
namespace {

using sym::Expr;

sym::Facts nest_facts(const loop::Program& program, const loop::Nest& nest) {
  sym::Facts facts = program.facts();
  for (const loop::Axis& axis : nest.kept) facts.set_extent(axis.symbol, axis.extent);
  for (const loop::Stage& stage : nest.stages) {
    for (const loop::Axis& axis : stage.inner) facts.set_extent(axis.symbol, axis.extent);
    for (const loop::Stage::Line& line : stage.body) {
      const bool bounded =
          line.inst.kind == loop::InstKind::kWrapIndex || line.inst.kind == loop::InstKind::kCheckIndex;
      if (bounded) facts.set_extent(program.cx().value(line.result.index()), line.inst.address);
    }
  }
  return facts;
}

// address == high + c*axis + low, where c*extent divides high and 0 <= low < c: then the address tells the
// axis.
bool tells_axis(const loop::Program& program, Expr address, const loop::Axis& axis, const sym::Facts& facts) {
  sym::Context& cx = program.cx();
  const std::optional<sym::Linear> linear = sym::linear_in(cx, address, axis.symbol);
  if (!linear || sym::mentions_kind(linear->coefficient, sym::SymbolKind::kAxis)) return false;
  const Expr c = linear->coefficient;
  if (!sym::proves_lt(cx, cx.constant(0), c, facts)) return false;
  const Expr period = cx.mul(c, axis.extent);
  const Expr rest = linear->rest;
  Expr low = cx.constant(0);
  for (Expr term : rest.op() == sym::Op::kAdd ? rest.operands() : std::span(&rest, 1)) {
    if (!sym::proves_divisible(cx, term, period, facts)) low = cx.add(low, term);
  }
  return sym::proves_le(cx, cx.constant(0), low, facts) && sym::proves_lt(cx, low, c, facts);
}

}  // namespace

bool axis_is_safe(const loop::Program& program, const loop::Nest& nest, const loop::Axis& axis) {
  const sym::Facts facts = nest_facts(program, nest);
  for (const loop::Stage& stage : nest.stages) {
    for (const loop::Stage::Line& line : stage.body) {
      if (line.inst.kind != loop::InstKind::kStore || line.inst.mode == loop::StoreMode::kSet) continue;
      if (!tells_axis(program, line.inst.address, axis, facts)) return false;
    }
  }
  return true;
}

}  // namespace jumar::tile
