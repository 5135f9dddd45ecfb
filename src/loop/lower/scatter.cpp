// Operators that store to places read from memory. Several elements may go to one place:
//
// - a fold (scatter_add, index_reduce) stores with a mode that merges them;
// - where the last one counts (scatter, index_copy, index_put), a first kernel notes in a table, for each
//   place, the greatest position of an element that goes there, and a second one reads that element:
//
//     table[...] = -1;  for e: table[ids[e]] = max(table[ids[e]], e)
//     out[i] = table[i] < 0 ? self[i] : source[table[i]]
//
// Dimensions whose places are read are inner axes, all others are kept: each kept point has elements of its
// own, so that no two points meet and the order of sums is fixed.
#include <cmath>

#include "loop/lower/indices.h"
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"
#include "loop/lower/scatter.h"

namespace jumar::loop::lowering {

namespace {

constexpr const char* kBools = "a fold of bools";

// What is merged: the mode, and what an element begins with that has no value of its own.
struct Merge {
  StoreMode mode = StoreMode::kAdd;
  double start = 0;
  bool is_mean = false;
};

std::optional<Merge> merge_of(std::string_view name) {
  if (name == "sum" || name == "add") return Merge{};
  if (name == "mean") return Merge{StoreMode::kAdd, 0, true};
  if (name == "prod" || name == "multiply") return Merge{StoreMode::kMul, 1, false};
  if (name == "amax") return Merge{StoreMode::kMax, -HUGE_VAL, false};
  if (name == "amin") return Merge{StoreMode::kMin, HUGE_VAL, false};
  return std::nullopt;
}

// A float as it is; of an infinity the greatest or least integer.
Val start_value(Body& b, DType type, double value) {
  if (ir::is_float(type) || std::isfinite(value)) return b.real(type, value);
  const int64_t unused_bits = 64 - 8 * ir::dtype_bytes(type);
  if (!ir::is_unsigned(type)) return b.integer(type, (value > 0 ? INT64_MAX : INT64_MIN) >> unused_bits);
  return b.integer(type, value > 0 ? static_cast<int64_t>(UINT64_MAX >> unused_bits) : 0);
}

}  // namespace

Tensor merge_memory(Op& op, const Tensor& out) {
  return ir::is_low_precision(out.dtype()) ? op.temp("sum", DType::kF32, out.sizes()) : out;
}

void finish_merge(Op& op, const Tensor& out, const Tensor& merged) {
  if (merged.buffer == out.buffer) return;
  pointwise(op, out, [&](Body& b, const Index& index) { return b.load(merged, index); });
}

void scatter_kernel(Op& op, const Scatter& scatter) {
  op.low().kernel(op, [&](Body& b) {
    const Tensor& memory = scatter.memory;
    Index kept(memory.rank());
    for (size_t k = 0; k < memory.rank(); ++k) {
      if (!scatter.scattered[k]) kept[k] = b.keep(memory.size(k));
    }
    b.begin_stage();
    Index index = kept;
    for (size_t k = 0; k < memory.rank(); ++k) {
      if (scatter.scattered[k]) index[k] = b.inner(memory.size(k));
    }
    b.store(memory, index, scatter.first(b, index));
    b.begin_stage();
    scatter.add(b, kept);
  });
}

std::function<Val(Body&, const Index&)> element_of(const Tensor& x, DType type) {
  return [=](Body& b, const Index& index) { return read(b, x, index, type); };
}

std::function<Val(Body&, const Index&)> constant_of(double value, DType type) {
  return [=](Body& b, const Index&) { return start_value(b, type, value); };
}

Tensor last_elements(Op& op, const Sizes& sizes, const std::vector<bool>& scattered,
                     const std::function<void(Body& b, const Index& kept, const Tensor& table)>& add) {
  Tensor table = op.temp("last", DType::kI64, sizes);
  scatter_kernel(op, {table, scattered, constant_of(-1, DType::kI64),
                      [&](Body& b, const Index& kept) { add(b, kept, table); }});
  return table;
}

Chosen chosen(Body& b, Val last, Expr count) {
  sym::Context& cx = b.cx();
  return {last >= 0.0, b.checked(max(last, 0.0), cx.max(count, cx.constant(1)))};
}

// Arguments: grad, indices, num_weights, padding_idx, scale_grad_by_freq.
Refusal lower_embedding_backward(Op& op) {
  if (op.flag(4)) return "gradients are divided by how often a row is used";
  Tensor grad = op.tensor(0), ids = op.tensor(1), out = op.result(0);
  Expr padding = op.integer(3);
  Tensor sum = merge_memory(op, out);
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
  scatter_kernel(op, {sum, {true, false}, constant_of(0, sum.dtype()), add});
  finish_merge(op, out, sum);
  return {};
}

namespace {

// Elements that go to places read along one dimension of self, which keep their positions in the others.
struct Along {
  size_t dim = 0;
  Tensor ids;
  // Else one position per element along `dim`, or one for all without dimensions.
  bool ids_have_all_dims = false;
  Sizes space;  // of the elements
  bool takes_negative = false;
};

// Whether there is an element at a position in the other dimensions: there may be fewer of them than places.
Expr has_element(sym::Context& cx, const Op& op, const Along& along, const Index& at) {
  Tensor x = op.tensor(0);
  Expr inside = cx.constant(1);
  for (size_t k = 0; k < x.rank(); ++k) {
    bool is_whole = k == along.dim || sym::proves_eq(cx, along.space[k], x.size(k), op.low().facts());
    if (!is_whole) inside = cx.logical_and(inside, cx.lt(at[k], along.space[k]));
  }
  return inside;
}

// Where the element at a position goes along the dimension.
Expr place_of(Body& b, const Op& op, const Along& along, const Index& from, Expr inside) {
  Index id_at = along.ids_have_all_dims ? from : along.ids.rank() == 0 ? Index{} : Index{from[along.dim]};
  Val id = b.load_if(inside, along.ids, id_at, 0);
  Expr size = op.tensor(0).size(along.dim);
  return along.takes_negative ? b.wrapped(id, size) : b.checked(id, size);
}

// Opens the axis of the elements and calls `store` with an element's position, whether there is one, and its
// place.
using AlongStore = std::function<void(Body& b, const Index& from, Expr inside, const Index& to)>;
void visit_along(Body& b, const Op& op, const Along& along, const Index& kept, const AlongStore& store) {
  Index from = kept, to = kept;
  from[along.dim] = b.inner(along.space[along.dim]);
  Expr inside = has_element(b.cx(), op, along, kept);
  to[along.dim] = place_of(b, op, along, from, inside);
  store(b, from, inside, to);
}

// Reads self, dim and the positions; `space` is that of the elements where the positions have one dimension.
Refusal read_along(const Op& op, bool ids_have_all_dims, const Sizes& space, Along& along) {
  Tensor x = op.tensor(0);
  if (x.rank() == 0) return "a tensor without dimensions";
  along.dim = op.dim(1, x.rank());
  along.ids = op.tensor(2);
  along.ids_have_all_dims = ids_have_all_dims;
  along.space = ids_have_all_dims ? along.ids.sizes() : space;
  if (along.space.size() != x.rank()) return kOtherRank;
  return {};
}

std::vector<bool> only(size_t dim, size_t rank) {
  std::vector<bool> out(rank, false);
  out[dim] = true;
  return out;
}

// What is merged in: elements of a tensor, or one number.
struct Source {
  std::optional<Tensor> elements;
  Scalar number;
  std::optional<Scalar> factor;

