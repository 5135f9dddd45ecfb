// Images of another size. Positions between pixels are computed in the body, in the type in which eager
// computes them, and checked like any index that is not known to be inside.
#include <array>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// The factor from an output position to an input position: a given scale, or the ratio of the sizes.
std::optional<double> given_scale(const Op& op, size_t k) {
  if (!op.has(k)) return std::nullopt;
  std::optional<double> scale = op.scalar(k).constant();
  return scale && *scale > 0 ? scale : std::nullopt;
}

Val ratio(Body& b, Expr in, Expr out, std::optional<double> scale, DType type) {
  if (scale) return b.real(type, 1.0 / *scale);
  return real_of(b, in, type) / real_of(b, out, type);
}

// The power of two by which a size grows; nothing for other factors.
std::optional<int64_t> power_of_two(const Lowering& low, Expr in, Expr out, std::optional<double> scale) {
  for (int64_t factor = 1; factor <= 64; factor *= 2) {
    bool is_factor = sym::proves_eq(low.cx(), out, low.cx().mul(in, factor), low.facts());
    if (is_factor && (!scale || *scale == static_cast<double>(factor))) return factor;
  }
  return std::nullopt;
}

// A pixel's place, cut to the last one.
Expr place_of(Body& b, Val position, Expr in) {
  return b.checked(min(b.to(position, DType::kI64), b.index(b.cx().sub(in, 1))), in);
}

// Floor of the product with the factor, in the type that eager's kernel for these elements takes.
Expr nearest(Body& b, const Op& op, Expr at, Expr in, Expr out, std::optional<double> scale, DType type) {
  // Products with the reciprocal of a power of two are exact, so that integers say the same.
  if (auto factor = power_of_two(op.low(), in, out, scale)) return b.cx().floordiv(at, *factor);
  Val position = real_of(b, at, type) * ratio(b, in, out, scale, type);
  return place_of(b, floor(b.to(position, DType::kF32)), in);
}

// The pixel that the middle of another lies in. Eager's floats are multiplied and added with one rounding.
Expr nearest_exact(Body& b, const Op& op, Expr at, Expr in, Expr out, std::optional<double> scale,
                   DType type) {
  if (auto factor = power_of_two(op.low(), in, out, scale)) return b.cx().floordiv(at, *factor);
  constexpr DType kWide = DType::kF64;
  Val factor = b.to(ratio(b, in, out, scale, type), kWide);
  Val middle = b.to((real_of(b, at, kWide) + 0.5) * factor - 0.5, type);
  Val position = b.to(max(middle, 0.0), kWide) + 0.5;
  return place_of(b, floor(b.to(position, DType::kF32)), in);
}

using Placement = Expr (*)(Body& b, const Op& op, Expr at, Expr in, Expr out, std::optional<double> scale,
                           DType type);

// Arguments: self, output_size, and a scale for each resized dimension.
Refusal upsampled(Op& op, Placement placement) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t resized = op.arg_count() - 2, first = x.rank() - resized;
  if (x.rank() <= resized) return "there is nothing to resize";
  DType type = x.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index from = index;
    for (size_t k = 0; k < resized; ++k) {
      size_t d = first + k;
      from[d] = placement(b, op, index[d], x.size(d), out.size(d), given_scale(op, 2 + k), type);
    }
    return b.load(x, from);
  });
  return {};
}

}  // namespace

Refusal lower_upsample_nearest(Op& op) { return upsampled(op, nearest); }

Refusal lower_upsample_nearest_exact(Op& op) {
  if (op.low().widest_float() != DType::kF64) return "positions that eager rounds once, from doubles";
  return upsampled(op, nearest_exact);
}

