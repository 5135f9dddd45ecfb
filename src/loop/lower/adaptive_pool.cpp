// Pools whose windows follow from the sizes of input and result, and what undoes a max pool by the places it
// noted. Along one dimension output o covers the inputs [o*in/out, ceil((o + 1)*in/out)).
#include <cmath>

#include "loop/lower/indices.h"
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"
#include "loop/lower/scatter.h"

namespace jumar::loop::lowering {

namespace {

Expr window_start(sym::Context& cx, Expr in, Expr out, Expr o) { return cx.floordiv(cx.mul(o, in), out); }
Expr window_end(sym::Context& cx, Expr in, Expr out, Expr o) {
  return cx.ceildiv(cx.mul(cx.add(o, 1), in), out);
}

// The inputs of one window: positions along opened inner axes, whether they belong to it, and their number.
struct Covered {
  Index from;
  Expr inside, count;
};

Covered open_window(Body& b, const Lowering& low, const Tensor& x, const Tensor& out, const Index& index,
                    size_t dims) {
  sym::Context& cx = b.cx();
  Covered c{index, cx.constant(1), cx.constant(1)};
  for (size_t d = x.rank() - dims; d < x.rank(); ++d) {
    Expr in_size = x.size(d), out_size = out.size(d);
    // Windows are equally long where the division is exact.
    bool is_exact = sym::proves_divisible(cx, in_size, out_size, low.facts());
    Expr length = is_exact ? sym::simplified(cx, cx.floordiv(in_size, out_size), low.facts())
                           : cx.add(cx.ceildiv(in_size, out_size), 1);
    Expr start = is_exact ? cx.mul(index[d], length) : window_start(cx, in_size, out_size, index[d]);
    Expr end = is_exact ? cx.add(start, length) : window_end(cx, in_size, out_size, index[d]);
    c.from[d] = cx.add(start, b.inner(length));
    if (!is_exact) c.inside = cx.logical_and(c.inside, cx.lt(c.from[d], end));
    c.count = cx.mul(c.count, cx.sub(end, start));
  }
  return c;
}

Refusal adaptive_avg_pool(Op& op, size_t dims) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    Covered c = open_window(b, op.low(), x, out, index, dims);
    Val sum = b.reduce(ReduceKind::kSum, b.to(b.load_if(c.inside, x, c.from, 0), acc));
    b.begin_stage();
    b.store(out, index, sum / real_of(b, c.count, acc));
  });
  return {};
}

// Arguments: grad, self.
Refusal adaptive_avg_pool_backward(Op& op, size_t dims) {
  Tensor grad = op.tensor(0), x = op.tensor(1), out = op.result(0);
  DType acc = compute_type(out.dtype());
  if (!ir::is_float(acc)) return "no float";
  sym::Context& cx = op.low().cx();
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes()), window = index;
    b.begin_stage();
    Expr inside = cx.constant(1), count = cx.constant(1);
    for (size_t d = x.rank() - dims; d < x.rank(); ++d) {
      Expr in_size = x.size(d), out_size = grad.size(d);
      // The first window that can hold the element, and as many as can hold one element.
      Expr first = cx.floordiv(cx.mul(index[d], out_size), in_size);
      Expr r = b.inner(cx.add(cx.ceildiv(out_size, in_size), 1));
      window[d] = cx.add(first, r);
      Expr start = window_start(cx, in_size, out_size, window[d]);
      Expr end = window_end(cx, in_size, out_size, window[d]);
      inside = cx.logical_and(inside, cx.lt(window[d], out_size));
      inside = cx.logical_and(inside, cx.logical_and(cx.le(start, index[d]), cx.lt(index[d], end)));
      count = cx.mul(count, cx.sub(end, start));
    }
    Val value = b.to(b.load_if(inside, grad, window, 0), acc) / real_of(b, count, acc);
    Val sum = b.reduce(ReduceKind::kSum, value);
    b.begin_stage();
    b.store(out, index, sum);
  });
  return {};
}

// Results: values and places in the flattened last dimensions.
Refusal adaptive_max_pool(Op& op, size_t dims) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  bool with_place = op.has_result(1);
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    Covered c = open_window(b, op.low(), x, out, index, dims);
    Val value = b.to(b.load_if(c.inside, x, c.from, -HUGE_VAL), acc);
    Val top = b.reduce(ReduceKind::kMax, value), where;
    if (with_place) where = reduced_place(b, value, place_among_last(b.cx(), x, c.from, dims), c.inside);
    b.begin_stage();
    b.store(out, index, top);
    if (with_place) b.store(op.result(1), index, noted_place(where));
  });
  return {};
}

std::vector<bool> last_dims(size_t rank, size_t dims) {
  std::vector<bool> out(rank, false);
  std::fill(out.end() - static_cast<int64_t>(dims), out.end(), true);
  return out;
}

