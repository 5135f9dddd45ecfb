// What an instruction reads: operands, and the values and axes that its expressions mention.
//
//   store %y[256*i0 + %3], %2 if i0 < s0      operands {%2}, exprs {256*i0 + %3, i0 < s0}, values {%2, %3}
#pragma once

#include "loop/loop.h"

namespace jumar::loop {

// How many of Inst::operands are used.
int operand_count(const Inst& inst);
bool is_arg_reduce(ReduceKind kind);
// Lines of all stages.
size_t line_count(const Nest& nest);
size_t line_count(const Kernel& kernel);
// The value that a symbol `%7` names.
ValueId value_of_symbol(sym::Expr symbol);

// Calls visit(expr) for the address, the guard and the scanned axis, where there are any.
template <class Visit>
void for_each_expr(const Inst& inst, Visit&& visit) {
  if (inst.address) visit(inst.address);
  if (inst.guard) visit(inst.guard);
  if (inst.axis) visit(inst.axis);
}

// Calls visit(id) for each value that the instruction reads, by operand or by expression; some more than
// once.
template <class Visit>
void for_each_use(const Inst& inst, Visit&& visit) {
  for (int k = 0; k < operand_count(inst); ++k) visit(inst.operands[k]);
  for_each_expr(inst, [&](sym::Expr e) {
    if (!sym::mentions_kind(e, sym::SymbolKind::kValue)) return;
    for (sym::Expr symbol : sym::symbols_of(e))
      if (symbol.is_symbol(sym::SymbolKind::kValue)) visit(value_of_symbol(symbol));
  });
}

}  // namespace jumar::loop
