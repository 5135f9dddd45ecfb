#include "loop/lower/special.h"

#include <limits>
#include <numbers>

#include "loop/lower/special_figures.h"

namespace jumar::loop::lowering {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Val in_double(const Args& x, Val (*f)(Val x)) {
  Body& b = x.body();
  return b.to(f(b.to(x[0], x.widest_float())), x[0].type);
}

Val in_double(const Args& x, Val (*f)(Val x, DType eager)) {
  Body& b = x.body();
  return b.to(f(b.to(x[0], x.widest_float()), x[0].type), x[0].type);
}

Val polynomial(Val x, std::span<const double> coefficients) {
  Val sum = x.body->real(x.type, coefficients.front());
  for (double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

Val monic_polynomial(Val x, std::span<const double> coefficients) {
  Val sum = x + coefficients.front();
  for (double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

// Clenshaw's recurrence for 2x; the sum's last term counts half.
Val chebyshev(Val x, std::span<const double> coefficients) {
  Val sum = x.body->real(x.type, coefficients.front());
  Val before = x.body->real(x.type, 0), last = before;
  for (double c : coefficients.subspan(1)) {
    last = before;
    before = sum;
    sum = x * before - last + c;
  }
  return (sum - last) * 0.5;
}

namespace {

// exp(sign*x*x). The square is made of a part that is exact and a small rest, so that its rounding does not
// grow with x*x.
Val exp_of_square(Val x, double sign) {
  Body& b = *x.body;
  Val head = b.to(b.to(x, DType::kF32), x.type);
  return exp(head * head * sign) * exp((x - head) * (x + head) * sign);
}

}  // namespace

// exp(x*x)*erfc(x): as that product where erfc does not underflow, beyond it as a continued fraction.
Val erfcx(Val x) {
  Val square = x * x;
  Val far =
      (square * (square + 4.5) + 2.0) * (std::numbers::inv_sqrtpi) / (x * (square * (square + 5.0) + 3.75));
  Val near = exp_of_square(x, 1) * erfc(x);
  // The last x whose erfc is a normal number, or a bit less.
  const double last = x.type == DType::kF64 ? 26 : 9;
  // From 5e7 on the square of a float's square overflows in eager's float.
  Val value = select(x > last, select(x > 5e7, std::numbers::inv_sqrtpi / x, far), near);
  return select(x < -26.7, kInfinity, value);
}

Val log_ndtr(Val x) {
  Val t = x * (std::numbers::sqrt2 / 2);
  return select(x < -1.0, log(erfcx(-t) * 0.5) - t * t, log1p(-(erfc(t) * 0.5)));
}

Val ndtri(Val y) {
  constexpr double kRootOfTwoPi = 2.50662827463100050242;
  constexpr double kTail = 0.13533528323661269189;  // exp(-2)
  Val is_upper = y > 1.0 - kTail;
  Val side = select(is_upper, 1.0 - y, y);
  Val off = side - 0.5, square = off * off;
  Val middle =
      off + off * (square * polynomial(square, kNdtriMiddleTop) / polynomial(square, kNdtriMiddleBottom));
  Val x = sqrt(log(side) * -2.0), z = 1.0 / x;
  Val tail = z * polynomial(z, kNdtriTailTop) / polynomial(z, kNdtriTailBottom);
  Val far = z * polynomial(z, kNdtriFarTop) / polynomial(z, kNdtriFarBottom);
  Val distance = x - log(x) / x - select(x < 8.0, tail, far);
  Val outer = select(is_upper, distance, -distance);
  Val value = select(side > kTail, middle * kRootOfTwoPi, outer);
  value = select((y < 0.0) | (y > 1.0), kNan, value);
  return select(equal(y, 0.0), -kInfinity, select(equal(y, 1.0), kInfinity, value));
}

// The derivative of digamma: reflected below 1/2, raised by 6, then its asymptotic series.
Val trigamma(Val x) {
  Val is_reflected = x < 0.5;
  Val sine = sin(x * std::numbers::pi);
  Val at = select(is_reflected, 1.0 - x, x);
  Val sum =
      select(is_reflected, -(std::numbers::pi * std::numbers::pi) / (sine * sine), x.body->real(x.type, 0));
  for (int k = 0; k < 6; ++k) {
    sum = sum + 1.0 / (at * at);
    at = at + 1.0;
  }
  Val inverse = 1.0 / (at * at);
  Val series = inverse * (1.0 / 6 - inverse * (1.0 / 30 - inverse * (1.0 / 42)));
  sum = sum + (series + 1.0 / (at * 2.0) + 1.0) / at;
  return select(is_reflected, -sum, sum);
}

Val sinc(Val x) {
  Val at = x * std::numbers::pi;
  return select(equal(x, 0.0), 1.0, sin(at) / at);
}

Val entropy(Val x) {
  Val value = select(x > 0.0, -x * log(x), select(equal(x, 0.0), 0.0, x.body->real(x.type, -kInfinity)));
  return select(isnan(x), x, value);
}

Val xlog1py(Val a, Val b) { return select(isnan(b), b, select(equal(a, 0.0), 0.0, a * log1p(b))); }

Val logaddexp2(Val a, Val b) {
  Val same_infinity = isinf(a) & equal(a, b);
  Val sum = log1p(exp2(-abs(a - b))) * std::numbers::log2e;
  return select(same_infinity, a, max(a, b) + sum);
}

Val angle(Val x) { return select(isnan(x), x, select(x < 0.0, std::numbers::pi, x.body->real(x.type, 0))); }

Val heaviside(Val x, Val at_zero) {
  Body& b = *x.body;
  Val zero = b.to(b.integer(DType::kI64, 0), x.type);
  return select(equal(x, zero), at_zero, b.to(x > zero, x.type));
}

Val logit_backward(const Args& x) {
  Val grad = x[0], at = x[1];
  Val slope = grad / (at * (1.0 - at));
  if (!x.has(2)) return select((at >= 0.0) & (at <= 1.0), slope, kNan);
  return select((at >= x[2]) & (at <= 1.0 - x[2]), slope, 0.0);
}

}  // namespace jumar::loop::lowering
