"""What elements are, to the last bit, at the ends of their types: compiled functions next to eager PyTorch.

A group of operators is one compiled function, so that a test takes one compilation. Lengths are such that vectors and
what is left over behind them are both there, and eager's are walked in the same way.
"""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from comparing import compiled

pytest.importorskip("jumar._native", reason="the extension is not built")

INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 7.0, -7.0, 1e-40, -1e-40, 3e38, -3e38, 65504.0,
           math.inf, -math.inf, math.nan]
COUNT = 67  # four vectors of 16, and three more


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def extremes(dtype: torch.dtype) -> torch.Tensor:
    limits = torch.iinfo(dtype)
    some = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 7, 100, limits.max // 2, limits.max // 3]
    some += [-1, -2, -3, -7, -100] if limits.min < 0 else []
    return torch.tensor((some * COUNT)[:COUNT], dtype=dtype)


def specials(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor((SPECIAL * COUNT)[:COUNT], dtype=torch.float64).to(dtype)


def pairs(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Every value with every other."""
    plain = values.unique() if not values.is_floating_point() else values[: len(SPECIAL)]
    a, b = torch.meshgrid(plain, plain, indexing="ij")
    return a.reshape(-1).contiguous(), b.reshape(-1).contiguous()


def bits(t: torch.Tensor) -> torch.Tensor:
    """Any NaN is any other."""
    if not t.is_floating_point():
        return t
    plain = torch.where(t.isnan(), torch.full_like(t, math.nan), t).contiguous()
    return plain.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[t.element_size()])


def same_bits(function, *inputs, options=None):
    found = compiled(function, fullgraph=True, options=options)(*inputs)
    expected = function(*inputs)
    assert len(found) == len(expected)
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert a.dtype == b.dtype and a.shape == b.shape, k
        different = (bits(a) != bits(b)).reshape(-1)
        at = different.nonzero().reshape(-1)[:3].tolist()
        assert not at, f"result {k} at {at}: {a.reshape(-1)[at]} for {b.reshape(-1)[at]}"
    return found


def same_error(function, *inputs):
    with pytest.raises(Exception) as expected:  # noqa: B017, PT011: which one is eager's business
        function(*inputs)
    with pytest.raises(expected.type):
        compiled(function)(*inputs)


# Integers.


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_wrap(dtype):
    a, b = pairs(extremes(dtype))

    def function(a, b):
        return (a + b, a - b, a * b, a + a * b - 3, a * 7, a - 100, torch.square(a), a**3, a**5, a.sum(dtype=dtype),
                a.prod(dtype=dtype), a.cumsum(0, dtype=dtype), a.cumprod(0, dtype=dtype), torch.add(a, b, alpha=3),
                torch.addcmul(a, a, b, value=2), -a, a.abs(), a.sign(), ~a, a & b, a | b, a ^ b, 3 - a)

    same_bits(function, a, b)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_quotients_and_remainders_of_integers(dtype):
    a, b = pairs(extremes(dtype))
    # The least integer by -1 is undefined in C++, and eager traps.
    keep = (b != 0) & ~((b == -1) & (a == torch.iinfo(dtype).min)) if torch.iinfo(dtype).min < 0 else b != 0
    a, b = a[keep], b[keep]

    def function(a, b):
        by = [3, 2, 1, 7, *([-3, -2, -7] if torch.iinfo(dtype).min < 0 else [])]
        out = [a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc"), a / b]
        for k in by:
            out += [a // k, a % k, torch.fmod(a, k), torch.div(a, k, rounding_mode="trunc"), a / k]
        return tuple(out)

    same_bits(function, a, b)


@pytest.mark.parametrize("operator", [torch.floor_divide, torch.remainder, torch.fmod,
                                      lambda a, b: torch.div(a, b, rounding_mode="trunc")])
def test_integers_by_zero_raise(operator):
    a = torch.arange(1, 9)
    same_error(operator, a, torch.tensor([1, 2, 3, 0, 5, 6, 7, 8]))
    same_error(lambda a: operator(a, 0), a)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_shifts(dtype):
    width = torch.iinfo(dtype).bits
    counts = [0, 1, 3, width - 1, width, width + 1, 100, *([-1, -5, torch.iinfo(dtype).min] if dtype != torch.uint8 else [])]
    values, shifts = torch.meshgrid(extremes(dtype).unique(), torch.tensor(counts, dtype=dtype), indexing="ij")

    def function(a, n):
        out = [a << n, a >> n]
        for k in [0, 1, width - 1, width, 100]:
            out += [a << k, a >> k]
        return tuple(out)

    same_bits(function, values.reshape(-1).contiguous(), shifts.reshape(-1).contiguous())


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64], ids=str)
def test_wider_unsigned_integers(dtype):
    a = extremes(dtype)

    def function(a):
        return (a.to(torch.int64), a.to(torch.float32), a.to(torch.float64), a.to(torch.uint8), a.to(torch.bfloat16),
                a.to(torch.bool), a == 3, a[1:].clone(), torch.cat([a, a]), a.unsqueeze(1).expand(-1, 2).contiguous(),
                a.clone(), a.to(torch.int64) + 1, a.to(torch.int32).to(dtype))

    same_bits(function, a)
    same_bits(lambda x: (x.to(dtype), x.abs().to(dtype).to(torch.int64)), extremes(torch.int32))


# Conversions.


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("length", [1, 7, COUNT])
def test_floats_to_integers(source, length):
    x = torch.tensor(([-3e9, 3e9, 300.7, -300.7, 127.9, -128.9, 2**31, -(2.0**31) - 1, 2.0**63, 1e30, -1e30] + SPECIAL)
                     * COUNT, dtype=torch.float64)[:length].to(source)
    targets = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool]
    same_bits(lambda x: tuple(x.to(t) for t in targets), x)
    # A conversion in the middle of a kernel.
    same_bits(lambda x: tuple((x * 1).to(t).to(torch.int64) * 2 for t in targets[:4]), x)


def test_conversions_between_floats_and_from_integers():
    wide = torch.tensor([1 + 2.0**-8, 1 + 3 * 2.0**-9, 1 + 2.0**-11, 65519.9, 65520.0, 3.3895e38, 3.4e38, 2.0**-25, 2.0**-24,
                         1.5 * 2.0**-24, 6e-8, 1e-45, 7e-46, *SPECIAL] * 2, dtype=torch.float64)
    same_bits(lambda x: tuple(x.to(a).to(b) for a in FLOATS for b in FLOATS), wide)
    same_bits(lambda x: tuple(x.to(a) for a in FLOATS), torch.tensor([2**24 + 1, 2**53 + 1, 2**62 + 1, -(2**63), 2**63 - 1, 257]))
    same_bits(lambda x: tuple(x.to(a) for a in FLOATS), extremes(torch.int32))


# Floats.


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_what_nan_does(dtype):
    a, b = pairs(specials(dtype))
    rows = specials(dtype)[:66].reshape(6, 11)

    def picks(a, b):
        return (a < b, a <= b, a > b, a >= b, a == b, a != b, a.isnan(), a.isinf(), a.isfinite(), torch.isposinf(a),
                a.sign(), a.bool(), torch.logical_and(a, b), torch.logical_not(a), torch.nan_to_num(a),
                torch.nan_to_num(a, 2.0, 3.0, -3.0), torch.clamp(a, -1.0, 1.0), torch.clamp(a, min=0.5),
                torch.clamp(a, max=math.nan), torch.clamp(a, math.nan, 1.0), F.relu(a), F.hardtanh(a), F.relu6(a),
                F.threshold(a, 0.5, 9.0), torch.where(a > b, a, b), F.leaky_relu(a, 0.25), F.hardshrink(a, 0.5))

    same_bits(picks, a, b)

    def folds(x):
        return (x.argmax(), x.argmin(), x.argmax(1), x.argmin(0), x.max(1)[1], x.min(0)[1], x.any(), x.all(1), x.isnan().sum(1),
                x.sort(1)[1], torch.argsort(x, dim=0, stable=True), x.median(1)[1], x.mode(1)[0].abs(), torch.count_nonzero(x, 1),
                F.max_pool2d(x[None], 3, 1, 1, return_indices=True)[1], F.max_pool2d(x[None], 2, return_indices=True)[1])

    same_bits(folds, rows)

    # Of zeros of both signs, any.
    def extreme(a, b, x):
        out = (torch.maximum(a, b), torch.minimum(a, b), torch.fmax(a, b), torch.fmin(a, b), x.amax(1), x.amin(0), x.max(),
               x.min(), torch.aminmax(x, dim=1)[0], torch.clamp(a, b, b), x.cummax(1)[0])
        return tuple(t + 0.0 for t in out)

    same_bits(extreme, a, b, rows)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_quotients_and_remainders_of_floats(dtype):
    a, b = pairs(specials(dtype))
    # Eager's vectors give NaN for a remainder of numbers that are 2^127 apart, what is left over behind them does not.
    near = ((a.double() / b.double()).abs() < 1e38) | ~a.isfinite() | ~b.isfinite() | (b == 0)
    a, b = a[near], b[near]

    def function(a, b):
        return (a / b, torch.fmod(a, b), a % b, a // b, torch.div(a, b, rounding_mode="trunc"), a % 3.0, a % -3.0, a // 0.5,
                torch.fmod(a, -2.0), a / 0.0, torch.reciprocal(a), 1.0 / a)

    same_bits(function, a, b)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_signed_zeros(dtype):
    x = torch.tensor(([0.0, -0.0, 0.25, -0.25, 1.0, -1.0] * COUNT)[:COUNT], dtype=dtype)
    y = torch.tensor(([0.0, 0.0, 0.0, -0.0, -0.0, -0.0, -0.0] * COUNT)[:COUNT], dtype=dtype)

    def function(x, y):
        return (-x, x.abs(), x * 0.0, x * y, x + y, x - y, y - x, x + 0.0, x + -0.0, 0.0 - x, x * -1.0, x * 1.0, x / 1.0,
                torch.trunc(x), torch.round(x), torch.ceil(x), torch.floor(x), torch.relu(x), torch.clamp(x, 0.0, 1.0),
                torch.clamp(x, min=-0.0), torch.clamp(x, max=0.0), F.hardtanh(x, 0.0, 1.0), torch.copysign(x, y),
                torch.signbit(x), torch.where(x == 0, x, y), torch.cat([x, y]), F.pad(x, (1, 1)), y.sum(0), (y[3:7]).sum(),
                x.masked_fill(y == 0, -0.0), torch.full_like(x, -0.0), torch.frac(x), torch.nan_to_num(x), x.sign(),
                1.0 / (x * 0.0), torch.threshold(x, 0.5, -0.0), x.prod(), x[:0].sum(), x[:0].prod())

    same_bits(function, x, y)


@pytest.mark.parametrize("flush", [False, True])
def test_denormals(flush):
    x = torch.tensor(([1e-40, -1e-40, 1e-45, 2e-38, -2e-38, 1.1754944e-38, 3.0, 0.0] * COUNT)[:COUNT])

    def function(x):
        return (x * 2.0, x * 0.5, x + x, x - 1e-39, x / 4, x.abs(), -x, x * 1e30, x.double(), (x * 1e-20).sign(), x.amax(),
                x == 0, x.bool(), x.sum(), x.double() * 1e-300 * 1e-10)

    run = compiled(function, fullgraph=True)
    run(x)
    if not torch.set_flush_denormal(flush):
        pytest.skip("this processor does not flush")
    try:
        found, expected = run(x), function(x)
    finally:
        torch.set_flush_denormal(False)
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert torch.equal(bits(a), bits(b)), (k, a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_nothing_is_reordered_or_contracted(dtype):
    torch.manual_seed(0)
    x, y, z = (torch.randn(997, dtype=dtype) * 10**k for k in (0, 2, -2))
    special = specials(dtype)

    def function(x, y, z, s):
        return ((x + y) - y, (x + y) + z, x + (y + z), (x * y) / y, x * y + z, x * y - z, z - x * y, x / 3.0, x / y, x * (y + z),
                x * y + x * z, x / y * y, 1.0 / (1.0 / x), (x - y) * (x + y), x * x - y * y, x / 7.0 * 7.0, x + x + x, x * 3.0,
                s - s, s * 0.0, s / s, s + s - s, s == s, s * 1e-30 * 1e30, (s > 0) | (s <= 0), x.square() - y.square())

    same_bits(function, x, y, z, special)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_halves_round_where_eager_rounds(dtype):
    torch.manual_seed(0)
    x, y, z = (torch.randn(COUNT, 5).to(dtype) for _ in range(3))

    def function(x, y, z):
        a = (x + y) * z - x
        b = (a / 3 + 0.1) * (x * 1.7 - y)
        c = torch.relu(b) + x * y
        d = (c * 0.3).float() * 2 + (x + y).float()
        e = torch.where(c > a, c * y, a - 0.7)
        return a, b, c, d, e, x**3, 0.1 - a, a.abs() + 1, (a * 4).clamp(-1, 1), torch.add(a, 0.3), a.square() + b

    same_bits(function, x, y, z, options={"emulate_precision_casts": True})
    # Without, what is kept in single precision between operators is nearer to the truth, and another number.
    found = compiled(function)(x, y, z)
    assert any(not torch.equal(a, b) for a, b in zip(found, function(x, y, z), strict=True))


# Sizes.


def test_positions_beyond_32_bits():
    far = 2**31
    # Pages that nobody writes to take no memory.
    bytes_ = torch.zeros(far + 100, dtype=torch.int8)
    bytes_[far + 3], bytes_[-1], bytes_[5] = 7, 9, 3

    def ends(x):
        return x[far:] * 2, x[far - 5 : far + 5] + x[:10], x[-1] + 1, x[far + 3 :: 8].sum(), x[:: 2**30] + 1

    same_bits(ends, bytes_)

    def views(x):
        wide = x.as_strided((3, 4), (2**30, 2), 5)
        return wide * 2, x.view(-1, 4)[2**29 :] + 1, x.as_strided((2,), (far - 1,), 1).sum(0), x.index_select(
            0, torch.tensor([far + 3, 5, far + 99])) + 1

    same_bits(views, bytes_)
    words = bytes_[:far + 4].view(torch.int32)  # elements whose offsets in bytes need more than 31 bits
    same_bits(lambda x: (x[2**29 - 3 :] + 1, x[1] * 2), words)


def test_numbers_of_elements_beyond_32_bits():
    x = torch.arange(6.0).reshape(2, 3, 1)
    many = 2**31 + 11

    def function(x):
        wide = x.expand(2, 3, many)
        return (wide[:, :, -5:] * 2, wide[1, :, 2**31 :].sum(1), wide[..., :: 2**29].sum(-1), wide.select(2, many - 1) + 1,
                wide[:, :, many - 3 :].amax((0, 2)), x.expand(2, 3, 2**60)[:, 1, 2**59 :: 2**57] + 1)

    same_bits(function, x)
    step = torch.full((1,), 2, dtype=torch.int8)
    # 2^31 + 2^15 points: kernel and eager walk all of them.
    found = same_bits(lambda s: (s.expand(2**16, 2**15 + 1).amax(), s.expand(2**16, 2**15 + 1)[:, ::4096].sum()), step)
    assert found[0] == 2


def test_dynamic_sizes_beyond_32_bits():
    run = compiled(lambda x, n: (x.expand(n, 3)[-4:] * 2, x.expand(n, 3).size(0) * 3), dynamic=True, fullgraph=True)
    for n in (5, 2**31 + 1, 2**33 + 7):
        found, size = run(torch.arange(3.0), n)
        assert torch.equal(found, torch.arange(3.0).expand(n, 3)[-4:] * 2) and size == n * 3


# Complex numbers are called, whatever is around them.


def test_complex_numbers():
    torch.manual_seed(0)
    x, y = (torch.randn(5, 7, dtype=torch.complex64) for _ in range(2))

    def function(x, y):
        z = x * y + 1j
        return (z, x / y, x.abs(), x.angle(), z.real * 2, z.imag + 1, x.sum(1), x.conj() * y, torch.exp(x), x.mean(), (x == y),
                torch.where(x.real > 0, x, y), torch.view_as_real(x) * 2, x.t() + 1, torch.cat([x, y]), x[:, 1:] - 2, -x,
                x.prod(0), torch.complex(x.real, y.imag), x.to(torch.complex128) * 2, x.reciprocal(), x**2)

    found, expected = compiled(function)(x, y), function(x, y)
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        torch.testing.assert_close(a, b, equal_nan=True, msg=lambda m, k=k: f"result {k}: {m}")
