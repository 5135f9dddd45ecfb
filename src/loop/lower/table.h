// What becomes of each operator, as the tables beside this file say: aten.def, pointwise.def and calls.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jumar::loop {

struct OperatorRow {
  std::string op;  // aten.add.Tensor; of what is called, the beginning of the name and a *
  // It has a lowering, which may still ask for a call: of complex numbers, say.
  bool is_lowered = false;
  std::string reason;  // why it is called
};

// The row that counts for an operator, whether it is named or not.
OperatorRow operator_row(std::string_view op);
// All rows, by name.
std::vector<OperatorRow> operator_rows();

}  // namespace jumar::loop
