"""Weighted minimax fits of polynomials with coefficients that a float or a double holds exactly.

fit() runs the Remez exchange on a fine grid in multiple precision. Coefficients are then rounded in two ways,
of which the better one wins: all at once, or one after the other from the lowest power up, with the remaining
ones fitted anew after each rounding so that they make up for it. The second way needs an error weight that
vanishes at 0 or an interval without 0 inside, because the remaining powers can correct nothing there.
"""
from mpmath import mp, mpf, matrix, lu_solve, cos, pi, frexp, ldexp, nint, sqrt

mp.dps = 45
MANTISSA_BITS = {"f32": 24, "f64": 53}


def rounded(value, dtype):
    """`value` rounded to nearest in the given format (normal range only)."""
    if value == 0:
        return mpf(0)
    mantissa, exponent = frexp(mpf(value))
    bits = MANTISSA_BITS[dtype]
    return ldexp(nint(ldexp(mantissa, bits)), exponent - bits)


def grid(low, high, count):
    low, high = mpf(low), mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle - half * cos(pi * (k + mpf(1) / 2) / count) for k in range(count)]


def extrema(errors, count):
    """Indices of `count` alternating extrema; None where the error does not alternate often enough."""
    runs = []
    for i, e in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        # Dropping an end keeps the alternation; of the two, the smaller error goes.
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs if len(runs) == count else None


def minimax(xs, targets, weights, powers):
    """Coefficients c minimizing max |w (sum c x^p - target)| over the grid, and that maximum."""
    n = len(powers)
    basis = [[x ** p for p in powers] for x in xs]
    reference = [round(k * (len(xs) - 1) / n) for k in range(n + 1)]
    best = None
    for _ in range(40):
        system, right = matrix(n + 1, n + 1), matrix(n + 1, 1)
        for row, i in enumerate(reference):
            for column in range(n):
                system[row, column] = basis[i][column]
            system[row, n] = mpf(-1) ** row / weights[i]
            right[row] = targets[i]
        solution = lu_solve(system, right)
        coefficients = [solution[k] for k in range(n)]
        errors = [w * (sum(c * b for c, b in zip(coefficients, row)) - t)
                  for row, t, w in zip(basis, targets, weights)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        new = extrema(errors, n + 1)
        if new is None or new == reference or worst < abs(solution[n]) * mpf("1.0005"):
            break
        reference = new
    return best


def fit(function, low, high, count, dtype, weight=lambda x: mpf(1)):
    """Coefficients of x^0 .. x^(count-1), lowest first, rounded to dtype, and the weighted error."""
    xs = grid(low, high, 24 * (count + 2))
    targets, weights = [function(x) for x in xs], [weight(x) for x in xs]

    def error(coefficients):
        return max(abs(w * (sum(c * x ** p for p, c in enumerate(coefficients)) - t))
                   for x, t, w in zip(xs, targets, weights))

    free, _ = minimax(xs, targets, weights, list(range(count)))
    at_once = [rounded(c, dtype) for c in free]
    if mpf(low) < 0 < mpf(high) and weight(mpf(0)) != 0:
        return at_once, error(at_once)
    in_turn = [at_once[0]]
    while len(in_turn) < count:
        rest = [t - sum(c * x ** p for p, c in enumerate(in_turn)) for x, t in zip(xs, targets)]
        coefficients, _ = minimax(xs, rest, weights, list(range(len(in_turn), count)))
        in_turn.append(rounded(coefficients[0], dtype))
    return min(((c, error(c)) for c in (at_once, in_turn)), key=lambda pair: pair[1])


def fit_rational(function, top, p_count, q_count, dtype):
    """P, Q with P(s)/Q(s) close to function(sqrt(s)) relatively on (0, top^2], Q(0) = 1; and the error.

    Linearized least squares whose weights are moved towards the places with the largest error (Lawson).
    """
    xs = [x for x in grid(0, top, 160)]
    ys = [function(x) for x in xs]
    weights = [mpf(1)] * len(xs)
    denominators = [mpf(1)] * len(xs)
    best = None
    for _ in range(60):
        rows, right = matrix(len(xs), p_count + q_count - 1), matrix(len(xs), 1)
        for i, (x, y) in enumerate(zip(xs, ys)):
            scale, s = sqrt(weights[i]) / (y * denominators[i]), (x / top) ** 2
            for k in range(p_count):
                rows[i, k] = scale * s ** k
            for k in range(1, q_count):
                rows[i, p_count + k - 1] = -scale * y * s ** k
            right[i] = scale * y
        c = lu_solve(rows, right)
        p = [rounded(c[k] / top ** (2 * k), dtype) for k in range(p_count)]
        q = [mpf(1)] + [rounded(c[p_count + k - 1] / top ** (2 * k), dtype) for k in range(1, q_count)]
        denominators = [sum(b * x ** (2 * k) for k, b in enumerate(q)) for x in xs]
        errors = [abs(sum(a * x ** (2 * k) for k, a in enumerate(p)) / d / y - 1)
                  for x, y, d in zip(xs, ys, denominators)]
        worst = max(errors)
        if best is None or worst < best[2]:
            best = (p, q, worst)
        weights = [w * (e / worst + mpf("1e-5")) for w, e in zip(weights, errors)]
        mean = sum(weights) / len(weights)
        weights = [w / mean for w in weights]
    return best