namespace {

// Backward: each pixel of the result is the sum of the gradients of the pixels made from it.
//   resized: how many of the last dimensions; a scale for each is an argument, from `first_scale` on
struct Spread {
  size_t resized;
  size_t first_scale;
};

// What an output pixel gives: `add(from, value)` adds a gradient to the place `from`.
using Add = std::function<void(const Index& place, Val value)>;
using Give = std::function<void(Body& b, const Index& index, const Add& add)>;

// All that is given goes into one nest, whose kept axes are the dimensions that are not resized, so that no
// two points add to the same element and the order is fixed.
void spread_kernel(Op& op, const Tensor& grad, size_t resized, const Give& give) {
  Tensor out = op.result(0);
  DType acc = compute_type(out.dtype());
  Tensor sum = acc == out.dtype() ? out : op.temp("sum", acc, out.sizes());
  size_t first = out.rank() - resized;
  op.low().kernel(op, [&](Body& b) {
    Index kept;
    for (size_t k = 0; k < first; ++k) kept.push_back(b.keep(out.size(k)));
    b.begin_stage();
    Index at = kept;
    for (size_t k = first; k < out.rank(); ++k) at.push_back(b.inner(out.size(k)));
    b.store(sum, at, b.real(acc, 0));
    b.begin_stage();
    Index from = kept;
    for (size_t k = first; k < out.rank(); ++k) from.push_back(b.inner(grad.size(k)));
    give(b, from, [&](const Index& place, Val value) { b.store(sum, place, value, StoreMode::kAdd); });
  });
  if (sum.buffer == out.buffer) return;
  pointwise(op, out, [&](Body& b, const Index& index) { return b.load(sum, index); });
}

// Factors that are powers of two make windows, which are summed without memory in between.
std::optional<std::vector<int64_t>> window_of(const Op& op, const Tensor& grad, const Tensor& out,
                                              const Spread& spread) {
  std::vector<int64_t> window(out.rank(), 1);
  for (size_t k = 0; k < spread.resized; ++k) {
    size_t d = out.rank() - spread.resized + k;
    auto factor = power_of_two(op.low(), out.size(d), grad.size(d), given_scale(op, spread.first_scale + k));
    if (!factor) return std::nullopt;
    window[d] = *factor;
  }
  return window;
}

void sum_windows(Op& op, const Tensor& grad, const Tensor& out, const std::vector<int64_t>& window) {
  DType acc = compute_type(out.dtype());
  op.low().kernel(op, [&](Body& b) {
    sym::Context& cx = b.cx();
    Index at = b.keep_all(out.sizes());
    b.begin_stage();
    Index from;
    for (size_t k = 0; k < at.size(); ++k) {
      Expr within = b.inner(cx.constant(window[k]));
      from.push_back(cx.add(cx.mul(at[k], window[k]), within));
    }
    Val sum = b.reduce(ReduceKind::kSum, b.to(b.load(grad, from), acc));
    b.begin_stage();
    b.store(out, at, sum);
  });
}

// Eager's backward kernels compute positions in float whatever the elements, and take two cases apart.
Expr nearest_place(Body& b, const Op& op, Expr at, Expr in, Expr out, std::optional<double> scale) {
  if (sym::proves_eq(b.cx(), in, out, op.low().facts())) return at;
  if (sym::proves_eq(b.cx(), b.cx().mul(in, 2), out, op.low().facts())) return b.cx().floordiv(at, 2);
  Val position = real_of(b, at, DType::kF32) * ratio(b, in, out, scale, DType::kF32);
  return place_of(b, floor(position), in);
}

Expr nearest_exact_place(Body& b, const Op&, Expr at, Expr in, Expr out, std::optional<double> scale) {
  Val position = (real_of(b, at, DType::kF32) + 0.5) * ratio(b, in, out, scale, DType::kF32);
  return place_of(b, floor(position), in);
}

using BackwardPlacement = Expr (*)(Body& b, const Op& op, Expr at, Expr in, Expr out,
                                   std::optional<double> scale);

// Arguments: grad_output, output_size, input_size, and a scale for each resized dimension.
Refusal nearest_backward(Op& op, BackwardPlacement placement) {
  Tensor grad = op.tensor(0), out = op.result(0);
  Spread spread{op.arg_count() - 3, 3};
  if (!ir::is_float(out.dtype())) return "no float";
  if (auto window = window_of(op, grad, out, spread)) {
    sum_windows(op, grad, out, *window);
    return {};
  }
  size_t first = out.rank() - spread.resized;
  spread_kernel(op, grad, spread.resized, [&](Body& b, const Index& index, const Add& add) {
    Index to = index;
    for (size_t d = first; d < out.rank(); ++d) {
      auto scale = given_scale(op, spread.first_scale + d - first);
      to[d] = placement(b, op, index[d], out.size(d), grad.size(d), scale);
    }
    add(to, b.to(b.load(grad, index), compute_type(out.dtype())));
  });
  return {};
}

}  // namespace

Refusal lower_upsample_nearest_backward(Op& op) { return nearest_backward(op, nearest_place); }
Refusal lower_upsample_nearest_exact_backward(Op& op) { return nearest_backward(op, nearest_exact_place); }

namespace {

// The two pixels between which a position lies, and their weights.
struct Between {
  Expr low, high;
  Val low_weight, high_weight;
};

Between between(Body& b, Expr at, Expr in, Expr out, std::optional<double> scale, bool aligned, DType type) {
  sym::Context& cx = b.cx();
  Val position = real_of(b, at, type);
  if (aligned) {
    if (out.is_const(1)) {
      position = b.real(type, 0);
    } else {
      position = position * (real_of(b, cx.sub(in, 1), type) / real_of(b, cx.sub(out, 1), type));
    }
  } else {
    position = max(ratio(b, in, out, scale, type) * (position + 0.5) - 0.5, 0.0);
  }
  Val last = b.index(cx.sub(in, 1));
  Val low = min(b.to(position, DType::kI64), last);
  Val high = min(low + 1.0, last);
  Val weight = min(max(position - b.to(low, type), 0.0), 1.0);
  return {b.checked(low, in), b.checked(high, in), 1.0 - weight, weight};
}

// The sum over the two pixels of each resized dimension, from dimension `d` on, with the products of their
// weights.
Val blended(Body& b, const Tensor& x, const std::vector<Between>& dims, Index& from, size_t d, DType type) {
  if (d == x.rank()) return b.to(b.load(x, from), type);
  const Between& pair = dims[d - (x.rank() - dims.size())];
  from[d] = pair.low;
  Val sum = blended(b, x, dims, from, d + 1, type) * pair.low_weight;
  from[d] = pair.high;
  return sum + blended(b, x, dims, from, d + 1, type) * pair.high_weight;
}

// The pixels between which an output pixel lies, in each of the last dimensions.
std::vector<Between> all_between(Body& b, const Op& op, const Index& index, const Tensor& small,
                                 const Tensor& large, size_t aligned_arg, DType type) {
  std::vector<Between> dims;
  size_t resized = op.arg_count() - aligned_arg - 1, first = small.rank() - resized;
  for (size_t k = 0; k < resized; ++k) {
    size_t d = first + k;
    auto scale = given_scale(op, aligned_arg + 1 + k);
    dims.push_back(between(b, index[d], small.size(d), large.size(d), scale, op.flag(aligned_arg), type));
  }
  return dims;
}

}  // namespace

