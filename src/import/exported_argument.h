// The small parts of an exported program: arguments, sizes, tensor descriptions, lines of the signature.
#pragma once

#include <functional>

#include "import/exported.h"

namespace jumar::import {

// {"as_int": 4} or {"as_expr": {"expr_str": ..., "hint": ...}}. A symbol that stands alone gives its hint.
Result<sym::Expr> read_size(sym::Context& cx, const JsonValue& value, std::map<std::string, int64_t>& hints);
// A symbolic bool, as a predicate; empty where no expression says it.
Result<sym::Expr> read_truth(sym::Context& cx, const JsonValue& value);

class ArgumentReader {
 public:
  using ReadGraph = std::function<Result<ExportedGraph>(const JsonValue&)>;
  // `read_graph` reads the graphs that arguments of higher-order operators hold.
  ArgumentReader(sym::Context& cx, ReadGraph read_graph) : cx_(cx), read_graph_(std::move(read_graph)) {}

  // A union such as {"as_tensor": {"name": "x"}}.
  Result<Argument> argument(const JsonValue& value);

 private:
  Result<Argument> of_kind(const std::string& kind, const JsonValue& value);

  sym::Context& cx_;
  ReadGraph read_graph_;
};

Result<InputSpec> read_input_spec(sym::Context& cx, const JsonValue& value);
Result<OutputSpec> read_output_spec(sym::Context& cx, const JsonValue& value);

// The element type of a number of torch's export schema, which are not those of c10.
std::optional<ir::DType> dtype_from_export(int64_t code);

}  // namespace jumar::import
