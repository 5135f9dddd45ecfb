#include "runtime/numbers.h"

#include <cmath>
#include <cstring>

namespace jumar::runtime {
namespace {

using plan::NumberOp;

Diagnostic raised(const char* message) { return {"number", message, {}, {}}; }

// Python's float modulo: the result has the divisor's sign.
double python_mod(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  return rest == 0 ? std::copysign(0.0, b) : rest;
}

double python_floordiv(double a, double b) {
  double quotient = (a - python_mod(a, b)) / b;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

Result<double> power(double a, double b) {
  if (a == 0 && b < 0) return raised("0.0 cannot be raised to a negative power");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b))
    return raised("a negative number raised to a fractional power is complex");
  double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) return raised("result too large");
  return result;
}

Result<double> divided(NumberOp op, double a, double b) {
  if (b == 0) return raised("division by zero");
  if (op == NumberOp::kTrueDiv) return a / b;
  return op == NumberOp::kMod ? python_mod(a, b) : python_floordiv(a, b);
}

Result<double> unary_value(NumberOp op, double a) {
  switch (op) {
    case NumberOp::kNeg:
      return -a;
    case NumberOp::kAbs:
      return std::fabs(a);
    case NumberOp::kSqrt:
      if (a < 0) return raised("square root of a negative number");
      return std::sqrt(a);
    case NumberOp::kExp: {
      double result = std::exp(a);
      if (std::isinf(result) && std::isfinite(a)) return raised("result too large");
      return result;
    }
    case NumberOp::kLog:
      if (a <= 0) return raised("logarithm of a number that is not positive");
      return std::log(a);
    case NumberOp::kFloor:
      return std::floor(a);
    case NumberOp::kCeil:
      return std::ceil(a);
    case NumberOp::kTrunc:
      return std::trunc(a);
    case NumberOp::kToFloat:
      return a;
    case NumberOp::kNot:
      return a == 0;
    default:
      CHECK(false, "number op {}", plan::number_op_name(op));
  }
}

float bits_to_float(uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

double half_value(uint16_t bits) {
  double sign = bits >> 15 ? -1.0 : 1.0;
  int exponent = bits >> 10 & 0x1f;
  int fraction = bits & 0x3ff;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  if (exponent == 31) return fraction ? std::nan("") : sign * HUGE_VAL;
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <class T>
T loaded(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

Result<double> number_value(NumberOp op, double a, double b) {
  switch (op) {
    case NumberOp::kAdd:
      return a + b;
    case NumberOp::kSub:
      return a - b;
    case NumberOp::kMul:
      return a * b;
    case NumberOp::kTrueDiv:
    case NumberOp::kFloorDiv:
    case NumberOp::kMod:
      return divided(op, a, b);
    case NumberOp::kPow:
      return power(a, b);
    case NumberOp::kMin:
      return b < a ? b : a;
    case NumberOp::kMax:
      return b > a ? b : a;
    case NumberOp::kEq:
      return a == b;
    case NumberOp::kNe:
      return a != b;
    case NumberOp::kLt:
      return a < b;
    case NumberOp::kLe:
      return a <= b;
    case NumberOp::kGt:
      return a > b;
    case NumberOp::kGe:
      return a >= b;
    case NumberOp::kAnd:
      return a != 0 && b != 0;
    case NumberOp::kOr:
      return a != 0 || b != 0;
    default:
      return unary_value(op, a);
  }
}

std::optional<int64_t> rounded(plan::BindStep::Source rounding, double value) {
  using Source = plan::BindStep::Source;
  double whole = rounding == Source::kFloor   ? std::floor(value)
                 : rounding == Source::kCeil  ? std::ceil(value)
                 : rounding == Source::kTrunc ? std::trunc(value)
                                              : std::nearbyint(value);
  if (!(whole >= -0x1p63 && whole < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(whole);
}

std::optional<int64_t> integer_at(const void* data, ir::DType dtype) {
  using ir::DType;
  switch (dtype) {
    case DType::kBool:
      return loaded<uint8_t>(data) != 0;
    case DType::kU8:
      return loaded<uint8_t>(data);
    case DType::kI8:
      return loaded<int8_t>(data);
    case DType::kI16:
      return loaded<int16_t>(data);
    case DType::kI32:
      return loaded<int32_t>(data);
    case DType::kI64:
      return loaded<int64_t>(data);
    case DType::kU16:
      return loaded<uint16_t>(data);
    case DType::kU32:
      return loaded<uint32_t>(data);
    case DType::kU64: {
      uint64_t value = loaded<uint64_t>(data);
      if (value > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> number_at(const void* data, ir::DType dtype) {
  using ir::DType;
  switch (dtype) {
    case DType::kF64:
      return loaded<double>(data);
    case DType::kF32:
      return loaded<float>(data);
    case DType::kF16:
      return half_value(loaded<uint16_t>(data));
    case DType::kBF16:
      return bits_to_float(static_cast<uint32_t>(loaded<uint16_t>(data)) << 16);
    default: {
      std::optional<int64_t> integer = integer_at(data, dtype);
      if (!integer) return std::nullopt;
      return static_cast<double>(*integer);
    }
  }
}

}  // namespace jumar::runtime
