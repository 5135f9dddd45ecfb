// Operators that move elements: each element of the result is one of the operand, or a constant.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// A cat of so many pieces is one nest that chooses; each choice costs a compare in every point that the
// tiling can't free of it by a cut.
constexpr size_t kFewPieces = 3;

// One nest of a cat: `piece` at `start` along `dim`.
Lowering::Write piece_nest(const Tensor& out, const Tensor& piece, size_t dim, Expr start, bool is_stack) {
  return [=](Body& b) {
    Index at;
    for (size_t k = 0; k < out.rank(); ++k) {
      Expr extent = k != dim ? out.size(k) : is_stack ? b.cx().constant(1) : piece.size(dim);
      at.push_back(b.keep(extent));
    }
    b.begin_stage();
    Index from = at;
    if (is_stack) from.erase(from.begin() + static_cast<int64_t>(dim));
    at[dim] = b.cx().add(at[dim], start);
    b.store(out, at, b.to(b.load(piece, from), out.dtype()));
  };
}

// One nest for a cat of a few pieces, so that what reads the result can be fused with it:
//   select(at < 16, a[at], b[at - 16])
void piecewise(Op& op, const Tensor& out, const std::vector<Tensor>& pieces, size_t dim) {
  pointwise(op, out, [&](Body& b, const Index& index) {
    sym::Context& cx = b.cx();
    std::vector<Expr> starts{cx.constant(0)};
    for (const Tensor& piece : pieces) starts.push_back(cx.add(starts.back(), piece.size(dim)));
    Val value;
    for (size_t k = 0; k < pieces.size(); ++k) {
      const Expr after_start = cx.le(starts[k], index[dim]);
      const Expr before_end = k + 1 < pieces.size() ? cx.lt(index[dim], starts[k + 1]) : cx.constant(1);
      const Expr inside = k == 0 ? before_end : cx.logical_and(after_start, before_end);
      Index from = index;
      from[dim] = cx.sub(index[dim], starts[k]);
      Val piece = b.to(b.load_if(inside, pieces[k], from, 0), out.dtype());
      value = k == 0 ? piece : select(b.predicate(after_start), piece, value);
    }
    return value;
  });
}

bool is_empty(const Tensor& x) {
  for (Expr size : x.sizes()) {
    if (size.is_const(0)) return true;
  }
  return false;
}

}  // namespace

Refusal lower_cat(Op& op) {
  Tensor out = op.result(0);
  size_t dim = op.dim(1, out.rank());
  std::vector<Tensor> pieces = op.tensors(0);
  // An empty tensor of rank 1 joins anything; any other empty piece has nothing to store.
  std::erase_if(pieces, is_empty);
  if (pieces.empty()) return "there is nothing to join";
  if (pieces.size() <= kFewPieces) {
    piecewise(op, out, pieces, dim);
    return {};
  }
  std::vector<Lowering::Write> nests;
  Expr start = op.low().constant(0);
  for (const Tensor& piece : pieces) {
    nests.push_back(piece_nest(out, piece, dim, start, false));
    start = op.low().cx().add(start, piece.size(dim));
  }
  op.low().kernel(op, nests);
  return {};
}

Refusal lower_stack(Op& op) {
  Tensor out = op.result(0);
  size_t dim = op.dim(1, out.rank());
  std::vector<Lowering::Write> nests;
  for (const Tensor& piece : op.tensors(0)) {
    Expr start = op.low().constant(static_cast<int64_t>(nests.size()));
    nests.push_back(piece_nest(out, piece, dim, start, true));
  }
  op.low().kernel(op, nests);
  return {};
}

Refusal lower_flip(Op& op) {
  Tensor x = op.tensor(0);
  auto dims = op.constants(1);
  if (!dims) return "the dimensions are no constants";
  std::vector<bool> flipped(x.rank(), false);
  if (!dims->empty()) flipped = op.dim_mask(1, x.rank());
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = index;
    for (size_t k = 0; k < x.rank(); ++k) {
      if (flipped[k]) from[k] = cx.sub(cx.sub(x.size(k), 1), index[k]);
    }
    return from;
  });
  return {};
}

