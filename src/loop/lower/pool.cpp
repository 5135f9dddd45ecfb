// Pools over windows of the last two or three dimensions. The forward folds a window per element of the
// result; the backward folds, per element of the input, the windows that hold it, so that no two points store
// to one address.
#include <cmath>

#include "loop/lower/indices.h"
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

constexpr const char* kNoWindows = "windows that are no constants";

// One dimension of a window: output o covers inputs o*stride - pad + k*dilation for k < kernel.
struct Window {
  int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
  Expr in, out;  // extents
};

// Of the last dimensions of a tensor.
struct Windows {
  std::vector<Window> dims;
  bool ceil_mode = false;
};

// One value for each of `count` dimensions; a list of one value holds for all.
std::optional<std::vector<int64_t>> values_of(const Op& op, size_t k, const std::vector<int64_t>& otherwise) {
  if (!op.has(k)) return otherwise;
  auto values = op.constants(k);
  if (!values) return std::nullopt;
  if (values->empty()) return otherwise;
  if (values->size() == 1) values->resize(otherwise.size(), values->front());
  if (values->size() != otherwise.size()) return std::nullopt;
  return values;
}

// Arguments from `first` on: kernel_size, stride, padding, and dilation where `with_dilation`.
std::optional<Windows> windows_of(const Op& op, size_t count, size_t first, bool with_dilation,
                                  const Tensor& in, const Tensor& out) {
  const std::vector<int64_t> ones(count, 1);
  auto kernel = values_of(op, first, ones);
  if (!kernel || in.rank() <= count) return std::nullopt;
  auto stride = values_of(op, first + 1, *kernel);
  auto pad = values_of(op, first + 2, std::vector<int64_t>(count, 0));
  auto dilation = with_dilation ? values_of(op, first + 3, ones) : ones;
  if (!stride || !pad || !dilation) return std::nullopt;
  Windows w;
  for (size_t k = 0; k < count; ++k) {
    size_t d = in.rank() - count + k;
    w.dims.push_back({(*kernel)[k], (*stride)[k], (*pad)[k], (*dilation)[k], in.size(d), out.size(d)});
  }
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
    Index from = index;
    Expr inside = cx.constant(1);
    Index k;
    for (const Window& dim : w.dims) k.push_back(b.inner(cx.constant(dim.kernel)));
    for (size_t d = 0; d < k.size(); ++d) {
      size_t place = index.size() - k.size() + d;
      Spot spot = input_spot(cx, w.dims[d], index[place], k[d]);
      from[place] = spot.at;
      inside = cx.logical_and(inside, spot.inside);
    }
    inside = decided(cx, op.low(), inside, b.axes());
    std::vector<Val> folds = fold(b, from, inside);
    b.begin_stage();
    finish(b, index, folds);
  });
}

}  // namespace

namespace {

// Arguments: self, kernel_size, stride, padding, dilation, ceil_mode; results: values and flat positions.
Refusal max_pool(Op& op, size_t count) {
  Tensor x = op.tensor(0), out = op.result(0);
  auto w = windows_of(op, count, 1, true, x, out);
  if (!w) return kNoWindows;
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  bool with_place = op.has_result(1);
  window_kernel(
      op, *w, out.sizes(),
      [&](Body& b, const Index& from, Expr inside) {
        Val value = b.to(b.load_if(inside, x, from, -HUGE_VAL), acc);
        std::vector<Val> folds{b.reduce(ReduceKind::kMax, value)};
        if (!with_place) return folds;
        folds.push_back(reduced_place(b, value, place_among_last(b.cx(), x, from, count), inside));
        return folds;
      },
      [&](Body& b, const Index& index, const std::vector<Val>& folds) {
        b.store(out, index, folds[0]);
        if (with_place) b.store(op.result(1), index, noted_place(folds[1]));
      });
  return {};
}

}  // namespace

Refusal lower_max_pool(Op& op) { return max_pool(op, 2); }
Refusal lower_max_pool3d(Op& op) { return max_pool(op, 3); }

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
std::optional<Average> average_of(const Op& op, size_t count, size_t first, const Tensor& in,
                                  const Tensor& out) {
  auto w = windows_of(op, count, first, false, in, out);
  if (!w) return std::nullopt;
  Average a{*w, op.flag(first + 4), std::nullopt};
  a.windows.ceil_mode = op.flag(first + 3);
  if (op.has(first + 5)) a.divisor = op.integer(first + 5);
  return a;
}

