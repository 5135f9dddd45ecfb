// What scalar operators compute, as the interpreter runs them: the reference that emitters are tested
// against.
//
//   Scalar x = scalar_of(1.5, DType::kF32);
//   evaluate(ScalarOp::kCast, DType::kI32, {&x, 1})  ->  the i32 1
//
// A Scalar is a bit pattern of its type, as it lies in memory. Operators that round correctly (arithmetic,
// sqrt, casts) give exact results. The others (exp, sin, pow, ...) are computed in double and rounded once,
// so an f32 result is within one unit of the last place; emitters are compared with a tolerance there.
#pragma once

#include <cstdint>
#include <span>

#include "ir/dtype.h"
#include "loop/loop.h"

namespace jumar::loop {

struct Scalar {
  ir::DType type = ir::DType::kF32;
  uint64_t bits = 0;  // the low dtype_bytes(type) bytes
  bool operator==(const Scalar&) const = default;
};

// The operator applied to operands of the types its row asks for.
Scalar evaluate(ScalarOp op, ir::DType result, std::span<const Scalar> operands);

// cast, for every pair of real types.
Scalar converted(Scalar value, ir::DType to);

Scalar load_scalar(const void* memory, ir::DType type);
void store_scalar(void* memory, Scalar value);

// The value of any real type, exact for floats; the value of an integer or bool type (u64: its bits).
double as_double(Scalar value);
int64_t as_int(Scalar value);
bool is_nan(Scalar value);
// Rounded to the type if it is a float; the low bits if it is an integer; != 0 if it is bool.
Scalar scalar_of(double value, ir::DType type);
Scalar scalar_of_int(int64_t value, ir::DType type);
Scalar scalar_of_constant(const Constant& constant, ir::DType type);

// The identity of a max or min: the least or greatest value of the type.
Scalar least_scalar(ir::DType type);
Scalar greatest_scalar(ir::DType type);

// Functions that <cmath> lacks.
double erfinv(double x);
double digamma(double x);

}  // namespace jumar::loop