// Arguments: self, shifts, dims; without dims the tensor is rolled as one row.
Refusal lower_roll(Op& op) {
  Tensor x = op.tensor(0);
  std::vector<Expr> shifts = op.integers(1);
  auto dims = op.constants(2);
  if (!dims) return "the dimensions are no constants";
  if (dims->empty()) {
    if (x.rank() != 1) return "a roll of the flattened tensor";
    dims->push_back(0);
  }
  if (shifts.size() != dims->size()) return "as many shifts as dimensions are needed";
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = index;
    for (size_t k = 0; k < dims->size(); ++k) {
      int64_t d = (*dims)[k] < 0 ? (*dims)[k] + static_cast<int64_t>(x.rank()) : (*dims)[k];
      Expr& at = from.at(static_cast<size_t>(d));
      at = cx.mod(cx.sub(at, shifts[k]), x.size(static_cast<size_t>(d)));
    }
    return from;
  });
  return {};
}

Refusal lower_repeat(Op& op) {
  Tensor x = op.tensor(0);
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = broadcast_index(x, index);
    for (size_t k = 0; k < x.rank(); ++k) from[k] = cx.mod(from[k], x.size(k));
    return from;
  });
  return {};
}

// Arguments: self, repeats, dim; every element `repeats` times.
Refusal lower_repeat_interleave(Op& op) {
  Tensor x = op.tensor(0);
  if (!op.has(2)) return "the tensor is flattened";
  size_t dim = op.dim(2, x.rank());
  Expr repeats = op.integer(1);
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = index;
    from[dim] = cx.floordiv(index[dim], repeats);
    return from;
  });
  return {};
}

namespace {

Expr raveled(sym::Context& cx, const Index& index, const Sizes& sizes) {
  Expr linear = cx.constant(0);
  for (size_t k = 0; k < index.size(); ++k) linear = cx.add(cx.mul(linear, sizes[k]), index[k]);
  return linear;
}

Index unraveled(sym::Context& cx, Expr linear, const Sizes& sizes) {
  std::vector<Expr> weights = ir::contiguous_strides(cx, sizes);
  Index index;
  for (size_t k = 0; k < sizes.size(); ++k) {
    Expr at = cx.floordiv(linear, weights[k]);
    index.push_back(k == 0 ? at : cx.mod(at, sizes[k]));
  }
  return index;
}

}  // namespace

// Elements in row-major order under other sizes.
Refusal lower_reshape(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    return unraveled(cx, raveled(cx, index, out.sizes()), x.sizes());
  });
  return {};
}

namespace {

Refusal triangle(Op& op, bool is_upper) {
  Tensor x = op.tensor(0), out = op.result(0);
  Expr diagonal = op.integer(1);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Expr row = index[index.size() - 2], column = index[index.size() - 1];
    Expr edge = b.cx().add(row, diagonal);
    Expr kept = is_upper ? b.cx().le(edge, column) : b.cx().le(column, edge);
    Val value = b.load(x, index);
    return select(b.predicate(kept), value, 0.0);
  });
  return {};
}

}  // namespace

Refusal lower_tril(Op& op) { return triangle(op, false); }
Refusal lower_triu(Op& op) { return triangle(op, true); }

// Arguments: self, pads (last dimension first, before and after), value. Negative pads cut.
Refusal lower_constant_pad(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  std::vector<Expr> pads = op.integers(1);
  Scalar fill = op.has(2) ? op.scalar(2) : Scalar{0.0};
  std::optional<double> constant = fill.constant();
  if (!constant) return "the padding is no constant";
  sym::Context& cx = op.low().cx();
  std::vector<Expr> before(x.rank(), cx.constant(0)), after = before;
  for (size_t k = 0; k * 2 < pads.size(); ++k) {
    before.at(x.rank() - 1 - k) = pads[2 * k];
    after.at(x.rank() - 1 - k) = pads[2 * k + 1];
  }
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index from = index;
    Expr inside = cx.constant(1);
    for (size_t k = 0; k < x.rank(); ++k) {
      from[k] = cx.sub(index[k], before[k]);
      if (!before[k].is_const(0)) inside = cx.logical_and(inside, cx.le(before[k], index[k]));
      if (!after[k].is_const(0))
        inside = cx.logical_and(inside, cx.lt(index[k], cx.add(x.size(k), before[k])));
    }
    return b.load_if(inside, x, from, *constant);
  });
  return {};
}

