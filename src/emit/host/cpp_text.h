// Pieces of C++ text: identifiers, literals, integer expressions, tensor types.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "ir/layout.h"
#include "sym/expr.h"

namespace jumar::emit::host {

// Gives every name an identifier of its own that is neither a word of C++ nor one of the wrapper's.
class CppNames {
 public:
  std::string unique(std::string_view name);

 private:
  std::set<std::string> taken_;
};

// "layer.0/attention" -> "layer_0_attention".
std::string cpp_identifier(std::string_view name);
std::string cpp_string(std::string_view text);
std::string cpp_double(double value);
std::string cpp_int(int64_t value);
// With the identifiers of symbols as they are named.
std::string cpp_expr(sym::Expr e);
// F32
std::string cpp_dtype(ir::DType dtype);
// F32({s0, 256}, {1, s0})
std::string cpp_layout(sym::Context& cx, const ir::TensorType& type);
// Breaks a line at commas so that it has at most 110 columns.
std::string cpp_wrapped(std::string_view line);

}  // namespace jumar::emit::host
