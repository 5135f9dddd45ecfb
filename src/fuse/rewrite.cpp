#include "fuse/rewrite.h"

#include <charconv>
#include <map>
#include <tuple>

namespace jumar::fuse {

using loop::InstKind;
using loop::ValueId;

ValueId value_of_symbol(Expr symbol) {
  const std::string& name = symbol.symbol_name();
  uint32_t index = 0;
  auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), index);
  CHECK(error == std::errc() && end == name.data() + name.size(), "value symbol '{}'", name);
  return ValueId(index);
}

namespace {

// The expression with value symbols renamed.
template <class MapValue>
Expr with_values(sym::Context& cx, Expr e, MapValue&& map) {
  if (!e || !sym::mentions_kind(e, sym::SymbolKind::kValue)) return e;
  return cx.substituted(e, [&](Expr symbol) -> Expr {
    if (symbol.symbol_kind() != sym::SymbolKind::kValue) return {};
    ValueId mapped = map(value_of_symbol(symbol));
    return cx.value(mapped.index());
  });
}

}  // namespace

ValueId LineCopier::mapped(ValueId from) const {
  auto it = values_.find(from);
  CHECK(it != values_.end(), "value %{} is copied before its definition", from.index());
  return it->second;
}

Expr LineCopier::copied(Expr e) {
  if (!e) return e;
  Expr out = cx_.substituted(e, [&](Expr symbol) -> Expr {
    if (symbol.symbol_kind() == sym::SymbolKind::kValue)
      return cx_.value(mapped(value_of_symbol(symbol)).index());
    auto it = axes_.find(symbol);
    return it == axes_.end() ? Expr() : it->second;
  });
  return simplify_(out);
}

loop::Stage::Line LineCopier::copied(const loop::Stage::Line& line) {
  loop::Stage::Line out = line;
  for (ValueId& operand : out.inst.operands)
    if (operand) operand = mapped(operand);
  out.inst.address = copied(out.inst.address);
  out.inst.guard = copied(out.inst.guard);
  if (out.inst.axis) {
    auto it = axes_.find(out.inst.axis);
    if (it != axes_.end()) out.inst.axis = it->second;
  }
  if (line.result) {
    out.result = ValueId(target_.value_count++);
    values_[line.result] = out.result;
  }
  return out;
}

void replace_uses(sym::Context& cx, loop::Nest& nest,
                  const std::unordered_map<ValueId, ValueId>& replacements) {
  if (replacements.empty()) return;
  // Replacements may chain: a merged line's operand was merged itself.
  auto final_value = [&](ValueId value) {
    for (auto it = replacements.find(value); it != replacements.end(); it = replacements.find(value))
      value = it->second;
    return value;
  };
  for (loop::Stage& stage : nest.stages) {
    for (loop::Stage::Line& line : stage.body) {
      for (ValueId& operand : line.inst.operands)
        if (operand) operand = final_value(operand);
      line.inst.address = with_values(cx, line.inst.address, final_value);
      line.inst.guard = with_values(cx, line.inst.guard, final_value);
    }
  }
}

namespace {

void substitute_axes(loop::Program& program, loop::Nest& nest, const AxisMap& axes) {
  sym::Context& cx = program.cx();
  auto replaced = [&](Expr e, sym::Simplifier& simplify) -> Expr {
    if (!e) return e;
    Expr out = cx.substituted(e, [&](Expr symbol) -> Expr {
      auto it = axes.find(symbol);
      return it == axes.end() ? Expr() : it->second;
    });
    return out == e ? e : simplify(out);
  };
  for (uint32_t s = 0; s < nest.stages.size(); ++s) {
    const sym::Facts facts = stage_facts(program, nest, s);
    sym::Simplifier simplify(cx, facts);
    for (loop::Stage::Line& line : nest.stages[s].body) {
      line.inst.address = replaced(line.inst.address, simplify);
      line.inst.guard = replaced(line.inst.guard, simplify);
      if (line.inst.axis) line.inst.axis = replaced(line.inst.axis, simplify);
    }
  }
}

}  // namespace

void split_axis(loop::Program& program, loop::Nest& nest, const Cut& cut) {
  sym::Context& cx = program.cx();
  const std::string& name = cut.axis.symbol_name();
  auto split_list = [&](std::vector<loop::Axis>& axes) {
    for (size_t k = 0; k < axes.size(); ++k) {
      if (axes[k].symbol != cut.axis) continue;
      Expr high = cx.symbol(sym::SymbolKind::kAxis, name + "h");
      Expr low = cx.symbol(sym::SymbolKind::kAxis, name + "l");
      // Where the divisor is 0 there are no points, whatever the extent beside it is.
      const loop::Axis inside{low, cut.divisor};
      const sym::Facts facts = at_points(program.facts(), {&inside, 1});
      Expr high_extent = sym::simplified(cx, cx.floordiv(axes[k].extent, cut.divisor), facts);
      axes[k] = {high, high_extent};
      axes.insert(axes.begin() + static_cast<ptrdiff_t>(k) + 1, {low, cut.divisor});
      substitute_axes(program, nest, {{cut.axis, cx.add(cx.mul(high, cut.divisor), low)}});
      return true;
    }
    return false;
  };
  if (split_list(nest.kept)) return;
  for (loop::Stage& stage : nest.stages)
    if (split_list(stage.inner)) return;
  CHECK(false, "axis {} is not in the nest", name);
}

