// Images of another size. Positions between pixels are computed in the body, in the type in which eager
// computes them, and checked like any index that is not known to be inside.
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

Expr nearest(Body& b, const Op& op, Expr at, Expr in, Expr out, std::optional<double> scale) {
  // Products with the reciprocal of a power of two are exact, so that integers say the same.
  if (auto factor = power_of_two(op.low(), in, out, scale)) return b.cx().floordiv(at, *factor);
  Val position = floor(real_of(b, at, DType::kF32) * ratio(b, in, out, scale, DType::kF32));
  Val last = b.index(b.cx().sub(in, 1));
  return b.checked(min(b.to(position, DType::kI64), last), in);
}

}  // namespace

// Arguments: self, output_size, and a scale for each resized dimension.
Refusal lower_upsample_nearest(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t resized = op.arg_count() - 2, first = x.rank() - resized;
  if (x.rank() <= resized) return "there is nothing to resize";
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index from = index;
    for (size_t k = 0; k < resized; ++k) {
      size_t d = first + k;
      from[d] = nearest(b, op, index[d], x.size(d), out.size(d), given_scale(op, 2 + k));
    }
    return b.load(x, from);
  });
  return {};
}

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

}  // namespace

// Arguments: self, output_size, align_corners, scales_h, scales_w.
Refusal lower_upsample_bilinear(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  bool aligned = op.flag(2);
  size_t n = x.rank();
  pointwise(op, out, [&](Body& b, const Index& index) {
    Between row = between(b, index[n - 2], x.size(n - 2), out.size(n - 2), given_scale(op, 3), aligned, type);
    Between column =
        between(b, index[n - 1], x.size(n - 1), out.size(n - 1), given_scale(op, 4), aligned, type);
    auto pixel = [&](Expr r, Expr c) {
      Index from = index;
      from[n - 2] = r;
      from[n - 1] = c;
      return b.to(b.load(x, from), type);
    };
    Val top = pixel(row.low, column.low) * column.low_weight;
    top = top + pixel(row.low, column.high) * column.high_weight;
    Val bottom = pixel(row.high, column.low) * column.low_weight;
    bottom = bottom + pixel(row.high, column.high) * column.high_weight;
    return top * row.low_weight + bottom * row.high_weight;
  });
  return {};
}

}  // namespace jumar::loop::lowering
