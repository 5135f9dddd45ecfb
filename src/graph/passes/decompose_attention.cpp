#include <cmath>
#include <limits>

#include "graph/passes/append.h"
#include "graph/passes/passes.h"
#include "graph/passes/replacement.h"

namespace jumar::graph {
namespace {

using ir::DType;
using ir::TensorType;
using sym::Expr;

constexpr std::string_view kAttention = "aten._scaled_dot_product_flash_attention_for_cpu.default";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class DecomposeAttention {
 public:
  explicit DecomposeAttention(Graph& graph) : graph_(graph), cx_(graph.cx()), uses_(use_counts(graph)) {
    for (const Arg& output : graph.outputs)
      for_each_value(output, [&](ValueId value) { ++uses_[value.index()]; });
  }

  ir::PassResult run(ir::PassContext& context) {
    std::vector<NodeId> program = std::move(graph_.order);
    graph_.order.clear();
    for (NodeId id : program) {
      const std::optional<Attention> attention = found(id, context);
      if (attention) {
        rewrite(id, *attention);
        ++count_;
      } else {
        graph_.order.push_back(id);
      }
    }
    return {count_};
  }

 private:
  // Arguments: query, key, value, dropout_p, is_causal, attn_mask, scale.
  struct Attention {
    ValueId query;
    ValueId key;
    ValueId value;
    bool is_causal = false;
    std::optional<ValueId> mask;
    double scale = 1;
  };

  const TensorType& type_of(ValueId value) const { return graph_.values[value].type; }

  std::optional<Attention> found(NodeId id, ir::PassContext& context) const {
    const Node& node = graph_.nodes[id];
    if (node.op != kAttention) return std::nullopt;
    const auto refuse = [&](std::string_view reason) {
      context.remarks.push_back(fmt::format("%{} stays: {}", graph_.values[node.results[0]].name, reason));
      return std::nullopt;
    };
    if (uses_[node.results[1].index()] > 0) return refuse("a backward graph needs its sums");
    const ArgList& args = node.args;
    const double* dropout = args[3].as<double>();
    const bool* is_causal = args[4].as<bool>();
    if (!dropout || *dropout != 0 || !is_causal) return refuse("it draws random numbers");
    Attention out{*args[0].as<ValueId>(), *args[1].as<ValueId>(), *args[2].as<ValueId>(), *is_causal, {}, 1};
    if (!args[5].is_none()) out.mask = *args[5].as<ValueId>();
    const std::optional<int64_t> width = type_of(out.query).sizes.back().as_const();
    if (const double* scale = args[6].as<double>()) {
      out.scale = *scale;
    } else if (args[6].is_none() && width && *width > 0) {
      out.scale = 1 / std::sqrt(static_cast<double>(*width));
    } else {
      return refuse("its scale is not known");
    }
    return out;
  }

  void rewrite(NodeId id, const Attention& attention) {
    name_ = graph_.values[graph_.nodes[id].results[0]].name;
    const DType dtype = type_of(attention.query).dtype;
    const DType acc = ir::is_low_precision(dtype) ? DType::kF32 : dtype;
    const ValueId q = converted(attention.query, acc, "query");
    const ValueId k = converted(attention.key, acc, "key");
    std::vector<Expr> sizes = type_of(q).sizes;
    sizes.back() = type_of(k).sizes[2];
    ValueId scores = op("aten.matmul.default", {q, swapped(k)}, "products", dense(acc, sizes));
    if (attention.scale != 1)
      scores = op("aten.mul.Scalar", {scores, attention.scale}, "scaled", dense(acc, sizes));
    if (attention.mask) scores = masked(scores, *attention.mask);
    if (attention.is_causal) scores = without_future(scores);
    // A row in which nothing is left has no weights; a row of numbers always has.
    const bool may_be_bare = attention.mask.has_value() || attention.is_causal;
    const ValueId weights =
        may_be_bare
            ? op("aten._safe_softmax.default", {scores, cx_.constant(-1), NoneArg{}}, "weights",
                 dense(acc, sizes))
            : op("aten._softmax.default", {scores, cx_.constant(-1), false}, "weights", dense(acc, sizes));
    const ValueId v = converted(attention.value, acc, "value");
    graph_.nodes[id].results.resize(1);
    if (acc == dtype) return append_as(graph_, id, "aten.matmul.default", {weights, v});
    TensorType type = type_of(graph_.nodes[id].results[0]);
    type.dtype = acc;
    const ValueId exact = op("aten.matmul.default", {weights, v}, "exact", std::move(type));
    append_as(graph_, id, "aten._to_copy.default", copy_args(exact, dtype));
  }

  // A mask of numbers is added; of bools, it says which scores stay.
  ValueId masked(ValueId scores, ValueId mask) {
    const TensorType type = type_of(scores);
    if (!ir::is_bool(type_of(mask).dtype))
      return op("aten.add.Tensor", {scores, mask, cx_.constant(1)}, "masked", type);
    const std::vector<Expr> sizes = type_of(mask).sizes;
    const ValueId out = op("aten.logical_not.default", {mask}, "hidden", dense(DType::kBool, sizes));
    return op("aten.masked_fill.Scalar", {scores, out, -kInfinity}, "masked", type);
  }

  ValueId without_future(ValueId scores) {
    const TensorType type = type_of(scores);
    const TensorType square = dense(DType::kBool, {type.sizes[2], type.sizes[3]});
    const ValueId ones =
        op("aten.ones.default",
           {ArgList(square.sizes.begin(), square.sizes.end()), WordArg{WordArg::Kind::kDType, "bool"},
            NoneArg{}, WordArg{WordArg::Kind::kDevice, "cpu"}, NoneArg{}},
           "ones", square);
    const ValueId future = op("aten.triu.default", {ones, cx_.constant(1)}, "future", square);
    return op("aten.masked_fill.Scalar", {scores, future, -kInfinity}, "causal", type);
  }

  ValueId converted(ValueId value, DType dtype, const std::string& what) {
    if (type_of(value).dtype == dtype) return value;
    return op("aten._to_copy.default", copy_args(value, dtype), what, dense(dtype, type_of(value).sizes));
  }

  static ArgList copy_args(ValueId value, DType dtype) {
    return {value,     WordArg{WordArg::Kind::kDType, std::string(ir::dtype_name(dtype))},
            NoneArg{}, NoneArg{},
            NoneArg{}, false,
            NoneArg{}};
  }

  // The last two dimensions swapped.
  ValueId swapped(ValueId value) {
    TensorType type = type_of(value);
    std::swap(type.sizes[2], type.sizes[3]);
    std::swap(type.strides[2], type.strides[3]);
    ArgList dims;
    for (int64_t dim : {0, 1, 3, 2}) dims.push_back(cx_.constant(dim));
    return op("aten.permute.default", {value, std::move(dims)}, "keys", std::move(type));
  }

  TensorType dense(DType dtype, std::vector<Expr> sizes) const {
    std::vector<Expr> strides = ir::contiguous_strides(cx_, sizes);
    return {dtype, std::move(sizes), std::move(strides)};
  }

  ValueId op(const std::string& op, ArgList args, const std::string& what, TensorType type) {
    return appended(graph_, op, std::move(args), name_ + "_" + what, std::move(type));
  }

  Graph& graph_;
  sym::Context& cx_;
  std::vector<uint32_t> uses_;
  std::string name_;  // of the attention that is rewritten
  uint32_t count_ = 0;
};

}  // namespace

// Before:  %o: f32[2, 4, 8, 16], %l: f32[2, 4, 8] = aten._scaled_dot_product_flash_attention_for_cpu.default(
//              %q, %k, %v, 0.0, false, %m, 0.25)
// After:   %o_keys = %k with its last dimensions swapped
//          %o_products: f32[2, 4, 8, 8] = aten.matmul.default(%q, %o_keys)
//          %o_scaled = %o_products * 0.25, %o_masked = %o_scaled + %m, %o_weights = their softmax
//          %o: f32[2, 4, 8, 16] = aten.matmul.default(%o_weights, %v)
// What is between the products becomes one kernel. Operands of less than 32 bits are widened, because torch's
// kernel adds up in 32 bits too.
ir::PassResult decompose_attention(Graph& graph, ir::PassContext& context) {
  return DecomposeAttention(graph).run(context);
}

}  // namespace jumar::graph
