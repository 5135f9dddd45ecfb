// Copies of views: what the view would show, in memory of its own. The graph gives the copy's strides; those
// of the view itself are computed here.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

void copy_out(Op& op, size_t k, const Tensor& seen) {
  if (!op.has_result(k)) return;
  Tensor out = op.result(k);
  pointwise(op, out, [&](Body& b, const Index& index) { return b.load(seen, index); });
}

// Every step-th position along a dimension, from `start` on.
Tensor sliced(const Lowering& low, Tensor x, size_t dim, Expr start, Expr step, Expr size) {
  sym::Context& cx = low.cx();
  x.offset = cx.add(x.offset, cx.mul(start, x.stride(dim)));
  x.type.strides[dim] = cx.mul(x.stride(dim), step);
  x.type.sizes[dim] = size;
  return x;
}

Tensor without_dim(Tensor x, size_t dim) {
  x.type.sizes.erase(x.type.sizes.begin() + static_cast<int64_t>(dim));
  x.type.strides.erase(x.type.strides.begin() + static_cast<int64_t>(dim));
  return x;
}

Tensor selected(const Lowering& low, const Tensor& x, size_t dim, Expr at) {
  return without_dim(sliced(low, x, dim, at, low.constant(1), low.constant(1)), dim);
}

// Results that follow each other along dimension argument 2.
void copy_pieces(Op& op, const std::vector<Expr>& starts) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(2, x.rank());
  for (size_t k = 0; k < op.result_count(); ++k)
    copy_out(op, k, sliced(op.low(), x, dim, starts[k], op.low().constant(1), op.result_type(k).sizes[dim]));
}

Tensor permuted(const Tensor& x, const std::vector<size_t>& dims) {
  Tensor out = x;
  for (size_t k = 0; k < dims.size(); ++k) {
    out.type.sizes[k] = x.size(dims[k]);
    out.type.strides[k] = x.stride(dims[k]);
  }
  return out;
}

std::vector<size_t> swapped(size_t rank, size_t a, size_t b) {
  std::vector<size_t> dims(rank);
  for (size_t k = 0; k < rank; ++k) dims[k] = k;
  if (rank > 1) std::swap(dims[a], dims[b]);
  return dims;
}

}  // namespace

// Arguments: self, dims.
Refusal lower_permute_copy(Op& op) {
  Tensor x = op.tensor(0);
  auto dims = op.constants(1);
  if (!dims) return "the dimensions are no constants";
  std::vector<size_t> order;
  for (int64_t d : *dims)
    order.push_back(static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(x.rank()) : d));
  copy_out(op, 0, permuted(x, order));
  return {};
}

Refusal lower_t_copy(Op& op) {
  Tensor x = op.tensor(0);
  copy_out(op, 0, permuted(x, swapped(x.rank(), 0, 1)));
  return {};
}

// Arguments: self, dim0, dim1.
Refusal lower_transpose_copy(Op& op) {
  Tensor x = op.tensor(0);
  copy_out(op, 0, permuted(x, swapped(x.rank(), op.dim(1, x.rank()), op.dim(2, x.rank()))));
  return {};
}

// Arguments: self, dim.
Refusal lower_unbind_copy(Op& op) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  for (size_t k = 0; k < op.result_count(); ++k)
    copy_out(op, k, selected(op.low(), x, dim, op.low().constant(static_cast<int64_t>(k))));
  return {};
}

// Arguments: self, split_size, dim.
Refusal lower_split_copy(Op& op) {
  copy_pieces(op, starts_of(op, op.integer(1)));
  return {};
}

// Arguments: self, split_sizes, dim.
Refusal lower_split_with_sizes_copy(Op& op) {
  copy_pieces(op, starts_of(op, op.integers(1)));
  return {};
}

// Arguments: self, dimension, size, step. The windows' elements are a new last dimension.
Refusal lower_unfold_copy(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  if (x.rank() == 0) return "a tensor without dimensions";
  size_t dim = op.dim(1, x.rank());
  Tensor seen = sliced(op.low(), x, dim, op.low().constant(0), op.integer(3), out.size(dim));
  seen.type.sizes.push_back(op.integer(2));
  seen.type.strides.push_back(x.stride(dim));
  copy_out(op, 0, seen);
  return {};
}

// Arguments: self, dim, start, end, step.
Refusal lower_slice_copy(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t dim = op.dim(1, x.rank());
  Expr start = op.has(2) ? clamped_from_end(op.low(), op.integer(2), x.size(dim)) : op.low().constant(0);
  copy_out(op, 0, sliced(op.low(), x, dim, start, op.integer(4), out.size(dim)));
  return {};
}

