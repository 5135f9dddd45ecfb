// Pools over windows of the last two dimensions. The forward folds a window per element of the result; the
// backward folds, per element of the input, the windows that hold it, so that no two points store to one
// address.
#include <cmath>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// One dimension of a window: output o covers inputs o*stride - pad + k*dilation for k < kernel.
struct Window {
  int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
  Expr in, out;  // extents
};

struct Windows {
  Window rows, columns;
  bool ceil_mode = false;
};

std::optional<std::array<int64_t, 2>> pair_of(const Op& op, size_t k, std::array<int64_t, 2> otherwise) {
  if (!op.has(k)) return otherwise;
  auto values = op.constants(k);
  if (!values) return std::nullopt;
  if (values->empty()) return otherwise;
  return std::array<int64_t, 2>{values->front(), values->back()};
}

// Arguments from `first` on: kernel_size, stride, padding, and dilation where `with_dilation`.
std::optional<Windows> windows_of(const Op& op, size_t first, bool with_dilation, const Tensor& in,
                                  const Tensor& out) {
  auto kernel = pair_of(op, first, {1, 1});
  if (!kernel || in.rank() < 3) return std::nullopt;
  auto stride = pair_of(op, first + 1, *kernel), pad = pair_of(op, first + 2, {0, 0});
  auto dilation = with_dilation ? pair_of(op, first + 3, {1, 1}) : std::array<int64_t, 2>{1, 1};
  if (!stride || !pad || !dilation) return std::nullopt;
  size_t n = in.rank();
  Windows w;
  w.rows = {(*kernel)[0], (*stride)[0], (*pad)[0], (*dilation)[0], in.size(n - 2), out.size(n - 2)};
  w.columns = {(*kernel)[1], (*stride)[1], (*pad)[1], (*dilation)[1], in.size(n - 1), out.size(n - 1)};
  return w;
}

// A position and whether it is inside.
struct Spot {
  Expr at;
  Expr inside;
};

// Where element k of window o lies in the input.
Spot input_spot(sym::Context& cx, const Window& w, Expr o, Expr k) {
  Spot spot{cx.add(cx.sub(cx.mul(o, w.stride), w.pad), cx.mul(k, w.dilation)), cx.constant(1)};
  if (w.pad > 0) spot.inside = cx.le(cx.constant(0), spot.at);
  // Without pads and partial windows every window lies inside.
  spot.inside = cx.logical_and(spot.inside, cx.lt(spot.at, w.in));
  return spot;
}

// The k-th window, counted backwards, of those that can hold input position i.
Spot window_spot(sym::Context& cx, const Window& w, Expr i, Expr k) {
  Spot spot{cx.sub(cx.floordiv(cx.add(i, w.pad), w.stride), k), cx.constant(1)};
  spot.inside = cx.logical_and(cx.le(cx.constant(0), spot.at), cx.lt(spot.at, w.out));
  return spot;
}

int64_t windows_per_input(const Window& w) {
  int64_t reach = (w.kernel - 1) * w.dilation + 1;
  return (reach + w.stride - 1) / w.stride;
}

// What is known of an inside predicate from the axes' extents.
Expr decided(sym::Context& cx, const Lowering& low, Expr predicate, const std::vector<Axis>& axes) {
  sym::Facts facts = low.facts();
  for (const Axis& axis : axes) facts.set_extent(axis.symbol, axis.extent);
  return sym::simplified(cx, predicate, facts);
}

// Folds `kernel` window elements per point of out; fold gets positions in the input and the guard.
using WindowFold = std::function<std::vector<Val>(Body& b, const Index& from, Expr inside)>;
using WindowFinish = std::function<void(Body& b, const Index& index, const std::vector<Val>& folds)>;
void window_kernel(Op& op, const Windows& w, const Sizes& out, const WindowFold& fold,
                   const WindowFinish& finish) {
  op.low().kernel(op, [&](Body& b) {
    sym::Context& cx = b.cx();
    Index index = b.keep_all(out);
    b.begin_stage();
    Expr k0 = b.inner(cx.constant(w.rows.kernel)), k1 = b.inner(cx.constant(w.columns.kernel));
    size_t n = index.size();
    Spot row = input_spot(cx, w.rows, index[n - 2], k0), column = input_spot(cx, w.columns, index[n - 1], k1);
    Index from = index;
    from[n - 2] = row.at;
    from[n - 1] = column.at;
    Expr inside = decided(cx, op.low(), cx.logical_and(row.inside, column.inside), b.axes());
    std::vector<Val> folds = fold(b, from, inside);
    b.begin_stage();
    finish(b, index, folds);
  });
}

}  // namespace

