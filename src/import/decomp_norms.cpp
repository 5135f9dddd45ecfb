// Normalizations and softmax.
#include "import/decomposer.h"

namespace jumar::import {

namespace {

// Narrow floats keep their statistics in single precision.
DType statistics_dtype(DType dtype) { return ir::is_low_precision(dtype) ? DType::kF32 : dtype; }

}  // namespace

// (input, normalized_shape, weight, bias, eps)
Outcome decompose_layer_norm(Call& c) {
  const TensorType x = c.type(c.tensor(0));
  const std::optional<Sizes> shape = c.sizes(1);
  if (!shape || shape->size() > x.rank()) return Call::refuse("its shape is not known");
  Sizes kept = x.sizes;
  for (size_t k = x.rank() - shape->size(); k < x.rank(); ++k) kept[k] = c.cx().constant(1);
  const DType dtype = c.has(2) && c.type(c.tensor(2)).dtype != x.dtype ? statistics_dtype(x.dtype) : x.dtype;
  const TensorType statistics = c.shapes().contiguous(dtype, kept);
  return c.done(c.ops("aten.native_layer_norm.default", {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4)},
                      {c.result(), statistics, statistics})[0]);
}

// (input, num_groups, weight, bias, eps)
Outcome decompose_group_norm(Call& c) {
  ValueId x = c.tensor(0);
  const TensorType type = c.type(x);
  const std::optional<int64_t> groups = c.constant(1);
  if (type.rank() < 2 || !groups) return Call::refuse("its groups are not known");
  if (!c.shapes().is_contiguous(type) && !c.shapes().is_channels_last(type)) x = c.copied(x);
  const Expr area = ir::element_count(c.cx(), Sizes(type.sizes.begin() + 2, type.sizes.end()));
  const TensorType statistics = c.shapes().contiguous(type.dtype, {type.sizes[0], c.cx().constant(*groups)});
  return c.done(c.ops(
      "aten.native_group_norm.default",
      {Arg(x), c.arg(2), c.arg(3), Arg(type.sizes[0]), Arg(type.sizes[1]), Arg(area), c.arg(1), c.arg(4)},
      {c.result(), statistics, statistics})[0]);
}

// (input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)
Outcome decompose_batch_norm(Call& c) {
  const std::optional<bool> training = c.flag(5);
  const TensorType x = c.type(c.tensor(0));
  if (!training || x.rank() < 2) return Call::refuse("its arguments are not known");
  const bool has_statistics = c.has(3) && c.has(4);
  if (!*training && has_statistics) {
    const TensorType none = c.shapes().contiguous(statistics_dtype(x.dtype), {c.cx().constant(0)});
    return c.done(c.ops("aten._native_batch_norm_legit_no_training.default",
                        {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4), c.arg(6), c.arg(7)},
                        {c.result(), none, none})[0]);
  }
  const TensorType saved = c.shapes().contiguous(statistics_dtype(x.dtype), {x.sizes[1]});
  if (!has_statistics)
    return c.done(c.ops("aten._native_batch_norm_legit.no_stats",
                        {c.arg(0), c.arg(1), c.arg(2), Arg(true), c.arg(6), c.arg(7)},
                        {c.result(), saved, saved})[0]);
  // Training moves the running statistics, which the caller owns.
  const TensorType mean = c.type(c.tensor(3)), variance = c.type(c.tensor(4));
  const std::vector<ValueId> out =
      c.ops("aten._native_batch_norm_legit_functional.default",
            {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4), Arg(true), c.arg(6), c.arg(7)},
            {c.result(), saved, saved, mean, variance});
  c.op("aten.copy_.default", {c.arg(3), Arg(out[3])}, mean);
  c.op("aten.copy_.default", {c.arg(4), Arg(out[4])}, variance);
  return c.done(out[0]);
}