// Arguments: self, dim, start, length.
Refusal lower_narrow_copy(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  size_t dim = op.dim(1, x.rank());
  Expr start = clamped_from_end(op.low(), op.integer(2), x.size(dim));
  copy_out(op, 0, sliced(op.low(), x, dim, start, op.low().constant(1), out.size(dim)));
  return {};
}

// Arguments: self, dim, index.
Refusal lower_select_copy(Op& op) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  copy_out(op, 0, selected(op.low(), x, dim, from_end(op.low(), op.integer(2), x.size(dim))));
  return {};
}

// Arguments: self, size, stride, storage_offset.
Refusal lower_as_strided_copy(Op& op) {
  Tensor x = op.tensor(0);
  ir::TensorType type{x.dtype(), op.integers(1), op.integers(2)};
  Tensor seen;
  if (Refusal r = restrided(op, x, std::move(type), 3, seen)) return r;
  copy_out(op, 0, seen);
  return {};
}

namespace {

// A diagonal through two dimensions of a tensor: its elements are those at (i - min(offset, 0), i +
// max(offset, 0)).
struct Diagonal {
  size_t first;
  size_t second;
  int64_t offset;
};

// Arguments: the offset, then the two dimensions, from argument k on.
std::optional<Diagonal> diagonal_of(const Op& op, size_t k, size_t rank) {
  auto offset = op.constant(k);
  if (!offset) return std::nullopt;
  return Diagonal{op.dim(k + 1, rank), op.dim(k + 2, rank), *offset};
}

constexpr const char* kUnknownDiagonal = "the diagonal is not a constant";

}  // namespace

// Arguments: self, offset, dim1, dim2. The diagonal is a new last dimension.
Refusal lower_diagonal_copy(Op& op) {
  Tensor x = op.tensor(0), out = op.result(0);
  auto diagonal = diagonal_of(op, 1, x.rank());
  if (!diagonal) return kUnknownDiagonal;
  sym::Context& cx = op.low().cx();
  size_t along = diagonal->offset >= 0 ? diagonal->second : diagonal->first;
  Tensor seen = x;
  seen.offset = cx.add(x.offset, cx.mul(cx.constant(std::abs(diagonal->offset)), x.stride(along)));
  Expr stride = cx.add(x.stride(diagonal->first), x.stride(diagonal->second));
  seen = without_dim(without_dim(seen, std::max(diagonal->first, diagonal->second)),
                     std::min(diagonal->first, diagonal->second));
  seen.type.sizes.push_back(out.sizes().back());
  seen.type.strides.push_back(stride);
  copy_out(op, 0, seen);
  return {};
}

namespace {

// The result has `piece` on a diagonal, and elsewhere what `around` has, or zeros.
Refusal on_diagonal(Op& op, const Tensor& piece, const Diagonal& diagonal, const Tensor* around) {
  Tensor out = op.result(0);
  pointwise(op, out, [&](Body& b, const Index& index) {
    sym::Context& cx = b.cx();
    Expr row = index[diagonal.first], column = index[diagonal.second];
    Expr inside = cx.eq(column, cx.add(row, cx.constant(diagonal.offset)));
    Index from;
    for (size_t k = 0; k < index.size(); ++k) {
      if (k != diagonal.first && k != diagonal.second) from.push_back(index[k]);
    }
    from.push_back(diagonal.offset >= 0 ? row : column);
    Val value = b.to(b.load_if(inside, piece, from, 0), out.dtype());
    if (!around) return value;
    return select(b.predicate(inside), value, b.load(*around, index));
  });
  return {};
}

}  // namespace

// Arguments: self, src, offset, dim1, dim2.
Refusal lower_diagonal_scatter(Op& op) {
  Tensor x = op.tensor(0);
  auto diagonal = diagonal_of(op, 2, x.rank());
  if (!diagonal) return kUnknownDiagonal;
  return on_diagonal(op, op.tensor(1), *diagonal, &x);
}

// Arguments: grad, input_sizes, offset, dim1, dim2.
Refusal lower_diagonal_backward(Op& op) {
  auto diagonal = diagonal_of(op, 2, op.result_type(0).rank());
  if (!diagonal) return kUnknownDiagonal;
  return on_diagonal(op, op.tensor(0), *diagonal, nullptr);
}

// Arguments: self, offset, dim1, dim2.
Refusal lower_diag_embed(Op& op) {
  auto diagonal = diagonal_of(op, 1, op.result_type(0).rank());
  if (!diagonal) return kUnknownDiagonal;
  return on_diagonal(op, op.tensor(0), *diagonal, nullptr);
}