  Val value(Body& b, const Index& from, Expr inside, DType type) const {
    if (!elements) return b.scalar(number, type);
    Val value = b.to(b.load_if(inside, *elements, from, 0), type);
    return factor && !factor->is(1) ? value * b.scalar(*factor, type) : value;
  }
};

Source source_at(const Op& op, size_t k) {
  Source source;
  if (op.is_tensor(k)) {
    source.elements = op.tensor(k);
  } else {
    source.number = op.scalar(k);
  }
  return source;
}

// For each place along the dimension, how many elements go there, beginning with `start`.
Tensor place_counts(Op& op, const Along& along, double start) {
  Tensor x = op.tensor(0);
  Tensor counts = op.temp("count", DType::kI64, x.sizes());
  auto add = [&](Body& b, const Index& kept) {
    visit_along(b, op, along, kept, [&](Body&, const Index&, Expr inside, const Index& to) {
      b.store_if(inside, counts, to, b.integer(DType::kI64, 1), StoreMode::kAdd);
    });
  };
  scatter_kernel(op, {counts, only(along.dim, x.rank()), constant_of(start, DType::kI64), add});
  return counts;
}

// Merges elements in along one dimension. Without self, a place to which nothing goes keeps self's element.
Refusal merge_along(Op& op, const Along& along, const Source& source, const Merge& merge, bool with_self) {
  Tensor x = op.tensor(0), out = op.result(0);
  if (ir::is_bool(out.dtype())) return kBools;
  if (source.elements && source.elements->rank() != x.rank()) return kOtherRank;
  bool needs_counts = merge.is_mean || !with_self;
  std::optional<Tensor> counts;
  if (needs_counts) counts = place_counts(op, along, with_self ? 1 : 0);
  DType type = compute_type(out.dtype());
  Tensor memory = needs_counts ? op.temp("merged", type, out.sizes()) : merge_memory(op, out);
  auto add = [&](Body& b, const Index& kept) {
    visit_along(b, op, along, kept, [&](Body&, const Index& from, Expr inside, const Index& to) {
      b.store_if(inside, memory, to, source.value(b, from, inside, type), merge.mode);
    });
  };
  auto first = with_self ? element_of(x, type) : constant_of(merge.start, type);
  scatter_kernel(op, {memory, only(along.dim, x.rank()), first, add});
  if (!needs_counts) {
    finish_merge(op, out, memory);
    return {};
  }
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val count = b.load(*counts, index), value = b.load(memory, index);
    Val divisor = b.to(max(count, 1.0), type);
    if (merge.is_mean) value = ir::is_float(type) ? value / divisor : floor_div(value, divisor);
    return with_self ? value : select(count > 0.0, value, read(b, x, index, type));
  });
  return {};
}

}  // namespace