// (input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled): every
// channel is a group of its own.
Outcome decompose_instance_norm(Call& c) {
  const TensorType type = c.type(c.tensor(0));
  const std::optional<bool> own = c.flag(5);
  if (!own || type.rank() < 2) return Call::refuse("its arguments are not known");
  if (!*own) {
    const TensorType none = c.shapes().contiguous(statistics_dtype(type.dtype), {c.cx().constant(0)});
    return c.done(c.ops("aten._native_batch_norm_legit_no_training.default",
                        {c.arg(0), c.arg(1), c.arg(2), c.arg(3), c.arg(4), c.arg(6), c.arg(7)},
                        {c.result(), none, none})[0]);
  }
  if (c.has(3) || c.has(4)) return Call::refuse("it moves running statistics");
  ValueId x = c.tensor(0);
  if (!c.shapes().is_contiguous(type)) x = c.copied(x);
  const Expr area = ir::element_count(c.cx(), Sizes(type.sizes.begin() + 2, type.sizes.end()));
  const TensorType statistics = c.shapes().contiguous(type.dtype, {type.sizes[0], type.sizes[1]});
  if (!type.sizes[1].is_const()) return Call::refuse("its channels are not known");
  return c.done(c.ops("aten.native_group_norm.default",
                      {Arg(x), c.arg(1), c.arg(2), Arg(type.sizes[0]), Arg(type.sizes[1]), Arg(area),
                       Arg(type.sizes[1]), c.arg(7)},
                      {c.result(), statistics, statistics})[0]);
}

// (input, normalized_shape, weight, eps): x / sqrt(mean(x^2) + eps) * weight, in single precision for narrow
// floats.
Outcome decompose_rms_norm(Call& c) {
  const TensorType type = c.type(c.tensor(0));
  const std::optional<Sizes> shape = c.sizes(1);
  if (!shape || shape->empty() || shape->size() > type.rank() || !ir::is_float(type.dtype))
    return Call::refuse("its shape is not known");
  constexpr double kEpsilonF32 = 1.1920928955078125e-07, kEpsilonF64 = 2.220446049250313e-16;
  const DType dtype = statistics_dtype(type.dtype);
  const double eps = c.number(3).value_or(dtype == DType::kF64 ? kEpsilonF64 : kEpsilonF32);
  const ValueId x = c.converted(c.tensor(0), dtype);
  ArgList dims;
  Sizes kept = type.sizes;
  for (size_t k = type.rank() - shape->size(); k < type.rank(); ++k) {
    dims.push_back(c.integer(static_cast<int64_t>(k)));
    kept[k] = c.cx().constant(1);
  }
  const ValueId squares = c.elements("aten.pow.Tensor_Scalar", {Arg(x), c.integer(2)}, dtype);
  const ValueId mean =
      c.op("aten.mean.dim", {Arg(squares), Arg(dims), Arg(true), Arg()}, c.shapes().contiguous(dtype, kept));
  const ValueId root =
      c.elements("aten.rsqrt.default", {Arg(c.elements("aten.add.Scalar", {Arg(mean), Arg(eps)}, dtype))});
  ValueId out = c.elements("aten.mul.Tensor", {Arg(x), Arg(root)}, dtype);
  if (!out.valid()) return Call::refuse("its sizes are not known to fit");
  if (c.has(2)) out = c.elements("aten.mul.Tensor", {Arg(out), c.arg(2)}, dtype);
  return out.valid() ? c.done(c.converted(out, c.result().dtype))
                     : Call::refuse("its weight is not known to fit");
}

// softmax(x, dim, dtype)
Outcome decompose_softmax(Call& c) {
  const ValueId x = c.converted(c.tensor(0), c.result().dtype);
  return c.done(c.op("aten._softmax.default", {Arg(x), c.arg(1), Arg(false)}, c.result()));
}

Outcome decompose_log_softmax(Call& c) {
  const ValueId x = c.converted(c.tensor(0), c.result().dtype);
  return c.done(c.op("aten._log_softmax.default", {Arg(x), c.arg(1), Arg(false)}, c.result()));
}

}  // namespace jumar::import
