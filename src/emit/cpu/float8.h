// Conversions between f32 and the 8-bit floats, as integer and float arithmetic on any number of lanes.
#pragma once

#include "emit/cpu/builder.h"
#include "ir/dtype.h"

namespace jumar::emit::cpu {

// `bits` are i8. Exact.
Value* widened_f8(Builder& b, Value* bits, ir::DType type);
// Rounds to nearest even. What is too great becomes infinity, or NaN where the type has no infinity.
Value* narrowed_f8(Builder& b, Value* x, ir::DType type);

}  // namespace jumar::emit::cpu
