#include <algorithm>
#include <array>
#include <map>

#include "graph/op_traits.h"
#include "graph/passes/append.h"
#include "graph/passes/passes.h"

namespace jumar::graph {
namespace {

using sym::Expr;

// More results than this to bring back into the promised layout cost more than the convolutions gain: the
// graph is the forward of a training step, whose results are its saved tensors.
constexpr size_t kMostRestoredResults = 2;

constexpr std::string_view kConvolution = "aten.convolution.default";

// Operators whose first result has one element per element (or window) of rank-4 operands and is as fast in
// either layout: it takes the layout of its operands.
constexpr std::array kFollowers = {
    "add.Tensor",
    "sub.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "add.Scalar",
    "sub.Scalar",
    "mul.Scalar",
    "div.Scalar",
    "maximum.default",
    "minimum.default",
    "relu.default",
    "relu6.default",
    "leaky_relu.default",
    "elu.default",
    "gelu.default",
    "silu.default",
    "mish.default",
    "sigmoid.default",
    "hardsigmoid.default",
    "hardswish.default",
    "hardtanh.default",
    "softplus.default",
    "tanh.default",
    "clamp.default",
    "clamp_min.default",
    "clamp_max.default",
    "neg.default",
    "abs.default",
    "exp.default",
    "sqrt.default",
    "rsqrt.default",
    "pow.Tensor_Scalar",
    "where.self",
    "_to_copy.default",
    "_native_batch_norm_legit_no_training.default",
    "native_group_norm.default",
    "max_pool2d_with_indices.default",
    "avg_pool2d.default",
    "constant_pad_nd.default",
    "upsample_nearest2d.default",
    "upsample_nearest2d.vec",
    "upsample_bilinear2d.default",
    "upsample_bilinear2d.vec",
    "pixel_shuffle.default",
    "cat.default",
};
// As above, for every result.
constexpr std::string_view kPoolWithIndices = "aten.max_pool2d_with_indices.default";

bool follows_operands(std::string_view op) {
  if (!op.starts_with("aten.")) return false;
  return std::find(kFollowers.begin(), kFollowers.end(), op.substr(5)) != kFollowers.end();
}

class ChannelsLast {
 public:
  explicit ChannelsLast(Graph& graph) : graph_(graph), cx_(graph.cx()) {}

  ir::PassResult run(ir::PassContext& context) {
    std::vector<NodeId> program = std::move(graph_.order);
    graph_.order.clear();
    for (NodeId id : program) {
      visit(id);
      graph_.order.push_back(id);
    }
    for (Arg& output : graph_.outputs)
      if (const ValueId* value = output.as<ValueId>(); value && captured_.contains(*value)) {
        output = restored(*value);
        ++restored_results_;
      }
    context.remarks.push_back(fmt::format("channels last: {} convolutions, {} weight copies, {} input copies",
                                          convolutions_, weight_copies_, input_copies_));
    return {changes_};
  }

  size_t restored_results() const { return restored_results_; }

 private:
  ir::TensorType& type_of(ValueId value) { return graph_.values[value].type; }

  bool is_channels_last(ValueId value) { return ir::is_channels_last(cx_, type_of(value)); }

  // Both layouts of such a tensor are the same memory.
  bool is_one_pixel(ValueId value) {
    const ir::TensorType& type = type_of(value);
    return type.sizes[2].is_const(1) && type.sizes[3].is_const(1) && ir::is_contiguous(cx_, type);
  }

  void set_strides(ValueId value, std::vector<Expr> strides) {
    ir::TensorType& type = type_of(value);
    if (type.strides == strides) return;
    ++changes_;
    captured_.emplace(value, type.strides);
    type.strides = std::move(strides);
  }

  void make_channels_last(ValueId value) {
    if (!is_one_pixel(value)) set_strides(value, ir::channels_last_strides(cx_, type_of(value).sizes));
  }

