// Functions of mathematical physics and statistics as values of a body. Each is one straight line: it
// computes what every part of its domain needs, and picks. They are written for doubles, in which floats are
// computed too.
//
// Where eager's float overflows on the way to a result that a float can hold, so does a function here that is
// given eager's type: i0(89) is infinite.
#pragma once

#include "loop/lower/pointwise.h"

namespace jumar::loop::lowering {

// f of the first operand, in doubles where the target has them.
Val in_double(const Args& x, Val (*f)(Val x));
// The same for a function that is given eager's type.
Val in_double(const Args& x, Val (*f)(Val x, DType eager));

// Sums with the highest coefficient first: of powers of x, of powers with a leading 1, of Chebyshev
// polynomials.
Val polynomial(Val x, std::span<const double> coefficients);
Val monic_polynomial(Val x, std::span<const double> coefficients);
Val chebyshev(Val x, std::span<const double> coefficients);

Val bessel_j0(Val x);
Val bessel_j1(Val x);
Val bessel_y0(Val x);
Val bessel_y1(Val x);
Val bessel_i0(Val x, DType eager);
Val bessel_i1(Val x, DType eager);
Val scaled_bessel_i0(Val x);
Val scaled_bessel_i1(Val x);
Val bessel_k0(Val x);
Val bessel_k1(Val x);
Val scaled_bessel_k0(Val x);
Val scaled_bessel_k1(Val x);
Val spherical_bessel_j0(Val x);
Val airy_ai(Val x);

Val erfcx(Val x);
Val log_ndtr(Val x);
Val ndtri(Val y);
Val trigamma(Val x);
Val sinc(Val x);
Val entropy(Val x);
Val xlog1py(Val a, Val b);
Val logaddexp2(Val a, Val b);
Val angle(Val x);
Val heaviside(Val x, Val at_zero);
// Arguments: grad, x, eps or none.
Val logit_backward(const Args& x);

}  // namespace jumar::loop::lowering