// Arguments: self, dim, index, src. The index gives the space; src may be larger.
Refusal lower_scatter_add(Op& op) {
  Along along;
  if (Refusal r = read_along(op, true, {}, along)) return r;
  return merge_along(op, along, source_at(op, 3), {}, true);
}

namespace {

// Arguments: self, dim, index, src or a number, the fold's name.
Refusal merge_by_name(Op& op, bool ids_have_all_dims, const Sizes& space, bool with_self) {
  Along along;
  if (Refusal r = read_along(op, ids_have_all_dims, space, along)) return r;
  std::optional<Merge> merge = merge_of(op.text(4));
  if (!merge) return "a fold of another name";
  return merge_along(op, along, source_at(op, 3), *merge, with_self);
}

}  // namespace

// The argument behind the name: include_self.
Refusal lower_scatter_reduce(Op& op) { return merge_by_name(op, true, {}, op.flag(5)); }
Refusal lower_index_reduce(Op& op) { return merge_by_name(op, false, op.tensor(3).sizes(), op.flag(5)); }
Refusal lower_scatter_with(Op& op) { return merge_by_name(op, true, {}, true); }

// Arguments: self, dim, index, source, alpha.
Refusal lower_index_add(Op& op) {
  Along along;
  if (Refusal r = read_along(op, false, op.tensor(3).sizes(), along)) return r;
  Source source = source_at(op, 3);
  source.factor = op.scalar(4);
  return merge_along(op, along, source, {}, true);
}

namespace {

// out[i] = source's last element that goes to i along one dimension, or self[i].
void take_last(Op& op, const Along& along, const Source& source) {
  Tensor x = op.tensor(0), out = op.result(0);
  // One position per element and dimension: all places of a row, in the other dimensions, take from the same
  // one.
  bool has_row_table = !along.ids_have_all_dims;
  Sizes sizes = has_row_table ? Sizes{x.size(along.dim)} : x.sizes();
  size_t table_dim = has_row_table ? 0 : along.dim;
  auto add = [&](Body& b, const Index& kept, const Tensor& table) {
    if (has_row_table) {
      Index from(x.rank());
      from[along.dim] = b.inner(along.space[along.dim]);
      Expr to = place_of(b, op, along, from, b.cx().constant(1));
      b.store(table, {to}, b.index(from[along.dim]), StoreMode::kMax);
      return;
    }
    visit_along(b, op, along, kept, [&](Body&, const Index& from, Expr inside, const Index& to) {
      b.store_if(inside, table, to, b.index(from[along.dim]), StoreMode::kMax);
    });
  };
  Tensor table = last_elements(op, sizes, only(table_dim, sizes.size()), add);
  Expr count = along.space[along.dim];
  pointwise(op, out, [&](Body& b, const Index& index) {
    sym::Context& cx = b.cx();
    Chosen c = chosen(b, b.load(table, has_row_table ? Index{index[along.dim]} : index), count);
    Index from = index;
    from[along.dim] = c.position;
    Expr inside = cx.logical_and(cx.lt(cx.constant(0), count), has_element(cx, op, along, index));
    Val value = source.value(b, from, inside, out.dtype());
    return select(c.exists, value, read(b, x, index, out.dtype()));
  });
}

}  // namespace

// Arguments: self, dim, index, src or a number.
Refusal lower_scatter(Op& op) {
  Along along;
  if (Refusal r = read_along(op, true, {}, along)) return r;
  Source source = source_at(op, 3);
  if (source.elements && source.elements->rank() != along.space.size()) return kOtherRank;
  take_last(op, along, source);
  return {};
}

