// Conditions of the graph on integers of the host.
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

Refusal lower_assert_scalar(Op& op) {
  const auto* predicate = op.node().args[0].as<Expr>();
  if (!predicate) return "it checks a number that is no integer";
  op.low().check(*predicate, op.text(1));
  return {};
}

}  // namespace jumar::loop::lowering
