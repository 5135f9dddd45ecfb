#include <algorithm>

#include "graph/passes/append.h"
#include "graph/passes/passes.h"
#include "sym/facts.h"

namespace jumar::graph {
namespace {

using sym::Expr;

constexpr std::string_view kConvolution = "aten.convolution.default";

class ConvAsProduct {
 public:
  explicit ConvAsProduct(Graph& graph) : graph_(graph), cx_(graph.cx()), facts_(graph.facts()) {
    for (const Arg& output : graph.outputs)
      for_each_value(output, [&](ValueId value) { returned_.push_back(value); });
  }

  ir::PassResult run(ir::PassContext& context) {
    std::vector<NodeId> program = std::move(graph_.order);
    graph_.order.clear();
    for (NodeId id : program) {
      std::optional<Convolution> conv = plain_convolution(id);
      if (conv && (is_pointwise(*conv) || is_patchwise(*conv))) {
        rewrite(id, *conv);
        ++count_;
      } else {
        graph_.order.push_back(id);
      }
    }
    if (count_ > 0) context.remarks.push_back(fmt::format("convolution as product: {} convolutions", count_));
    return {count_};
  }

 private:
  struct Convolution {
    ValueId input;
    ValueId weight;
    Arg bias;
    ValueId result;
    std::vector<Expr> stride;
    std::vector<Expr> kernel;  // height and width
  };

  const ir::TensorType& type_of(ValueId value) const { return graph_.values[value].type; }
  bool is_channels_last(ValueId value) const { return ir::is_channels_last(cx_, type_of(value)); }
  bool is_contiguous(ValueId value) const { return ir::is_contiguous(cx_, type_of(value)); }
  bool is_one_pixel(ValueId value) const {
    return type_of(value).sizes[2].is_const(1) && type_of(value).sizes[3].is_const(1);
  }

  static std::vector<Expr> numbers(const Arg& arg) {
    std::vector<Expr> out;
    for (const Arg& element : *arg.list()) out.push_back(*element.as<Expr>());
    // One number stands for both dimensions.
    if (out.size() == 1) out.push_back(out[0]);
    return out;
  }

  // Arguments: input, weight, bias, stride, padding, dilation, transposed, output_padding, groups.
  std::optional<Convolution> plain_convolution(NodeId id) const {
    const Node& node = graph_.nodes[id];
    if (node.op != kConvolution) return std::nullopt;
    const ArgList& args = node.args;
    const ValueId* input = args[0].as<ValueId>();
    const ValueId* weight = args[1].as<ValueId>();
    const bool* transposed = args[6].as<bool>();
    const Expr* groups = args[8].as<Expr>();
    if (!input || !weight || !transposed || *transposed || !groups || !groups->is_const(1))
      return std::nullopt;
    const ir::TensorType& type = type_of(*input);
    const bool is_real = type.dtype == ir::DType::kF32 || type.dtype == ir::DType::kF64;
    if (!is_real || type.rank() != 4 || std::ranges::find(returned_, node.results[0]) != returned_.end())
      return std::nullopt;
    for (Expr padding : numbers(args[4]))
      if (!padding.is_const(0)) return std::nullopt;
    for (Expr dilation : numbers(args[5]))
      if (!dilation.is_const(1)) return std::nullopt;
    const std::vector<Expr>& kernel = type_of(*weight).sizes;
    return Convolution{*input,          *weight,          args[2],
                       node.results[0], numbers(args[3]), {kernel.begin() + 2, kernel.end()}};
  }

  // Each pixel by itself, in a layout in which pixels are the rows of a matrix.
  bool is_pointwise(const Convolution& conv) const {
    for (const std::vector<Expr>* ones : {&conv.kernel, &conv.stride})
      for (Expr e : *ones)
        if (!e.is_const(1)) return false;
    if (!is_contiguous(conv.weight) && !is_channels_last(conv.weight)) return false;
    if (is_one_pixel(conv.input)) return is_contiguous(conv.input) && is_contiguous(conv.result);
    return is_channels_last(conv.input) && is_channels_last(conv.result);
  }

  // Patches that don't overlap and leave nothing over, of an image that is copied into another layout anyway.
  bool is_patchwise(Convolution& conv) const {
    if (conv.kernel != conv.stride || !is_channels_last(conv.result)) return false;
    for (size_t k : {0, 1})
      if (!sym::proves_divisible(cx_, type_of(conv.input).sizes[2 + k], conv.kernel[k], facts_)) return false;
    const std::optional<ValueId> image = copied(conv.input);
    if (!image || !is_contiguous(*image)) return false;
    const ValueId weight = copied(conv.weight).value_or(conv.weight);
    if (!is_contiguous(weight)) return false;
    conv.input = *image;
    conv.weight = weight;
    return true;
  }

  // What a value is a copy of.
  std::optional<ValueId> copied(ValueId value) const {
    const NodeId definition = graph_.values[value].definition;
    if (!definition || graph_.nodes[definition].op != "aten.clone.default") return std::nullopt;
    return *graph_.nodes[definition].args[0].as<ValueId>();
  }

