#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "loop/scalar_eval.h"

namespace jumar::loop {
namespace {

using ir::DType;

// Floats below 32 bits. A code without its sign is q + ((e + bias - 1) << mantissa_bits), where the value is
// q * 2^(e - mantissa_bits) and e is at least 1 - bias; that holds for subnormals too.
struct SmallFloat {
  int mantissa_bits;
  int bias;
  uint32_t sign_bit;
  uint32_t greatest;  // the code of the greatest finite value
  uint32_t overflow;  // what greater values and infinities become
  uint32_t nan;
  bool has_infinity;
  bool has_negative_zero;
};

SmallFloat small_float(DType type) {
  switch (type) {
    case DType::kF16:
      return {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00, true, true};
    case DType::kBF16:
      return {7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0, true, true};
    case DType::kF8E5M2:
      return {2, 15, 0x80, 0x7b, 0x7c, 0x7f, true, true};
    case DType::kF8E4M3FN:
      return {3, 7, 0x80, 0x7e, 0x7f, 0x7f, false, true};
    case DType::kF8E5M2FNUZ:
      return {2, 16, 0x80, 0x7f, 0x80, 0x80, false, false};
    case DType::kF8E4M3FNUZ:
      return {3, 8, 0x80, 0x7f, 0x80, 0x80, false, false};
    default:
      CHECK(false, "{} is no small float", ir::dtype_name(type));
      return {};
  }
}

uint64_t encoded(float value, DType type) {
  SmallFloat f = small_float(type);
  if (std::isnan(value)) return f.nan;
  uint32_t sign = std::signbit(value) ? f.sign_bit : 0;
  double magnitude = std::fabs(static_cast<double>(value));
  uint32_t code = f.overflow;
  if (!std::isinf(value)) {
    int exponent = magnitude == 0 ? 1 - f.bias : std::max(std::ilogb(magnitude), 1 - f.bias);
    // Exact in double but for the rounding to an integer, half to even.
    double quanta = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
    int64_t wide =
        static_cast<int64_t>(quanta) + (static_cast<int64_t>(exponent + f.bias - 1) << f.mantissa_bits);
    if (wide <= f.greatest) code = static_cast<uint32_t>(wide);
  }
  if (!f.has_negative_zero && code == 0) return 0;
  return code | sign;
}

double decoded(uint64_t bits, DType type) {
  SmallFloat f = small_float(type);
  if (!f.has_negative_zero && bits == f.nan) return std::numeric_limits<double>::quiet_NaN();
  uint32_t code = static_cast<uint32_t>(bits) & (f.sign_bit - 1);
  double sign = bits & f.sign_bit ? -1.0 : 1.0;
  if (code > f.greatest) {
    bool is_infinity = f.has_infinity && code == f.overflow;
    return is_infinity ? sign * std::numeric_limits<double>::infinity()
                       : std::numeric_limits<double>::quiet_NaN();
  }
  int field = static_cast<int>(code >> f.mantissa_bits);
  double mantissa = code & ((1u << f.mantissa_bits) - 1);
  if (field == 0) return sign * std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return sign * std::ldexp(mantissa + std::ldexp(1.0, f.mantissa_bits), field - f.bias - f.mantissa_bits);
}

// cvttsd2si with a 64-bit and a 32-bit result: truncation, and the least integer for NaN and what does not
// fit.
int64_t truncated_64(double x) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

int64_t truncated_32(double x) {
  if (!(x > -0x1p31 - 1 && x < 0x1p31)) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(x);
}

// A u64 from 2^63 on is converted by subtracting 2^63 first; what is below goes as a signed integer.
int64_t truncated_u64(double x) {
  if (!(x >= 0x1p63)) return truncated_64(x);
  return static_cast<int64_t>(static_cast<uint64_t>(truncated_64(x - 0x1p63)) ^ (uint64_t{1} << 63));
}

int64_t integer_of_float(double x, DType to) {
  switch (to) {
    case DType::kI64:
    case DType::kU32:
    case DType::kU8:
      return truncated_64(x);
    case DType::kU64:
      return truncated_u64(x);
    default:
      return truncated_32(x);
  }
}

uint64_t mask(DType type) {
  int64_t bytes = ir::dtype_bytes(type);
  return bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
}

}  // namespace

Scalar load_scalar(const void* memory, DType type) {
  Scalar out{type, 0};
  CHECK(ir::dtype_bytes(type) <= 8, "{} is no type of a body", ir::dtype_name(type));
  std::memcpy(&out.bits, memory, ir::dtype_bytes(type));
  // Any non-zero byte counts as true, as eager has it.
  if (ir::is_bool(type)) out.bits = out.bits != 0;
  return out;
}

void store_scalar(void* memory, Scalar value) {
  std::memcpy(memory, &value.bits, ir::dtype_bytes(value.type));
}

double as_double(Scalar value) {
  if (value.type == DType::kF64) return std::bit_cast<double>(value.bits);
  if (value.type == DType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(value.bits));
  if (ir::is_float(value.type)) return decoded(value.bits, value.type);
  if (value.type == DType::kU64) return static_cast<double>(value.bits);
  return static_cast<double>(as_int(value));
}

int64_t as_int(Scalar value) {
  int64_t bytes = ir::dtype_bytes(value.type);
  if (ir::is_bool(value.type) || ir::is_unsigned(value.type) || bytes == 8)
    return static_cast<int64_t>(value.bits);
  int shift = static_cast<int>(64 - 8 * bytes);
  return static_cast<int64_t>(value.bits << shift) >> shift;
}

bool is_nan(Scalar value) { return ir::is_float(value.type) && std::isnan(as_double(value)); }

Scalar scalar_of(double value, DType type) {
  if (type == DType::kF64) return {type, std::bit_cast<uint64_t>(value)};
  if (type == DType::kF32) return {type, std::bit_cast<uint32_t>(static_cast<float>(value))};
  if (ir::is_bool(type)) return {type, value != 0};
  // Eager goes through f32 on the way to a smaller float.
  if (ir::is_float(type)) return {type, encoded(static_cast<float>(value), type)};
  return scalar_of_int(integer_of_float(value, type), type);
}

Scalar scalar_of_int(int64_t value, DType type) {
  if (type == DType::kF64) return scalar_of(static_cast<double>(value), type);
  if (ir::is_float(type)) return scalar_of(static_cast<float>(value), type);
  if (ir::is_bool(type)) return {type, value != 0};
  return {type, static_cast<uint64_t>(value) & mask(type)};
}

Scalar scalar_of_constant(const Constant& constant, DType type) {
  return ir::is_float(type) ? scalar_of(constant.real, type) : scalar_of_int(constant.integer, type);
}

Scalar converted(Scalar value, DType to) {
  if (value.type == to) return value;
  if (ir::is_float(value.type)) return scalar_of(as_double(value), to);
  bool is_large = value.type == DType::kU64 && as_int(value) < 0;
  if (is_large && to == DType::kF64) return scalar_of(static_cast<double>(value.bits), to);
  if (is_large && ir::is_float(to)) return scalar_of(static_cast<float>(value.bits), to);
  return scalar_of_int(as_int(value), to);
}

Scalar least_scalar(DType type) {
  if (ir::is_float(type)) return scalar_of(-std::numeric_limits<double>::infinity(), type);
  if (ir::is_bool(type) || ir::is_unsigned(type)) return {type, 0};
  return {type, uint64_t{1} << (8 * ir::dtype_bytes(type) - 1)};
}

Scalar greatest_scalar(DType type) {
  if (ir::is_float(type)) return scalar_of(std::numeric_limits<double>::infinity(), type);
  if (ir::is_bool(type)) return {type, 1};
  return {type, ir::is_unsigned(type) ? mask(type) : mask(type) >> 1};
}

}  // namespace jumar::loop