// Opens axes over the last dimensions of `places` and gives a position there.
Index open_places(Body& b, const Tensor& places, const Index& kept, size_t dims) {
  Index from = kept;
  for (size_t d = places.rank() - dims; d < places.rank(); ++d) from[d] = b.inner(places.size(d));
  return from;
}

// The place noted at a position, as one in `x`.
Index place_in(Body& b, const Tensor& x, const Tensor& places, const Index& from, size_t dims) {
  sym::Context& cx = b.cx();
  Sizes sizes = last_sizes(x, dims);
  Expr flat = b.checked(b.load(places, from), ir::element_count(cx, sizes));
  Index to = from, at = unflattened(cx, flat, sizes);
  std::copy(at.begin(), at.end(), to.end() - static_cast<int64_t>(dims));
  return to;
}

// Adds each gradient at the place noted for it.
Refusal add_at_places(Op& op, const Tensor& grad, const Tensor& places, size_t dims) {
  Tensor out = op.result(0);
  if (grad.rank() != out.rank() || places.rank() != out.rank()) return kOtherRank;
  if (!ir::is_float(out.dtype())) return "no float";
  Tensor sum = merge_memory(op, out);
  auto add = [&](Body& b, const Index& kept) {
    Index from = open_places(b, places, kept, dims);
    Index to = place_in(b, out, places, from, dims);
    b.store(sum, to, b.to(b.load(grad, from), sum.dtype()), StoreMode::kAdd);
  };
  scatter_kernel(op, {sum, last_dims(out.rank(), dims), constant_of(0, sum.dtype()), add});
  finish_merge(op, out, sum);
  return {};
}

// Each element at the place noted for it, zeros elsewhere. Arguments: self, indices, and what is known from
// the result.
Refusal max_unpool(Op& op, size_t dims) {
  Tensor x = op.tensor(0), places = op.tensor(1), out = op.result(0);
  if (x.rank() != out.rank() || places.rank() != out.rank()) return kOtherRank;
  // Eager keeps the order of the dimensions in memory; what was captured does not.
  if (!ir::is_contiguous(op.low().cx(), x.type)) return "elements that are not in row-major order";
  auto add = [&](Body& b, const Index& kept, const Tensor& table) {
    Index from = open_places(b, places, kept, dims);
    Val position = b.index(place_among_last(b.cx(), places, from, dims));
    b.store(table, place_in(b, out, places, from, dims), position, StoreMode::kMax);
  };
  Tensor table = last_elements(op, out.sizes(), last_dims(out.rank(), dims), add);
  sym::Context& cx = op.low().cx();
  Sizes sizes = last_sizes(places, dims);
  Expr count = ir::element_count(cx, sizes);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Chosen c = chosen(b, b.load(table, index), count);
    Index from = index, at = unflattened(cx, c.position, sizes);
    std::copy(at.begin(), at.end(), from.end() - static_cast<int64_t>(dims));
    DType type = compute_type(out.dtype());
    Val value = b.to(b.load_if(cx.lt(cx.constant(0), count), x, from, 0), type);
    return select(c.exists, value, 0.0);
  });
  return {};
}

}  // namespace

Refusal lower_adaptive_avg_pool(Op& op) { return adaptive_avg_pool(op, 2); }
Refusal lower_adaptive_avg_pool3d(Op& op) { return adaptive_avg_pool(op, 3); }
Refusal lower_adaptive_avg_pool_backward(Op& op) { return adaptive_avg_pool_backward(op, 2); }
Refusal lower_adaptive_avg_pool3d_backward(Op& op) { return adaptive_avg_pool_backward(op, 3); }
Refusal lower_adaptive_max_pool(Op& op) { return adaptive_max_pool(op, 2); }
Refusal lower_adaptive_max_pool3d(Op& op) { return adaptive_max_pool(op, 3); }
// Arguments: grad, self, indices.
Refusal lower_adaptive_max_pool_backward(Op& op) { return add_at_places(op, op.tensor(0), op.tensor(2), 2); }
Refusal lower_adaptive_max_pool3d_backward(Op& op) {
  return add_at_places(op, op.tensor(0), op.tensor(2), 3);
}
// Arguments: grad, self, kernel_size, output_size, indices.
Refusal lower_fractional_max_pool2d_backward(Op& op) {
  return add_at_places(op, op.tensor(0), op.tensor(4), 2);
}
Refusal lower_fractional_max_pool3d_backward(Op& op) {
  return add_at_places(op, op.tensor(0), op.tensor(4), 3);
}
Refusal lower_max_unpool2d(Op& op) { return max_unpool(op, 2); }
Refusal lower_max_unpool3d(Op& op) { return max_unpool(op, 3); }

}  // namespace jumar::loop::lowering
