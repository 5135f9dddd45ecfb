// Arithmetic on host numbers, and elements of tensors as such; internal to the runtime.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/dtype.h"
#include "plan/number_op.h"

namespace jumar::runtime {

// Nothing and a reason where Python would raise.
Result<double> number_value(plan::NumberOp op, double a, double b);
// The number as an integer, to nearest even for kRound; nothing where it does not fit 64 bits.
std::optional<int64_t> rounded(plan::BindStep::Source rounding, double value);
// The element as an integer or number; nothing when it has no such value.
std::optional<int64_t> integer_at(const void* data, ir::DType dtype);
std::optional<double> number_at(const void* data, ir::DType dtype);

}  // namespace jumar::runtime
