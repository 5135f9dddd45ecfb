// Windows laid out as columns, and their inverse, which sums what lies on one element.
#include "loop/lower/indices.h"
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// One of the two dimensions of an image: window o holds the pixels o*stride - pad + k*dilation for k <
// kernel.
struct Side {
  Expr kernel, dilation, pad, stride;
  Expr in, windows;
};

// Arguments from `first` on: kernel_size, dilation, padding, stride.
std::optional<std::vector<Side>> sides_of(const Op& op, size_t first, Expr height, Expr width) {
  sym::Context& cx = op.low().cx();
  std::vector<Side> sides(2);
  for (size_t k = 0; k < 4; ++k) {
    std::vector<Expr> values = op.integers(first + k);
    if (values.size() != 1 && values.size() != 2) return std::nullopt;
    for (size_t d = 0; d < 2; ++d) {
      Side& s = sides[d];
      (k == 0   ? s.kernel
       : k == 1 ? s.dilation
       : k == 2 ? s.pad
                : s.stride) = values[values.size() == 1 ? 0 : d];
    }
  }
  for (size_t d = 0; d < 2; ++d) {
    Side& s = sides[d];
    s.in = d == 0 ? height : width;
    Expr reach = cx.add(cx.mul(s.dilation, cx.sub(s.kernel, 1)), 1);
    s.windows = cx.add(cx.floordiv(cx.sub(cx.add(s.in, cx.mul(s.pad, 2)), reach), s.stride), 1);
  }
  return sides;
}

// A column's channel is channel, row in the window, column in the window; its last dimension counts windows.
Sizes channel_sizes(const Tensor& image, const std::vector<Side>& sides) {
  return {image.size(image.rank() - 3), sides[0].kernel, sides[1].kernel};
}

}  // namespace

// Arguments: self, kernel_size, dilation, padding, stride.
Refusal lower_im2col(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t n = x.rank();
  if (n < 3) return "an image without channels";
  auto sides = sides_of(op, 1, x.size(n - 2), x.size(n - 1));
  if (!sides) return "windows of another number of dimensions";
  pointwise(op, out, [&](Body& b, const Index& index) {
    sym::Context& cx = b.cx();
    Index channel = unflattened(cx, index[index.size() - 2], channel_sizes(x, *sides));
    Index window = unflattened(cx, index.back(), {(*sides)[0].windows, (*sides)[1].windows});
    Index from(index.begin(), index.end() - 2);
    from.push_back(channel[0]);
    Expr inside = cx.constant(1);
    for (size_t d = 0; d < 2; ++d) {
      const Side& s = (*sides)[d];
      Expr at = cx.add(cx.sub(cx.mul(window[d], s.stride), s.pad), cx.mul(channel[d + 1], s.dilation));
      inside = cx.logical_and(inside, cx.logical_and(cx.le(cx.constant(0), at), cx.lt(at, s.in)));
      from.push_back(at);
    }
    return b.load_if(inside, x, from, 0);
  });
  return {};
}

// Arguments: self, output_size, kernel_size, dilation, padding, stride. Folds, per pixel, over the places in
// a window that it can have.
Refusal lower_col2im(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t n = out.rank();
  if (n < 3) return "an image without channels";
  auto sides = sides_of(op, 2, out.size(n - 2), out.size(n - 1));
  if (!sides) return "windows of another number of dimensions";
  DType acc = compute_type(out.dtype());
  if (!ir::is_float(acc)) return "no float";
  op.low().kernel(op, [&](Body& b) {
    sym::Context& cx = b.cx();
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    Index channel{index[n - 3]}, window;
    Expr inside = cx.constant(1);
    for (size_t d = 0; d < 2; ++d) {
      const Side& s = (*sides)[d];
      Expr k = b.inner(s.kernel);
      Expr offset = cx.sub(cx.add(index[n - 2 + d], s.pad), cx.mul(k, s.dilation));
      Expr o = cx.floordiv(offset, s.stride);
      Expr fits = cx.eq(cx.mul(o, s.stride), offset);
      inside = cx.logical_and(
          inside, cx.logical_and(fits, cx.logical_and(cx.le(cx.constant(0), o), cx.lt(o, s.windows))));
      channel.push_back(k);
      window.push_back(o);
    }
    Index from(index.begin(), index.end() - 3);
    from.push_back(flattened(cx, channel, channel_sizes(out, *sides)));
    from.push_back(flattened(cx, window, {(*sides)[0].windows, (*sides)[1].windows}));
    Val sum = b.reduce(ReduceKind::kSum, b.to(b.load_if(inside, x, from, 0), acc));
    b.begin_stage();
    b.store(out, index, sum);
  });
  return {};
}

// Arguments: grad, input_sizes, dim, size, step. The last dimension of grad counts in the window.
Refusal lower_unfold_backward(Op& op) {
  Tensor grad = op.tensor(0), out = op.result(0);
  if (out.rank() == 0) return "a tensor without dimensions";
  size_t dim = op.dim(2, out.rank());
  Expr size = op.integer(3), step = op.integer(4);
  DType acc = compute_type(out.dtype());
  if (!ir::is_float(acc)) return "no float";
  op.low().kernel(op, [&](Body& b) {
    sym::Context& cx = b.cx();
    Index index = b.keep_all(out.sizes()), from = index;
    b.begin_stage();
    // The k-th window, counted backwards, of those that can hold the element.
    Expr k = b.inner(cx.ceildiv(size, step));
    Expr window = cx.sub(cx.floordiv(index[dim], step), k);
    Expr place = cx.sub(index[dim], cx.mul(window, step));
    Expr exists = cx.logical_and(cx.le(cx.constant(0), window), cx.lt(window, grad.size(dim)));
    from[dim] = window;
    from.push_back(place);
    Val value = b.load_if(cx.logical_and(exists, cx.lt(place, size)), grad, from, 0);
    Val sum = b.reduce(ReduceKind::kSum, b.to(value, acc));
    b.begin_stage();
    b.store(out, index, sum);
  });
  return {};
}

}  // namespace jumar::loop::lowering