  void rewrite(NodeId id, const Convolution& conv) {
    const ir::TensorType image = type_of(conv.input);
    const ir::TensorType promised = type_of(conv.result);
    const std::string name = graph_.values[conv.result].name;
    const Expr channels = promised.sizes[1];
    const Expr batch = image.sizes[0];
    const Expr pixels = cx_.mul(batch, cx_.mul(promised.sizes[2], promised.sizes[3]));
    const Expr depth = cx_.mul(image.sizes[1], cx_.mul(conv.kernel[0], conv.kernel[1]));
    const bool one_pixel = is_one_pixel(conv.input);

    ValueId rows = conv.input;
    if (!is_pointwise(conv)) {
      rows = patches(conv, name + "_patches");
    } else if (!one_pixel) {
      rows = permuted(rows, {0, 2, 3, 1}, name + "_pixels");
    }
    rows = viewed(rows, {pixels, depth}, name + "_rows");
    const ValueId columns =
        permuted(viewed(conv.weight, {channels, depth}, name + "_weight"), {1, 0}, name + "_columns");
    const ValueId product = multiplied(conv.bias, rows, columns, {pixels, channels}, name + "_product");
    // The last view defines the convolution's own result.
    if (one_pixel && ir::is_contiguous(cx_, promised)) {
      append_as(graph_, id, "aten.view.default",
                {product, ArgList(promised.sizes.begin(), promised.sizes.end())});
    } else {
      const ValueId image_rows =
          viewed(product, {batch, promised.sizes[2], promised.sizes[3], channels}, name + "_image");
      append_as(graph_, id, "aten.permute.default", {image_rows, list({0, 3, 1, 2})});
    }
  }

  // [n, c, h*k, w*l] as rows of c*k*l elements, one for each (n, h, w).
  ValueId patches(const Convolution& conv, const std::string& name) {
    const ir::TensorType& image = type_of(conv.input);
    const Expr height = cx_.floordiv(image.sizes[2], conv.kernel[0]);
    const Expr width = cx_.floordiv(image.sizes[3], conv.kernel[1]);
    ValueId split =
        viewed(conv.input, {image.sizes[0], image.sizes[1], height, conv.kernel[0], width, conv.kernel[1]},
               name + "_split");
    split = permuted(split, {0, 2, 4, 1, 3, 5}, name + "_order");
    const std::vector<Expr> sizes = type_of(split).sizes;
    return appended(graph_, "aten.clone.default",
                    {split, WordArg{WordArg::Kind::kMemoryFormat, "contiguous"}}, name,
                    {image.dtype, sizes, ir::contiguous_strides(cx_, sizes)});
  }

  ValueId multiplied(const Arg& bias, ValueId rows, ValueId columns, std::vector<Expr> sizes,
                     const std::string& name) {
    ir::TensorType type{type_of(rows).dtype, sizes, ir::contiguous_strides(cx_, sizes)};
    if (!bias.as<ValueId>())
      return appended(graph_, "aten.mm.default", {rows, columns}, name, std::move(type));
    return appended(graph_, "aten.addmm.default", {bias, rows, columns, cx_.constant(1), cx_.constant(1)},
                    name, std::move(type));
  }

  ValueId viewed(ValueId value, std::vector<Expr> sizes, const std::string& name) {
    std::optional<std::vector<Expr>> strides = ir::viewed_strides(cx_, type_of(value), sizes);
    CHECK(strides, "%{} can't be viewed as the rows of a matrix", graph_.values[value].name);
    ArgList list(sizes.begin(), sizes.end());
    return appended(graph_, "aten.view.default", {value, std::move(list)}, name,
                    {type_of(value).dtype, std::move(sizes), std::move(*strides)});
  }

  ValueId permuted(ValueId value, const std::vector<int64_t>& dims, const std::string& name) {
    const ir::TensorType from = type_of(value);
    ir::TensorType type{from.dtype, {}, {}};
    for (int64_t dim : dims) {
      type.sizes.push_back(from.sizes[static_cast<size_t>(dim)]);
      type.strides.push_back(from.strides[static_cast<size_t>(dim)]);
    }
    return appended(graph_, "aten.permute.default", {value, list(dims)}, name, std::move(type));
  }

  ArgList list(const std::vector<int64_t>& dims) {
    ArgList out;
    for (int64_t dim : dims) out.push_back(cx_.constant(dim));
    return out;
  }

  Graph& graph_;
  sym::Context& cx_;
  sym::Facts facts_;
  std::vector<ValueId> returned_;
  uint32_t count_ = 0;
};

}  // namespace

// Before:  %y: f32[2, 8, 9, 9]{648, 1, 72, 8} = aten.convolution.default(%x, %w, %b, [1, 1], [0, 0], ...)
//          with %x: f32[2, 4, 9, 9]{324, 1, 36, 4} and %w: f32[8, 4, 1, 1]
// After:   %y_rows: f32[162, 4] and %y_columns: f32[4, 8]{1, 4} as views of %x and %w,
//          %y_product: f32[162, 8] = aten.addmm.default(%b, %y_rows, %y_columns, 1, 1)
//          and %y as a view of it.
// A convolution of single pixels in channels-last is a matrix product without any copy, and so is one of
// patches that don't overlap, whose image is copied into patches instead of into channels-last. A product is
// dispatched faster than a convolution, and the weights of patches need no other layout.
ir::PassResult conv_as_product(Graph& graph, ir::PassContext& context) {
  return ConvAsProduct(graph).run(context);
}

}  // namespace jumar::graph
