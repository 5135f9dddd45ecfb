// Convolutions, pools and padding.
#include <algorithm>

#include "import/decomposer.h"

namespace jumar::import {

namespace {

// Dimensions of the weight beside the channels; 0 for what is no weight.
size_t spatial_rank(const Call& c) {
  const size_t rank = c.rank(c.tensor(1));
  return rank > 2 ? rank - 2 : 0;
}

Arg repeated(Call& c, size_t count, int64_t value) { return Arg(ArgList(count, c.integer(value))); }

// A convolution over the operand's last dimensions; an operand without a batch gets one for its time.
Outcome convolution(Call& c, ValueId x, const Arg& stride, const Arg& padding, const Arg& dilation,
                    bool transposed, const Arg& output_padding, const Arg& groups) {
  const size_t spatial = spatial_rank(c);
  const bool is_batched = c.rank(x) == spatial + 2;
  if (spatial == 0 || (!is_batched && c.rank(x) != spatial + 1))
    return Call::refuse("its operand has another rank");
  ir::TensorType type = c.result();
  if (!is_batched) {
    x = c.unsqueezed(x, 0);
    type = c.shapes().unsqueezed(type, 0);
  }
  const ValueId out = c.op(
      "aten.convolution.default",
      {Arg(x), c.arg(1), c.arg(2), stride, padding, dilation, Arg(transposed), output_padding, groups}, type);
  return c.done(is_batched ? out : c.squeezed(out, 0));
}

}  // namespace

// (input, weight, bias, stride, padding, dilation, groups)
Outcome decompose_conv(Call& c) {
  const size_t spatial = spatial_rank(c);
  return convolution(c, c.tensor(0), c.arg(3), c.arg(4), c.arg(5), false, repeated(c, spatial, 0), c.arg(6));
}

// Padding as a word: "valid" is none, "same" keeps the sizes; what is odd goes to the end.
Outcome decompose_conv_padding(Call& c) {
  const size_t spatial = spatial_rank(c);
  if (c.word(4) == "valid")
    return convolution(c, c.tensor(0), c.arg(3), repeated(c, spatial, 0), c.arg(5), false,
                       repeated(c, spatial, 0), c.arg(6));
  const std::optional<std::vector<int64_t>> dilation = c.constants(5);
  if (c.word(4) != "same" || !dilation || dilation->size() != spatial)
    return Call::refuse("its padding is not known");
  const Sizes weight = c.type(c.tensor(1)).sizes;
  ArgList both, pads(2 * spatial, c.integer(0));
  bool is_odd = false;
  Sizes sizes = c.type(c.tensor(0)).sizes;
  if (spatial == 0 || sizes.size() <= spatial) return Call::refuse("its operand has another rank");
  const size_t first = sizes.size() - spatial;
  for (size_t k = 0; k < spatial; ++k) {
    if (!weight[k + 2].is_const()) return Call::refuse("its kernel's size is not known");
    const int64_t total = (*dilation)[k] * (weight[k + 2].const_value() - 1);
    both.push_back(c.integer(total / 2));
    if (total % 2 == 0) continue;
    is_odd = true;
    pads[2 * (spatial - 1 - k) + 1] = c.integer(1);
    sizes[first + k] = c.cx().add(sizes[first + k], 1);
  }
  ValueId x = c.tensor(0);
  if (is_odd)
    x = c.op("aten.constant_pad_nd.default", {Arg(x), Arg(pads), c.integer(0)},
             c.shapes().contiguous(c.type(x).dtype, sizes));
  return convolution(c, x, c.arg(3), Arg(both), c.arg(5), false, repeated(c, spatial, 0), c.arg(6));
}

// (input, weight, bias, stride, padding, output_padding, groups, dilation)
Outcome decompose_conv_transpose(Call& c) {
  return convolution(c, c.tensor(0), c.arg(3), c.arg(4), c.arg(7), true, c.arg(5), c.arg(6));
}

Outcome decompose_max_pool2d(Call& c) {
  ir::TensorType places = c.result();
  places.dtype = DType::kI64;
  return c.done(c.ops("aten.max_pool2d_with_indices.default",
                      {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4), c.arg(5)}, {c.result(), places})[0]);
}

// To a single element it is a mean.
Outcome decompose_adaptive_avg_pool2d(Call& c) {
  const std::optional<std::vector<int64_t>> wanted = c.constants(1);
  if (wanted && *wanted == std::vector<int64_t>{1, 1})
    return c.done(c.op("aten.mean.dim", {c.arg(0), c.ints({-1, -2}), Arg(true), Arg()}, c.result()));
  return c.done(c.op("aten._adaptive_avg_pool2d.default", {c.arg(0), c.arg(1)}, c.result()));
}

