#include "import/view_inverse.h"

#include <algorithm>

namespace jumar::import {
namespace {

using graph::Arg;
using graph::ArgList;
using graph::ValueId;
using ir::TensorType;
using sym::Expr;
using Outcome = Result<Inverse>;

Diagnostic unknown(const InverseContext& c, std::string_view reason) {
  return diagnostic("unsupported", "a write through a view made by {}: {}", c.view.op, reason);
}

const TensorType& parent_type(const InverseContext& c) { return c.graph.values[c.parent].type; }
const TensorType& value_type(const InverseContext& c) { return c.graph.values[c.value].type; }

std::optional<size_t> dim_of(const InverseContext& c, size_t k, size_t rank) {
  const auto* e = c.view.args[k].as<Expr>();
  const std::optional<int64_t> value = e == nullptr ? std::nullopt : e->as_const();
  const auto count = static_cast<int64_t>(rank);
  if (!value || *value < -count || *value >= count) return std::nullopt;
  return static_cast<size_t>(*value < 0 ? *value + count : *value);
}

Arg integer(const InverseContext& c, size_t value) {
  return Arg(c.graph.cx().constant(static_cast<int64_t>(value)));
}

Outcome inverse_same(const InverseContext&) { return Inverse{}; }

// The parent's sizes, whatever they were viewed as.
Outcome inverse_sizes(const InverseContext& c) {
  const TensorType parent = parent_type(c);
  ArgList sizes;
  for (const Expr e : parent.sizes) sizes.emplace_back(e);
  if (const std::optional<TensorType> type = c.shapes.viewed(value_type(c), parent.sizes))
    return Inverse{"aten.view.default", {Arg(c.value), Arg(sizes)}, *type};
  return Inverse{
      "aten.reshape.default", {Arg(c.value), Arg(sizes)}, c.shapes.contiguous(parent.dtype, parent.sizes)};
}

Outcome permuted_back(const InverseContext& c, const std::vector<size_t>& dims) {
  if (value_type(c).rank() != dims.size()) return unknown(c, "its rank is not that of its operand");
  std::vector<size_t> back(dims.size());
  for (size_t k = 0; k < dims.size(); ++k) back[dims[k]] = k;
  ArgList list;
  for (const size_t dim : back) list.push_back(integer(c, dim));
  return Inverse{"aten.permute.default", {Arg(c.value), Arg(list)}, c.shapes.permuted(value_type(c), back)};
}

Outcome inverse_transpose(const InverseContext& c) {
  const size_t rank = parent_type(c).rank();
  if (rank == 0) return Inverse{};
  const std::optional<size_t> a = dim_of(c, 1, rank), b = dim_of(c, 2, rank);
  if (!a || !b) return unknown(c, "its dimensions are not known");
  std::vector<size_t> dims(rank);
  for (size_t k = 0; k < rank; ++k) dims[k] = k;
  std::swap(dims[*a], dims[*b]);
  return permuted_back(c, dims);
}

Outcome inverse_t(const InverseContext& c) {
  if (parent_type(c).rank() < 2) return Inverse{};
  if (parent_type(c).rank() > 2) return unknown(c, "the operand is no matrix");
  return permuted_back(c, {1, 0});
}

Outcome inverse_permute(const InverseContext& c) {
  const ArgList* list = c.view.args[1].list();
  const size_t rank = parent_type(c).rank();
  if (list == nullptr || list->size() != rank) return unknown(c, "its dimensions are not known");
  std::vector<size_t> dims;
  for (const Arg& item : *list) {
    const auto* e = item.as<Expr>();
    const std::optional<int64_t> value = e == nullptr ? std::nullopt : e->as_const();
    const auto count = static_cast<int64_t>(rank);
    if (!value || *value < -count || *value >= count) return unknown(c, "its dimensions are not known");
    dims.push_back(static_cast<size_t>(*value < 0 ? *value + count : *value));
    if (std::count(dims.begin(), dims.end(), dims.back()) > 1)
      return unknown(c, "it names a dimension twice");
  }
  return permuted_back(c, dims);
}

// Where a dimension grew, several elements of the view are one of the parent.
Outcome inverse_expand(const InverseContext& c) {
  const TensorType parent = parent_type(c);
  if (value_type(c).rank() == parent.rank() && c.shapes.equal(value_type(c).sizes, parent.sizes))
    return Inverse{};
  return unknown(c, "its elements lie on one another");
}

// The view's elements put in their place, by the operator that is the view's counterpart: same arguments,
// with the new elements after the first.
Outcome scatter(const InverseContext& c, const std::string& op, ArgList rest) {
  ArgList args = {Arg(c.parent), Arg(c.value)};
  args.insert(args.end(), rest.begin(), rest.end());
  return Inverse{op, std::move(args), parent_type(c)};
}

ArgList rest_of(const InverseContext& c) { return ArgList(c.view.args.begin() + 1, c.view.args.end()); }

Outcome inverse_slice(const InverseContext& c) {
  return scatter(c, "aten.slice_scatter.default", rest_of(c));
}
Outcome inverse_select(const InverseContext& c) {
  return scatter(c, "aten.select_scatter.default", rest_of(c));
}
Outcome inverse_diagonal(const InverseContext& c) {
  return scatter(c, "aten.diagonal_scatter.default", rest_of(c));
}
Outcome inverse_as_strided(const InverseContext& c) {
  return scatter(c, "aten.as_strided_scatter.default", rest_of(c));
}

Outcome inverse_unbind(const InverseContext& c) {
  return scatter(c, "aten.select_scatter.default", {c.view.args[1], integer(c, c.result)});
}

// A piece of a split is a slice: it begins where those before it end.
Outcome inverse_split(const InverseContext& c) {
  const std::optional<size_t> dim = dim_of(c, 2, parent_type(c).rank());
  if (!dim) return unknown(c, "its dimension is not known");
  sym::Context& cx = c.graph.cx();
  Expr begin = cx.constant(0);
  for (size_t k = 0; k <= c.result; ++k) {
    if (c.graph.values[c.view.results[k]].type.rank() != parent_type(c).rank())
      return unknown(c, "its rank is not that of its operand");
  }
  for (size_t k = 0; k < c.result; ++k)
    begin = cx.add(begin, c.graph.values[c.view.results[k]].type.sizes[*dim]);
  const Expr end = cx.add(begin, value_type(c).sizes[*dim]);
  return scatter(c, "aten.slice_scatter.default", {integer(c, *dim), Arg(begin), Arg(end), integer(c, 1)});
}

Outcome inverse_view_dtype(const InverseContext& c) {
  const TensorType parent = parent_type(c);
  if (ir::dtype_bytes(parent.dtype) != ir::dtype_bytes(value_type(c).dtype))
    return unknown(c, "its elements have another size");
  const Arg dtype(ir::WordArg{ir::WordArg::Kind::kDType, std::string(ir::dtype_name(parent.dtype))});
  TensorType type = value_type(c);
  type.dtype = parent.dtype;
  return Inverse{"aten.view.dtype", {Arg(c.value), dtype}, type};
}

Outcome inverse_view_as_real(const InverseContext& c) {
  return Inverse{"aten.view_as_complex.default", {Arg(c.value)}, parent_type(c)};
}
Outcome inverse_view_as_complex(const InverseContext& c) {
  return Inverse{"aten.view_as_real.default", {Arg(c.value)}, parent_type(c)};
}

struct Row {
  std::string_view op;
  Outcome (*function)(const InverseContext&);
};

constexpr Row kRows[] = {
    {"aten.alias.default", inverse_same},
    {"aten.detach.default", inverse_same},
    {"aten.view.default", inverse_sizes},
    {"aten.reshape.default", inverse_sizes},
    {"aten._unsafe_view.default", inverse_sizes},
    {"aten.squeeze.default", inverse_sizes},
    {"aten.squeeze.dim", inverse_sizes},
    {"aten.squeeze.dims", inverse_sizes},
    {"aten.unsqueeze.default", inverse_sizes},
    {"aten.transpose.int", inverse_transpose},
    {"aten.t.default", inverse_t},
    {"aten.permute.default", inverse_permute},
    {"aten.expand.default", inverse_expand},
    {"aten.slice.Tensor", inverse_slice},
    {"aten.select.int", inverse_select},
    {"aten.diagonal.default", inverse_diagonal},
    {"aten.as_strided.default", inverse_as_strided},
    {"aten.unbind.int", inverse_unbind},
    {"aten.split.Tensor", inverse_split},
    {"aten.split_with_sizes.default", inverse_split},
    {"aten.view.dtype", inverse_view_dtype},
    {"aten.view_as_real.default", inverse_view_as_real},
    {"aten.view_as_complex.default", inverse_view_as_complex},
};

}  // namespace

Result<Inverse> view_inverse(const InverseContext& context) {
  for (const Row& row : kRows) {
    if (row.op == context.view.op) return row.function(context);
  }
  return unknown(context, "no operator puts its elements back");
}

}  // namespace jumar::import
