// What the lowering of one operator works with: the program that grows, and the node's arguments.
//
//   Refusal lower_flip(Op& op) {
//     Tensor x = op.tensor(0), y = op.result(0);
//     op.low().kernel(op, [&](Body& b) { ... });
//     return {};
//   }
//
// A lowering function appends kernels and says nothing, or gives the reason why the operator has to be
// called; what it appended is then taken back. A result's buffer comes into being when the function asks for
// it, or the function binds the result as a view of memory that is there already.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "loop/lower/body.h"
#include "loop/lower/lower.h"

namespace jumar::loop::lowering {

using Refusal = std::optional<std::string>;
class Lowering;

// One node's arguments and results. A negative dimension counts from the end, as everywhere in ATen.
class Op {
 public:
  Op(Lowering& low, const graph::Node& node) : low_(low), node_(node) {}

  Lowering& low() const { return low_; }
  const graph::Node& node() const { return node_; }
  const std::string& name() const { return node_.op; }
  // The result's name: what its kernels are called.
  std::string label() const;

  size_t arg_count() const { return node_.args.size(); }
  bool has(size_t k) const { return k < node_.args.size() && !node_.args[k].is_none(); }
  bool is_tensor(size_t k) const;
  Tensor tensor(size_t k) const;
  std::vector<Tensor> tensors(size_t k) const;
  std::vector<std::optional<Tensor>> optional_tensors(size_t k) const;
  Scalar scalar(size_t k) const;
  Expr integer(size_t k) const;
  std::optional<int64_t> constant(size_t k) const;
  std::vector<Expr> integers(size_t k) const;
  // Integers that must be constants; nothing when one is not.
  std::optional<std::vector<int64_t>> constants(size_t k) const;
  bool flag(size_t k) const;
  double number(size_t k) const;  // a float or integer constant
  std::string text(size_t k) const;
  // A dimension of a tensor of this rank; rank 0 counts as 1.
  size_t dim(size_t k, size_t rank) const;
  // Which dimensions a list names; none or an empty list names all.
  std::vector<bool> dim_mask(size_t k, size_t rank) const;

  size_t result_count() const { return node_.results.size(); }
  // Whether somebody uses the result.
  bool has_result(size_t k) const;
  const ir::TensorType& result_type(size_t k) const;
  Tensor result(size_t k);
  // The result, or memory of its own for a result that nobody uses.
  Tensor result_or_temp(size_t k, DType dtype, const Sizes& sizes);
  // The result is `base`'s memory from `offset` on, with the type the graph gives it.
  void bind_view(size_t k, const Tensor& base, Expr offset);
  // Memory for what one kernel of this operator hands to the next.
  Tensor temp(std::string_view suffix, DType dtype, const Sizes& sizes);

 private:
  Lowering& low_;
  const graph::Node& node_;
};

using LowerFunction = Refusal (*)(Op&);

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const LowerOptions& options);

  Result<Program> run();

  sym::Context& cx() const { return graph_.cx(); }
  const sym::Facts& facts() const { return facts_; }
  // What a float result is accumulated in where eager takes a double.
  DType widest_float() const { return options_.has_f64 ? DType::kF64 : DType::kF32; }
  const graph::Graph& graph() const { return graph_; }
  Expr constant(int64_t value) const { return cx().constant(value); }
  const Buffer& buffer(BufferId id) const { return program_.buffers[id]; }

  // Appends a kernel of one nest, or of several.
  using Write = std::function<void(Body&)>;
  void kernel(const Op& op, const Write& write);
  void kernel(const Op& op, const std::vector<Write>& nests);

  // Appends a check, unless the condition always holds.
  void check(Expr predicate, std::string message);

  Tensor tensor_of(graph::ValueId value) const;
  std::optional<NumberId> number_of(graph::ValueId value) const;
  Tensor make_result(graph::ValueId value, Storage storage);
  Tensor make_temp(std::string name, DType dtype, const Sizes& sizes);
  void bind_view(graph::ValueId value, const Tensor& base, Expr offset);
  bool is_bound(graph::ValueId value) const { return tensors_[value.index()].has_value(); }
  bool is_used(graph::ValueId value) const { return used_[value.index()]; }

 private:
  struct Mark {
    size_t items;
    size_t buffers;
  };
  // When the graph is done, `input` gets the elements of `value`.
  struct Update {
    Tensor input;
    graph::ValueId value;
    std::string name;
  };

  void declare_inputs();
  Status lower_node(const graph::Node& node);
  Refusal try_lowering(const graph::Node& node);
  Refusal refused_kernel(size_t first_item) const;
  bool makes_nothing(const graph::Node& node) const;
  bool has_indices(const graph::Node& node) const;
  void write_nothing(Op& op);
  void take_back(const graph::Node& node, Mark mark);
  Status append_call(const graph::Node& node, std::string reason);
  void define_call_results(const graph::Node& node, Call& call);
  Status append_host_op(const graph::Node& node);
  void guard_alias(const graph::Node& node, ArgList& args);
  bool must_not_alias(const graph::Node& node, size_t operand, BufferId buffer) const;
  Status name_storage(const graph::Node& node, ArgList& args) const;
  Arg converted(const graph::Arg& arg) const;
  ArgList converted(const graph::ArgList& args) const;
  void add_schema(const std::string& op, ir::Schema schema);
  void kernel(const std::string& label, const std::string& origin, const std::vector<Write>& nests);
  void copy(const std::string& label, const Tensor& from, const Tensor& to);
  void note_updates();
  Status keep_from_updates(graph::ValueId value);
  Status finish_updates();
  void finish_outputs();
  std::string unique_name(std::string name);

  const graph::Graph& graph_;
  const LowerOptions& options_;
  sym::Facts facts_;
  Program program_;
  // By graph value: the memory of a tensor, the buffer that calls name, the number of a float or bool.
  std::vector<std::optional<Tensor>> tensors_;
  std::vector<BufferId> buffers_;
  std::vector<NumberId> numbers_;
  std::vector<bool> used_;
  std::vector<Update> updates_;
  std::set<BufferId> updated_;  // the memory of their inputs
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> kernel_names_;
  std::map<std::string, ir::Schema> schemas_;
};

// Whether two elements of the type share memory, so that kept points would store to one address.
bool overlaps(const ir::TensorType& type);
// The row of loop/lower/aten.def or pointwise.def for an operator; null when there is none.
LowerFunction lowering_of(std::string_view op);
// Why an operator is called: its row in loop/lower/calls.def, or that it has no lowering.
std::string call_reason(std::string_view op);
// Whether the operator's result shares its first operand's memory.
bool is_alias_op(std::string_view op);

}  // namespace jumar::loop::lowering
