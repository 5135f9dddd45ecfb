#include <algorithm>
#include <array>
#include <cmath>

#include "graph/op_traits.h"
#include "graph/passes/passes.h"
#include "graph/passes/replacement.h"
#include "graph/storage.h"

namespace jumar::graph {
namespace {

using sym::Expr;

template <size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& ops) {
  return std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

// Views that start at their operand's first element: with an equal type they are the operand.
constexpr std::array<std::string_view, 12> kPlainViews = {
    "aten.alias.default",      "aten.detach.default",       "aten.expand.default",
    "aten.lift_fresh.default", "aten._unsafe_view.default", "aten.permute.default",
    "aten.reshape.default",    "aten.slice.Tensor",         "aten.t.default",
    "aten.view.default",       "aten.transpose.int",        "aten.contiguous.default"};
constexpr std::array<std::string_view, 3> kReshapes = {"aten.view.default", "aten._unsafe_view.default",
                                                       "aten.reshape.default"};
// Copies: with an equal type they have the operand's elements in a storage of their own.
constexpr std::array<std::string_view, 3> kCopies = {"aten.clone.default", "aten._to_copy.default",
                                                     "aten.lift_fresh_copy.default"};

bool is_number(const Arg& arg, double value) {
  if (const Expr* expr = arg.as<Expr>()) return expr->is_const(static_cast<int64_t>(value));
  const double* number = arg.as<double>();
  return number != nullptr && *number == value;
}

// A zero that leaves every float as it is when it is subtracted: not -0.0, because x - -0.0 turns -0.0 into
// 0.0.
bool is_positive_zero(const Arg& arg) {
  if (const double* number = arg.as<double>()) return *number == 0 && !std::signbit(*number);
  return is_number(arg, 0);
}

// Arithmetic with a constant that gives back the operand bit for bit (but for signalling NaNs).
bool is_identity_arithmetic(const Node& node, const ir::TensorType& type) {
  bool is_exact = ir::is_integer(type.dtype);
  auto arg = [&](size_t k) -> const Arg& { return node.args[k]; };
  // x + 0 is 0.0 for -0.0.
  if (node.op == "aten.add.Tensor" || node.op == "aten.add.Scalar") return is_exact && is_number(arg(1), 0);
  if (node.op == "aten.sub.Tensor" || node.op == "aten.sub.Scalar")
    return (is_exact && is_number(arg(1), 0)) || (is_positive_zero(arg(1)) && is_number(arg(2), 1));
  if (ir::is_complex(type.dtype)) return false;
  if (node.op == "aten.mul.Tensor" || node.op == "aten.mul.Scalar" || node.op == "aten.div.Tensor" ||
      node.op == "aten.div.Scalar" || node.op == "aten.pow.Tensor_Scalar")
    return is_number(arg(1), 1);
  return false;
}

class FoldNoop {
 public:
  explicit FoldNoop(Graph& graph) : graph_(graph), storage_(graph), replacement_(graph) {}

  ir::PassResult run() {
    for (NodeId id : graph_.order) {
      Node& node = graph_.nodes[id];
      replacement_.apply(node.args);
      if (node.results.size() != 1 || node.args.empty() || !node.args[0].as<ValueId>()) continue;
      shorten_reshape(node);
      fold(node);
    }
    return {changes_};
  }

 private:
  const Value& value(ValueId id) const { return graph_.values[id]; }

  // A reshape of a reshape is one reshape, if the first one's operand is contiguous, so that any sizes will
  // do.
  void shorten_reshape(Node& node) {
    if (!is_one_of(node, kReshapes)) return;
    const Value& operand = value(*node.args[0].as<ValueId>());
    if (!operand.definition) return;
    const Node& inner = graph_.nodes[operand.definition];
    if (!is_one_of(inner, kReshapes)) return;
    ValueId source = *inner.args[0].as<ValueId>();
    const ir::TensorType& type = value(source).type;
    if (!ir::is_contiguous(graph_.cx(), type)) return;
    const ir::TensorType& result = value(node.results[0]).type;
    if (!ir::is_contiguous(graph_.cx(), result)) return;
    node.args[0] = Arg(source);
    // The sizes are written out: -1 would be inferred from them as well, but they need not be looked up then.
    node.args[1] = Arg(ArgList(result.sizes.begin(), result.sizes.end()));
    ++changes_;
  }

  void fold(Node& node) {
    ValueId operand = *node.args[0].as<ValueId>(), result = node.results[0];
    if (value(operand).kind != ValueKind::kTensor || value(result).kind != ValueKind::kTensor) return;
    if (!(value(operand).type == value(result).type)) return;
    if (is_one_of(node, kPlainViews)) {
      // The result itself stays where the graph returns it: AOTAutograd was promised a view there.
      replace(result, operand);
    } else if (is_one_of(node, kCopies) || is_identity_arithmetic(node, value(operand).type)) {
      // A caller that receives the copy, or a view of it, may write to it; and what reads the copy's storage
      // by offset would find something else in the operand's.
      if (!storage_.escapes(result) && !storage_.is_read_by_offset(result)) replace(result, operand);
    }
  }

  void replace(ValueId result, ValueId by) {
    if (uses_[result.index()] == 0) return;
    replacement_.set(result, by);
    ++changes_;
  }

  Graph& graph_;
  StorageFacts storage_;
  Replacement replacement_;
  std::vector<uint32_t> uses_ = use_counts(graph_);
  uint32_t changes_ = 0;
};

}  // namespace

// Before:  %0: f32[2, 3] = aten.clone.default(%x, none)         After:  %0 and %1 as before, and
//          %1: f32[6] = aten.view.default(%0, [6])                      %2: f32[3, 2] = aten.view.default(%x,
//          [3, 2]) %2: f32[3, 2] = aten.view.default(%1, [3, 2])
// Nodes that lose their users are left to dead-code. Values stay the same bit for bit, zeros' signs and NaNs
// included; results that the graph returns keep their definitions, so that what was fresh stays fresh.
ir::PassResult fold_noop(Graph& graph, ir::PassContext&) { return FoldNoop(graph).run(); }

}  // namespace jumar::graph