void rename_axes_apart(sym::Context& cx, loop::Nest& nest, uint32_t& counter) {
  AxisMap axes;
  auto rename = [&](std::vector<loop::Axis>& list) {
    for (loop::Axis& axis : list) {
      Expr fresh = cx.symbol(sym::SymbolKind::kAxis, fmt::format("x{}", counter++));
      axes[axis.symbol] = fresh;
      axis.symbol = fresh;
    }
  };
  rename(nest.kept);
  for (loop::Stage& stage : nest.stages) rename(stage.inner);
  auto renamed = [&](Expr e) -> Expr {
    return e ? cx.substituted(e,
                              [&](Expr symbol) -> Expr {
                                auto it = axes.find(symbol);
                                return it == axes.end() ? Expr() : it->second;
                              })
             : e;
  };
  for (loop::Stage& stage : nest.stages) {
    for (loop::Stage::Line& line : stage.body) {
      line.inst.address = renamed(line.inst.address);
      line.inst.guard = renamed(line.inst.guard);
      line.inst.axis = renamed(line.inst.axis);
    }
  }
}

void rename_axes_plainly(loop::Program& program, loop::Nest& nest) {
  sym::Context& cx = program.cx();
  // By way of names that nothing else has, so that a new name can't meet an old one.
  uint32_t counter = 1u << 30;
  rename_axes_apart(cx, nest, counter);
  AxisMap axes;
  uint32_t kept = 0;
  uint32_t inner = 0;
  auto rename = [&](std::vector<loop::Axis>& list, char letter, uint32_t& count) {
    for (loop::Axis& axis : list) {
      Expr plain = cx.symbol(sym::SymbolKind::kAxis, fmt::format("{}{}", letter, count++));
      axes[axis.symbol] = plain;
      axis.symbol = plain;
    }
  };
  rename(nest.kept, 'i', kept);
  for (loop::Stage& stage : nest.stages) rename(stage.inner, 'r', inner);
  substitute_axes(program, nest, axes);
}

void merge_equal_lines(loop::Program& program, loop::Nest& nest) {
  std::vector<bool> stored(program.buffers.size(), false);
  for (const loop::Stage& stage : nest.stages)
    for (const loop::Stage::Line& line : stage.body)
      if (line.inst.kind == InstKind::kStore) stored[line.inst.buffer.index()] = true;

  auto before = [](Expr a, Expr b) {
    if (!a || !b) return !a && static_cast<bool>(b);
    return sym::compare(a, b) < 0;
  };
  struct Key {
    std::tuple<uint8_t, uint8_t, uint8_t, uint8_t, uint8_t, uint32_t, uint32_t, int64_t> plain;
    std::array<ValueId, 3> operands;
    Expr address, guard, axis;
  };
  auto key_before = [&](const Key& a, const Key& b) {
    if (a.plain != b.plain) return a.plain < b.plain;
    if (a.operands != b.operands) return a.operands < b.operands;
    if (a.address != b.address) return before(a.address, b.address);
    if (a.guard != b.guard) return before(a.guard, b.guard);
    return a.axis != b.axis && before(a.axis, b.axis);
  };
  std::unordered_map<ValueId, ValueId> replacements;
  std::map<Key, ValueId, decltype(key_before)> row_values(key_before);
  sym::Context& cx = program.cx();
  auto current = [&](ValueId value) {
    auto it = replacements.find(value);
    return it == replacements.end() ? value : it->second;
  };
  for (loop::Stage& stage : nest.stages) {
    std::map<Key, ValueId, decltype(key_before)> stage_values(key_before);
    auto& seen = stage.inner.empty() ? row_values : stage_values;
    for (loop::Stage::Line& line : stage.body) {
      loop::Inst& inst = line.inst;
      for (ValueId& operand : inst.operands)
        if (operand) operand = current(operand);
      inst.address = with_values(cx, inst.address, current);
      inst.guard = with_values(cx, inst.guard, current);
      bool memory = inst.kind == InstKind::kLoad && stored[inst.buffer.index()];
      if (!line.result || memory || inst.kind == InstKind::kLoadLocal) continue;
      Key key{
          {static_cast<uint8_t>(inst.kind), static_cast<uint8_t>(inst.op), static_cast<uint8_t>(inst.type),
           static_cast<uint8_t>(inst.reduce), static_cast<uint8_t>(inst.scan), inst.buffer.index(),
           inst.number.index(), inst.constant.integer},
          inst.operands,
          inst.address,
          inst.guard,
          inst.axis};
      auto [it, fresh] = seen.emplace(key, line.result);
      if (!fresh) replacements[line.result] = it->second;
    }
  }
}

}  // namespace jumar::fuse
