// Operators on the parts of a float: its sign, exponent and digits as bits of an integer.
#include <cmath>

#include "loop/lower/kernels.h"
#include "loop/lower/rows.h"

namespace jumar::loop::lowering {

namespace {

struct Layout {
  DType integer;
  int digits;         // bits of the digits behind the leading one
  int64_t half;       // the biased exponent of numbers from 1/2 on
  int64_t exponents;  // the greatest biased exponent
};

Layout layout_of(DType type) {
  if (type == DType::kF64) return {DType::kI64, 52, 1022, 0x7ff};
  return {DType::kI32, 23, 126, 0xff};
}

}  // namespace

// Results: digits in [1/2, 1), exponent. Subnormal numbers are made normal first.
Refusal lower_frexp(Op& op) {
  Tensor x = op.tensor(0), digits = op.result(0);
  Tensor exponent = op.result_or_temp(1, DType::kI32, x.sizes());
  DType type = compute_type(x.dtype());
  if (!ir::is_float(type)) return "no float";
  Layout layout = layout_of(type);
  op.low().kernel(op, [&](Body& b) {
    Index index = b.keep_all(x.sizes());
    b.begin_stage();
    Val value = b.to(b.load(x, index), type);
    auto number = [&](int64_t n) { return b.integer(layout.integer, n); };
    Val is_plain = isnan(value) | isinf(value) | equal(value, 0.0);
    Val is_subnormal = abs(value) < std::ldexp(1.0, static_cast<int>(-layout.half));
    Val normal = select(is_subnormal, value * std::ldexp(1.0, layout.digits + 2), value);
    Val bits = b.bitcast(normal, layout.integer);
    Val biased = shr(bits, number(layout.digits)) & number(layout.exponents);
    Val raised = select(is_subnormal, number(layout.digits + 2), number(0));
    Val kept = bits & inverted(number(layout.exponents << layout.digits));
    Val unit = b.bitcast(kept | number(layout.half << layout.digits), type);
    b.store(digits, index, select(is_plain, value, unit));
    b.store(exponent, index,
            b.to(select(is_plain, number(0), biased - number(layout.half) - raised), DType::kI32));
  });
  return {};
}

// Arguments: from, towards. Neighbours of one sign are neighbours as integers.
Refusal lower_nextafter(Op& op) {
  Tensor from = op.tensor(0), towards = op.tensor(1), out = op.result(0);
  DType stored = out.dtype(), type = compute_type(stored);
  if (!ir::is_float(type) || stored == DType::kF16) return "no neighbours in this type";
  DType integer = stored == DType::kF64 ? DType::kI64 : stored == DType::kF32 ? DType::kI32 : DType::kI16;
  pointwise(op, out, [&](Body& b, const Index& index) {
    Val start = read(b, from, index, stored), a = b.to(start, type);
    Val end = read(b, towards, index, stored), z = b.to(end, type);
    Val bits = b.bitcast(start, integer);
    auto number = [&](int64_t n) { return b.integer(integer, n); };
    Val is_away = equal(z > a, a > 0.0);
    Val next = b.bitcast(select(is_away, bits + number(1), bits - number(1)), stored);
    Val sign = b.bitcast(end, integer) & number(stored == DType::kF64   ? INT64_MIN
                                                : stored == DType::kF32 ? INT32_MIN
                                                                        : INT16_MIN);
    Val least = b.bitcast(sign | number(1), stored);
    Val value = select(equal(a, 0.0), least, next);
    value = select(equal(a, z), end, value);
    return select(isnan(a) | isnan(z), b.to(a + z, stored), value);
  });
  return {};
}

}  // namespace jumar::loop::lowering
