// What a decomposition works with: the arguments of one operator, and the operators that take its place.
//
//   Outcome decompose_conv2d(Call& c) {
//     return c.done(c.op("aten.convolution.default", {c.arg(0), c.arg(1), ...}, c.type(0)));
//   }
//
// A decomposition appends operators and gives the values that are the results, or gives the reason why it
// does not apply; what it appended is then taken back. Operators that it appends are decomposed in turn.
#pragma once

#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "import/op_schema.h"
#include "import/shape.h"

namespace jumar::import {

// The vocabulary of decompositions.
using graph::Arg;
using graph::ArgList;
using graph::Node;
using graph::ValueId;
using graph::ValueKind;
using ir::DType;
using ir::TensorType;
using sym::Expr;

struct Refusal {
  std::string reason;
};
using Outcome = std::variant<std::vector<ValueId>, Refusal>;

class Decomposer {
 public:
  Decomposer(graph::Graph& graph, OpSchemas& schemas) : graph_(graph), schemas_(schemas), shapes_(graph) {}
  Status run();

  graph::Graph& graph() { return graph_; }
  OpSchemas& schemas() { return schemas_; }
  const Shapes& shapes() const { return shapes_; }
  sym::Context& cx() const { return graph_.cx(); }
  // A copy: values move when others are added.
  TensorType type(ValueId value) const { return graph_.values[value].type; }

  // Appends an operator; arguments that are not given get their default values. The results are new values.
  std::vector<ValueId> append(const std::string& op, ArgList args, std::vector<TensorType> types,
                              const std::string& name, const std::string& origin);

 private:
  void place(Node node);
  bool has_tensors(const Node& node) const;
  bool expand(const Node& node);
  bool expand_in_place(const Node& node);
  void finish(const Node& node, const std::vector<ValueId>& values, size_t first_new);
  ValueId restrided(ValueId value, const TensorType& type, const Node& node);
  Arg resolved(const Arg& arg) const;
  ValueId resolved(ValueId value) const;

  graph::Graph& graph_;
  OpSchemas& schemas_;
  Shapes shapes_;
  std::unordered_map<ValueId, ValueId> replaced_;
  int depth_ = 0;
  std::optional<Diagnostic> error_;  // the first operator that had to be decomposed and was not
};

class Call {
 public:
  Call(Decomposer& owner, const Node& node);

  const Node& node() const { return node_; }
  sym::Context& cx() const { return owner_.cx(); }
  const Shapes& shapes() const { return owner_.shapes(); }
  TensorType type(ValueId value) const { return owner_.type(value); }
  size_t rank(ValueId value) const { return type(value).rank(); }

  // Arguments, by place in the schema.
  const Arg& arg(size_t k) const { return node_.args[k]; }
  bool has(size_t k) const { return !node_.args[k].is_none(); }
  bool is_tensor(size_t k) const;
  ValueId tensor(size_t k) const;
  std::optional<Expr> size(size_t k) const;
  std::optional<int64_t> constant(size_t k) const;
  std::optional<Sizes> sizes(size_t k) const;
  std::optional<std::vector<int64_t>> constants(size_t k) const;
  std::optional<bool> flag(size_t k) const;
  std::optional<double> number(size_t k) const;
  std::string word(size_t k) const;  // of a dtype, layout, ...; or text; empty for none
  // A dimension of a tensor of this rank, counted from the end where negative.
  std::optional<size_t> dim(size_t k, size_t rank) const;

  size_t result_count() const { return node_.results.size(); }
  // What capture saw.
  TensorType result(size_t k = 0) const { return owner_.type(node_.results[k]); }

  // Appends an operator with one result, or several.
  ValueId op(const std::string& name, ArgList args, TensorType type);
  std::vector<ValueId> ops(const std::string& name, ArgList args, std::vector<TensorType> types);
  // An operator on elements: broadcast, and computed in the promoted type or in `dtype`. Fails (an invalid
  // value) where sizes are not known to fit.
  ValueId elements(const std::string& name, ArgList args, std::optional<DType> dtype = {});

  ValueId transposed(ValueId x, size_t a, size_t b);
  ValueId permuted(ValueId x, const std::vector<size_t>& dims);
  ValueId expanded(ValueId x, const Sizes& sizes);
  ValueId unsqueezed(ValueId x, size_t dim);
  ValueId squeezed(ValueId x, size_t dim);
  // A view where there is one, else a copy.
  ValueId reshaped(ValueId x, const Sizes& sizes);
  ValueId copied(ValueId x);  // contiguous
  ValueId converted(ValueId x, DType dtype);
  Arg sizes_arg(const Sizes& sizes) const;
  Arg ints(std::initializer_list<int64_t> values) const;
  Arg integer(int64_t value) const { return Arg(cx().constant(value)); }
  static Arg dtype_arg(DType dtype);

  Outcome done(ValueId value) const { return std::vector<ValueId>{value}; }
  Outcome done(std::vector<ValueId> values) const { return values; }
  static Outcome refuse(std::string reason) { return Refusal{std::move(reason)}; }

 private:
  Decomposer& owner_;
  const Node& node_;
  std::string name_;
};

using Decompose = Outcome (*)(Call&);

// Whether the table has a row for the operator.
bool is_composite(std::string_view op);
// The name of the operator that does the same without writing to its operand; empty when there is none.
std::string functional_name(OpSchemas& schemas, const std::string& op);

}  // namespace jumar::import
