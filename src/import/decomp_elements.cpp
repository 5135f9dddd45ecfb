// Functions of elements, differences, losses and moments.
#include "import/decomposer.h"

namespace jumar::import {

Outcome decompose_log_sigmoid(Call& c) {
  const TensorType none = c.shapes().contiguous(c.result().dtype, {c.cx().constant(0)});
  return c.done(c.ops("aten.log_sigmoid_forward.default", {c.arg(0)}, {c.result(), none})[0]);
}

Outcome decompose_selu(Call& c) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return c.done(c.op("aten.elu.default", {c.arg(0), Arg(kAlpha), Arg(kScale), c.integer(1)}, c.result()));
}

// diff(x, n, dim, prepend, append): differences of neighbours, n times.
Outcome decompose_diff(Call& c) {
  ValueId x = c.tensor(0);
  const std::optional<int64_t> count = c.constant(1);
  const std::optional<size_t> dim = c.dim(2, c.rank(x));
  constexpr int64_t kMost = 8;
  if (!count || *count < 1 || *count > kMost || !dim || c.rank(x) == 0)
    return Call::refuse("its arguments are not known");
  const Arg dim_arg = c.integer(static_cast<int64_t>(*dim));
  ArgList parts;
  Expr length = c.cx().constant(0);
  for (const size_t k : {size_t{3}, size_t{0}, size_t{4}}) {
    if (!c.has(k)) continue;
    if (c.rank(c.tensor(k)) != c.rank(x) || c.type(c.tensor(k)).dtype != c.type(x).dtype)
      return Call::refuse("its parts have other types");
    length = c.cx().add(length, c.type(c.tensor(k)).sizes[*dim]);
    parts.push_back(c.arg(k));
  }
  TensorType type = c.shapes().contiguous(c.type(x).dtype, c.type(x).sizes);
  const auto resized = [&](Expr size) {
    Sizes sizes = type.sizes;
    sizes[*dim] = size;
    type = c.shapes().contiguous(type.dtype, sizes);
  };
  resized(length);
  if (parts.size() > 1) x = c.op("aten.cat.default", {Arg(parts), dim_arg}, type);
  for (int64_t k = 0; k < *count; ++k) {
    const Expr end = length;
    length = c.cx().sub(length, 1);
    TensorType view = c.type(x);
    view.sizes[*dim] = length;
    const ValueId later =
        c.op("aten.slice.Tensor", {Arg(x), dim_arg, c.integer(1), Arg(end), c.integer(1)}, view);
    const ValueId earlier =
        c.op("aten.slice.Tensor", {Arg(x), dim_arg, c.integer(0), Arg(length), c.integer(1)}, view);
    resized(length);
    const bool is_bool = ir::is_bool(type.dtype);
    x = c.op(is_bool ? "aten.logical_xor.default" : "aten.sub.Tensor", {Arg(later), Arg(earlier)}, type);
  }
  return c.done(x);
}

namespace {

// (log probabilities, target, weight, reduction, ignore_index)
Outcome nll_loss(Call& c, ValueId x, const Arg& weight, const Arg& reduction, const Arg& ignored) {
  const size_t rank = c.rank(x);
  if (rank != 1 && rank != 2 && rank != 4) return Call::refuse("its rank has no operator");
  const TensorType total = c.shapes().contiguous(c.type(x).dtype, {});
  const std::string op = rank == 4 ? "aten.nll_loss2d_forward.default" : "aten.nll_loss_forward.default";
  return c.done(c.ops(op, {Arg(x), c.arg(1), weight, reduction, ignored}, {c.result(), total})[0]);
}

}  // namespace

// (input, target, weight, reduction, ignore_index, label_smoothing)
Outcome decompose_cross_entropy(Call& c) {
  const ValueId x = c.tensor(0);
  if (c.rank(x) == 0 || c.number(5) != 0.0 || !ir::is_integer(c.type(c.tensor(1)).dtype))
    return Call::refuse("its target is no class, or smoothed");
  const size_t classes = c.rank(x) == 1 ? 0 : 1;
  const ValueId logs =
      c.op("aten._log_softmax.default", {Arg(x), c.integer(static_cast<int64_t>(classes)), Arg(false)},
           c.shapes().contiguous(c.type(x).dtype, c.type(x).sizes));
  return nll_loss(c, logs, c.arg(2), c.arg(3), c.arg(4));
}

Outcome decompose_nll_loss(Call& c) { return nll_loss(c, c.tensor(0), c.arg(2), c.arg(3), c.arg(4)); }

namespace {

// With the dimensions as given, or all of them.
Outcome moment(Call& c, const std::string& op, const Arg& dims, const Arg& unbiased, bool keep) {
  const bool* value = unbiased.as<bool>();
  if (value == nullptr) return Call::refuse("its correction is not known");
  return c.done(c.op(op, {c.arg(0), dims, c.integer(*value ? 1 : 0), Arg(keep)}, c.result()));
}

}  // namespace

// (x, dim, unbiased, keepdim)
Outcome decompose_std(Call& c) {
  return moment(c, "aten.std.correction", c.arg(1), c.arg(2), c.flag(3).value_or(false));
}
Outcome decompose_var(Call& c) {
  return moment(c, "aten.var.correction", c.arg(1), c.arg(2), c.flag(3).value_or(false));
}
Outcome decompose_std_all(Call& c) { return moment(c, "aten.std.correction", Arg(), c.arg(1), false); }
Outcome decompose_var_all(Call& c) { return moment(c, "aten.var.correction", Arg(), c.arg(1), false); }

// norm(x, p, dim, keepdim)
Outcome decompose_norm(Call& c) {
  const Arg order = c.has(1) ? c.arg(1) : Arg(2.0);
  return c.done(c.op("aten.linalg_vector_norm.default", {c.arg(0), order, c.arg(2), c.arg(3)}, c.result()));
}

}  // namespace jumar::import