// Arguments: self, kernel_size, stride, padding, dilation, ceil_mode; results: values and flat positions.
Refusal lower_max_pool(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  auto w = windows_of(op, 1, true, x, out);
  if (!w) return "windows that are no constants";
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  bool with_place = op.has_result(1);
  window_kernel(
      op, *w, out.sizes(),
      [&](Body& b, const Index& from, Expr inside) {
        Val value = b.to(b.load_if(inside, x, from, -HUGE_VAL), acc);
        std::vector<Val> folds{b.reduce(ReduceKind::kMax, value)};
        if (!with_place) return folds;
        size_t n = from.size();
        Val place = b.index(b.cx().add(b.cx().mul(from[n - 2], x.size(n - 1)), from[n - 1]));
        // Of several NaN eager takes the last, of other equals the first: places of NaN count downwards from
        // -1.
        place = select(isnan(value), -1.0 - place, place);
        // A pad is never the place, not even among elements that are all -inf.
        if (!inside.is_const(1))
          place = select(b.predicate(inside), place, b.integer(DType::kI64, INT64_MAX));
        folds.push_back(b.arg_reduce(ReduceKind::kArgMax, value, place));
        return folds;
      },
      [&](Body& b, const Index& index, const std::vector<Val>& folds) {
        b.store(out, index, folds[0]);
        if (!with_place) return;
        Val place = folds[1];
        b.store(op.result(1), index, select(place < 0.0, -1.0 - place, place));
      });
  return {};
}

namespace {

// The number of elements by which the average of window o is divided along one dimension.
Expr window_count(sym::Context& cx, const Window& w, Expr o, bool count_pads) {
  Expr start = cx.sub(cx.mul(o, w.stride), w.pad);
  Expr end = cx.min(cx.add(start, w.kernel), cx.add(w.in, w.pad));
  if (count_pads) return cx.sub(end, start);
  return cx.sub(cx.min(end, w.in), cx.max(start, cx.constant(0)));
}

struct Average {
  Windows windows;
  bool count_pads = true;
  std::optional<Expr> divisor;
};

// Arguments from `first` on: kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override.
std::optional<Average> average_of(const Op& op, size_t first, const Tensor& in, const Tensor& out) {
  auto w = windows_of(op, first, false, in, out);
  if (!w) return std::nullopt;
  Average a{*w, op.flag(first + 4), std::nullopt};
  a.windows.ceil_mode = op.flag(first + 3);
  if (op.has(first + 5)) a.divisor = op.integer(first + 5);
  return a;
}

Val average_divisor(Body& b, const Average& a, Expr row, Expr column, DType acc) {
  sym::Context& cx = b.cx();
  const Windows& w = a.windows;
  if (a.divisor) return real_of(b, *a.divisor, acc);
  bool always_whole = !w.ceil_mode && (a.count_pads || (w.rows.pad == 0 && w.columns.pad == 0));
  if (always_whole) return b.real(acc, static_cast<double>(w.rows.kernel * w.columns.kernel));
  Expr count =
      cx.mul(window_count(cx, w.rows, row, a.count_pads), window_count(cx, w.columns, column, a.count_pads));
  // A window that does not exist is asked too, in the backward, and must not make 0/0 of its zeros.
  return real_of(b, cx.max(count, cx.constant(1)), acc);
}

}  // namespace

Refusal lower_avg_pool(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  auto a = average_of(op, 1, x, out);
  if (!a) return "windows that are no constants";
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  window_kernel(
      op, a->windows, out.sizes(),
      [&](Body& b, const Index& from, Expr inside) {
        return std::vector<Val>{b.reduce(ReduceKind::kSum, b.to(b.load_if(inside, x, from, 0), acc))};
      },
      [&](Body& b, const Index& index, const std::vector<Val>& folds) {
        size_t n = index.size();
        b.store(out, index, folds[0] / average_divisor(b, *a, index[n - 2], index[n - 1], acc));
      });
  return {};
}

namespace {

// Folds, per element of the input's gradient, over the windows that can hold it. `value` gets the input's
// position, the window's, and whether there is such a window.
using WindowValue = std::function<Val(Body& b, const Index& at, const Index& window, Expr inside)>;
void backward_kernel(Op& op, const Windows& w, const WindowValue& value) {
  Tensor out = op.result(0);
  op.low().kernel(op, [&](Body& b) {
    sym::Context& cx = b.cx();
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    Expr k0 = b.inner(cx.constant(windows_per_input(w.rows)));
    Expr k1 = b.inner(cx.constant(windows_per_input(w.columns)));
    size_t n = index.size();
    Spot row = window_spot(cx, w.rows, index[n - 2], k0),
         column = window_spot(cx, w.columns, index[n - 1], k1);
    Index window = index;
    window[n - 2] = row.at;
    window[n - 1] = column.at;
    Expr inside = decided(cx, op.low(), cx.logical_and(row.inside, column.inside), b.axes());
    Val sum = b.reduce(ReduceKind::kSum, value(b, index, window, inside));
    b.begin_stage();
    b.store(out, index, sum);
  });
}

}  // namespace

