// Operators whose addresses are read from memory.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

// One element counts as one dimension, and no elements as any number of them.
constexpr const char* kOtherRank = "indices with another number of dimensions";

bool is_index_type(DType d) { return ir::is_integer(d); }

}  // namespace

// Arguments: weight, indices. Eager takes no negative index here.
Refusal lower_embedding(Op& op) {
  Tensor weight = op.tensor(0), ids = op.tensor(1), out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Expr row = b.checked(b.load(ids, Index(index.begin(), index.end() - 1)), weight.size(0));
    return b.load(weight, {row, index.back()});
  });
  return {};
}

namespace {

// Memory to add to: the result, or wider memory for low-precision floats, so that it rounds once.
Tensor sum_memory(Op& op, const Tensor& out) {
  return ir::is_low_precision(out.dtype()) ? op.temp("sum", DType::kF32, out.sizes()) : out;
}

void finish_sum(Op& op, const Tensor& out, const Tensor& sum) {
  if (sum.buffer == out.buffer) return;
  pointwise(op, out, [&](Body& b, const Index& index) { return b.load(sum, index); });
}

// One nest that begins with a copy of `from`, or zeros, and adds elements at positions that are read.
// Dimensions whose positions are read are inner axes, all others are kept: each kept point has elements of
// its own, so that no two points meet and the order of the sums is fixed. `add` writes the body that adds; it
// gets the kept positions, and may open inner axes; what it is given at scattered dimensions is an empty
// expression.
struct ScatterSum {
  Tensor sum;
  std::optional<Tensor> from;
  std::vector<bool> scattered;
  std::function<void(Body& b, const Index& kept)> add;
};

void scatter_kernel(Op& op, const ScatterSum& scatter) {
  op.low().kernel(op, [&](Body& b) {
    const Tensor& sum = scatter.sum;
    Index kept(sum.rank());
    for (size_t k = 0; k < sum.rank(); ++k) {
      if (!scatter.scattered[k]) kept[k] = b.keep(sum.size(k));
    }
    b.begin_stage();
    Index index = kept;
    for (size_t k = 0; k < sum.rank(); ++k) {
      if (scatter.scattered[k]) index[k] = b.inner(sum.size(k));
    }
    b.store(sum, index, scatter.from ? read(b, *scatter.from, index, sum.dtype()) : b.real(sum.dtype(), 0));
    b.begin_stage();
    scatter.add(b, kept);
  });
}

}  // namespace

