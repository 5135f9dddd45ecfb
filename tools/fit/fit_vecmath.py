"""Writes src/emit/cpu/vecmath_coeffs.h: every fitted coefficient of the vector mathematics.

Usage: python tools/fit/fit_vecmath.py src/emit/cpu/vecmath_coeffs.h     (needs mpmath; gmpy2 makes it faster)
"""
import sys

from mpmath import (asin, atan, atanh, cos, erf, erfc, exp, expm1, floor, log, log1p, loggamma, mp, mpf, pi, psi,
                    sin, sinh, sqrt, tanh, taylor)

from remez import fit, fit_rational

TINY = mpf("1e-30")


def odd_rest(function):
    """(f(x) - x) / x^3 as a function of s = x*x, for odd f with f'(0) = 1."""
    def rest(s):
        if s < mpf("1e-8"):
            series = taylor(function, 0, 7)
            return series[3] + series[5] * s + series[7] * s * s
        x = sqrt(s)
        return (function(x) - x) / (x * s)
    return rest


def relative_odd(function):
    """Weight that turns an error of odd_rest into a relative error of the function."""
    return lambda s: s * sqrt(s) / function(sqrt(s)) if s > TINY else s


def cos_rest(s):
    return mpf(1) / 24 - s / 720 + s * s / 40320 if s < mpf("1e-8") else (cos(sqrt(s)) - 1 + s / 2) / (s * s)


def exp_rest(r):
    return mpf(1) / 2 + r / 6 + r * r / 24 if abs(r) < mpf("1e-8") else (expm1(r) - r) / (r * r)


def exp2_rest(r):
    c = log(2)
    return c + r * c * c / 2 if abs(r) < mpf("1e-12") else expm1(r * c) / r


def log_rest(f):
    return mpf(1) / 3 - f / 4 + f * f / 5 if abs(f) < mpf("1e-8") else (log1p(f) - f + f * f / 2) / f ** 3


def atanh_rest(z):
    """(2 atanh(s) - 2 s) / s^3 with z = s^2."""
    if z < mpf("1e-10"):
        return mpf(2) / 3 + z * 2 / 5 + z * z * 2 / 7
    return 2 * (atanh(sqrt(z)) / sqrt(z) - 1) / z


def atanh_rest2(z):
    """(atanh(s)/s - 1 - z/3) / z^2 with z = s^2."""
    if z < mpf("1e-9"):
        return mpf(1) / 5 + z / 7 + z * z / 9
    return (atanh(sqrt(z)) / sqrt(z) - 1 - z / 3) / (z * z)


def erf_rest(s):
    return 2 / sqrt(pi) - 1 - s * 2 / (3 * sqrt(pi)) if s < mpf("1e-12") else erf(sqrt(s)) / sqrt(s) - 1


def erf_exponent(t):
    """erf(t) = 1 - exp(-t + t * this)."""
    return (log(erfc(t)) + t) / t


# Centres whose constant term happens to round with a small error.
ERFC_CENTRE = {"f32": mpf("3.6875"), "f64": mpf("3.8125")}


def scaled_erfc(t, centre):
    """(1 + 2x) exp(x^2) erfc(x) as a function of t = (x - centre) / (x + centre)."""
    x = centre * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def erfc_t(x, centre):
    return (mpf(x) - centre) / (mpf(x) + centre)


def erfinv_of(w):
    """erfinv(x) / x as a function of w = -log(1 - x^2)."""
    if w < mpf("1e-12"):
        return sqrt(pi) / 2
    x2 = -expm1(-w)
    x = sqrt(x2)
    # Newton steps on erfc keep all digits where x is close to 1: 1 - x = (1 - x^2) / (1 + x).
    q = exp(-w) / (1 + x)
    y = sqrt(max(w, mpf("1e-6")) * mpf("0.8"))
    for _ in range(60):
        e = erfc(y) - q
        step = e / (2 / sqrt(pi) * exp(-y * y))
        y += step / (1 - step * y) if abs(step * y) < mpf("0.5") else step / 2
        if abs(step) < y * mpf("1e-35"):
            break
    return y / x


def lgamma_near_two(z):
    """lgamma(2 + z) / z."""
    return psi(0, 2) + z * psi(1, 2) / 2 if abs(z) < mpf("1e-15") else loggamma(2 + z) / z