  void visit(NodeId id) {
    if (graph_.nodes[id].op == kConvolution && convolve(id)) return;
    if (follows_operands(graph_.nodes[id].op)) {
      follow(id);
    } else if (may_alias(graph_.nodes[id])) {
      if (!view(id)) restore_operands(id);
    } else if (has_effect(graph_.nodes[id]) || reads_storage(graph_.nodes[id])) {
      restore_operands(id);
    }
  }

  // Operands and result of a plain 2-D convolution become channels-last.
  bool convolve(NodeId id) {
    const ArgList& args = graph_.nodes[id].args;
    const ValueId* input = args[0].as<ValueId>();
    const ValueId* weight = args[1].as<ValueId>();
    const bool* transposed = args[6].as<bool>();
    if (!input || !weight || !transposed || *transposed || type_of(*input).rank() != 4) return false;
    ++convolutions_;
    ValueId x = *input;
    ValueId w = *weight;
    if (!is_channels_last(x) && !is_one_pixel(x)) {
      x = converted(x, input_copies_);
      graph_.nodes[id].args[0] = x;
    }
    const std::vector<Expr>& kernel = type_of(w).sizes;
    bool is_same_memory = kernel[1].is_const(1) || (kernel[2].is_const(1) && kernel[3].is_const(1));
    if (!is_same_memory && !is_channels_last(w)) graph_.nodes[id].args[1] = converted(w, weight_copies_);
    make_channels_last(graph_.nodes[id].results[0]);
    return true;
  }

  void follow(NodeId id) {
    const Node& node = graph_.nodes[id];
    ValueId result = node.results[0];
    if (graph_.values[result].kind != ValueKind::kTensor || type_of(result).rank() != 4) return;
    bool follows = false;
    bool all_follow = true;
    for (const Arg& arg : node.args) {
      for_each_value(arg, [&](ValueId value) {
        if (graph_.values[value].kind != ValueKind::kTensor || type_of(value).rank() != 4) return;
        bool is_laid_out = is_channels_last(value);
        follows = follows || (is_laid_out && captured_.contains(value));
        all_follow = all_follow && is_laid_out;
      });
    }
    if (!follows || (node.op == "aten.cat.default" && !all_follow)) return;
    make_channels_last(result);
    if (node.op == kPoolWithIndices && graph_.values[node.results[1]].kind == ValueKind::kTensor)
      make_channels_last(node.results[1]);
  }

  // Recomputes the strides of a view's results; false when the operand's new layout does not allow the view.
  bool view(NodeId id) {
    const Node& node = graph_.nodes[id];
    const ValueId* operand = node.args.empty() ? nullptr : node.args[0].as<ValueId>();
    if (!operand || !captured_.contains(*operand)) return true;
    const ir::TensorType& type = type_of(*operand);
    std::string_view op = std::string_view(node.op).substr(5);
    std::vector<Expr> strides = type.strides;
    if (op == "permute.default") {
      std::vector<size_t> dims = dimensions(node.args[1], strides.size());
      for (size_t k = 0; k < dims.size(); ++k) strides[k] = type.strides[dims[k]];
    } else if (op == "transpose.int") {
      std::swap(strides[dimension(node.args[1], strides.size())],
                strides[dimension(node.args[2], strides.size())]);
    } else if (op == "view.default" || op == "_unsafe_view.default") {
      auto seen = ir::viewed_strides(cx_, type, type_of(node.results[0]).sizes);
      if (!seen) return false;
      strides = std::move(*seen);
    } else if (op == "select.int") {
      strides.erase(strides.begin() + static_cast<ptrdiff_t>(dimension(node.args[1], strides.size())));
    } else if (op != "alias.default" && op != "detach.default") {
      return false;
    }
    set_strides(node.results[0], std::move(strides));
    return true;
  }

