// Which values share storage, and whose storage a caller gets to see.
//
//   %a = aten.add.Tensor(...)        storage of its own
//   %t = aten.t.default(%a)          the storage of %a
//   return %t                        so %a's storage escapes
//
// A caller may write to what it receives. Two results of a graph must therefore not share storage unless they
// do in eager PyTorch, and a fresh result must not become an input: passes that merge values ask here first.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace jumar::graph {

class StorageFacts {
 public:
  explicit StorageFacts(const Graph& graph);

  // The value whose definition made the storage of `value`: an input, or a result of an operator that is no
  // view.
  ValueId root(ValueId value) const { return roots_[value.index()]; }
  // Whether a result of the graph has the storage of `value`.
  bool escapes(ValueId value) const { return escapes_[root(value).index()]; }
  // Whether an operator reads the storage of `value` at absolute offsets, through views or directly.
  bool is_read_by_offset(ValueId value) const { return by_offset_[value.index()]; }
  bool is_input(ValueId value) const { return is_input_[value.index()]; }
  // Whether the graph returns exactly this value.
  bool is_output(ValueId value) const { return is_output_[value.index()]; }

 private:
  std::vector<ValueId> roots_;
  std::vector<bool> escapes_;
  std::vector<bool> by_offset_;
  std::vector<bool> is_input_;
  std::vector<bool> is_output_;
};

}  // namespace jumar::graph