def lgamma_large(u):
    """x (lgamma(x) - (x - 1/2)(log x - 1) - c) with u = 1 / x^2 and c = (log(2 pi) - 1) / 2."""
    if u < mpf("1e-8"):
        return mpf(1) / 12 - u / 360 + u * u / 1260
    x = 1 / sqrt(u)
    return x * (loggamma(x) - (x - mpf(1) / 2) * (log(x) - 1) - (log(2 * pi) - 1) / 2)


def digamma_large(u):
    """x^2 (log x - 1 / (2x) - digamma(x)) with u = 1 / x^2."""
    if u < mpf("1e-8"):
        return mpf(1) / 12 - u / 120 + u * u / 252
    x = 1 / sqrt(u)
    return x * x * (log(x) - 1 / (2 * x) - psi(0, x))


REDUCED = mpf("0.3470")
QUARTER = (pi / 4 * mpf("1.004")) ** 2
ROOT = (sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1)
ATANH_MAX = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.001")
OCTANT = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.001")


def rows():
    """name, dtype, function, low, high, number of coefficients, weight."""
    for dtype, n in (("f32", 5), ("f64", 10)):
        yield "Exp", dtype, exp_rest, -REDUCED, REDUCED, n, lambda r: r * r / exp(r)
    for dtype, n in (("f32", 6), ("f64", 11)):
        yield ("Expm1", dtype, exp_rest, -REDUCED, REDUCED, n,
               lambda r: abs(r * r / expm1(r)) if abs(r) > TINY else abs(r))
    for dtype, n in (("f32", 6), ("f64", 11)):
        yield "Exp2", dtype, exp2_rest, mpf("-0.5"), mpf("0.5"), n, lambda r: abs(r) / exp(r * log(2))
    yield "Exp2Short", "f64", exp2_rest, mpf("-0.5"), mpf("0.5"), 7, lambda r: abs(r) / exp(r * log(2))
    yield ("Log", "f32", log_rest, *ROOT, 8, lambda f: abs(f ** 3 / log1p(f)) if abs(f) > TINY else f * f)
    yield "Log", "f64", atanh_rest, mpf(0), ATANH_MAX, 7, lambda z: z / 2
    yield "LogShort", "f64", atanh_rest, mpf(0), ATANH_MAX, 4, lambda z: z / 2
    yield "LogPair", "f64", atanh_rest2, mpf(0), ATANH_MAX, 8, lambda z: z * z
    for dtype, n, top in (("f32", 7, "0.93"), ("f64", 12, "1.0")):
        yield ("ErfSmall", dtype, erf_rest, mpf(0), mpf(top) ** 2, n,
               lambda s: sqrt(s) / erf(sqrt(s)) if s > TINY else mpf("0.88"))
    yield ("ErfLarge", "f32", erf_exponent, mpf("0.92"), mpf("3.93"), 7, lambda t: erfc(t) * t / erf(t))
    for dtype, n, low, high in (("f32", 11, "0.48", "10.1"), ("f64", 24, "0.48", "27.3")):
        centre = ERFC_CENTRE[dtype]
        yield ("Erfc", dtype, lambda t, c=centre: scaled_erfc(t, c), erfc_t(low, centre), erfc_t(high, centre),
               n, lambda t, c=centre: 1 / scaled_erfc(t, c))
    for dtype, n in (("f32", 3), ("f64", 6)):
        yield "Sin", dtype, odd_rest(sin), mpf(0), QUARTER, n, relative_odd(sin)
    for dtype, n in (("f32", 3), ("f64", 6)):
        yield "Cos", dtype, cos_rest, mpf(0), QUARTER, n, lambda s: s * s / cos(sqrt(s))
    for dtype, n in (("f32", 5), ("f64", 11)):
        yield "Atan", dtype, odd_rest(atan), mpf(0), OCTANT, n, relative_odd(atan)
    for dtype, n in (("f32", 5), ("f64", 12)):
        yield "Asin", dtype, odd_rest(asin), mpf(0), mpf("0.2501"), n, relative_odd(asin)
    for dtype, n in (("f32", 4), ("f64", 7)):
        yield "Sinh", dtype, odd_rest(sinh), mpf(0), mpf("1.001"), n, relative_odd(sinh)
    for dtype, n in (("f32", 5), ("f64", 12)):
        yield "Tanh", dtype, odd_rest(tanh), mpf(0), mpf("0.6") ** 2, n, relative_odd(tanh)
    for name, low, high, n in (("ErfinvLow", "0", "6.26", 24), ("ErfinvMiddle", "2.4999", "4.001", 19),
                               ("ErfinvHigh", "3.999", "6.1", 18)):
        if name == "ErfinvLow":
            yield (name, "f64", lambda u: erfinv_of(u + mpf("3.125")), mpf("-3.125"), mpf("3.13"), n,
                   lambda u: 1 / erfinv_of(u + mpf("3.125")))
        else:
            shift = mpf("3.25") if name == "ErfinvMiddle" else mpf(5)
            yield (name, "f64", lambda v, shift=shift: erfinv_of((v + shift) ** 2), mpf(low) - shift,
                   mpf(high) - shift, n, lambda v, shift=shift: 1 / erfinv_of((v + shift) ** 2))
    yield ("LgammaNearTwo", "f64", lgamma_near_two, mpf("-0.5001"), mpf("0.5001"), 20,
           lambda z: 1 / lgamma_near_two(z))
    yield "LgammaLarge", "f64", lgamma_large, mpf(0), 1 / mpf("8.49") ** 2, 7, lambda u: mpf("0.01")
    yield "DigammaLarge", "f64", digamma_large, mpf(0), 1 / mpf("9.99") ** 2, 8, lambda u: max(u, TINY)


