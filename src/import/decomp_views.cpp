// Operators that give the tensor itself, a view of it, or a copy, as its layout has it.
#include "import/decomposer.h"

namespace jumar::import {

namespace {

// self, where nothing would change, else a conversion. `format` is a memory format's word or empty.
Outcome converted_or_same(Call& c, std::optional<DType> dtype, bool must_copy, const std::string& format) {
  const ValueId x = c.tensor(0);
  const TensorType& type = c.type(x);
  const bool fits = format.empty() || format == "preserve" ||
                    (format == "contiguous" && c.shapes().is_contiguous(type)) ||
                    (format == "channels_last" && c.shapes().is_channels_last(type));
  if (!must_copy && fits && (!dtype || *dtype == type.dtype)) return c.done(x);
  Arg memory_format;
  if (!format.empty()) memory_format = Arg(ir::WordArg{ir::WordArg::Kind::kMemoryFormat, format});
  const ArgList args = {
      Arg(x), dtype ? Call::dtype_arg(*dtype) : Arg(), Arg(), Arg(), Arg(), Arg(false), memory_format};
  return c.done(c.op("aten._to_copy.default", args, c.result()));
}

std::optional<DType> dtype_of(const Call& c, size_t k) {
  return c.has(k) ? ir::dtype_from_name(c.word(k)) : std::nullopt;
}

}  // namespace

// dropout(x, p, train): x itself when not training, or when nothing is dropped.
Outcome decompose_dropout(Call& c) {
  const std::optional<bool> train = c.flag(2);
  const std::optional<double> p = c.number(1);
  if (!train || !p) return Call::refuse("its arguments are not constants");
  if (!*train || *p == 0) return c.done(c.tensor(0));
  if (c.node().op != "aten.dropout.default") return Call::refuse("it draws random numbers");
  TensorType mask = c.shapes().contiguous(DType::kBool, c.result().sizes);
  return c.done(c.ops("aten.native_dropout.default", {c.arg(0), c.arg(1), Arg(true)}, {c.result(), mask})[0]);
}

Outcome decompose_same(Call& c) { return c.done(c.tensor(0)); }

Outcome decompose_conj(Call& c) {
  if (!ir::is_complex(c.result().dtype)) return c.done(c.tensor(0));
  return c.done(c.op("aten._conj_physical.default", {c.arg(0)}, c.result()));
}

Outcome decompose_real(Call& c) {
  if (ir::is_complex(c.type(c.tensor(0)).dtype)) return Call::refuse("the operand is complex");
  return c.done(c.tensor(0));
}

// reshape, flatten, ...: the sizes are those of the result. Where the strides that capture saw are not the
// contiguous ones, it was a view, even if that can't be told from the sizes.
Outcome decompose_reshape(Call& c) {
  const ValueId x = c.tensor(0);
  const TensorType& wanted = c.result();
  if (!c.shapes().viewed(c.type(x), wanted.sizes) && !c.shapes().is_contiguous(wanted))
    return c.done(c.op("aten.view.default", {Arg(x), c.sizes_arg(wanted.sizes)}, wanted));
  return c.done(c.reshaped(x, wanted.sizes));
}

Outcome decompose_contiguous(Call& c) {
  const ValueId x = c.tensor(0);
  const std::string format = c.word(1);
  const bool fits = format == "channels_last" ? c.shapes().is_channels_last(c.type(x))
                                              : format == "contiguous" && c.shapes().is_contiguous(c.type(x));
  if (fits || c.shapes().same_layout(c.type(x), c.result())) return c.done(x);
  return c.done(c.op("aten.clone.default", {Arg(x), c.arg(1)}, c.result()));
}

// (self, dtype, non_blocking, copy, memory_format)
Outcome decompose_to_dtype(Call& c) {
  return converted_or_same(c, dtype_of(c, 1), c.flag(3).value_or(false), c.word(4));
}
// (self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format)
Outcome decompose_to_dtype_layout(Call& c) {
  return converted_or_same(c, dtype_of(c, 1), c.flag(6).value_or(false), c.word(7));
}
// (self, device, dtype, non_blocking, copy, memory_format)
Outcome decompose_to_device(Call& c) {
  return converted_or_same(c, dtype_of(c, 2), c.flag(4).value_or(false), c.word(5));
}
// (self, other, non_blocking, copy, memory_format)
Outcome decompose_to_other(Call& c) {
  return converted_or_same(c, c.type(c.tensor(1)).dtype, c.flag(3).value_or(false), c.word(4));
}
Outcome decompose_type_as(Call& c) { return converted_or_same(c, c.type(c.tensor(1)).dtype, false, ""); }

Outcome decompose_expand_as(Call& c) {
  const ValueId x = c.tensor(0);
  return c.done(c.op("aten.expand.default", {Arg(x), c.sizes_arg(c.result().sizes)}, c.result()));
}

namespace {

ValueId sliced(Call& c, ValueId x, size_t dim, Expr begin, Expr length, const TensorType& type) {
  return c.op("aten.slice.Tensor",
              {Arg(x), c.integer(static_cast<int64_t>(dim)), Arg(begin), Arg(c.cx().add(begin, length)),
               c.integer(1)},
              type);
}

// Slices one after the other along a dimension, as long as the results are.
Outcome split_along(Call& c, size_t dim) {
  const ValueId x = c.tensor(0);
  std::vector<ValueId> out;
  Expr begin = c.cx().constant(0);
  for (size_t k = 0; k < c.result_count(); ++k) {
    const TensorType type = c.result(k);
    if (dim >= type.rank()) return Call::refuse("its results have another rank");
    out.push_back(sliced(c, x, dim, begin, type.sizes[dim], type));
    begin = c.cx().add(begin, type.sizes[dim]);
  }
  return c.done(std::move(out));
}

}  // namespace

// narrow(x, dim, start, length); a negative start counts from the end.
Outcome decompose_narrow(Call& c) {
  const ValueId x = c.tensor(0);
  const std::optional<size_t> dim = c.dim(1, c.rank(x));
  const std::optional<Expr> start = c.size(2);
  if (!dim || !start || c.rank(x) == 0 || c.result().rank() != c.rank(x))
    return Call::refuse("its arguments are not known");
  Expr begin = *start;
  if (begin.is_const() && begin.const_value() < 0) begin = c.cx().add(begin, c.type(x).sizes[*dim]);
  return c.done(sliced(c, x, *dim, begin, c.result().sizes[*dim], c.result()));
}

// chunk(x, chunks, dim): pieces of the size of the first, the last one shorter.
Outcome decompose_chunk(Call& c) {
  const ValueId x = c.tensor(0);
  const std::optional<size_t> dim = c.dim(2, c.rank(x));
  if (!dim || c.rank(x) == 0 || c.result_count() == 0) return Call::refuse("its arguments are not known");
  std::vector<TensorType> types;
  for (size_t k = 0; k < c.result_count(); ++k) types.push_back(c.result(k));
  if (types[0].rank() != c.rank(x)) return Call::refuse("its results have another rank");
  const Expr piece = types[0].sizes[*dim];
  return c.done(c.ops("aten.split.Tensor", {Arg(x), Arg(piece), c.integer(static_cast<int64_t>(*dim))},
                      std::move(types)));
}

Outcome decompose_split_by_results(Call& c) {
  const std::optional<size_t> dim = c.dim(2, c.rank(c.tensor(0)));
  return dim ? split_along(c, *dim) : Call::refuse("its dimension is not known");
}
Outcome decompose_hsplit(Call& c) { return split_along(c, c.rank(c.tensor(0)) == 1 ? 0 : 1); }
Outcome decompose_vsplit(Call& c) { return split_along(c, 0); }
Outcome decompose_dsplit(Call& c) { return split_along(c, 2); }

// (tensors): each with the sizes of its result.
Outcome decompose_broadcast_tensors(Call& c) {
  const graph::ArgList* list = c.arg(0).list();
  std::vector<ValueId> out;
  for (size_t k = 0; k < c.result_count(); ++k) {
    const auto* tensor = list == nullptr || k >= list->size() ? nullptr : (*list)[k].as<ValueId>();
    if (tensor == nullptr || c.rank(*tensor) > c.result(k).rank())
      return Call::refuse("its operands are not known");
    out.push_back(c.expanded(*tensor, c.result(k).sizes));
  }
  return c.done(std::move(out));
}

// (tensors, indexing): tensor k varies along dimension k; "xy" swaps the first two.
Outcome decompose_meshgrid(Call& c) {
  const graph::ArgList* list = c.arg(0).list();
  if (list == nullptr || list->size() != c.result_count()) return Call::refuse("its operands are not known");
  const bool swapped = c.node().args.size() > 1 && c.word(1) == "xy" && list->size() >= 2;
  std::vector<ValueId> out;
  for (size_t k = 0; k < list->size(); ++k) {
    const auto* tensor = (*list)[k].as<ValueId>();
    if (tensor == nullptr || c.rank(*tensor) > 1 || c.result(k).rank() != list->size())
      return Call::refuse("an operand is no vector");
    const size_t dim = swapped && k < 2 ? 1 - k : k;
    Sizes sizes(list->size(), c.cx().constant(1));
    if (c.rank(*tensor) == 1) sizes[dim] = c.type(*tensor).sizes[0];
    out.push_back(c.expanded(c.reshaped(*tensor, sizes), c.result(k).sizes));
  }
  return c.done(std::move(out));
}

Outcome decompose_unknown_storage(Call&) { return Call::refuse("its results may be its operands"); }

Outcome decompose_adjoint(Call& c) {
  const size_t rank = c.rank(c.tensor(0));
  if (ir::is_complex(c.result().dtype)) return Call::refuse("the operand is complex");
  if (rank < 2) return c.done(c.tensor(0));
  return c.done(c.transposed(c.tensor(0), rank - 2, rank - 1));
}

Outcome decompose_movedim(Call& c) {
  const ValueId x = c.tensor(0);
  const size_t rank = c.rank(x);
  std::vector<std::vector<int64_t>> given;
  for (const size_t k : {size_t{1}, size_t{2}}) {
    const std::optional<int64_t> one = c.constant(k);
    std::optional<std::vector<int64_t>> all = c.constants(k);
    if (one) all = std::vector<int64_t>{*one};
    if (!all) return Call::refuse("its dimensions are not known");
    given.push_back(*all);
  }
  if (rank == 0 || given[0].size() != given[1].size() || given[0].size() > rank)
    return Call::refuse("its dimensions do not fit");
  std::vector<std::optional<size_t>> order(rank);
  std::vector<bool> moved(rank, false);
  for (size_t k = 0; k < given[0].size(); ++k) {
    const auto wrapped = [rank](int64_t d) {
      return static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank) : d);
    };
    const size_t from = wrapped(given[0][k]), to = wrapped(given[1][k]);
    if (from >= rank || to >= rank || moved[from] || order[to])
      return Call::refuse("its dimensions do not fit");
    order[to] = from;
    moved[from] = true;
  }
  std::vector<size_t> dims;
  size_t next = 0;
  for (const std::optional<size_t>& dim : order) {
    while (!dim && moved[next]) ++next;
    dims.push_back(dim ? *dim : next++);
  }
  return c.done(c.permuted(x, dims));
}

Outcome decompose_reversed(Call& c) {
  std::vector<size_t> dims;
  for (size_t k = c.rank(c.tensor(0)); k-- > 0;) dims.push_back(k);
  return c.done(c.permuted(c.tensor(0), dims));
}

Outcome decompose_matrix_transpose(Call& c) {
  const size_t rank = c.rank(c.tensor(0));
  if (rank < 2) return Call::refuse("the operand is no matrix");
  return c.done(c.transposed(c.tensor(0), rank - 2, rank - 1));
}

}  // namespace jumar::import