// Arguments: self, output_size, align_corners, and a scale for each resized dimension.
Refusal lower_upsample_linear(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  pointwise(op, out, [&](Body& b, const Index& index) {
    std::vector<Between> dims = all_between(b, op, index, x, out, 2, type);
    Index from = index;
    return blended(b, x, dims, from, x.rank() - dims.size(), type);
  });
  return {};
}

// Arguments: grad_output, output_size, input_size, align_corners, and a scale for each resized dimension.
Refusal lower_upsample_linear_backward(Op& op) {
  Tensor grad = op.tensor(0), out = op.result(0);
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  size_t resized = op.arg_count() - 4, first = out.rank() - resized;
  spread_kernel(op, grad, resized, [&](Body& b, const Index& index, const Add& add) {
    std::vector<Between> dims = all_between(b, op, index, out, grad, 3, type);
    Val value = b.to(b.load(grad, index), type);
    for (size_t corner = 0; corner < size_t{1} << resized; ++corner) {
      Index to = index;
      Val part = value;
      for (size_t k = 0; k < resized; ++k) {
        bool is_high = (corner >> (resized - 1 - k)) % 2 == 1;
        to[first + k] = is_high ? dims[k].high : dims[k].low;
        part = part * (is_high ? dims[k].high_weight : dims[k].low_weight);
      }
      add(to, part);
    }
  });
  return {};
}

namespace {

// Four pixels around a position, and their weights: those of the cubic convolution with a = -3/4.
struct Around {
  std::array<Expr, 4> places;
  std::array<Val, 4> weights;
};

Val cubic_near(Val x) {  // of a distance up to 1
  constexpr double kA = -0.75;
  return (x * (kA + 2) - (kA + 3)) * x * x + 1.0;
}

Val cubic_far(Val x) {  // of a distance from 1 to 2
  constexpr double kA = -0.75;
  return ((x * kA - 5 * kA) * x + 8 * kA) * x - 4 * kA;
}

Around around(Body& b, Expr at, Expr in, Expr out, std::optional<double> scale, bool aligned, DType type) {
  sym::Context& cx = b.cx();
  Val position = real_of(b, at, type);
  if (!aligned) {
    position = ratio(b, in, out, scale, type) * (position + 0.5) - 0.5;
  } else if (out.is_const(1)) {
    position = b.real(type, 0);
  } else {
    position = position * (real_of(b, cx.sub(in, 1), type) / real_of(b, cx.sub(out, 1), type));
  }
  Val low = floor(position), rest = min(max(position - low, 0.0), 1.0);
  Around result;
  result.weights = {cubic_far(rest + 1.0), cubic_near(rest), cubic_near(1.0 - rest), cubic_far(2.0 - rest)};
  Val zero = b.integer(DType::kI64, 0), last = b.index(cx.sub(in, 1));
  for (int k = 0; k < 4; ++k) {
    Val place = b.to(low, DType::kI64) + static_cast<double>(k - 1);
    result.places[static_cast<size_t>(k)] = b.checked(min(max(place, zero), last), in);
  }
  return result;
}

}  // namespace

// Arguments: self, output_size, align_corners, scales_h, scales_w.
Refusal lower_upsample_bicubic(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  bool aligned = op.flag(2);
  size_t h = x.rank() - 2, w = x.rank() - 1;
  pointwise(op, out, [&](Body& b, const Index& index) {
    Around rows = around(b, index[h], x.size(h), out.size(h), given_scale(op, 3), aligned, type);
    Around columns = around(b, index[w], x.size(w), out.size(w), given_scale(op, 4), aligned, type);
    Val sum;
    for (size_t r = 0; r < 4; ++r) {
      Val row;
      for (size_t c = 0; c < 4; ++c) {
        Index from = index;
        from[h] = rows.places[r];
        from[w] = columns.places[c];
        Val part = b.to(b.load(x, from), type) * columns.weights[c];
        row = c == 0 ? part : row + part;
      }
      row = row * rows.weights[r];
      sum = r == 0 ? row : sum + row;
    }
    return sum;
  });
  return {};
}

}  // namespace jumar::loop::lowering