namespace {

// Pads of the last dimensions with elements of the tensor; `source` maps a position that may lie outside.
using EdgeMap = std::function<Expr(sym::Context& cx, Expr at, Expr size)>;
Refusal edge_pad(Op& op, const EdgeMap& source) {
  Tensor x = op.tensor(0);
  std::vector<Expr> pads = op.integers(1);
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = index;
    for (size_t k = 0; k * 2 < pads.size(); ++k) {
      size_t dim = x.rank() - 1 - k;
      from[dim] = source(cx, cx.sub(index[dim], pads[2 * k]), x.size(dim));
    }
    return from;
  });
  return {};
}

}  // namespace

Refusal lower_reflection_pad(Op& op) {
  return edge_pad(op, [](sym::Context& cx, Expr at, Expr size) {
    Expr last = cx.sub(size, 1);
    Expr from_left = cx.max(at, cx.neg(at));
    return cx.min(from_left, cx.sub(cx.mul(last, 2), from_left));
  });
}

Refusal lower_replication_pad(Op& op) {
  return edge_pad(op, [](sym::Context& cx, Expr at, Expr size) {
    return cx.min(cx.max(at, cx.constant(0)), cx.sub(size, 1));
  });
}

// Channels c*r*r + i*r + j become pixels (h*r + i, w*r + j) of channel c.
Refusal lower_pixel_shuffle(Op& op) {
  Tensor x = op.tensor(0);
  auto r = op.constant(1);
  if (!r) return "the factor is no constant";
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    size_t n = index.size();
    Index from = index;
    Expr row = index[n - 2], column = index[n - 1];
    Expr within = cx.add(cx.mul(cx.mod(row, *r), *r), cx.mod(column, *r));
    from[n - 3] = cx.add(cx.mul(index[n - 3], *r * *r), within);
    from[n - 2] = cx.floordiv(row, *r);
    from[n - 1] = cx.floordiv(column, *r);
    return from;
  });
  return {};
}

Refusal lower_pixel_unshuffle(Op& op) {
  Tensor x = op.tensor(0);
  auto r = op.constant(1);
  if (!r) return "the factor is no constant";
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    size_t n = index.size();
    Index from = index;
    Expr channel = index[n - 3];
    from[n - 3] = cx.floordiv(channel, *r * *r);
    from[n - 2] = cx.add(cx.mul(index[n - 2], *r), cx.mod(cx.floordiv(channel, *r), *r));
    from[n - 1] = cx.add(cx.mul(index[n - 1], *r), cx.mod(channel, *r));
    return from;
  });
  return {};
}

namespace {

// x, with `piece` in the places start, start + step, ... along one dimension.
struct Strip {
  size_t dim;
  Expr start;
  Expr step;
  Expr count;
};

// Where a position along the strip's dimension falls in the piece, and whether it does.
struct Place {
  Expr inside;
  Expr at;
};

Place place_in(sym::Context& cx, const Strip& strip, Expr position) {
  Expr from_start = cx.sub(position, strip.start);
  Place place{cx.le(strip.start, position), cx.floordiv(from_start, strip.step)};
  if (!strip.step.is_const(1))
    place.inside = cx.logical_and(place.inside, cx.eq(cx.mod(from_start, strip.step), cx.constant(0)));
  Expr end = cx.add(strip.start, cx.mul(strip.count, strip.step));
  place.inside = cx.logical_and(place.inside, cx.lt(position, end));
  return place;
}

// A start as slices take it: from the end when negative, cut to the size.
Expr slice_start(const Op& op, size_t k, Expr size) {
  sym::Context& cx = op.low().cx();
  if (!op.has(k)) return cx.constant(0);
  Expr start = op.integer(k);
  if (sym::proves_lt(cx, start, cx.constant(0), op.low().facts()))
    start = cx.max(cx.add(start, size), cx.constant(0));
  if (!sym::proves_le(cx, start, size, op.low().facts())) start = cx.min(start, size);
  return start;
}

// The piece within zeros, or within `around`.
Refusal strip_in(Op& op, const Tensor& piece, const Strip& strip, bool squeezed, const Tensor* around) {
  Tensor out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Place place = place_in(b.cx(), strip, index[strip.dim]);
    Index from = index;
    from[strip.dim] = place.at;
    if (squeezed) from.erase(from.begin() + static_cast<int64_t>(strip.dim));
    Val inside = b.to(b.load_if(place.inside, piece, from, 0), out.dtype());
    if (!around) return inside;
    return select(b.predicate(place.inside), inside, b.load(*around, index));
  });
  return {};
}