namespace {

Arg before(Call& c, const Arg& list, int64_t first) {
  ArgList out = {c.integer(first)};
  if (list.list() != nullptr) out.insert(out.end(), list.list()->begin(), list.list()->end());
  return Arg(std::move(out));
}

// One spatial dimension as the second of two, the first of size 1.
Outcome in_two_dimensions(Call& c, const std::string& op, const ArgList& rest) {
  const ValueId x = c.tensor(0);
  const size_t rank = c.rank(x);
  if (rank < 2 || c.result().rank() != rank) return Call::refuse("its operand has no spatial dimension");
  const ir::TensorType wide = c.shapes().unsqueezed(c.result(), rank - 1);
  ArgList args = {Arg(c.unsqueezed(x, rank - 1))};
  args.insert(args.end(), rest.begin(), rest.end());
  std::vector<ir::TensorType> types = {wide};
  if (op == "aten.max_pool2d_with_indices.default") {
    types.push_back(wide);
    types.back().dtype = DType::kI64;
  }
  return c.done(c.squeezed(c.ops(op, std::move(args), std::move(types))[0], rank - 1));
}

// The strides of a pool are its window's sizes where none are given.
Arg strides(Call& c) {
  const ArgList* given = c.arg(2).list();
  return given != nullptr && !given->empty() ? before(c, c.arg(2), 1) : before(c, c.arg(1), 1);
}

}  // namespace

// (x, kernel_size, stride, padding, dilation, ceil_mode)
Outcome decompose_max_pool1d(Call& c) {
  return in_two_dimensions(
      c, "aten.max_pool2d_with_indices.default",
      {before(c, c.arg(1), 1), strides(c), before(c, c.arg(3), 0), before(c, c.arg(4), 1), c.arg(5)});
}

// (x, kernel_size, stride, padding, ceil_mode, count_include_pad)
Outcome decompose_avg_pool1d(Call& c) {
  return in_two_dimensions(c, "aten.avg_pool2d.default",
                           {before(c, c.arg(1), 1), strides(c), before(c, c.arg(3), 0), c.arg(4), c.arg(5)});
}

Outcome decompose_adaptive_avg_pool1d(Call& c) {
  return in_two_dimensions(c, "aten._adaptive_avg_pool2d.default", {before(c, c.arg(1), 1)});
}

namespace {

// The operator that takes the result's sizes, and the scales one by one.
Outcome upsampled(Call& c, const ArgList& between, const Arg& scales) {
  const std::string op = c.node().op.substr(0, c.node().op.rfind('.')) + ".default";
  const Sizes sizes = c.result().sizes;
  if (sizes.size() < 3) return Call::refuse("its result has no spatial dimension");
  ArgList args = {c.arg(0), c.sizes_arg(Sizes(sizes.begin() + 2, sizes.end()))};
  args.insert(args.end(), between.begin(), between.end());
  for (size_t k = 0; k + 2 < sizes.size(); ++k) {
    const ArgList* list = scales.list();
    args.push_back(list != nullptr && k < list->size() ? (*list)[k] : Arg());
  }
  return c.done(c.op(op, std::move(args), c.result()));
}

}  // namespace

// (input, output_size, scale_factors)
Outcome decompose_upsample_nearest(Call& c) { return upsampled(c, {}, c.arg(2)); }
// (input, output_size, align_corners, scale_factors)
Outcome decompose_upsample_linear(Call& c) { return upsampled(c, {c.arg(2)}, c.arg(3)); }

// pad(x, pad, mode, value)
Outcome decompose_pad(Call& c) {
  const std::string mode = c.word(2);
  if (mode == "constant") {
    const Arg value = c.has(3) ? c.arg(3) : Arg(0.0);
    return c.done(c.op("aten.constant_pad_nd.default", {c.arg(0), c.arg(1), value}, c.result()));
  }
  const std::optional<Sizes> pads = c.sizes(1);
  const std::string family = mode == "reflect" ? "reflection" : mode == "replicate" ? "replication" : "";
  if (!pads || family.empty() || pads->size() % 2 != 0 || pads->empty() || pads->size() > 6)
    return Call::refuse("there is no operator for its mode");
  return c.done(c.op(fmt::format("aten.{}_pad{}d.default", family, pads->size() / 2), {c.arg(0), c.arg(1)},
                     c.result()));
}

}  // namespace jumar::import
