// Tensor graph IR: ATen operators on tensors with symbolic sizes. Grammar and semantics: docs/graph.md.
//
//   graph @main symbols(s0 in [2, 4096] hint 128) {
//     %n: int(s0) = input 0
//     %x: f32[s0, 256] = input 1
//     %w: f32[256, 256] = parameter 2 "fc.weight"
//     %0: f32[256, 256]{1, 256} = aten.permute.default(%w, [1, 0])
//     %1: f32[s0, 256] = aten.mm.default(%x, %0)
//     %v: f32[s0, 4], %i: i64[s0, 4] = aten.topk.default(%1, 4, -1, true, true)
//     return %v, %i, s0*4
//   }
//
// A graph is functional (no operator writes to an operand) and in order: a value is defined before it is
// used. Every operator carries all arguments of its schema, in schema order, defaults included; the schema
// itself is a `schema` line of the text, so a reader needs no table. An op named `python.<index>` is a call
// that only Python can make; ops named `scalar.*` compute a host number (floats of sizes, mostly).
//
// Invariants (checked by verify): one definition per value; sizes mention only symbols of the graph; a symbol
// is bound by an input (an int input whose expression it is, or a size or stride of a tensor input) or
// defined by a node (`unbacked`); types have as many strides as sizes; argument counts match the schema.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "ir/arg.h"
#include "ir/layout.h"
#include "support/id.h"
#include "sym/facts.h"

namespace jumar::graph {

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

// What a value holds. A scalar int carries its expression; floats and bools are opaque host numbers.
enum class ValueKind : uint8_t { kTensor, kInt, kFloat, kBool, kNone };

struct Value {
  std::string name;  // unique in the graph, without '%'
  ValueKind kind = ValueKind::kTensor;
  ir::TensorType type;  // of a tensor
  sym::Expr expr;       // of an int
  NodeId definition;    // invalid for inputs
};

using NoneArg = ir::NoneArg;
using WordArg = ir::WordArg;
using Arg = ir::BasicArg<ValueId>;
using ArgList = Arg::List;
using SchemaArg = ir::SchemaArg;
using Schema = ir::Schema;

enum class InputKind : uint8_t {
  kInput,      // a call's argument
  kParameter,  // an argument that stays the same tensor from call to call (a weight, a buffer)
};

struct Input {
  ValueId value;
  InputKind kind = InputKind::kInput;
  std::string origin;  // "fc.weight"; may be empty
};

struct Node {
  std::string op;  // "aten.mm.default": namespace, name, overload
  ArgList args;
  std::vector<ValueId> results;     // in schema order; a result that nobody uses has kind kNone or stays
  std::vector<sym::Expr> unbacked;  // symbols that this node defines
  std::string origin;               // where the user's code made it; informative only
};

struct SymbolInfo {
  sym::Expr symbol;
  sym::Range range;
  std::optional<int64_t> hint;
};

class Graph {
 public:
  std::string name = "main";
  std::vector<SymbolInfo> symbols;
  std::vector<Input> inputs;  // in call order
  IdTable<ValueId, Value> values;
  IdTable<NodeId, Node> nodes;  // storage; `order` is the program
  std::vector<NodeId> order;
  ArgList outputs;  // values, integer expressions, numbers or none
  std::map<std::string, Schema> schemas;

  explicit Graph(std::shared_ptr<sym::Context> cx) : cx_(std::move(cx)) {}
  sym::Context& cx() const { return *cx_; }
  const std::shared_ptr<sym::Context>& shared_cx() const { return cx_; }
  // Ranges of the symbols.
  sym::Facts facts() const;

  // `name`, or `name` with the first free suffix _1, _2, ... when a value has it already.
  std::string unique_name(std::string name);
  // Adds a value with a name made unique.
  ValueId add_value(Value value);
  ValueId add_tensor(std::string name, ir::TensorType type);
  // Appends a node and makes it the definition of its results.
  NodeId append(Node node);

 private:
  std::shared_ptr<sym::Context> cx_;
  std::unordered_set<std::string> names_;  // of values[0 .. indexed_)
  size_t indexed_ = 0;
};

// Calls `visit` for every value that an argument mentions, lists included.
void for_each_value(const Arg& arg, const std::function<void(ValueId)>& visit);
// Calls `visit` for every integer expression that an argument holds, lists included.
void for_each_expr(const Arg& arg, const std::function<void(sym::Expr)>& visit);

// An op `python.<index>`: a call that only Python can make; no schema.
bool is_python_call(const Node& node);
// An op `scalar.*`: a host number from host numbers; no schema.
bool is_host_scalar(const Node& node);

// The kind that a symbol's name implies: u<digits> is unbacked, the rest are sizes.
sym::SymbolKind symbol_kind(std::string_view name);

Result<Graph> read_graph(std::string_view text, const std::string& file = "<graph>");
std::string write_graph(const Graph& graph);
// Nothing, or the first broken invariant.
Status verify(const Graph& graph);

}  // namespace jumar::graph
