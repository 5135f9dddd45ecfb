// Operators that only say how memory is seen. The graph's type gives sizes and strides of the result; what is
// left to find is where its first element lies.
#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

Expr from_end(const Lowering& low, Expr position, Expr size) {
  sym::Context& cx = low.cx();
  if (sym::proves_le(cx, cx.constant(0), position, low.facts())) return position;
  if (sym::proves_lt(cx, position, cx.constant(0), low.facts())) return cx.add(position, size);
  return cx.mod(position, size);
}

Expr clamped_from_end(const Lowering& low, Expr position, Expr size) {
  sym::Context& cx = low.cx();
  Expr zero = cx.constant(0);
  if (sym::proves_lt(cx, position, zero, low.facts())) {
    position = cx.add(position, size);
  } else if (!sym::proves_le(cx, zero, position, low.facts())) {
    Expr is_negative = cx.lt(position, zero);
    position = cx.add(position, cx.mul(is_negative, size));
  }
  if (!sym::proves_le(cx, zero, position, low.facts())) position = cx.max(position, zero);
  if (!sym::proves_le(cx, position, size, low.facts())) position = cx.min(position, size);
  return position;
}

std::vector<Expr> starts_of(const Op& op, Expr length) {
  std::vector<Expr> starts;
  for (size_t k = 0; k < op.result_count(); ++k)
    starts.push_back(op.low().cx().mul(length, static_cast<int64_t>(k)));
  return starts;
}

std::vector<Expr> starts_of(const Op& op, const std::vector<Expr>& lengths) {
  std::vector<Expr> starts{op.low().constant(0)};
  for (size_t k = 1; k < op.result_count(); ++k)
    starts.push_back(op.low().cx().add(starts.back(), lengths.at(k - 1)));
  return starts;
}

namespace {

void bind_from(Op& op, size_t k, const Tensor& base, size_t dim, Expr start) {
  sym::Context& cx = op.low().cx();
  op.bind_view(k, base, cx.add(base.offset, cx.mul(start, base.stride(dim))));
}

// Results that follow each other along dimension argument 2.
void bind_pieces(Op& op, const std::vector<Expr>& starts) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(2, x.rank());
  for (size_t k = 0; k < op.result_count(); ++k) bind_from(op, k, x, dim, starts[k]);
}

}  // namespace

Refusal lower_view(Op& op) {
  Tensor x = op.tensor(0);
  op.bind_view(0, x, x.offset);
  return {};
}

Refusal lower_slice(Op& op) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  Expr start = op.has(2) ? clamped_from_end(op.low(), op.integer(2), x.size(dim)) : op.low().constant(0);
  bind_from(op, 0, x, dim, start);
  return {};
}

Refusal lower_narrow(Op& op) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  bind_from(op, 0, x, dim, clamped_from_end(op.low(), op.integer(2), x.size(dim)));
  return {};
}

Refusal lower_select(Op& op) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  bind_from(op, 0, x, dim, from_end(op.low(), op.integer(2), x.size(dim)));
  return {};
}

Refusal lower_unbind(Op& op) {
  Tensor x = op.tensor(0);
  size_t dim = op.dim(1, x.rank());
  for (size_t k = 0; k < op.result_count(); ++k) {
    bind_from(op, k, x, dim, op.low().constant(static_cast<int64_t>(k)));
  }
  return {};
}

// Arguments: self, split_size, dim.
Refusal lower_split(Op& op) {
  bind_pieces(op, starts_of(op, op.integer(1)));
  return {};
}

// Arguments: self, chunks, dim.
Refusal lower_chunk(Op& op) {
  Tensor x = op.tensor(0);
  Expr length = op.low().cx().ceildiv(x.size(op.dim(2, x.rank())), op.integer(1));
  bind_pieces(op, starts_of(op, length));
  return {};
}

// Arguments: self, split_sizes, dim.
Refusal lower_split_with_sizes(Op& op) {
  bind_pieces(op, starts_of(op, op.integers(1)));
  return {};
}

Refusal lower_diagonal(Op& op) {
  Tensor x = op.tensor(0);
  auto offset = op.constant(1);
  if (!offset) return "the diagonal is not a constant";
  size_t first = op.dim(2, x.rank()), second = op.dim(3, x.rank());
  size_t along = *offset >= 0 ? second : first;
  bind_from(op, 0, x, along, op.low().constant(std::abs(*offset)));
  return {};
}

// Only where the storage is known to begin at its buffer's first element, and to reach as far as the view
// does.
Refusal restrided(const Op& op, const Tensor& x, ir::TensorType type, size_t offset_arg, Tensor& seen) {
  sym::Context& cx = op.low().cx();
  const Buffer& buffer = op.low().buffer(x.buffer);
  bool is_fresh = buffer.storage == Storage::kTemp || buffer.storage == Storage::kOutput;
  if (op.has(offset_arg) && !is_fresh)
    return "the offset counts from the beginning of a storage not made here";
  Expr offset = op.has(offset_arg) ? op.integer(offset_arg) : x.offset;
  Expr end = cx.add(offset, ir::storage_extent(cx, type));
  Expr extent = ir::storage_extent(cx, buffer.type);
  if (!sym::proves_le(cx, end, extent, op.low().facts()))
    return "the result is not known to stay in the memory of its operand";
  seen = {x.buffer, offset, std::move(type)};
  return {};
}

Refusal lower_as_strided(Op& op) {
  Tensor x = op.tensor(0), seen;
  if (Refusal r = restrided(op, x, op.result_type(0), 3, seen)) return r;
  op.bind_view(0, x, seen.offset);
  return {};
}

// Elements of the same width are the same bits; otherwise sizes change, which only the caller can do.
Refusal lower_view_dtype(Op& op) {
  Tensor x = op.tensor(0);
  DType type = op.result_type(0).dtype;
  if (type == x.dtype()) return lower_view(op);
  if (ir::dtype_bytes(type) != ir::dtype_bytes(x.dtype())) return "elements get another width";
  if (ir::is_bool(type) || ir::is_bool(x.dtype()) || ir::is_complex(type) || ir::is_complex(x.dtype()))
    return "bits of bools or complex numbers";
  Tensor out = op.result(0);
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(out.sizes());
    b.begin_stage();
    b.store(out, index, b.bitcast(b.load(x, index), type));
  });
  return {};
}

}  // namespace jumar::loop::lowering
