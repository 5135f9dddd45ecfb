// Bessel functions and their kin. The figures are those of Cephes, and so are the borders between the parts.
#include <limits>
#include <numbers>

#include "loop/lower/special.h"
#include "loop/lower/special_figures.h"

namespace jumar::loop::lowering {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRootOfTwoOverPi = 0.797884560802865355879892119868763737;

Val quotient(Val x, std::span<const double> top, std::span<const double> bottom) {
  return polynomial(x, top) / polynomial(x, bottom);
}

// Far from 0 the functions of the first and second kind are one wave, seen at two phases.
struct Wave {
  Val in_phase, off_phase;  // the amplitudes of the cosine and of the sine
  Val sine, cosine;
  Val scale;
};

Val first_kind(const Wave& w) { return (w.in_phase * w.cosine - w.off_phase * w.sine) * w.scale; }
Val second_kind(const Wave& w) { return (w.in_phase * w.sine + w.off_phase * w.cosine) * w.scale; }

Wave wave_0(Val x) {
  Val z = 25.0 / (x * x), at = x - std::numbers::pi / 4;
  Val off = 5.0 / x * (polynomial(z, kJ0OffTop) / polynomial(z, kJ0OffBottom));
  return {quotient(z, kJ0PhaseTop, kJ0PhaseBottom), off, sin(at), cos(at), kRootOfTwoOverPi / sqrt(x)};
}

Wave wave_1(Val x) {
  Val z = 25.0 / (x * x), at = x - 3 * std::numbers::pi / 4;
  Val off = 5.0 / x * quotient(z, kJ1OffTop, kJ1OffBottom);
  return {quotient(z, kJ1PhaseTop, kJ1PhaseBottom), off, sin(at), cos(at), kRootOfTwoOverPi / sqrt(x)};
}

// The zeros of the functions are factors, so that they are exact.
Val small_j0(Val x) {
  Val z = x * x;
  Val zeros = (z - 5.78318596294678452118) * (z - 30.4712623436620863991);
  return zeros * polynomial(z, kJ0SmallTop) / polynomial(z, kJ0SmallBottom);
}

Val small_j1(Val x) {
  Val z = x * x;
  Val zeros = (z - 14.6819706421238932572) * (z - 49.2184563216946036703);
  return polynomial(z, kJ1SmallTop) / polynomial(z, kJ1SmallBottom) * x * zeros;
}

// What has a pole at 0 and no value below it.
Val from_pole(Val x, double pole, Val value) {
  return select(equal(x, 0.0), pole, select(x < 0.0, kNan, value));
}

}  // namespace

Val bessel_j0(Val x) {
  Val size = abs(x);
  return select(size <= 5.0, small_j0(size), first_kind(wave_0(size)));
}

Val bessel_j1(Val x) {
  Val size = abs(x);
  Val value = select(size <= 5.0, small_j1(size), first_kind(wave_1(size)));
  return select(x < 0.0, -value, value);
}

Val bessel_y0(Val x) {
  Val z = x * x;
  Val near = quotient(z, kY0SmallTop, kY0SmallBottom) + 2 / std::numbers::pi * log(x) * small_j0(x);
  return from_pole(x, -kInfinity, select(x <= 5.0, near, second_kind(wave_0(x))));
}

Val bessel_y1(Val x) {
  Val z = x * x;
  Val near =
      x * quotient(z, kY1SmallTop, kY1SmallBottom) + 2 / std::numbers::pi * (small_j1(x) * log(x) - 1.0 / x);
  return from_pole(x, -kInfinity, select(x <= 5.0, near, second_kind(wave_1(x))));
}

Val scaled_bessel_i0(Val x) {
  Val size = abs(x);
  Val near = chebyshev(size / 2.0 - 2.0, kI0Small);
  return select(size <= 8.0, near, chebyshev(32.0 / size - 2.0, kI0Large) / sqrt(size));
}

Val scaled_bessel_i1(Val x) {
  Val size = abs(x);
  Val near = chebyshev(size / 2.0 - 2.0, kI1Small) * size;
  Val value = select(size <= 8.0, near, chebyshev(32.0 / size - 2.0, kI1Large) / sqrt(size));
  return select(x < 0.0, -value, value);
}

