#include "loop/scalar_eval.h"

#include <bit>
#include <cmath>
#include <limits>

namespace jumar::loop {
namespace {

using ir::DType;

template <class T>
T value(Scalar s) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(s.bits);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(s.bits));
  } else {
    return static_cast<T>(s.bits);
  }
}

template <class T>
uint64_t bits(T v) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(v);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(v);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v;
  } else {
    return static_cast<std::make_unsigned_t<T>>(v);
  }
}

// Operators on integers; all arithmetic that may leave the type is done on unsigned 64 bits, which wraps.
template <class T>
class IntegerOps {
 public:
  static T unary(ScalarOp op, T a) {
    switch (op) {
      case ScalarOp::kNeg:
        return static_cast<T>(uint64_t{0} - wide(a));
      case ScalarOp::kAbs:
        return a < 0 ? static_cast<T>(uint64_t{0} - wide(a)) : a;
      case ScalarOp::kSign:
        return static_cast<T>((a > 0) - (a < 0));
      case ScalarOp::kNot:
        return static_cast<T>(~wide(a));
      default:
        CHECK(false, "{} on integers", scalar_op_name(op));
        return a;
    }
  }

  static T binary(ScalarOp op, T a, T b) {
    switch (op) {
      case ScalarOp::kAdd:
        return static_cast<T>(wide(a) + wide(b));
      case ScalarOp::kSub:
        return static_cast<T>(wide(a) - wide(b));
      case ScalarOp::kMul:
        return static_cast<T>(wide(a) * wide(b));
      case ScalarOp::kTruncDiv:
        return quotient(a, b);
      case ScalarOp::kFloorDiv:
        return static_cast<T>(wide(quotient(a, b)) - (has_opposite_rest(a, b) ? 1 : 0));
      case ScalarOp::kFmod:
        return rest(a, b);
      case ScalarOp::kRemainder:
        return static_cast<T>(wide(rest(a, b)) + (has_opposite_rest(a, b) ? wide(b) : 0));
      case ScalarOp::kMax:
      case ScalarOp::kFmax:
        return a < b ? b : a;
      case ScalarOp::kMin:
      case ScalarOp::kFmin:
        return b < a ? b : a;
      case ScalarOp::kAnd:
        return static_cast<T>(wide(a) & wide(b));
      case ScalarOp::kOr:
        return static_cast<T>(wide(a) | wide(b));
      case ScalarOp::kXor:
        return static_cast<T>(wide(a) ^ wide(b));
      case ScalarOp::kShl:
        return is_shift(b) ? static_cast<T>(wide(a) << wide(b)) : T{0};
      case ScalarOp::kShr:
        if (is_shift(b)) return static_cast<T>(a >> b);
        return a < 0 ? static_cast<T>(-1) : T{0};
      case ScalarOp::kPow:
        return power(a, b);
      default:
        CHECK(false, "{} on integers", scalar_op_name(op));
        return a;
    }
  }

 private:
  static uint64_t wide(T a) { return static_cast<uint64_t>(static_cast<int64_t>(a)); }
  static bool is_minus_one(T a) { return std::is_signed_v<T> && a == static_cast<T>(-1); }
  static T quotient(T a, T b) {
    if (b == 0) return 0;
    if (is_minus_one(b)) return static_cast<T>(uint64_t{0} - wide(a));
    return static_cast<T>(a / b);
  }
  static T rest(T a, T b) { return b == 0 || is_minus_one(b) ? T{0} : static_cast<T>(a % b); }
  static bool has_opposite_rest(T a, T b) { return rest(a, b) != 0 && (rest(a, b) < 0) != (b < 0); }
  static bool is_shift(T b) { return !(b < 0) && wide(b) < 8 * sizeof(T); }

  static T power(T base, T exponent) {
    if (exponent < 0) {
      if (base == 1) return 1;
      if (is_minus_one(base)) return exponent % 2 == 0 ? T{1} : static_cast<T>(-1);
      return 0;
    }
    uint64_t result = 1;
    uint64_t factor = wide(base);
    for (uint64_t rest = bits(exponent); rest != 0; rest >>= 1) {
      if (rest & 1) result *= factor;
      factor *= factor;
    }
    return static_cast<T>(result);
  }
};

