// What is known about operators by name: rows of graph/op_traits.def. An operator without a row is a function
// of its arguments that returns fresh tensors, if it is in the namespace aten; of others nothing is known.
#pragma once

#include "graph/graph.h"

namespace jumar::graph {

// The node's results may share storage with its first operand (views; operators that copy only when they
// must).
bool may_alias(const Node& node);
// The node draws from the random generator: it is never lowered, merged, dropped or moved across another.
bool is_random(const Node& node);
// The node must run exactly as often as it is written: it has no results, or only Python or a custom operator
// knows what it does, or it is random.
bool has_effect(const Node& node);
// The node updates an input: when the graph is done, its first operand's memory gets the elements of its
// second operand. Until then everything reads what was there before. (A copy_ with a result stands only in an
// exported program, before writes are taken out of it.)
bool is_update(const Node& node);
// The node reads storage at absolute offsets, so that equal tensors in other places are not equal to it.
bool reads_storage(const Node& node);
// The node makes a tensor with strides that are asked for, such that elements may share memory.
bool takes_strides(const Node& node);

}  // namespace jumar::graph
