#include "fuse/access.h"

#include <algorithm>

namespace jumar::fuse {

sym::Facts nest_facts(const loop::Program& program, const loop::Nest& nest) {
  sym::Facts facts = program.facts();
  for (const loop::Axis& axis : nest.kept) facts.set_extent(axis.symbol, axis.extent);
  for (const loop::Stage& stage : nest.stages)
    for (const loop::Axis& axis : stage.inner) facts.set_extent(axis.symbol, axis.extent);
  return facts;
}

sym::Facts at_points(sym::Facts facts, std::span<const loop::Axis> axes) {
  // A product that is not 0 has no factor that is 0.
  const auto learn = [&](Expr factor) {
    if (factor.is_symbol() && facts.range(factor).lo == 0) facts.set_range(factor, {1, sym::Range::kMax});
  };
  for (const loop::Axis& axis : axes) {
    learn(axis.extent);
    if (axis.extent.op() != sym::Op::kMul) continue;
    for (Expr factor : axis.extent.operands()) learn(factor);
  }
  return facts;
}

sym::Facts stage_facts(const loop::Program& program, const loop::Nest& nest, uint32_t stage) {
  return at_points(at_points(nest_facts(program, nest), nest.kept), nest.stages[stage].inner);
}

std::optional<Strided> strided(sym::Context& cx, Expr address, std::span<const loop::Axis> axes) {
  // A value that was read from memory differs from point to point, and one of another nest is another value.
  if (sym::mentions_kind(address, sym::SymbolKind::kValue)) return std::nullopt;
  Strided access;
  access.rest = address;
  for (const loop::Axis& axis : axes) {
    if (!sym::mentions(access.rest, axis.symbol)) continue;
    std::optional<sym::Linear> linear = sym::linear_in(cx, access.rest, axis.symbol);
    if (!linear) return std::nullopt;
    access.rest = linear->rest;
    if (!axis.extent.is_const(1)) access.terms.push_back({axis, linear->coefficient});
  }
  for (const Strided::Term& term : access.terms)
    for (const loop::Axis& axis : axes)
      if (sym::mentions(term.coefficient, axis.symbol)) return std::nullopt;
  return access;
}

bool sort_mixed_radix(sym::Context& cx, Strided& access, const sym::Facts& facts) {
  std::vector<Strided::Term>& terms = access.terms;
  for (size_t k = 0; k < terms.size(); ++k) {
    // Selection, since symbolic coefficients are only partly ordered.
    size_t largest = k;
    for (size_t j = k + 1; j < terms.size(); ++j)
      if (!sym::proves_le(cx, terms[j].coefficient, terms[largest].coefficient, facts)) largest = j;
    std::swap(terms[k], terms[largest]);
  }
  Expr span = cx.constant(0);
  for (size_t k = terms.size(); k-- > 0;) {
    if (!sym::proves_lt(cx, span, terms[k].coefficient, facts)) return false;
    span = cx.add(span, cx.mul(terms[k].coefficient, cx.sub(terms[k].axis.extent, 1)));
  }
  return true;
}

std::optional<std::vector<Expr>> inverted(sym::Context& cx, const Strided& access, Expr address,
                                          const sym::Facts& facts) {
  sym::Simplifier simplify(cx, facts);
  Expr distance = simplify(cx.sub(address, access.rest));
  std::vector<Expr> values;
  for (size_t k = 0; k < access.terms.size(); ++k) {
    Expr coefficient = access.terms[k].coefficient;
    values.push_back(simplify(cx.floordiv(distance, coefficient)));
    distance = simplify(cx.mod(distance, coefficient));
  }
  if (!distance.is_const(0)) return std::nullopt;
  return values;
}

bool proves_in_range(sym::Context& cx, const Strided& access, std::span<const Expr> values,
                     const sym::Facts& facts) {
  for (size_t k = 0; k < access.terms.size(); ++k) {
    if (!sym::proves_le(cx, cx.constant(0), values[k], facts)) return false;
    if (!sym::proves_lt(cx, values[k], access.terms[k].axis.extent, facts)) return false;
  }
  return true;
}

Expr point_count(sym::Context& cx, std::span<const loop::Axis> axes) {
  Expr count = cx.constant(1);
  for (const loop::Axis& axis : axes) count = cx.mul(count, axis.extent);
  return count;
}

std::optional<Cut> cut_for(sym::Context& cx, Expr e, std::span<const loop::Axis> axes,
                           const sym::Facts& facts) {
  if (e.op() == sym::Op::kFloorDiv || e.op() == sym::Op::kMod) {
    Expr numerator = e.operands()[0];
    Expr divisor = e.operands()[1];
    for (const loop::Axis& axis : axes) {
      if (!sym::mentions(numerator, axis.symbol) || sym::mentions(divisor, axis.symbol)) continue;
      std::optional<sym::Linear> linear = sym::linear_in(cx, numerator, axis.symbol);
      if (!linear) continue;
      // c*axis over d is cut where c*axis passes multiples of d: at d/c.
      Expr at = sym::simplified(cx, cx.floordiv(divisor, linear->coefficient), facts);
      if (at.is_const(1) || at.is_const(0) || at == axis.extent) continue;
      if (sym::simplified(cx, cx.mul(at, linear->coefficient), facts) != divisor) continue;
      if (sym::proves_divisible(cx, axis.extent, at, facts)) return Cut{axis.symbol, at};
    }
  }
  if (!e.is_const() && !e.is_symbol())
    for (Expr operand : e.operands())
      if (std::optional<Cut> cut = cut_for(cx, operand, axes, facts)) return cut;
  return std::nullopt;
}

}  // namespace jumar::fuse