// Arguments: grad, self, kernel_size, stride, padding, dilation, ceil_mode, indices.
Refusal lower_max_pool_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), where = op.tensor(7), out = op.result(0);
  auto w = windows_of(op, 2, true, x, grad);
  if (!w) return "windows that are no constants";
  DType acc = compute_type(out.dtype());
  size_t n = x.rank();
  backward_kernel(op, *w, [&](Body& b, const Index& at, const Index& window, Expr inside) {
    Val place = b.load_if(inside, where, window, -1);
    Val own = b.index(b.cx().add(b.cx().mul(at[n - 2], x.size(n - 1)), at[n - 1]));
    return select(equal(place, own), b.to(b.load_if(inside, grad, window, 0), acc), 0.0);
  });
  return {};
}

// Arguments: grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override.
Refusal lower_avg_pool_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), out = op.result(0);
  auto a = average_of(op, 2, x, grad);
  if (!a) return "windows that are no constants";
  DType acc = compute_type(out.dtype());
  size_t n = x.rank();
  backward_kernel(op, a->windows, [&](Body& b, const Index& at, const Index& window, Expr inside) {
    sym::Context& cx = b.cx();
    for (size_t d : {n - 2, n - 1}) {
      // Counted from the window's start, the element must lie before its end.
      const Window& w = d == n - 2 ? a->windows.rows : a->windows.columns;
      Expr offset = cx.sub(cx.add(at[d], w.pad), cx.mul(window[d], w.stride));
      inside = cx.logical_and(inside, cx.lt(offset, cx.constant(w.kernel)));
    }
    Val value = b.to(b.load_if(inside, grad, window, 0), acc);
    return value / average_divisor(b, *a, window[n - 2], window[n - 1], acc);
  });
  return {};
}

namespace {

// Adaptive windows along one dimension: output o covers [o*in/out, ceil((o + 1)*in/out)).
Expr adaptive_start(sym::Context& cx, Expr in, Expr out, Expr o) { return cx.floordiv(cx.mul(o, in), out); }
Expr adaptive_end(sym::Context& cx, Expr in, Expr out, Expr o) {
  return cx.ceildiv(cx.mul(cx.add(o, 1), in), out);
}

// The longest window; windows are equally long where the division is exact.
Expr adaptive_length(const Lowering& low, Expr in, Expr out) {
  sym::Context& cx = low.cx();
  if (sym::proves_divisible(cx, in, out, low.facts()))
    return sym::simplified(cx, cx.floordiv(in, out), low.facts());
  return cx.add(cx.ceildiv(in, out), 1);
}

}  // namespace

Refusal lower_adaptive_avg_pool(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  size_t n = x.rank();
  const Lowering& low = op.low();
  sym::Context& cx = low.cx();
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes()), from = index;
    b.begin_stage();
    Expr inside = cx.constant(1), count = cx.constant(1);
    for (size_t d : {n - 2, n - 1}) {
      Expr in_size = x.size(d), out_size = out.size(d);
      Expr length = adaptive_length(low, in_size, out_size);
      bool is_exact = sym::proves_divisible(cx, in_size, out_size, low.facts());
      Expr start = is_exact ? cx.mul(index[d], length) : adaptive_start(cx, in_size, out_size, index[d]);
      Expr end = is_exact ? cx.add(start, length) : adaptive_end(cx, in_size, out_size, index[d]);
      from[d] = cx.add(start, b.inner(length));
      if (!is_exact) inside = cx.logical_and(inside, cx.lt(from[d], end));
      count = cx.mul(count, cx.sub(end, start));
    }
    Val sum = b.reduce(ReduceKind::kSum, b.to(b.load_if(inside, x, from, 0), acc));
    b.begin_stage();
    b.store(out, index, sum / real_of(b, count, acc));
  });
  return {};
}

// Arguments: grad, self.
Refusal lower_adaptive_avg_pool_backward(Op& op) {
  Tensor grad = op.tensor(0), x = op.tensor(1), out = op.result(0);
  DType acc = compute_type(out.dtype());
  if (!ir::is_float(acc)) return "no float";
  size_t n = x.rank();
  sym::Context& cx = op.low().cx();
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes()), window = index;
    b.begin_stage();
    Expr inside = cx.constant(1), count = cx.constant(1);
    for (size_t d : {n - 2, n - 1}) {
      Expr in_size = x.size(d), out_size = grad.size(d);
      // The first window that can hold the element, and as many as can hold one element.
      Expr first = cx.floordiv(cx.mul(index[d], out_size), in_size);
      Expr r = b.inner(cx.add(cx.ceildiv(out_size, in_size), 1));
      window[d] = cx.add(first, r);
      Expr start = adaptive_start(cx, in_size, out_size, window[d]);
      Expr end = adaptive_end(cx, in_size, out_size, window[d]);
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

}  // namespace jumar::loop::lowering
