// Matrix products of any ranks, and attention.
#include <cmath>
#include <limits>

#include "import/decomposer.h"

namespace jumar::import {

namespace {

// All dimensions but the last as one.
Sizes rows(Call& c, ValueId x) {
  const Sizes& sizes = c.type(x).sizes;
  const Sizes leading(sizes.begin(), sizes.end() - 1);
  return {ir::element_count(c.cx(), leading), sizes.back()};
}

Sizes with_last(const Sizes& sizes, std::initializer_list<Expr> last) {
  Sizes out(sizes.begin(), sizes.end() - static_cast<ptrdiff_t>(last.size()));
  out.insert(out.end(), last);
  return out;
}

ValueId product(Call& c, ValueId a, ValueId b) {
  const Expr n = c.type(a).sizes[0], m = c.type(b).sizes[1];
  return c.op("aten.mm.default", {Arg(a), Arg(b)}, c.shapes().contiguous(c.type(a).dtype, {n, m}));
}

// The products of matrices that lie in the last two dimensions; the others are broadcast.
ValueId batched(Call& c, ValueId a, ValueId b) {
  const Sizes& left = c.type(a).sizes;
  const Sizes& right = c.type(b).sizes;
  const std::optional<Sizes> batch =
      c.shapes().broadcast(Sizes(left.begin(), left.end() - 2), Sizes(right.begin(), right.end() - 2));
  if (!batch) return {};
  const Expr n = left[left.size() - 2], k = left.back(), m = right.back();
  const Expr count = ir::element_count(c.cx(), *batch);
  const auto flat = [&](ValueId x, Expr rows, Expr columns) {
    Sizes sizes = *batch;
    sizes.insert(sizes.end(), {rows, columns});
    return c.reshaped(c.expanded(x, sizes), {count, rows, columns});
  };
  const ValueId a3 = flat(a, n, k);
  const ValueId b3 = flat(b, k, m);
  const ValueId out =
      c.op("aten.bmm.default", {Arg(a3), Arg(b3)}, c.shapes().contiguous(c.type(a).dtype, {count, n, m}));
  Sizes sizes = *batch;
  sizes.insert(sizes.end(), {n, m});
  return c.reshaped(out, sizes);
}

// Nothing (an invalid value) where sizes are not known to fit.
ValueId matmul(Call& c, ValueId a, ValueId b) {
  const size_t left = c.rank(a), right = c.rank(b);
  if (left == 0 || right == 0) return {};
  const DType dtype = c.type(a).dtype;
  if (left == 1 && right == 1)
    return c.op("aten.dot.default", {Arg(a), Arg(b)}, c.shapes().contiguous(dtype, {}));
  if (left == 2 && right == 2) return product(c, a, b);
  if (left == 1 && right == 2) return c.squeezed(product(c, c.unsqueezed(a, 0), b), 0);
  if (right == 1 && left >= 2) {
    const ValueId flat = left == 2 ? a : c.reshaped(a, rows(c, a));
    const Expr n = c.type(flat).sizes[0];
    const ValueId out = c.op("aten.mv.default", {Arg(flat), Arg(b)}, c.shapes().contiguous(dtype, {n}));
    const Sizes& sizes = c.type(a).sizes;
    return c.reshaped(out, Sizes(sizes.begin(), sizes.end() - 1));
  }
  if (right == 2) {
    const ValueId out = product(c, c.reshaped(a, rows(c, a)), b);
    return c.reshaped(out, with_last(c.type(a).sizes, {c.type(b).sizes[1]}));
  }
  if (left == 1) {
    const ValueId out = batched(c, c.unsqueezed(a, 0), b);
    return out.valid() ? c.squeezed(out, c.rank(out) - 2) : out;
  }
  return batched(c, a, b);
}

}  // namespace

// x w^T + b over the last dimension.
Outcome decompose_linear(Call& c) {
  const ValueId x = c.tensor(0), w = c.tensor(1);
  if (c.rank(w) != 2 || c.rank(x) == 0) return Call::refuse("the weight is no matrix");
  const ValueId wt = c.transposed(w, 0, 1);
  const bool is_vector = c.rank(x) == 1;
  const ValueId flat = is_vector ? c.unsqueezed(x, 0) : c.rank(x) == 2 ? x : c.reshaped(x, rows(c, x));
  ValueId out;
  if (c.has(2)) {
    TensorType type = c.shapes().contiguous(c.type(x).dtype, {c.type(flat).sizes[0], c.type(wt).sizes[1]});
    out = c.op("aten.addmm.default", {c.arg(2), Arg(flat), Arg(wt)}, std::move(type));
  } else {
    out = product(c, flat, wt);
  }
  if (is_vector) return c.done(c.squeezed(out, 0));
  return c.done(c.reshaped(out, c.result().sizes));
}

Outcome decompose_matmul(Call& c) {
  if (!c.is_tensor(0) || !c.is_tensor(1)) return Call::refuse("an operand is no tensor");
  const ValueId out = matmul(c, c.tensor(0), c.tensor(1));
  return out.valid() ? c.done(out) : Call::refuse("its sizes are not known to fit");
}

Outcome decompose_outer(Call& c) {
  const ValueId a = c.tensor(0), b = c.tensor(1);
  if (c.rank(a) != 1 || c.rank(b) != 1) return Call::refuse("an operand is no vector");
  return c.done(c.elements("aten.mul.Tensor", {Arg(c.unsqueezed(a, 1)), Arg(b)}));
}

namespace {

// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
constexpr size_t kMask = 3, kDropout = 4, kCausal = 5, kScale = 6, kGrouped = 7;

bool last_is_dense(Call& c, ValueId x) { return c.type(x).strides.back().is_const(1); }

// Whether torch's fused kernel for the CPU takes the operands: it wants four dimensions, the same heads and
// head size everywhere, and rows whose elements lie side by side.
bool is_fusable(Call& c) {
  const ValueId q = c.tensor(0), k = c.tensor(1), v = c.tensor(2);
  if (c.rank(q) != 4 || c.rank(k) != 4 || c.rank(v) != 4) return false;
  const DType dtype = c.type(q).dtype;
  if (!ir::is_float(dtype) || c.number(kDropout) != 0.0 || c.flag(kGrouped).value_or(true)) return false;
  for (const ValueId x : {k, v}) {
    for (const size_t dim : {0, 1, 3}) {
      if (!c.shapes().equal(c.type(q).sizes[dim], c.type(x).sizes[dim])) return false;
    }
  }
  if (!last_is_dense(c, q) || !last_is_dense(c, k) || !last_is_dense(c, v)) return false;
  if (!c.has(kMask)) return true;
  const size_t rank = c.rank(c.tensor(kMask));
  return rank == 2 || rank == 4;
}

// A mask of bools as what is added: 0 where it is true, else minus infinity.
ValueId additive_mask(Call& c, ValueId mask, DType dtype) {
  if (!ir::is_bool(c.type(mask).dtype)) return mask;
  const TensorType number = c.shapes().contiguous(dtype, {});
  const double infinity = std::numeric_limits<double>::infinity();
  const ValueId zero = c.op("aten.scalar_tensor.default", {Arg(0.0), Call::dtype_arg(dtype)}, number);
  const ValueId never = c.op("aten.scalar_tensor.default", {Arg(-infinity), Call::dtype_arg(dtype)}, number);
  return c.elements("aten.where.self", {Arg(mask), Arg(zero), Arg(never)}, dtype);
}

Outcome fused(Call& c) {
  const ValueId q = c.tensor(0);
  const Sizes& sizes = c.type(q).sizes;
  Arg mask;
  if (c.has(kMask)) mask = Arg(additive_mask(c, c.tensor(kMask), c.type(q).dtype));
  // The kernel stores the logarithms with heads last.
  const DType sums = c.type(q).dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  TensorType logs =
      c.shapes().permuted(c.shapes().contiguous(sums, {sizes[0], sizes[2], sizes[1]}), {0, 2, 1});
  return c.done(c.ops("aten._scaled_dot_product_flash_attention_for_cpu.default",
                      {c.arg(0), c.arg(1), c.arg(2), c.arg(kDropout), c.arg(kCausal), mask, c.arg(kScale)},
                      {c.result(), std::move(logs)})[0]);
}

// Keys and values of fewer heads, each repeated for its group of query heads.
ValueId repeated_heads(Call& c, ValueId x, ValueId q) {
  const size_t dim = c.rank(x) - 3;
  const std::optional<int64_t> mine = c.type(x).sizes[dim].as_const(),
                               wanted = c.type(q).sizes[dim].as_const();
  if (!mine || !wanted || *mine <= 0 || *wanted % *mine != 0) return {};
  if (*mine == *wanted) return x;
  Sizes sizes = c.type(x).sizes;
  sizes[dim] = c.cx().constant(*wanted);
  return c.op("aten.repeat_interleave.self_int",
              {Arg(x), c.integer(*wanted / *mine), c.integer(static_cast<int64_t>(dim))},
              c.shapes().contiguous(c.type(x).dtype, sizes));
}

}  // namespace

Outcome decompose_attention(Call& c) {
  if (is_fusable(c)) return fused(c);
  ValueId q = c.tensor(0), k = c.tensor(1), v = c.tensor(2);
  const size_t rank = c.rank(q);
  if (c.number(kDropout) != 0.0 || !c.flag(kCausal)) return Call::refuse("it draws random numbers");
  if (rank < 2 || c.rank(k) != rank || c.rank(v) != rank)
    return Call::refuse("its operands have other ranks");
  if (c.flag(kGrouped).value_or(false) && rank >= 3) {
    k = repeated_heads(c, k, q);
    v = repeated_heads(c, v, q);
    if (!k.valid() || !v.valid()) return Call::refuse("its numbers of heads are not known");
  }
  const std::optional<int64_t> width = c.type(q).sizes.back().as_const();
  if (!c.has(kScale) && (!width || *width <= 0)) return Call::refuse("its scale is not known");
  const std::optional<double> given = c.number(kScale);
  if (c.has(kScale) && !given) return Call::refuse("its scale is not known");
  // Both factors get the root of the scale, as torch has it: products stay in range.
  const double root = std::sqrt(given ? *given : 1.0 / std::sqrt(static_cast<double>(*width)));
  const DType dtype = c.type(q).dtype;
  const ValueId kt = c.transposed(k, c.rank(k) - 2, c.rank(k) - 1);
  ValueId scores = matmul(c, c.elements("aten.mul.Tensor", {Arg(q), Arg(root)}),
                          c.elements("aten.mul.Tensor", {Arg(kt), Arg(root)}));
  if (!scores.valid()) return Call::refuse("its sizes are not known to fit");
  ValueId mask = c.has(kMask) ? c.tensor(kMask) : ValueId();
  if (*c.flag(kCausal)) {
    const TensorType type =
        c.shapes().contiguous(DType::kBool, {c.type(q).sizes[rank - 2], c.type(k).sizes[c.rank(k) - 2]});
    const ValueId ones =
        c.op("aten.ones.default", {c.sizes_arg(type.sizes), Call::dtype_arg(DType::kBool)}, type);
    mask = c.op("aten.tril.default", {Arg(ones)}, type);
  }
  if (mask.valid()) {
    scores = c.elements("aten.add.Tensor", {Arg(scores), Arg(additive_mask(c, mask, dtype))}, dtype);
    if (!scores.valid()) return Call::refuse("its mask is not known to fit");
  }
  const std::string softmax = mask.valid() ? "aten._safe_softmax.default" : "aten._softmax.default";
  const ValueId weights = mask.valid()
                              ? c.op(softmax, {Arg(scores), c.integer(-1)}, c.type(scores))
                              : c.op(softmax, {Arg(scores), c.integer(-1), Arg(false)}, c.type(scores));
  const ValueId out = matmul(c, weights, v);
  return out.valid() ? c.done(out) : Call::refuse("its sizes are not known to fit");
}

}  // namespace jumar::import