  static size_t dimension(const Arg& arg, size_t rank) {
    int64_t dim = arg.as<Expr>()->const_value();
    return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
  }
  static std::vector<size_t> dimensions(const Arg& arg, size_t rank) {
    std::vector<size_t> dims;
    for (const Arg& element : *arg.list()) dims.push_back(dimension(element, rank));
    return dims;
  }

  void restore_operands(NodeId id) {
    ArgList args = graph_.nodes[id].args;
    for (Arg& arg : args) restore(arg);
    graph_.nodes[id].args = std::move(args);
  }

  void restore(Arg& arg) {
    if (const ValueId* value = arg.as<ValueId>()) {
      if (captured_.contains(*value)) arg = restored(*value);
    } else if (auto* list = std::get_if<ArgList>(&arg.data)) {
      for (Arg& element : *list) restore(element);
    }
  }

  // A copy in the layout that capture promised.
  ValueId restored(ValueId value) {
    auto [it, fresh] = restored_.emplace(value, ValueId());
    if (fresh) it->second = copied(value, captured_.at(value), "contiguous");
    return it->second;
  }

  ValueId converted(ValueId value, uint32_t& copies) {
    auto [it, fresh] = converted_.emplace(value, ValueId());
    if (fresh) {
      it->second = copied(value, ir::channels_last_strides(cx_, type_of(value).sizes), "channels_last");
      ++copies;
    }
    return it->second;
  }

  ValueId copied(ValueId value, std::vector<Expr> strides, std::string format) {
    ++changes_;
    ir::TensorType type = type_of(value);
    type.strides = std::move(strides);
    return appended(graph_, "aten.clone.default",
                    {value, WordArg{WordArg::Kind::kMemoryFormat, std::move(format)}},
                    graph_.values[value].name + "_laid_out", std::move(type));
  }

  Graph& graph_;
  sym::Context& cx_;
  std::map<ValueId, std::vector<Expr>> captured_;  // strides as captured, of values whose strides changed
  std::map<ValueId, ValueId> converted_;
  std::map<ValueId, ValueId> restored_;
  uint32_t changes_ = 0;
  uint32_t convolutions_ = 0;
  uint32_t weight_copies_ = 0;
  uint32_t input_copies_ = 0;
  size_t restored_results_ = 0;
};

bool has_convolution(const Graph& graph) {
  return std::any_of(graph.order.begin(), graph.order.end(),
                     [&](NodeId id) { return graph.nodes[id].op == kConvolution; });
}

}  // namespace

// Before:  %0: f32[2, 8, 9, 9] = aten.convolution.default(%x, %w, none, [1, 1], [1, 1], ...)
//          %1: f32[2, 8, 9, 9] = aten.relu.default(%0)
// After:   %x_laid_out: f32[2, 3, 9, 9]{243, 1, 27, 3} = aten.clone.default(%x, memory_format(channels_last))
//          %w_laid_out: f32[8, 3, 3, 3]{27, 1, 9, 3} = aten.clone.default(%w, memory_format(channels_last))
//          %0: f32[2, 8, 9, 9]{648, 1, 72, 8} = aten.convolution.default(%x_laid_out, %w_laid_out, ...)
//          %1: f32[2, 8, 9, 9]{648, 1, 72, 8} = aten.relu.default(%0)
//          and a copy into the promised layout where a result is returned.
// The CPU's convolutions run in channels-last; elementwise work between them follows.
ir::PassResult channels_last(Graph& graph, ir::PassContext& context) {
  if (!has_convolution(graph)) return {};
  Graph changed = graph;
  ir::PassContext trial;
  ChannelsLast pass(changed);
  ir::PassResult result = pass.run(trial);
  if (pass.restored_results() > kMostRestoredResults) {
    context.remarks.push_back(
        fmt::format("channels last: not done, {} results would be copied back", pass.restored_results()));
    return {};
  }
  graph = std::move(changed);
  context.remarks.insert(context.remarks.end(), trial.remarks.begin(), trial.remarks.end());
  return result;
}

}  // namespace jumar::graph
