// Operators whose addresses are read from memory.
#include "loop/lower/indices.h"
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// Bytes are an old form of masks.
bool is_index_type(DType d) { return ir::is_integer(d) && d != DType::kU8; }

}  // namespace

Index unflattened(sym::Context& cx, Expr position, const Sizes& sizes) {
  Index index(sizes.size());
  for (size_t k = sizes.size(); k-- > 0;) {
    // A tensor without elements is not read, but the position is computed.
    const Expr size = cx.max(sizes[k], cx.constant(1));
    index[k] = k == 0 ? position : cx.mod(position, size);
    position = cx.floordiv(position, size);
  }
  return index;
}

Expr flattened(sym::Context& cx, const Index& index, const Sizes& sizes) {
  Expr position = cx.constant(0);
  for (size_t k = 0; k < sizes.size(); ++k) position = cx.add(cx.mul(position, sizes[k]), index[k]);
  return position;
}

Sizes last_sizes(const Tensor& x, size_t dims) {
  return Sizes(x.sizes().end() - static_cast<int64_t>(dims), x.sizes().end());
}

Expr place_among_last(sym::Context& cx, const Tensor& x, const Index& at, size_t dims) {
  return flattened(cx, Index(at.end() - static_cast<int64_t>(dims), at.end()), last_sizes(x, dims));
}

Val reduced_place(Body& b, Val value, Expr place, Expr inside) {
  // The least number wins among equal values: NaNs have negative ones, the last the least.
  Val key = b.index(place);
  key = select(isnan(value), -1.0 - key, key);
  // A pad is never the place, not even among elements that are all -inf.
  if (!inside.is_const(1)) key = select(b.predicate(inside), key, b.integer(DType::kI64, INT64_MAX));
  return b.arg_reduce(ReduceKind::kArgMax, value, key);
}

Val noted_place(Val reduced) { return select(reduced < 0.0, -1.0 - reduced, reduced); }

// Arguments: weight, indices. Eager takes no negative index here.
Refusal lower_embedding(Op& op) {
  Tensor weight = op.tensor(0), ids = op.tensor(1), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Expr row = b.checked(b.load(ids, Index(index.begin(), index.end() - 1)), weight.size(0));
    return b.load(weight, {row, index.back()});
  });
  return {};
}

// Arguments: self, dim, index. No negative index.
Refusal lower_gather(Op& op) {
  Tensor x = op.tensor(0), ids = op.tensor(2), out = op.result(0);
  if (x.rank() == 0) return "a tensor without dimensions";
  if (ids.rank() != x.rank()) return kOtherRank;
  size_t dim = op.dim(1, x.rank());
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index from = index;
    from[dim] = b.checked(b.load(ids, index), x.size(dim));
    return b.load(x, from);
  });
  return {};
}

Refusal lower_index_select(Op& op) {
  Tensor x = op.tensor(0), ids = op.tensor(2), out = op.result(0);
  if (x.rank() == 0) return "a tensor without dimensions";
  size_t dim = op.dim(1, x.rank());
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index from = index;
    from[dim] = b.checked(b.load(ids, ids.rank() == 0 ? Index{} : Index{index[dim]}), x.size(dim));
    return b.load(x, from);
  });
  return {};
}

Refusal read_advanced(const Op& op, const Tensor& x, Advanced& out) {
  out.indices = op.optional_tensors(1);
  if (out.indices.size() > x.rank()) return "too many indices";
  out.indices.resize(x.rank());
  size_t first = x.rank(), last = 0, count = 0;
  for (size_t k = 0; k < x.rank(); ++k) {
    if (!out.indices[k]) continue;
    if (!is_index_type(out.indices[k]->dtype())) return "the size of the result depends on a mask";
    out.rank = std::max(out.rank, out.indices[k]->rank());
    first = std::min(first, k);
    last = k;
    ++count;
  }
  if (count == 0) return "there is no index";
  // Indices side by side stay in their place; otherwise their dimensions come first.
  out.place = last - first + 1 == count ? first : 0;
  return {};
}

// The position in self of a position in the result.
Index advanced_position(Body& b, const Tensor& x, const Advanced& advanced, const Index& index) {
  auto begin = index.begin() + static_cast<int64_t>(advanced.place);
  Index own(begin, begin + static_cast<int64_t>(advanced.rank));
  Index rest(index.begin(), begin);
  rest.insert(rest.end(), begin + static_cast<int64_t>(advanced.rank), index.end());
  Index from;
  size_t next = 0;
  for (size_t k = 0; k < x.rank(); ++k) {
    if (!advanced.indices[k]) {
      from.push_back(rest.at(next++));
      continue;
    }
    const Tensor& ids = *advanced.indices[k];
    from.push_back(b.wrapped(b.load(ids, broadcast_index(ids, own)), x.size(k)));
  }
  return from;
}

// Arguments: self, indices.
Refusal lower_index(Op& op) {
  Tensor x = op.tensor(0);
  Advanced advanced;
  if (Refusal r = read_advanced(op, x, advanced)) return r;
  pointwise(op, op.result(0),
            [&](Body& b, const Index& index) { return b.load(x, advanced_position(b, x, advanced, index)); });
  return {};
}

// Arguments: self, index: of the flattened tensor, counted from the end where negative.
Refusal lower_take(Op& op) {
  Tensor x = op.tensor(0), ids = op.tensor(1), out = op.result(0);
  Expr count = ir::element_count(op.low().cx(), x.sizes());
  pointwise(op, out, [&](Body& b, const Index& index) {
    return b.load(x, unflattened(b.cx(), b.wrapped(b.load(ids, index), count), x.sizes()));
  });
  return {};
}

}  // namespace jumar::loop::lowering
