#include "loop/effects.h"

#include "graph/op_traits.h"

namespace jumar::loop {

bool is_ordered_call(std::string_view op) {
  graph::Node node;
  node.op = op;
  // An operator outside ATen may have effects that its schema does not tell.
  return !op.starts_with("aten.") || graph::is_random(node);
}

}  // namespace jumar::loop