Refusal unknown_sign(const Op& op, size_t k) {
  if (!op.has(k)) return {};
  sym::Context& cx = op.low().cx();
  Expr zero = cx.constant(0), value = op.integer(k);
  bool known =
      sym::proves_le(cx, zero, value, op.low().facts()) || sym::proves_lt(cx, value, zero, op.low().facts());
  return known ? Refusal() : Refusal("the sign of a position is not known");
}

}  // namespace

// Arguments: self, src, dim, start, end, step.
Refusal lower_slice_scatter(Op& op) {
  if (Refusal r = unknown_sign(op, 3)) return r;
  Tensor x = op.tensor(0), piece = op.tensor(1);
  size_t dim = op.dim(2, x.rank());
  Strip strip{dim, slice_start(op, 3, x.size(dim)), op.integer(5), piece.size(dim)};
  return strip_in(op, piece, strip, false, &x);
}

// Arguments: grad, input_sizes, dim, start, end, step.
Refusal lower_slice_backward(Op& op) {
  if (Refusal r = unknown_sign(op, 3)) return r;
  Tensor grad = op.tensor(0), out = op.result(0);
  size_t dim = op.dim(2, grad.rank());
  Strip strip{dim, slice_start(op, 3, out.size(dim)), op.integer(5), grad.size(dim)};
  return strip_in(op, grad, strip, false, nullptr);
}

namespace {

Strip point_strip(const Op& op, size_t dim_arg, size_t index_arg, const Tensor& whole) {
  sym::Context& cx = op.low().cx();
  size_t dim = op.dim(dim_arg, whole.rank());
  Expr at = op.integer(index_arg);
  if (sym::proves_lt(cx, at, cx.constant(0), op.low().facts())) at = cx.add(at, whole.size(dim));
  return {dim, at, cx.constant(1), cx.constant(1)};
}

}  // namespace

// Arguments: self, src, dim, index.
Refusal lower_select_scatter(Op& op) {
  if (Refusal r = unknown_sign(op, 3)) return r;
  Tensor x = op.tensor(0);
  return strip_in(op, op.tensor(1), point_strip(op, 2, 3, x), true, &x);
}

// Arguments: grad, input_sizes, dim, index.
Refusal lower_select_backward(Op& op) {
  if (Refusal r = unknown_sign(op, 3)) return r;
  return strip_in(op, op.tensor(0), point_strip(op, 2, 3, op.result(0)), true, nullptr);
}

// Arguments: self, src, size, stride, storage_offset. The places count from the beginning of self's storage,
// so self must be all of it; they must be a run of elements, so that each has one source.
Refusal lower_as_strided_scatter(Op& op) {
  Tensor x = op.tensor(0), piece = op.tensor(1), out = op.result(0);
  sym::Context& cx = op.low().cx();
  const Buffer& storage = op.low().buffer(x.buffer);
  bool is_whole = storage.storage == Storage::kTemp && storage.type == x.type && x.offset.is_const(0);
  bool is_dense = ir::is_contiguous(cx, x.type);
  if (!is_whole || !is_dense || out.type != x.type) return "places in a storage that is not wholly known";
  std::vector<Expr> sizes = op.integers(2);
  if (op.integers(3) != ir::contiguous_strides(cx, sizes)) return "places that are no run of elements";
  Expr start = op.has(4) ? op.integer(4) : cx.constant(0);
  Expr end = cx.add(start, ir::element_count(cx, sizes));
  pointwise(op, out, [&](Body& b, const Index& index) {
    Expr place = raveled(cx, index, out.sizes());
    Expr inside = cx.logical_and(cx.le(start, place), cx.lt(place, end));
    Index from = unraveled(cx, cx.sub(place, start), piece.sizes());
    Val value = b.to(b.load_if(inside, piece, from, 0), out.dtype());
    return select(b.predicate(inside), value, b.load(x, index));
  });
  return {};
}

}  // namespace jumar::loop::lowering
