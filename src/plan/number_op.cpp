#include "plan/number_op.h"

#include <iterator>

#include "support/check.h"

namespace jumar::plan {
namespace {

struct Row {
  NumberOp op;
  std::string_view name;
  uint32_t arity;
  NumberKind kind;
};

constexpr Row kRows[] = {
#define JUMAR_NUMBER_OP(name, text, arity, kind) {NumberOp::k##name, text, arity, NumberKind::k##kind},
#include "plan/number_ops.def"
#undef JUMAR_NUMBER_OP
};

const Row& row(NumberOp op) {
  size_t index = static_cast<size_t>(op);
  CHECK(index < std::size(kRows), "number op {}", index);
  return kRows[index];
}

}  // namespace

std::optional<NumberOp> number_op_from_name(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return r.op;
  return std::nullopt;
}

std::string_view number_op_name(NumberOp op) { return row(op).name; }
uint32_t number_op_arity(NumberOp op) { return row(op).arity; }
NumberKind number_op_kind(NumberOp op) { return row(op).kind; }

}  // namespace jumar::plan
