// Images sampled at positions that a tensor gives: coordinates from -1 to 1 along each dimension, the last
// one first.
#include <array>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// The numbers by which ATen names its modes (GridSamplerUtils.h).
enum class Interpolation : uint8_t { kLinear, kNearest, kCubic };
enum class Padding : uint8_t { kZeros, kBorder, kReflection };

struct Sampler {
  Interpolation interpolation = Interpolation::kLinear;
  Padding padding = Padding::kZeros;
  bool aligned = false;
};

// A coordinate as a position among the pixels of a dimension: their centres lie at whole numbers.
Val pixel_position(Body& b, const Sampler& s, Val coordinate, Expr size) {
  if (s.aligned) return (coordinate + 1.0) * 0.5 * real_of(b, b.cx().sub(size, 1), coordinate.type);
  return ((coordinate + 1.0) * real_of(b, size, coordinate.type) - 1.0) * 0.5;
}

// Within the pixels; NaN becomes the first.
Val clipped(Body& b, Val position, Expr size) {
  Val last = real_of(b, b.cx().sub(size, 1), position.type);
  return select(position > 0.0, min(position, last), 0.0);
}

// Mirrored at both ends until it is between them.
Val reflected(Body& b, Val position, Expr size, bool aligned) {
  sym::Context& cx = b.cx();
  Val low = b.real(position.type, aligned ? 0 : -0.5);
  Val span = real_of(b, aligned ? cx.sub(size, 1) : size, position.type);
  Val away = abs(position - low);
  Val extra = fmod(away, span), flips = floor(away / span);
  Val is_even = equal(fmod(flips, 2.0), 0.0);
  Val inside = select(is_even, extra + low, span - extra + low);
  // One aligned pixel spans nothing.
  return select(equal(span, 0.0), 0.0, inside);
}

Val padded(Body& b, const Sampler& s, Val position, Expr size) {
  if (s.padding == Padding::kZeros) return position;
  if (s.padding == Padding::kReflection) position = reflected(b, position, size, s.aligned);
  return clipped(b, position, size);
}

// A pixel along one dimension, whether there is one, and its weight.
struct Tap {
  Expr at;
  Val exists, weight;
};

// `position` is whole. Positions without a pixel, NaN among them, read the first one and count as zero.
Tap tap(Body& b, Val position, Expr size, Val weight) {
  Val exists = (position >= 0.0) & (position < real_of(b, size, position.type));
  Val index = b.to(select(exists, position, 0.0), DType::kI64);
  return {b.checked(index, size), exists, weight};
}

// Weights of the four pixels around a position, by how far it lies behind the second (cubic convolution, a =
// -0.75).
std::array<Val, 4> cubic_weights(Val t) {
  constexpr double kA = -0.75;
  auto near = [&](Val x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1.0; };
  auto far = [&](Val x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

std::vector<Tap> taps(Body& b, const Sampler& s, Val coordinate, Expr size) {
  Val position = pixel_position(b, s, coordinate, size);
  Val one = b.real(position.type, 1);
  if (s.interpolation == Interpolation::kNearest)
    return {tap(b, round(padded(b, s, position, size)), size, one)};
  if (s.interpolation == Interpolation::kLinear) {
    position = padded(b, s, position, size);
    Val low = floor(position), behind = position - low;
    return {tap(b, low, size, one - behind), tap(b, low + 1.0, size, behind)};
  }
  // Cubic: each of the four pixels is padded by itself.
  Val low = floor(position);
  std::array<Val, 4> weights = cubic_weights(position - low);
  std::vector<Tap> out;
  for (int k = 0; k < 4; ++k) {
    Val at = padded(b, s, low + static_cast<double>(k - 1), size);
    out.push_back(
        tap(b, s.padding == Padding::kReflection ? round(at) : at, size, weights[static_cast<size_t>(k)]));
  }
  return out;
}

// The sum over all combinations of taps from dimension `d` on.
Val weighted(Body& b, const Tensor& x, const std::vector<std::vector<Tap>>& all, size_t d, Index& from,
             Val exists, DType type) {
  if (d == all.size()) return select(exists, b.to(b.load(x, from), type), 0.0);
  Val sum;
  for (const Tap& t : all[d]) {
    from[2 + d] = t.at;
    Val both = exists ? exists & t.exists : t.exists;
    Val term = weighted(b, x, all, d + 1, from, both, type) * t.weight;
    sum = sum ? sum + term : term;
  }
  return sum;
}

// Arguments: input, grid, interpolation_mode, padding_mode, align_corners.
Refusal grid_sampler(Op& op, size_t dims) {
  Tensor x = op.tensor(0), grid = op.tensor(1), out = op.result(0);
  auto interpolation = op.constant(2), padding = op.constant(3);
  if (!interpolation || !padding || *interpolation < 0 || *interpolation > 2 || *padding < 0 || *padding > 2)
    return "a mode of another number";
  DType type = compute_type(out.dtype());
  if (!ir::is_float(type)) return "no float";
  Sampler s{static_cast<Interpolation>(*interpolation), static_cast<Padding>(*padding), op.flag(4)};
  for (size_t d = 2; d < 2 + dims; ++d) {
    if (x.size(d).is_const(0)) return "an image without pixels";
  }
  pointwise(op, out, [&](Body& b, const Index& index) {
    std::vector<std::vector<Tap>> all(dims);
    for (size_t d = 0; d < dims; ++d) {
      Index at{index[0]};
      at.insert(at.end(), index.begin() + 2, index.end());
      at.push_back(b.cx().constant(static_cast<int64_t>(dims - 1 - d)));
      all[d] = taps(b, s, b.to(b.load(grid, at), type), x.size(2 + d));
    }
    Index from = index;
    return weighted(b, x, all, 0, from, {}, type);
  });
  return {};
}

}  // namespace

Refusal lower_grid_sampler2d(Op& op) { return grid_sampler(op, 2); }
Refusal lower_grid_sampler3d(Op& op) { return grid_sampler(op, 3); }

}  // namespace jumar::loop::lowering
