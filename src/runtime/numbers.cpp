#include "runtime/numbers.h"

#include <cmath>
#include <cstring>

#include "runtime/number_math.h"

namespace jumar::runtime {
namespace {

using plan::NumberOp;

Diagnostic raised(const char* message) { return {"number", message, {}, {}}; }

Result<double> checked(NumberValue value) {
  if (value.problem) return raised(value.problem);
  return value.value;
}

Result<double> unary_value(NumberOp op, double a) {
  switch (op) {
    case NumberOp::kNeg:
      return -a;
    case NumberOp::kAbs:
      return std::fabs(a);
    case NumberOp::kSqrt:
      return checked(number_sqrt(a));
    case NumberOp::kExp:
      return checked(number_exp(a));
    case NumberOp::kLog:
      return checked(number_log(a));
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
      return checked(number_truediv(a, b));
    case NumberOp::kFloorDiv:
      return checked(number_floordiv(a, b));
    case NumberOp::kMod:
      return checked(number_mod(a, b));
    case NumberOp::kPow:
      return checked(number_pow(a, b));
    case NumberOp::kMin:
      return number_min(a, b);
    case NumberOp::kMax:
      return number_max(a, b);
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
  int64_t out = 0;
  if (!number_to_integer(whole, out)) return std::nullopt;
  return out;
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
      return number_of_f16(loaded<uint16_t>(data));
    case DType::kBF16:
      return number_of_bf16(loaded<uint16_t>(data));
    default: {
      std::optional<int64_t> integer = integer_at(data, dtype);
      if (!integer) return std::nullopt;
      return static_cast<double>(*integer);
    }
  }
}

}  // namespace jumar::runtime
