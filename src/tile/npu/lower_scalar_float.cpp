// Float operators on blocks. Identities are from Abramowitz and Stegun, Handbook of Mathematical Functions,
// chapter 4.
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "tile/npu/lower_scalar.h"

namespace jumar::tile::npu {

using ir::DType;
using loop::ScalarOp;

namespace {
constexpr double kPi = std::numbers::pi;
constexpr double kLn2 = std::numbers::ln2;
}  // namespace

BlockId ScalarLowering::sign_bit(BlockId x) {
  const BlockId bits = b_.convert(BlockOp::kBitcast, x, DType::kI32);
  return b_.op(BlockOp::kLtI, bits, b_.integer(0));
}

BlockId ScalarLowering::copy_sign(BlockId magnitude, BlockId sign) {
  const BlockId positive = b_.op(BlockOp::kAbsF, magnitude);
  return select(sign_bit(sign), b_.op(BlockOp::kNegF, positive), positive);
}

// Half to even. The sign of zero is kept.
BlockId ScalarLowering::rounded(BlockId x) {
  const BlockId below = b_.op(BlockOp::kFloor, x);
  const BlockId rest = b_.op(BlockOp::kSubF, x, below);
  const BlockId half = b_.real(0.5);
  const BlockId pairs = b_.op(BlockOp::kFloor, b_.op(BlockOp::kMulF, below, half));
  const BlockId parity = b_.op(BlockOp::kSubF, below, b_.op(BlockOp::kMulF, pairs, b_.real(2.0)));
  const BlockId tie =
      b_.op(BlockOp::kAndI, b_.op(BlockOp::kEqF, rest, half), b_.op(BlockOp::kNeF, parity, b_.real(0.0)));
  const BlockId up = b_.op(BlockOp::kOrI, b_.op(BlockOp::kGtF, rest, half), tie);
  const BlockId result = select(up, b_.op(BlockOp::kAddF, below, b_.real(1.0)), below);
  return copy_sign(result, x);
}

BlockId ScalarLowering::hyperbolic(ScalarOp op, BlockId x) {
  const BlockId one = b_.real(1.0);
  const BlockId half = b_.real(0.5);
  const BlockId size = b_.op(BlockOp::kAbsF, x);
  // e^|x| leaves f32 before its half does, so it is made of two factors.
  const BlockId root = b_.op(BlockOp::kExp, b_.op(BlockOp::kMulF, size, half));
  const BlockId half_exp = b_.op(BlockOp::kMulF, b_.op(BlockOp::kMulF, root, half), root);
  if (op == ScalarOp::kCosh) {
    const BlockId rest = b_.op(BlockOp::kDivF, b_.real(0.25), half_exp);
    return b_.op(BlockOp::kAddF, half_exp, rest);
  }
  const BlockId grown = b_.op(BlockOp::kExpm1, size);
  const BlockId quotient = b_.op(BlockOp::kDivF, grown, b_.op(BlockOp::kAddF, grown, one));
  const BlockId small = b_.op(BlockOp::kMulF, b_.op(BlockOp::kAddF, grown, quotient), half);
  const BlockId is_large = b_.op(BlockOp::kGtF, size, b_.real(20.0));
  return copy_sign(select(is_large, half_exp, small), x);
}

BlockId ScalarLowering::inverse(ScalarOp op, BlockId x) {
  const BlockId one = b_.real(1.0);
  const auto add = [&](BlockId a, BlockId b) { return b_.op(BlockOp::kAddF, a, b); };
  const auto sub = [&](BlockId a, BlockId b) { return b_.op(BlockOp::kSubF, a, b); };
  const auto mul = [&](BlockId a, BlockId b) { return b_.op(BlockOp::kMulF, a, b); };
  const auto div = [&](BlockId a, BlockId b) { return b_.op(BlockOp::kDivF, a, b); };
  const auto sqrt = [&](BlockId a) { return b_.op(BlockOp::kSqrt, a); };
  switch (op) {
    case ScalarOp::kAsin:
      return b_.op(BlockOp::kAtan, div(x, sqrt(mul(sub(one, x), add(one, x)))));
    case ScalarOp::kAcos:
      return mul(b_.real(2.0), b_.op(BlockOp::kAtan, sqrt(div(sub(one, x), add(one, x)))));
    case ScalarOp::kAtanh: {
      const BlockId size = b_.op(BlockOp::kAbsF, x);
      const BlockId ratio = div(mul(b_.real(2.0), size), sub(one, size));
      return copy_sign(mul(b_.real(0.5), b_.op(BlockOp::kLog1p, ratio)), x);
    }
    case ScalarOp::kAsinh: {
      const BlockId size = b_.op(BlockOp::kAbsF, x);
      const BlockId square = mul(size, size);
      const BlockId grown = add(size, div(square, add(one, sqrt(add(square, one)))));
      const BlockId large = add(b_.op(BlockOp::kLog, size), b_.real(kLn2));
      const BlockId is_large = b_.op(BlockOp::kGtF, size, b_.real(1e8));
      return copy_sign(select(is_large, large, b_.op(BlockOp::kLog1p, grown)), x);
    }
    default: {  // acosh
      const BlockId t = sub(x, one);
      const BlockId small = b_.op(BlockOp::kLog1p, add(t, sqrt(mul(t, add(t, b_.real(2.0))))));
      const BlockId large = add(b_.op(BlockOp::kLog, x), b_.real(kLn2));
      return select(b_.op(BlockOp::kGtF, x, b_.real(1e8)), large, small);
    }
  }
}

BlockId ScalarLowering::atan2(BlockId y, BlockId x) {
  const BlockId zero = b_.real(0.0);
  const BlockId ay = b_.op(BlockOp::kAbsF, y);
  const BlockId ax = b_.op(BlockOp::kAbsF, x);
  const BlockId both_infinite =
      b_.op(BlockOp::kAndI, b_.op(BlockOp::kEqF, ay, b_.real(std::numeric_limits<double>::infinity())),
            b_.op(BlockOp::kEqF, ax, ay));
  const BlockId both_zero =
      b_.op(BlockOp::kAndI, b_.op(BlockOp::kEqF, ay, zero), b_.op(BlockOp::kEqF, ax, zero));
  BlockId ratio = b_.op(BlockOp::kDivF, ay, ax);
  ratio = select(both_infinite, b_.real(1.0), ratio);
  ratio = select(both_zero, zero, ratio);
  BlockId angle = b_.op(BlockOp::kAtan, ratio);
  angle = select(sign_bit(x), b_.op(BlockOp::kSubF, b_.real(kPi), angle), angle);
  // A NaN in either operand has come through the quotient; the sign does not matter then.
  return copy_sign(angle, y);
}

BlockId ScalarLowering::float_binary(ScalarOp op, BlockId a, BlockId b) {
  const BlockId zero = b_.real(0.0);
  switch (op) {
    case ScalarOp::kAdd:
      return b_.op(BlockOp::kAddF, a, b);
    case ScalarOp::kSub:
      return b_.op(BlockOp::kSubF, a, b);
    case ScalarOp::kMul:
      return b_.op(BlockOp::kMulF, a, b);
    case ScalarOp::kDiv:
      return b_.op(BlockOp::kDivF, a, b);
    case ScalarOp::kMax:
      return b_.op(BlockOp::kMaximumF, a, b);
    case ScalarOp::kMin:
      return b_.op(BlockOp::kMinimumF, a, b);
    case ScalarOp::kFmax:
      return b_.op(BlockOp::kMaxNumF, a, b);
    case ScalarOp::kFmin:
      return b_.op(BlockOp::kMinNumF, a, b);
    case ScalarOp::kPow:
      return b_.op(BlockOp::kPow, a, b);
    case ScalarOp::kFmod:
      return b_.op(BlockOp::kRemF, a, b);
    case ScalarOp::kAtan2:
      return atan2(a, b);
    case ScalarOp::kCopySign:
      return copy_sign(a, b);
    case ScalarOp::kTruncDiv: {
      const BlockId quotient = b_.op(BlockOp::kDivF, a, b);
      return float_op(ScalarOp::kTrunc, quotient, {});
    }
    case ScalarOp::kRemainder:
    case ScalarOp::kFloorDiv: {
      const BlockId m = b_.op(BlockOp::kRemF, a, b);
      const BlockId opposite =
          b_.op(BlockOp::kXorI, b_.op(BlockOp::kLtF, m, zero), b_.op(BlockOp::kLtF, b, zero));
      const BlockId differs = b_.op(BlockOp::kAndI, b_.op(BlockOp::kNeF, m, zero), opposite);
      if (op == ScalarOp::kRemainder) return select(differs, b_.op(BlockOp::kAddF, m, b), m);
      const BlockId exact = b_.op(BlockOp::kDivF, b_.op(BlockOp::kSubF, a, m), b);
      const BlockId d = select(differs, b_.op(BlockOp::kSubF, exact, b_.real(1.0)), exact);
      const BlockId below = b_.op(BlockOp::kFloor, d);
      const BlockId up = b_.op(BlockOp::kGtF, b_.op(BlockOp::kSubF, d, below), b_.real(0.5));
      const BlockId whole = select(up, b_.op(BlockOp::kAddF, below, b_.real(1.0)), below);
      const BlockId quotient = b_.op(BlockOp::kDivF, a, b);
      const BlockId signed_zero = select(sign_bit(quotient), b_.real(-0.0), zero);
      const BlockId result = select(b_.op(BlockOp::kEqF, d, zero), signed_zero, whole);
      return select(b_.op(BlockOp::kEqF, b, zero), quotient, result);
    }
    default:
      return refuse(fmt::format("{} of floats", loop::scalar_op_name(op)));
  }
}

BlockId ScalarLowering::float_op(ScalarOp op, BlockId a, BlockId b) {
  if (b) return float_binary(op, a, b);
  const BlockId zero = b_.real(0.0);
  const BlockId one = b_.real(1.0);
  switch (op) {
    case ScalarOp::kNeg:
      return b_.op(BlockOp::kNegF, a);
    case ScalarOp::kAbs:
      return b_.op(BlockOp::kAbsF, a);
    case ScalarOp::kSign: {
      const BlockId negative = select(b_.op(BlockOp::kLtF, a, zero), b_.real(-1.0), zero);
      return select(b_.op(BlockOp::kGtF, a, zero), one, negative);
    }
    case ScalarOp::kFloor:
      return b_.op(BlockOp::kFloor, a);
    case ScalarOp::kCeil:
      return b_.op(BlockOp::kCeil, a);
    case ScalarOp::kTrunc:
      return select(b_.op(BlockOp::kLtF, a, zero), b_.op(BlockOp::kCeil, a), b_.op(BlockOp::kFloor, a));
    case ScalarOp::kRound:
      return rounded(a);
    case ScalarOp::kSqrt:
      return b_.op(BlockOp::kSqrt, a);
    case ScalarOp::kRsqrt:
      return b_.op(BlockOp::kRsqrt, a);
    case ScalarOp::kReciprocal:
      return b_.op(BlockOp::kDivF, one, a);
    case ScalarOp::kExp:
      return b_.op(BlockOp::kExp, a);
    case ScalarOp::kExp2:
      return b_.op(BlockOp::kExp2, a);
    case ScalarOp::kExpm1:
      return b_.op(BlockOp::kExpm1, a);
    case ScalarOp::kLog:
      return b_.op(BlockOp::kLog, a);
    case ScalarOp::kLog2:
      return b_.op(BlockOp::kLog2, a);
    case ScalarOp::kLog10:
      return b_.op(BlockOp::kMulF, b_.op(BlockOp::kLog, a), b_.real(std::numbers::log10e));
    case ScalarOp::kLog1p:
      return b_.op(BlockOp::kLog1p, a);
    case ScalarOp::kSin:
      return b_.op(BlockOp::kSin, a);
    case ScalarOp::kCos:
      return b_.op(BlockOp::kCos, a);
    case ScalarOp::kTan:
      return b_.op(BlockOp::kTan, a);
    case ScalarOp::kAtan:
      return b_.op(BlockOp::kAtan, a);
    case ScalarOp::kTanh:
      return b_.op(BlockOp::kTanh, a);
    case ScalarOp::kErf:
      return b_.op(BlockOp::kErf, a);
    case ScalarOp::kErfc:
      return b_.op(BlockOp::kSubF, one, b_.op(BlockOp::kErf, a));
    case ScalarOp::kSigmoid: {
      const BlockId exp = b_.op(BlockOp::kExp, b_.op(BlockOp::kNegF, a));
      return b_.op(BlockOp::kDivF, one, b_.op(BlockOp::kAddF, one, exp));
    }
    case ScalarOp::kSinh:
    case ScalarOp::kCosh:
      return hyperbolic(op, a);
    case ScalarOp::kAsin:
    case ScalarOp::kAcos:
    case ScalarOp::kAsinh:
    case ScalarOp::kAcosh:
    case ScalarOp::kAtanh:
      return inverse(op, a);
    default:
      return refuse(fmt::format("{} of floats", loop::scalar_op_name(op)));
  }
}

}  // namespace jumar::tile::npu