// Arguments: self, dim, index, source.
Refusal lower_index_copy(Op& op) {
  Along along;
  if (Refusal r = read_along(op, false, op.tensor(3).sizes(), along)) return r;
  take_last(op, along, source_at(op, 3));
  return {};
}

// Arguments: self, dim, index, a number or a tensor without dimensions.
Refusal lower_index_fill(Op& op) {
  Along along;
  Tensor x = op.tensor(0), ids = op.tensor(2);
  Sizes space = x.sizes();
  if (x.rank() > 0) space[op.dim(1, x.rank())] = ids.rank() == 0 ? op.low().constant(1) : ids.size(0);
  if (Refusal r = read_along(op, false, space, along)) return r;
  along.takes_negative = true;
  Source source = source_at(op, 3);
  if (source.elements) {
    // The same element for every place.
    Tensor& element = *source.elements;
    element.type = ir::TensorType{element.dtype(), space, Sizes(space.size(), op.low().constant(0))};
  }
  take_last(op, along, source);
  return {};
}

namespace {

// The sizes of self[indices]; nothing when a size depends on broadcasting that is not known.
Sizes own_sizes(const Advanced& advanced) {
  Sizes own(advanced.rank);
  for (const auto& ids : advanced.indices) {
    if (!ids) continue;
    for (size_t k = 0; k < ids->rank(); ++k) {
      Expr& size = own[advanced.rank - ids->rank() + k];
      if (!size || size.is_const(1)) size = ids->size(k);
    }
  }
  return own;
}

// self[mask] = values that are the same for all places of the mask: a choice.
Refusal put_where(Op& op, size_t place, const Tensor& mask) {
  Tensor x = op.tensor(0), values = op.tensor(2), out = op.result(0);
  bool adds = op.flag(3);
  if (adds && ir::is_bool(out.dtype())) return kBools;
  size_t after = x.rank() - place - mask.rank();
  // The values' dimensions are those before the mask, one for its places, and those behind it.
  if (values.rank() > after && !values.size(values.rank() - after - 1).is_const(1))
    return "where a value goes depends on a mask";
  if (values.rank() > place + 1 + after) return "the values have more dimensions than their places";
  pointwise(op, out, [&](Body& b, const Index& index) {
    auto begin = index.begin() + static_cast<int64_t>(place);
    auto end = begin + static_cast<int64_t>(mask.rank());
    Index from(index.begin(), begin);
    from.push_back(b.cx().constant(0));
    from.insert(from.end(), end, index.end());
    Val value = read(b, values, from, out.dtype()), old = read(b, x, index, out.dtype());
    if (adds)
      value =
          b.to(b.to(old, compute_type(out.dtype())) + b.to(value, compute_type(out.dtype())), out.dtype());
    return select(b.to(b.load(mask, Index(begin, end)), DType::kBool), value, old);
  });
  return {};
}

// The only index, where it is a mask.
std::optional<size_t> only_mask(const Op& op) {
  std::optional<size_t> found;
  const auto indices = op.optional_tensors(1);
  for (size_t k = 0; k < indices.size(); ++k) {
    if (!indices[k]) continue;
    if (found || !ir::is_bool(indices[k]->dtype())) return std::nullopt;
    found = k;
  }
  return found;
}

// Where the elements of self[indices] go.
struct Put {
  Advanced advanced;
  Sizes own;    // of the indices' dimensions
  Sizes sizes;  // of self[indices]
};

Refusal put_sum(Op& op, const Put& put) {
  Tensor x = op.tensor(0), values = op.tensor(2), out = op.result(0);
  if (ir::is_bool(out.dtype())) return kBools;
  std::vector<bool> scattered;
  for (const auto& ids : put.advanced.indices) scattered.push_back(ids.has_value());
  Tensor sum = merge_memory(op, out);
  auto add = [&](Body& b, const Index& kept) {
    Index index;
    for (Expr at : kept) {
      if (at) index.push_back(at);
    }
    for (size_t k = 0; k < put.advanced.rank; ++k) {
      size_t place = put.advanced.place + k;
      index.insert(index.begin() + static_cast<int64_t>(place), b.inner(put.sizes[place]));
    }
    Index to = advanced_position(b, x, put.advanced, index);
    b.store(sum, to, read(b, values, index, sum.dtype()), StoreMode::kAdd);
  };
  scatter_kernel(op, {sum, scattered, element_of(x, sum.dtype()), add});
  finish_merge(op, out, sum);
  return {};
}

// The table has the indexed dimensions only: all elements of a place come from the same indices.
Refusal put_last(Op& op, const Put& put) {
  Tensor x = op.tensor(0), values = op.tensor(2), out = op.result(0);
  sym::Context& cx = op.low().cx();
  Sizes sizes;
  for (size_t k = 0; k < x.rank(); ++k) {
    if (put.advanced.indices[k]) sizes.push_back(x.size(k));
  }
  auto add = [&](Body& b, const Index&, const Tensor& table) {
    Index own, to;
    for (Expr size : put.own) own.push_back(b.inner(size));
    for (size_t k = 0; k < x.rank(); ++k) {
      if (const auto& ids = put.advanced.indices[k])
        to.push_back(b.wrapped(b.load(*ids, broadcast_index(*ids, own)), x.size(k)));
    }
    b.store(table, to, b.index(flattened(cx, own, put.own)), StoreMode::kMax);
  };
  Tensor table = last_elements(op, sizes, std::vector<bool>(sizes.size(), true), add);
  Expr count = ir::element_count(cx, put.own);
  pointwise(op, out, [&](Body& b, const Index& index) {
    Index place, rest;
    for (size_t k = 0; k < x.rank(); ++k) (put.advanced.indices[k] ? place : rest).push_back(index[k]);
    Chosen c = chosen(b, b.load(table, place), count);
    Index own = unflattened(cx, c.position, put.own), from = rest;
    from.insert(from.begin() + static_cast<int64_t>(put.advanced.place), own.begin(), own.end());
    Val value = b.load_if(cx.lt(cx.constant(0), count), values, broadcast_index(values, from), 0);
    return select(c.exists, b.to(value, out.dtype()), read(b, x, index, out.dtype()));
  });
  return {};
}

}  // namespace

