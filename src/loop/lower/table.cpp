#include <algorithm>

#include "loop/lower/pointwise.h"
#include "loop/lower/rows.h"
#include "loop/lower/special.h"
#include "loop/lower/table.h"

namespace jumar::loop::lowering {

namespace {

// Each row of pointwise.def as a lowering function.
#define JUMAR_POINTWISE(aten, operands, element)                                                  \
  [](Op& op) -> Refusal {                                                                         \
    return lower_pointwise(op, Operands::operands, [](const Args& x) -> Val { return element; }); \
  },
constexpr LowerFunction kPointwise[] = {
#include "loop/lower/pointwise.def"
};
#undef JUMAR_POINTWISE

#define JUMAR_POINTWISE(aten, operands, element) aten,
constexpr std::string_view kPointwiseNames[] = {
#include "loop/lower/pointwise.def"
};
#undef JUMAR_POINTWISE

struct Row {
  std::string_view op;
  LowerFunction function;
};

#define JUMAR_LOWER(aten, function) {aten, function},
constexpr Row kRows[] = {
#include "loop/lower/aten.def"
};
#undef JUMAR_LOWER

struct CallRow {
  std::string_view prefix;
  std::string_view reason;
};

#define JUMAR_CALL(prefix, reason) {prefix, reason},
constexpr CallRow kCalls[] = {
#include "loop/lower/calls.def"
};
#undef JUMAR_CALL

// Operators whose result is their first operand's memory.
constexpr std::string_view kAliases[] = {
    "aten._conj.default",
    "aten._neg_view.default",
    "aten._reshape_alias.default",
    "aten.alias.default",
    "aten.as_strided.default",
    "aten.chunk.default",
    "aten.detach.default",
    "aten.diagonal.default",
    "aten.expand.default",
    "aten.imag.default",
    "aten.lift_fresh.default",
    "aten.movedim.int",
    "aten.narrow.default",
    "aten.numpy_T.default",
    "aten.permute.default",
    "aten.real.default",
    "aten.select.int",
    "aten.slice.Tensor",
    "aten.split.Tensor",
    "aten.split.sizes",
    "aten.split_with_sizes.default",
    "aten.squeeze.default",
    "aten.squeeze.dim",
    "aten.squeeze.dims",
    "aten.swapaxes.default",
    "aten.t.default",
    "aten.transpose.int",
    "aten.unbind.int",
    "aten.unfold.default",
    "aten.unsqueeze.default",
    "aten.view.default",
    "aten.view.dtype",
    "aten.view_as_complex.default",
    "aten.view_as_real.default",
    "aten._unsafe_view.default",
};

}  // namespace

LowerFunction lowering_of(std::string_view op) {
  for (size_t k = 0; k < std::size(kPointwiseNames); ++k) {
    if (kPointwiseNames[k] == op) return kPointwise[k];
  }
  for (const Row& row : kRows) {
    if (row.op == op) return row.function;
  }
  return nullptr;
}

std::string call_reason(std::string_view op) {
  const CallRow* best = nullptr;
  for (const CallRow& row : kCalls) {
    if (op.starts_with(row.prefix) && (!best || row.prefix.size() > best->prefix.size())) best = &row;
  }
  return std::string(best ? best->reason : "there is no lowering");
}

bool is_alias_op(std::string_view op) {
  return std::find(std::begin(kAliases), std::end(kAliases), op) != std::end(kAliases);
}

}  // namespace jumar::loop::lowering

namespace jumar::loop {

OperatorRow operator_row(std::string_view op) {
  if (lowering::lowering_of(op)) return {std::string(op), true, ""};
  return {std::string(op), false, lowering::call_reason(op)};
}

std::vector<OperatorRow> operator_rows() {
  std::vector<OperatorRow> rows;
  for (std::string_view name : lowering::kPointwiseNames) rows.push_back({std::string(name), true, ""});
  for (const lowering::Row& row : lowering::kRows) rows.push_back({std::string(row.op), true, ""});
  for (const lowering::CallRow& row : lowering::kCalls)
    rows.push_back({std::string(row.prefix) + "*", false, std::string(row.reason)});
  std::ranges::sort(rows, {}, &OperatorRow::op);
  return rows;
}

}  // namespace jumar::loop