# 2/pi down to the last digit that matters for the largest double.
TWO_OVER_PI_WORDS = 20

HEADER = """// Fitted coefficients of the vector mathematics, lowest power first. Written by tools/fit/fit_vecmath.py,
// which states what each polynomial approximates; do not edit by hand. The number above each name is the
// largest weighted error of the fit (relative to the function's value) without the errors of evaluation.
#pragma once

namespace jumar::emit::cpu::coeffs {
"""


def hexadecimal(value):
    return float(value).hex()


def write_row(text, name, coefficients, worst=None):
    if worst is not None:
        text.append(f"// {float(worst):.2e}")
    text.append(f"inline constexpr double k{name}[] = {{")
    text += [f"    {hexadecimal(c)}," for c in coefficients]
    text.append("};\n")


def main():
    mp.prec = 64 * TWO_OVER_PI_WORDS + 64
    two_over_pi = int(floor(2 / pi * mpf(2) ** (64 * TWO_OVER_PI_WORDS)))
    mp.dps = 45
    only = set(sys.argv[2:])
    text = [HEADER]
    for name, dtype, function, low, high, count, weight in rows():
        if only and name not in only:
            continue
        coefficients, worst = fit(function, low, high, count, dtype, weight)
        print(f"{name}{dtype.upper()}: {count} coefficients, error {float(worst):.2e} "
              f"= 2^{float(log(worst) / log(2)):.1f}", flush=True)
        write_row(text, name + dtype.upper(), coefficients, worst)
    for name, function, top, p_count, q_count in (("ErfFast", erf, "3.93", 6, 6),
                                                  ("TanhFast", tanh, "9.02", 6, 5)):
        if only and name not in only:
            continue
        p, q, worst = fit_rational(lambda x: function(x) / x, mpf(top), p_count, q_count, "f32")
        print(f"{name}F32: {p_count}/{q_count} coefficients, error {float(worst):.2e}", flush=True)
        write_row(text, name + "PF32", p, worst)
        write_row(text, name + "QF32", q, worst)
    text.append("// The binary digits of 2/pi after the point, most significant word first.")
    text.append("inline constexpr unsigned long long kTwoOverPi[] = {")
    text += [f"    0x{two_over_pi >> (64 * k) & (2 ** 64 - 1):016x},"
             for k in reversed(range(TWO_OVER_PI_WORDS))]
    text.append("};\n")
    for dtype, centre in ERFC_CENTRE.items():
        text.append(f"inline constexpr double kErfcCentre{dtype.upper()} = {float(centre)};")
    text.append("\n}  // namespace jumar::emit::cpu::coeffs")
    if not only:
        with open(sys.argv[1], "w") as file:
            file.write("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