template <class T>
T floor_division(T a, T b) {
  if (b == 0) return a / b;
  T rest = std::fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= T{1};
  if (quotient == 0) return std::copysign(T{0}, a / b);
  T whole = std::floor(quotient);
  return quotient - whole > T{0.5} ? whole + T{1} : whole;
}

template <class T>
T remainder(T a, T b) {
  T rest = std::fmod(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

// Operators on floats that IEEE 754 rounds correctly or that are exact.
template <class T>
T exact_unary(ScalarOp op, T a) {
  switch (op) {
    case ScalarOp::kNeg:
      return -a;
    case ScalarOp::kAbs:
      return std::fabs(a);
    case ScalarOp::kSign:
      return static_cast<T>((a > 0) - (a < 0));
    case ScalarOp::kFloor:
      return std::floor(a);
    case ScalarOp::kCeil:
      return std::ceil(a);
    case ScalarOp::kTrunc:
      return std::trunc(a);
    case ScalarOp::kRound:
      return std::nearbyint(a);
    case ScalarOp::kSqrt:
      return std::sqrt(a);
    case ScalarOp::kRsqrt:
      return T{1} / std::sqrt(a);
    case ScalarOp::kReciprocal:
      return T{1} / a;
    default:
      CHECK(false, "{} on floats", scalar_op_name(op));
      return a;
  }
}

bool is_exact_unary(ScalarOp op) {
  return op == ScalarOp::kNeg || op == ScalarOp::kAbs || op == ScalarOp::kSign || op == ScalarOp::kFloor ||
         op == ScalarOp::kCeil || op == ScalarOp::kTrunc || op == ScalarOp::kRound || op == ScalarOp::kSqrt ||
         op == ScalarOp::kRsqrt || op == ScalarOp::kReciprocal;
}

double approximate_unary(ScalarOp op, double a) {
  switch (op) {
    case ScalarOp::kExp:
      return std::exp(a);
    case ScalarOp::kExp2:
      return std::exp2(a);
    case ScalarOp::kExpm1:
      return std::expm1(a);
    case ScalarOp::kLog:
      return std::log(a);
    case ScalarOp::kLog2:
      return std::log2(a);
    case ScalarOp::kLog10:
      return std::log10(a);
    case ScalarOp::kLog1p:
      return std::log1p(a);
    case ScalarOp::kSin:
      return std::sin(a);
    case ScalarOp::kCos:
      return std::cos(a);
    case ScalarOp::kTan:
      return std::tan(a);
    case ScalarOp::kAsin:
      return std::asin(a);
    case ScalarOp::kAcos:
      return std::acos(a);
    case ScalarOp::kAtan:
      return std::atan(a);
    case ScalarOp::kSinh:
      return std::sinh(a);
    case ScalarOp::kCosh:
      return std::cosh(a);
    case ScalarOp::kTanh:
      return std::tanh(a);
    case ScalarOp::kAsinh:
      return std::asinh(a);
    case ScalarOp::kAcosh:
      return std::acosh(a);
    case ScalarOp::kAtanh:
      return std::atanh(a);
    case ScalarOp::kErf:
      return std::erf(a);
    case ScalarOp::kErfc:
      return std::erfc(a);
    case ScalarOp::kErfinv:
      return erfinv(a);
    case ScalarOp::kLgamma:
      return std::lgamma(a);
    case ScalarOp::kDigamma:
      return digamma(a);
    case ScalarOp::kSigmoid:
      return 1 / (1 + std::exp(-a));
    default:
      CHECK(false, "{} on floats", scalar_op_name(op));
      return a;
  }
}

template <class T>
T float_binary(ScalarOp op, T a, T b) {
  bool has_nan = std::isnan(a) || std::isnan(b);
  switch (op) {
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSub:
      return a - b;
    case ScalarOp::kMul:
      return a * b;
    case ScalarOp::kDiv:
      return a / b;
    case ScalarOp::kTruncDiv:
      return std::trunc(a / b);
    case ScalarOp::kFloorDiv:
      return floor_division(a, b);
    case ScalarOp::kFmod:
      return std::fmod(a, b);
    case ScalarOp::kRemainder:
      return remainder(a, b);
    case ScalarOp::kMax:
      return has_nan ? std::numeric_limits<T>::quiet_NaN() : (a < b ? b : a);
    case ScalarOp::kMin:
      return has_nan ? std::numeric_limits<T>::quiet_NaN() : (b < a ? b : a);
    case ScalarOp::kFmax:
      return std::isnan(a) || a < b ? b : a;
    case ScalarOp::kFmin:
      return std::isnan(a) || b < a ? b : a;
    case ScalarOp::kCopySign:
      return std::copysign(a, b);
    case ScalarOp::kAtan2:
      return static_cast<T>(std::atan2(static_cast<double>(a), static_cast<double>(b)));
    case ScalarOp::kPow:
      return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
    default:
      CHECK(false, "{} on floats", scalar_op_name(op));
      return a;
  }
}

template <class T>
bool compared(ScalarOp op, T a, T b) {
  switch (op) {
    case ScalarOp::kEq:
      return a == b;
    case ScalarOp::kNe:
      return a != b;
    case ScalarOp::kLt:
      return a < b;
    case ScalarOp::kLe:
      return a <= b;
    case ScalarOp::kGt:
      return a > b;
    case ScalarOp::kGe:
      return a >= b;
    default:
      CHECK(false, "{} is no comparison", scalar_op_name(op));
      return false;
  }
}

bool bool_op(ScalarOp op, bool a, bool b) {
  switch (op) {
    case ScalarOp::kMax:
    case ScalarOp::kOr:
      return a || b;
    case ScalarOp::kMin:
    case ScalarOp::kAnd:
      return a && b;
    case ScalarOp::kXor:
      return a != b;
    case ScalarOp::kNot:
      return !a;
    default:
      CHECK(false, "{} on bools", scalar_op_name(op));
      return false;
  }
}

template <class T>
Scalar evaluate_on(ScalarOp op, DType result, std::span<const Scalar> operands) {
  T a = value<T>(operands[0]);
  bool is_binary = operands.size() > 1;
  T b = is_binary ? value<T>(operands[1]) : T{};
  if (scalar_op_rule(op) == TypeRule::kCompare) return {result, compared(op, a, b)};
  if constexpr (std::is_same_v<T, bool>) {
    return {result, bool_op(op, a, b)};
  } else if constexpr (std::is_floating_point_v<T>) {
    if (op == ScalarOp::kIsNan) return {result, std::isnan(a)};
    if (op == ScalarOp::kIsInf) return {result, std::isinf(a)};
    if (op == ScalarOp::kSignBit) return {result, std::signbit(a)};
    if (is_binary) return {result, bits(float_binary(op, a, b))};
    if (is_exact_unary(op)) return {result, bits(exact_unary(op, a))};
    return {result, bits(static_cast<T>(approximate_unary(op, a)))};
  } else {
    return {result, bits(is_binary ? IntegerOps<T>::binary(op, a, b) : IntegerOps<T>::unary(op, a))};
  }
}

}  // namespace

Scalar evaluate(ScalarOp op, DType result, std::span<const Scalar> operands) {
  CHECK(static_cast<int>(operands.size()) == scalar_op_arity(op), "{} operands", operands.size());
  if (op == ScalarOp::kSelect) return operands[0].bits ? operands[1] : operands[2];
  if (op == ScalarOp::kCast || op == ScalarOp::kDemote) return converted(operands[0], result);
  if (op == ScalarOp::kBitcast) return {result, operands[0].bits};
  switch (operands[0].type) {
    case DType::kBool:
      return evaluate_on<bool>(op, result, operands);
    case DType::kU8:
      return evaluate_on<uint8_t>(op, result, operands);
    case DType::kI8:
      return evaluate_on<int8_t>(op, result, operands);
    case DType::kI16:
      return evaluate_on<int16_t>(op, result, operands);
    case DType::kU16:
      return evaluate_on<uint16_t>(op, result, operands);
    case DType::kI32:
      return evaluate_on<int32_t>(op, result, operands);
    case DType::kU32:
      return evaluate_on<uint32_t>(op, result, operands);
    case DType::kI64:
      return evaluate_on<int64_t>(op, result, operands);
    case DType::kU64:
      return evaluate_on<uint64_t>(op, result, operands);
    case DType::kF32:
      return evaluate_on<float>(op, result, operands);
    case DType::kF64:
      return evaluate_on<double>(op, result, operands);
    default:
      CHECK(false, "{} on {}", scalar_op_name(op), ir::dtype_name(operands[0].type));
      return {};
  }
}

}  // namespace jumar::loop
