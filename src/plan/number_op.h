// Operations on host numbers, the rows of plan/number_ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace jumar::plan {

enum class NumberOp : uint8_t {
#define JUMAR_NUMBER_OP(name, text, arity, kind) k##name,
#include "plan/number_ops.def"
#undef JUMAR_NUMBER_OP
};

std::optional<NumberOp> number_op_from_name(std::string_view name);
std::string_view number_op_name(NumberOp op);
uint32_t number_op_arity(NumberOp op);
NumberKind number_op_kind(NumberOp op);

}  // namespace jumar::plan