namespace {

// exp(abs(x)), with the overflow of eager's type.
Val growth(Val x, DType eager) {
  Body& b = *x.body;
  return b.to(exp(b.to(abs(x), eager)), x.type);
}

}  // namespace

Val bessel_i0(Val x, DType eager) { return growth(x, eager) * scaled_bessel_i0(x); }
Val bessel_i1(Val x, DType eager) { return growth(x, eager) * scaled_bessel_i1(x); }

namespace {

// Up to 2, without a factor.
Val small_k0(Val x) {
  Val i0 = exp(x) * chebyshev(x / 2.0 - 2.0, kI0Small);
  return chebyshev(x * x - 2.0, kK0Small) - log(x * 0.5) * i0;
}

Val small_k1(Val x) {
  Val i1 = exp(x) * chebyshev(x / 2.0 - 2.0, kI1Small) * x;
  return log(x * 0.5) * i1 + chebyshev(x * x - 2.0, kK1Small) / x;
}

// From 2 on, without exp(-x).
Val large_k(Val x, std::span<const double> figures) { return chebyshev(8.0 / x - 2.0, figures) / sqrt(x); }

}  // namespace

Val bessel_k0(Val x) {
  return from_pole(x, kInfinity, select(x <= 2.0, small_k0(x), exp(-x) * large_k(x, kK0Large)));
}

Val bessel_k1(Val x) {
  return from_pole(x, kInfinity, select(x <= 2.0, small_k1(x), exp(-x) * large_k(x, kK1Large)));
}

Val scaled_bessel_k0(Val x) {
  return from_pole(x, kInfinity, select(x <= 2.0, small_k0(x) * exp(x), large_k(x, kK0Large)));
}

Val scaled_bessel_k1(Val x) {
  return from_pole(x, kInfinity, select(x <= 2.0, small_k1(x) * exp(x), large_k(x, kK1Large)));
}

// sin(x)/x, around 0 as the series of -1^k*x^(2k)/(2k + 1)!.
Val spherical_bessel_j0(Val x) {
  constexpr double kSeries[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                1.0 / 120,        -1.0 / 6,        1.0};
  Val value = select(abs(x) < 0.5, polynomial(x * x, kSeries), sin(x) / x);
  return select(isinf(x), 0.0, value);
}

namespace {

// Ai's two power series around 0: f = 1 + x^3/(2*3) + x^6/(2*3*5*6) + ..., g = x + x^4/(3*4) + ...
Val airy_series(Val x) {
  constexpr int kTerms = 16;  // at abs(x) = 2.09 the next ones are below the last place
  Val z = x * x * x;
  Val term_f = x.body->real(x.type, 1), term_g = x, f = term_f, g = x;
  for (int k = 1; k <= kTerms; ++k) {
    double n = 3.0 * k;
    term_f = term_f * z / (n * (n - 1));
    term_g = term_g * z / (n * (n + 1));
    f = f + term_f;
    g = g + term_g;
  }
  return f * 0.355028053887817239260 - g * 0.258819403792806798405;
}

}  // namespace

Val airy_ai(Val x) {
  constexpr double kOneOverRootOfPi = 0.564189583547756286948;
  Val size = abs(x), root = sqrt(size), fourth_root = sqrt(root);
  Val zeta = size * root * (2.0 / 3.0);
  Val z = 1.0 / zeta, square = z * z;
  Val at = zeta + std::numbers::pi / 4;
  Val sine = sin(at) * (square * quotient(square, kAirySineTop, kAirySineBottom) + 1.0);
  Val cosine = cos(at) * (z * quotient(square, kAiryCosineTop, kAiryCosineBottom));
  Val wave = kOneOverRootOfPi / fourth_root * (sine - cosine);
  Val decay =
      quotient(z, kAiryDecayTop, kAiryDecayBottom) * kOneOverRootOfPi / (fourth_root * 2.0 * exp(zeta));
  Val value = select(x < -2.09, wave, select(x >= 2.09, decay, airy_series(x)));
  return select(isinf(x), kNan, select(x > 103.892, 0.0, value));
}

}  // namespace jumar::loop::lowering