// Arguments: self, indices, values, accumulate.
Refusal lower_index_put(Op& op) {
  if (std::optional<size_t> mask = only_mask(op)) return put_where(op, *mask, *op.optional_tensors(1)[*mask]);
  Tensor x = op.tensor(0), values = op.tensor(2);
  Put put;
  if (Refusal r = read_advanced(op, x, put.advanced)) return r;
  put.own = own_sizes(put.advanced);
  for (size_t k = 0; k < x.rank(); ++k) {
    if (!put.advanced.indices[k]) put.sizes.push_back(x.size(k));
  }
  put.sizes.insert(put.sizes.begin() + static_cast<int64_t>(put.advanced.place), put.own.begin(),
                   put.own.end());
  if (values.rank() > put.sizes.size()) return "the values have more dimensions than their places";
  return op.flag(3) ? put_sum(op, put) : put_last(op, put);
}

// Arguments: self, index, source, accumulate. Positions count in the flattened tensors.
Refusal lower_put(Op& op) {
  Tensor x = op.tensor(0), ids = op.tensor(1), source = op.tensor(2), out = op.result(0);
  sym::Context& cx = op.low().cx();
  Expr places = ir::element_count(cx, x.sizes()), count = ir::element_count(cx, ids.sizes());
  if (op.flag(3) && ir::is_bool(out.dtype())) return kBools;
  auto open = [&](Body& b, Index& from) {
    for (Expr size : ids.sizes()) from.push_back(b.inner(size));
    return b.wrapped(b.load(ids, from), places);
  };
  auto element = [&](Body& b, Expr position, Expr inside) {
    return b.load_if(inside, source, unflattened(cx, position, source.sizes()), 0);
  };
  std::vector<bool> all(x.rank(), true);
  if (op.flag(3)) {
    Tensor sum = merge_memory(op, out);
    scatter_kernel(op, {sum, all, element_of(x, sum.dtype()), [&](Body& b, const Index&) {
                          Index from;
                          Index to = unflattened(cx, open(b, from), x.sizes());
                          Val value = element(b, flattened(cx, from, ids.sizes()), cx.constant(1));
                          b.store(sum, to, b.to(value, sum.dtype()), StoreMode::kAdd);
                        }});
    finish_merge(op, out, sum);
    return {};
  }
  Tensor table = last_elements(op, {places}, {true}, [&](Body& b, const Index&, const Tensor& last) {
    Index from;
    Expr to = open(b, from);
    b.store(last, {to}, b.index(flattened(cx, from, ids.sizes())), StoreMode::kMax);
  });
  pointwise(op, out, [&](Body& b, const Index& index) {
    Chosen c = chosen(b, b.load(table, {flattened(cx, index, x.sizes())}), count);
    Val value = element(b, c.position, cx.lt(cx.constant(0), count));
    return select(c.exists, b.to(value, out.dtype()), read(b, x, index, out.dtype()));
  });
  return {};
}

}  // namespace jumar::loop::lowering