// Arguments: tensors. Each is a block of rows, in which all that is not its own is zero.
Refusal lower_block_diag(Op& op) {
  Tensor out = op.result(0);
  sym::Context& cx = op.low().cx();
  std::vector<Lowering::Write> nests;
  Expr top = cx.constant(0), left = cx.constant(0);
  for (Tensor block : op.tensors(0)) {
    while (block.rank() < 2) {
      block.type.sizes.insert(block.type.sizes.begin(), cx.constant(1));
      block.type.strides.insert(block.type.strides.begin(), cx.constant(0));
    }
    nests.push_back([=](Body& b) {
      Expr row = b.keep(block.size(0)), column = b.keep(out.size(1));
      b.begin_stage();
      sym::Context& body_cx = b.cx();
      Expr right = body_cx.add(left, block.size(1));
      Expr inside = body_cx.logical_and(body_cx.le(left, column), body_cx.lt(column, right));
      Val value = b.load_if(inside, block, {row, body_cx.sub(column, left)}, 0);
      b.store(out, {body_cx.add(top, row), column}, b.to(value, out.dtype()));
    });
    top = cx.add(top, block.size(0));
    left = cx.add(left, block.size(1));
  }
  op.low().kernel(op, nests);
  return {};
}

// Arguments: self, groups. Channel i of group g becomes channel g of group i.
Refusal lower_channel_shuffle(Op& op) {
  Tensor x = op.tensor(0);
  Expr groups = op.integer(1);
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = index;
    Expr length = cx.floordiv(x.size(1), groups);
    from[1] = cx.add(cx.mul(cx.mod(index[1], groups), length), cx.floordiv(index[1], groups));
    return from;
  });
  return {};
}

// Arguments: self, k, dims: k turns by a right angle, from the first dimension towards the second.
Refusal lower_rot90(Op& op) {
  Tensor x = op.tensor(0);
  auto turns = op.constant(1);
  auto dims = op.constants(2);
  if (!turns || !dims || dims->size() != 2) return "the turns are no constants";
  int64_t rank = static_cast<int64_t>(x.rank());
  size_t first = static_cast<size_t>((*dims)[0] < 0 ? (*dims)[0] + rank : (*dims)[0]);
  size_t second = static_cast<size_t>((*dims)[1] < 0 ? (*dims)[1] + rank : (*dims)[1]);
  int64_t quarter = ((*turns % 4) + 4) % 4;
  moved(op, x, [&](sym::Context& cx, const Index& index) {
    Index from = index;
    if (quarter % 2 == 1) std::swap(from[first], from[second]);
    auto mirror = [&](size_t dim) { from[dim] = cx.sub(cx.sub(x.size(dim), 1), from[dim]); };
    if (quarter == 1 || quarter == 2) mirror(second);
    if (quarter == 2 || quarter == 3) mirror(first);
    return from;
  });
  return {};
}

// Arguments: tensors, dim, num_chunks. Each tensor is cut into so many chunks along the dimension, the last
// ones filled up with zeros; chunk c of all of them, flattened, is row c of the result.
Refusal lower_chunk_cat(Op& op) {
  Tensor out = op.result(0);
  sym::Context& cx = op.low().cx();
  std::vector<Lowering::Write> nests;
  Expr place = cx.constant(0);
  for (const Tensor& x : op.tensors(0)) {
    size_t dim = op.dim(1, x.rank());
    Expr rows = cx.ceildiv(x.size(dim), op.integer(2)), start = place;
    Expr width = cx.constant(1);
    for (size_t k = dim + 1; k < x.rank(); ++k) width = cx.mul(width, x.size(k));
    nests.push_back([=](Body& b) {
      sym::Context& body_cx = b.cx();
      Index from, to;
      for (size_t k = 0; k < dim; ++k) from.push_back(b.keep(x.size(k)));
      to = from;
      to.push_back(b.keep(out.size(dim)));
      Expr row = b.keep(rows), at = row;
      from.push_back(body_cx.add(body_cx.mul(to.back(), rows), row));
      for (size_t k = dim + 1; k < x.rank(); ++k) {
        from.push_back(b.keep(x.size(k)));
        at = body_cx.add(body_cx.mul(at, x.size(k)), from.back());
      }
      b.begin_stage();
      to.push_back(body_cx.add(start, at));
      Val value = b.load_if(body_cx.lt(from[dim], x.size(dim)), x, from, 0);
      b.store(out, to, b.to(value, out.dtype()));
    });
    place = cx.add(place, cx.mul(rows, width));
  }
  op.low().kernel(op, nests);
  return {};
}

// Arguments: self, the_template. Of another size, it would be what lies in self's memory.
Refusal lower_resize_as(Op& op) {
  Tensor x = op.tensor(0);
  if (x.sizes() != op.result_type(0).sizes) return "another size of the same memory";
  copy_out(op, 0, x);
  return {};
}

}  // namespace jumar::loop::lowering