// Arguments: grad, indices, num_weights, padding_idx, scale_grad_by_freq.
Refusal lower_embedding_backward(Op& op) {
  if (op.flag(4)) return "gradients are divided by how often a row is used";
  Tensor grad = op.tensor(0), ids = op.tensor(1), out = op.result(0);
  Expr padding = op.integer(3);
  Tensor sum = sum_memory(op, out);
  auto add = [&](Body& b, const Index& kept) {
    Index at;
    for (Expr size : ids.sizes()) at.push_back(b.inner(size));
    Val id = b.to(b.load(ids, at), DType::kI64);
    at.push_back(kept[1]);
    Val value = b.to(b.load(grad, at), sum.dtype());
    if (!(padding.is_const() && padding.const_value() < 0))
      value = select(equal(id, b.index(padding)), 0.0, value);
    b.store(sum, {b.checked(id, out.size(0)), kept[1]}, value, StoreMode::kAdd);
  };
  scatter_kernel(op, {sum, std::nullopt, {true, false}, add});
  finish_sum(op, out, sum);
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

namespace {

// Which dimensions an advanced index takes, and where the indices' own dimensions stand among the rest.
struct Advanced {
  std::vector<std::optional<Tensor>> indices;  // one per dimension of self
  size_t rank = 0;                             // of the indices, broadcast together
  size_t place = 0;                            // the first of their dimensions in the result
};

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

}  // namespace

// Arguments: self, indices.
Refusal lower_index(Op& op) {
  Tensor x = op.tensor(0);
  Advanced advanced;
  if (Refusal r = read_advanced(op, x, advanced)) return r;
  pointwise(op, op.result(0),
            [&](Body& b, const Index& index) { return b.load(x, advanced_position(b, x, advanced, index)); });
  return {};
}

namespace {

// The sizes of self[indices]; nothing when a size depends on broadcasting that is not known.
Sizes indexed_sizes(const Tensor& x, const Advanced& advanced) {
  Sizes own(advanced.rank);
  for (const auto& ids : advanced.indices) {
    if (!ids) continue;
    for (size_t k = 0; k < ids->rank(); ++k) {
      Expr& size = own[advanced.rank - ids->rank() + k];
      if (!size || size.is_const(1)) size = ids->size(k);
    }
  }
  Sizes out;
  for (size_t k = 0; k < x.rank(); ++k) {
    if (!advanced.indices[k]) out.push_back(x.size(k));
  }
  out.insert(out.begin() + static_cast<int64_t>(advanced.place), own.begin(), own.end());
  return out;
}

}  // namespace

// Arguments: self, indices, values, accumulate.
Refusal lower_index_put(Op& op) {
  if (!op.flag(3)) return "which of the values for one place wins is not decided";
  Tensor x = op.tensor(0), values = op.tensor(2), out = op.result(0);
  if (ir::is_bool(out.dtype())) return "a sum of bools";
  Advanced advanced;
  if (Refusal r = read_advanced(op, x, advanced)) return r;
  Sizes sizes = indexed_sizes(x, advanced);
  if (values.rank() > sizes.size()) return "the values have more dimensions than their places";
  std::vector<bool> scattered;
  for (const auto& ids : advanced.indices) scattered.push_back(ids.has_value());
  Tensor sum = sum_memory(op, out);
  auto add = [&](Body& b, const Index& kept) {
    Index index;
    for (Expr at : kept) {
      if (at) index.push_back(at);
    }
    for (size_t k = 0; k < advanced.rank; ++k) {
      size_t place = advanced.place + k;
      index.insert(index.begin() + static_cast<int64_t>(place), b.inner(sizes[place]));
    }
    Index to = advanced_position(b, x, advanced, index);
    b.store(sum, to, read(b, values, index, sum.dtype()), StoreMode::kAdd);
  };
  scatter_kernel(op, {sum, x, scattered, add});
  finish_sum(op, out, sum);
  return {};
}

namespace {

// Adds source elements at positions read along one dimension. `scale` is a factor's argument, if any.
Refusal add_along(Op& op, size_t dim, const Tensor& ids, bool ids_have_all_dims, const Tensor& source,
                  std::optional<size_t> scale) {
  Tensor x = op.tensor(0), out = op.result(0);
  if (x.rank() == 0) return "a tensor without dimensions";
  if (ir::is_bool(out.dtype())) return "a sum of bools";
  const Tensor& space = ids_have_all_dims ? ids : source;
  if (space.rank() != x.rank() || source.rank() != x.rank()) return kOtherRank;
  Tensor sum = sum_memory(op, out);
  std::vector<bool> scattered(x.rank(), false);
  scattered[dim] = true;
  auto add = [&](Body& b, const Index& kept) {
    sym::Context& cx = b.cx();
    Index from = kept;
    from[dim] = b.inner(space.size(dim));
    // The source may be smaller than self in other dimensions.
    Expr inside = cx.constant(1);
    for (size_t k = 0; k < x.rank(); ++k) {
      bool is_whole = k == dim || sym::proves_eq(cx, space.size(k), x.size(k), op.low().facts());
      if (!is_whole) inside = cx.logical_and(inside, cx.lt(kept[k], space.size(k)));
    }
    Index id_at = ids_have_all_dims ? from : ids.rank() == 0 ? Index{} : Index{from[dim]};
    Val id = b.load_if(inside, ids, id_at, 0);
    Val value = b.to(b.load_if(inside, source, from, 0), sum.dtype());
    if (scale && !op.scalar(*scale).is(1)) value = value * b.scalar(op.scalar(*scale), sum.dtype());
    Index to = kept;
    to[dim] = b.checked(id, out.size(dim));
    b.store_if(inside, sum, to, value, StoreMode::kAdd);
  };
  scatter_kernel(op, {sum, x, scattered, add});
  finish_sum(op, out, sum);
  return {};
}

}  // namespace

// Arguments: self, dim, index, src. The index gives the space; src may be larger.
Refusal lower_scatter_add(Op& op) {
  return add_along(op, op.dim(1, op.tensor(0).rank()), op.tensor(2), true, op.tensor(3), std::nullopt);
}

// Arguments: self, dim, index, src, reduce, include_self.
Refusal lower_scatter_reduce(Op& op) {
  if (op.text(4) != "sum" || !op.flag(5)) return "a fold other than a sum with what is there";
  return lower_scatter_add(op);
}

// Arguments: self, dim, index, source, alpha.
Refusal lower_index_add(Op& op) {
  return add_along(op, op.dim(1, op.tensor(0).rank()), op.tensor(2), false, op.tensor(3), 4);
}

}  // namespace jumar::loop::lowering
