#include <array>
#include <string_view>

#include "graph/passes/passes.h"

namespace jumar::graph {
namespace {

constexpr std::string_view kPrefix = "aten._foreach_";
// Operators of one tensor: "exp" stands for aten._foreach_exp.default and aten.exp.default.
constexpr std::string_view kUnary[] = {
    "abs",   "acos",    "asin",   "atan", "ceil",  "cos",   "cosh", "erf",  "erfc", "exp",        "expm1",
    "floor", "frac",    "lgamma", "log",  "log10", "log1p", "log2", "max",  "neg",  "reciprocal", "round",
    "rsqrt", "sigmoid", "sign",   "sin",  "sinh",  "sqrt",  "tan",  "tanh", "trunc"};

// The operator on lists without its prefix, the operator on tensors, and the kinds and names of its
// arguments.
struct Row {
  std::string_view list;
  std::string_view op;
  std::array<std::string_view, 4> kinds;
  std::array<std::string_view, 4> names;
  bool adds_alpha = false;  // the last argument, 1, is not among the list's arguments
};

constexpr std::array<std::string_view, 4> kTensors = {"Tensor", "Tensor"};
constexpr std::array<std::string_view, 4> kScalar = {"Tensor", "Scalar"};
constexpr std::array<std::string_view, 4> kSelfOther = {"self", "other"};
constexpr std::array<std::string_view, 4> kAlphaTensors = {"Tensor", "Tensor", "Scalar"};
constexpr std::array<std::string_view, 4> kAlphaScalar = {"Tensor", "Scalar", "Scalar"};
constexpr std::array<std::string_view, 4> kAlphaNames = {"self", "other", "alpha"};
constexpr std::array<std::string_view, 4> kLerp = {"self", "end", "weight"};
constexpr std::array<std::string_view, 4> kThree = {"Tensor", "Tensor", "Tensor", "Scalar"};
constexpr std::array<std::string_view, 4> kThreeNames = {"self", "tensor1", "tensor2", "value"};

constexpr Row kRows[] = {
    {"add.List", "aten.add.Tensor", kAlphaTensors, kAlphaNames},
    {"add.Tensor", "aten.add.Tensor", kAlphaTensors, kAlphaNames},
    {"add.Scalar", "aten.add.Scalar", kAlphaScalar, kAlphaNames, true},
    {"add.ScalarList", "aten.add.Scalar", kAlphaScalar, kAlphaNames, true},
    {"sub.List", "aten.sub.Tensor", kAlphaTensors, kAlphaNames},
    {"sub.Scalar", "aten.sub.Scalar", kAlphaScalar, kAlphaNames, true},
    {"sub.ScalarList", "aten.sub.Scalar", kAlphaScalar, kAlphaNames, true},
    {"mul.List", "aten.mul.Tensor", kTensors, kSelfOther},
    {"mul.Tensor", "aten.mul.Tensor", kTensors, kSelfOther},
    {"mul.Scalar", "aten.mul.Scalar", kScalar, kSelfOther},
    {"mul.ScalarList", "aten.mul.Scalar", kScalar, kSelfOther},
    {"div.List", "aten.div.Tensor", kTensors, kSelfOther},
    {"div.Tensor", "aten.div.Tensor", kTensors, kSelfOther},
    {"div.Scalar", "aten.div.Scalar", kScalar, kSelfOther},
    {"div.ScalarList", "aten.div.Scalar", kScalar, kSelfOther},
    {"maximum.List", "aten.maximum.default", kTensors, kSelfOther},
    {"maximum.Scalar", "aten.clamp_min.default", kScalar, {"self", "min"}},
    {"maximum.ScalarList", "aten.clamp_min.default", kScalar, {"self", "min"}},
    {"clamp_min.List", "aten.maximum.default", kTensors, kSelfOther},
    {"clamp_min.Scalar", "aten.clamp_min.default", kScalar, {"self", "min"}},
    {"clamp_min.ScalarList", "aten.clamp_min.default", kScalar, {"self", "min"}},
    {"minimum.List", "aten.minimum.default", kTensors, kSelfOther},
    {"minimum.Scalar", "aten.clamp_max.default", kScalar, {"self", "max"}},
    {"minimum.ScalarList", "aten.clamp_max.default", kScalar, {"self", "max"}},
    {"clamp_max.List", "aten.minimum.default", kTensors, kSelfOther},
    {"clamp_max.Scalar", "aten.clamp_max.default", kScalar, {"self", "max"}},
    {"clamp_max.ScalarList", "aten.clamp_max.default", kScalar, {"self", "max"}},
    {"pow.List", "aten.pow.Tensor_Tensor", kTensors, {"self", "exponent"}},
    {"pow.Scalar", "aten.pow.Tensor_Scalar", kScalar, {"self", "exponent"}},
    {"pow.ScalarList", "aten.pow.Tensor_Scalar", kScalar, {"self", "exponent"}},
    {"pow.ScalarAndTensor", "aten.pow.Scalar", {"Scalar", "Tensor"}, {"self", "exponent"}},
    {"copy.default", "aten.copy.default", {"Tensor", "Tensor", "bool"}, {"self", "src", "non_blocking"}},
    {"lerp.List", "aten.lerp.Tensor", {"Tensor", "Tensor", "Tensor"}, kLerp},
    {"lerp.Scalar", "aten.lerp.Scalar", {"Tensor", "Tensor", "Scalar"}, kLerp},
    {"lerp.ScalarList", "aten.lerp.Scalar", {"Tensor", "Tensor", "Scalar"}, kLerp},
    {"addcmul.Scalar", "aten.addcmul.default", kThree, kThreeNames},
    {"addcmul.ScalarList", "aten.addcmul.default", kThree, kThreeNames},
    {"addcdiv.Scalar", "aten.addcdiv.default", kThree, kThreeNames},
    {"addcdiv.ScalarList", "aten.addcdiv.default", kThree, kThreeNames},
};

// What takes the place of an operator on lists for each element.
struct Single {
  std::string op;
  Schema schema;
  bool adds_alpha = false;
};

std::optional<Single> single_of(std::string_view op) {
  if (!op.starts_with(kPrefix)) return std::nullopt;
  op.remove_prefix(kPrefix.size());
  for (const std::string_view name : kUnary)
    if (op == fmt::format("{}.default", name))
      return Single{fmt::format("aten.{}", op), {{{"Tensor", "self"}}, {"Tensor"}}};
  for (const Row& row : kRows) {
    if (row.list != op) continue;
    Single out{std::string(row.op), {{}, {"Tensor"}}, row.adds_alpha};
    for (size_t k = 0; k < row.kinds.size() && !row.kinds[k].empty(); ++k)
      out.schema.args.push_back({std::string(row.kinds[k]), std::string(row.names[k])});
    return out;
  }
  return std::nullopt;
}

// Whether every list among the arguments has an element for each result.
bool has_elements(const Node& node) {
  for (const Arg& arg : node.args)
    if (arg.list() != nullptr && arg.list()->size() != node.results.size()) return false;
  return true;
}

}  // namespace

// Before:  %a: f32[4], %b: f32[8] = aten._foreach_mul.Scalar([%x, %y], 2.0)
// After:   %a: f32[4] = aten.mul.Scalar(%x, 2.0)
//          %b: f32[8] = aten.mul.Scalar(%y, 2.0)
// Lists are how optimizers save dispatches; as single operators they fuse.
ir::PassResult split_lists(Graph& graph, ir::PassContext&) {
  uint32_t count = 0;
  std::vector<NodeId> program = std::move(graph.order);
  graph.order.clear();
  for (NodeId id : program) {
    const Node node = graph.nodes[id];
    const std::optional<Single> single = single_of(node.op);
    if (!single || !has_elements(node)) {
      graph.order.push_back(id);
      continue;
    }
    ++count;
    graph.schemas.try_emplace(single->op, single->schema);
    for (size_t k = 0; k < node.results.size(); ++k) {
      Node one;
      one.op = single->op;
      one.origin = node.origin;
      one.results = {node.results[k]};
      for (const Arg& arg : node.args) one.args.push_back(arg.list() != nullptr ? (*arg.list())[k] : arg);
      if (single->adds_alpha) one.args.push_back(graph.cx().constant(1));
      graph.append(std::move(one));
    }
  }
  return {count};
}

}  // namespace jumar::graph