// Of the window at `at`, a position in the space of windows.
Val average_divisor(Body& b, const Average& a, const Index& at, DType acc) {
  sym::Context& cx = b.cx();
  if (a.divisor) return real_of(b, *a.divisor, acc);
  bool always_whole = !a.windows.ceil_mode;
  int64_t whole = 1;
  Expr count = cx.constant(1);
  for (size_t d = 0; d < a.windows.dims.size(); ++d) {
    const Window& w = a.windows.dims[d];
    always_whole = always_whole && (a.count_pads || w.pad == 0);
    whole *= w.kernel;
    count = cx.mul(count, window_count(cx, w, at[at.size() - a.windows.dims.size() + d], a.count_pads));
  }
  if (always_whole) return b.real(acc, static_cast<double>(whole));
  // A window that does not exist is asked too, in the backward, and must not make 0/0 of its zeros.
  return real_of(b, cx.max(count, cx.constant(1)), acc);
}

Refusal avg_pool(Op& op, size_t count) {
  Tensor x = op.tensor(0), out = op.result(0);
  auto a = average_of(op, count, 1, x, out);
  if (!a) return kNoWindows;
  if (a->divisor && a->divisor->is_const(0)) return "a division by zero";
  DType acc = compute_type(x.dtype());
  if (!ir::is_float(acc)) return "no float";
  window_kernel(
      op, a->windows, out.sizes(),
      [&](Body& b, const Index& from, Expr inside) {
        return std::vector<Val>{b.reduce(ReduceKind::kSum, b.to(b.load_if(inside, x, from, 0), acc))};
      },
      [&](Body& b, const Index& index, const std::vector<Val>& folds) {
        b.store(out, index, folds[0] / average_divisor(b, *a, index, acc));
      });
  return {};
}

}  // namespace

Refusal lower_avg_pool(Op& op) { return avg_pool(op, 2); }
Refusal lower_avg_pool3d(Op& op) { return avg_pool(op, 3); }

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
    Index window = index, k;
    Expr inside = cx.constant(1);
    for (const Window& dim : w.dims) k.push_back(b.inner(cx.constant(windows_per_input(dim))));
    for (size_t d = 0; d < k.size(); ++d) {
      size_t place = index.size() - k.size() + d;
      Spot spot = window_spot(cx, w.dims[d], index[place], k[d]);
      window[place] = spot.at;
      inside = cx.logical_and(inside, spot.inside);
    }
    inside = decided(cx, op.low(), inside, b.axes());
    Val sum = b.reduce(ReduceKind::kSum, value(b, index, window, inside));
    b.begin_stage();
    b.store(out, index, sum);
  });
}

// Arguments: grad, self, kernel_size, stride, padding, dilation, ceil_mode, indices.
Refusal max_pool_backward(Op& op, size_t count) {
  Tensor grad = op.tensor(0), x = op.tensor(1), where = op.tensor(7), out = op.result(0);
  auto w = windows_of(op, count, 2, true, x, grad);
  if (!w) return kNoWindows;
  DType acc = compute_type(out.dtype());
  backward_kernel(op, *w, [&](Body& b, const Index& at, const Index& window, Expr inside) {
    Val place = b.load_if(inside, where, window, -1);
    Val own = b.index(place_among_last(b.cx(), x, at, count));
    return select(equal(place, own), b.to(b.load_if(inside, grad, window, 0), acc), 0.0);
  });
  return {};
}

// Arguments: grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override.
Refusal avg_pool_backward(Op& op, size_t count) {
  Tensor grad = op.tensor(0), x = op.tensor(1), out = op.result(0);
  auto a = average_of(op, count, 2, x, grad);
  if (!a) return kNoWindows;
  if (a->divisor && a->divisor->is_const(0)) return "a division by zero";
  DType acc = compute_type(out.dtype());
  backward_kernel(op, a->windows, [&](Body& b, const Index& at, const Index& window, Expr inside) {
    sym::Context& cx = b.cx();
    for (size_t k = 0; k < count; ++k) {
      // Counted from the window's start, the element must lie before its end.
      size_t d = x.rank() - count + k;
      const Window& w = a->windows.dims[k];
      Expr offset = cx.sub(cx.add(at[d], w.pad), cx.mul(window[d], w.stride));
      inside = cx.logical_and(inside, cx.lt(offset, cx.constant(w.kernel)));
    }
    Val value = b.to(b.load_if(inside, grad, window, 0), acc);
    return value / average_divisor(b, *a, window, acc);
  });
  return {};
}

}  // namespace

Refusal lower_max_pool_backward(Op& op) { return max_pool_backward(op, 2); }
Refusal lower_max_pool3d_backward(Op& op) { return max_pool_backward(op, 3); }
Refusal lower_avg_pool_backward(Op& op) { return avg_pool_backward(op, 2); }
Refusal lower_avg_pool3d_backward(Op& op) { return avg_pool_backward(op, 3); }

}  // namespace jumar::loop::lowering
