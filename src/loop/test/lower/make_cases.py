"""Writes the .cases files beside it: graphs, inputs, and what eager PyTorch computes from them.

    PYTHONPATH=python python src/loop/test/lower/make_cases.py [family ...]

A case is the graph of one small function, traced with fixed and with symbolic sizes. lower_eager_test.cpp
lowers the graph, interprets the program on the inputs and compares with the expected values.
"""

from __future__ import annotations

import operator
import pathlib
import sys
from typing import Any, Callable, NamedTuple

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from jumar.capture import graph_text

aten = torch.ops.aten
nan, inf = float("nan"), float("inf")
FOLDER = pathlib.Path(__file__).parent


class Case(NamedTuple):
    name: str
    function: Callable[..., Any]
    inputs: list[torch.Tensor]
    tolerance: float = 2e-6
    symbolic: bool = True
    # An operator that tracing would take apart goes into the graph whole, with arguments made of the inputs.
    operator: Any = None
    arguments: Callable[..., list[Any]] = lambda *xs: list(xs)


def rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape).to(dtype)


def ints(low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(low, high, shape).to(dtype)


# Values that tell definitions apart.
def special(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor([0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 2.5, -3.0, 3.0, 7.25, -20.0, inf, -inf, nan]).to(
        dtype
    )


def moderate(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.tensor([0.0, 0.5, -0.75, 1.0, -1.0, 2.5, -3.0, 3.0, 7.25, -6.5]).to(dtype)


def unit() -> torch.Tensor:
    return torch.tensor([0.0, 0.25, -0.5, 0.75, 0.99, -0.99])


# Both sides of the borders between the parts of special functions.
def wide(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    near = [0.0, -0.0, 1e-6, 0.3, -0.7, 1.5, 2.0, 2.05, 2.1, -2.05, -2.2, 4.5, 5.0, 5.5, -5.5]
    far = [7.5, 8.0, 8.5, 9.25, -10.5, 19.0, 27.5, -27.5, 60.0, 89.0, 110.0, inf, -inf, nan]
    return torch.tensor(near + far, dtype=dtype)


def probabilities() -> torch.Tensor:
    return torch.tensor([0.0, 1.0, -0.5, 1.5, 0.5, 0.2, 0.7, 0.1, 0.9, 1e-6, 1e-20, 1 - 1e-6, nan])


def pointwise() -> list[Case]:
    out: list[Case] = []

    def row(name: str, f: Callable[..., Any], *xs: torch.Tensor, tolerance: float = 2e-6) -> None:
        out.append(Case(name, f, list(xs), tolerance, symbolic=False))

    everywhere = """neg abs square sign sgn reciprocal sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin
        cos tan atan sinh cosh tanh asinh erf erfc sigmoid floor ceil trunc round frac
        deg2rad rad2deg isnan isinf isposinf isneginf signbit relu hardsigmoid hardswish
        nan_to_num silu mish softplus hardtanh elu celu logical_not"""
    for name in everywhere.split():
        row(name, getattr(aten, name).default, special(), tolerance=4e-6)
    for name in ("asin", "acos", "atanh", "erfinv"):
        row(name, getattr(aten, name).default, unit(), tolerance=4e-6)
    row("acosh", aten.acosh.default, torch.tensor([1.0, 1.5, 4.0, 0.5]), tolerance=4e-6)
    positive = torch.tensor([0.25, 0.5, 1.0, 1.5, 2.0, 3.5, 10.0])
    row("lgamma", aten.lgamma.default, positive, tolerance=1e-5)
    row("digamma", aten.digamma.default, positive, tolerance=1e-5)
    row("logit", lambda x: aten.logit.default(x, 1e-3), torch.tensor([0.0, 0.25, 0.5, 0.75, 1.0]))
    # Eager's gelu of infinity depends on the place of the element in its vector.
    row("gelu", aten.gelu.default, moderate(), tolerance=4e-6)
    row("gelu_tanh", lambda x: aten.gelu.default(x, approximate="tanh"), moderate(), tolerance=4e-6)
    row("nan_to_num_bf16", lambda x: aten.nan_to_num.default(x, 2.5, None, -7.0), special(torch.bfloat16))
    row("glu", lambda x: aten.glu.default(x, 1), rand(2, 6))
    row("leaky_relu", lambda x: aten.leaky_relu.default(x, 0.2), special())
    row("elu_scaled", lambda x: aten.elu.default(x, 1.5, 1.25, 0.5), special())
    row("relu6", aten.relu6.default, special())
    row("threshold", lambda x: aten.threshold.default(x, 0.5, -9.0), special())
    row("hardshrink", lambda x: aten.hardshrink.default(x, 0.6), special())
    row("softshrink", lambda x: aten.softshrink.default(x, 0.6), moderate())
    row("log_sigmoid", lambda x: aten.log_sigmoid_forward.default(x)[0], special())
    row("clamp", lambda x: aten.clamp.default(x, -0.5, 2.0), special())
    row("clamp_low", lambda x: aten.clamp.default(x, -0.5), special())
    row("clamp_tensor", lambda x, y: aten.clamp.Tensor(x, y, None), special(), rand(14))
    row("clamp_min", lambda x: aten.clamp_min.default(x, 0.25), special())
    row("clamp_int", lambda x: aten.clamp.default(x, -1, 2), ints(-5, 5, 8))
    row("pow_2", lambda x: aten.pow.Tensor_Scalar(x, 2), special())
    row("pow_half", lambda x: aten.pow.Tensor_Scalar(x, 0.5), special())
    row("pow_minus_2", lambda x: aten.pow.Tensor_Scalar(x, -2), special())
    row("pow_3", lambda x: aten.pow.Tensor_Scalar(x, 3.0), special())
    row("pow_1_3", lambda x: aten.pow.Tensor_Scalar(x, 1.3), special())
    row("pow_int", lambda x: aten.pow.Tensor_Scalar(x, 5), ints(-5, 5, 8))
    row("pow_tensor", aten.pow.Tensor_Tensor, special(), special().flip(0))
    row("pow_base", lambda x: aten.pow.Scalar(2.5, x), special())
    other = special().roll(5)
    for name in "atan2 maximum minimum fmax fmin copysign.Tensor hypot logaddexp xlogy.Tensor".split():
        packet, _, overload = name.partition(".")
        row(name, getattr(getattr(aten, packet), overload or "default"), special(), other, tolerance=4e-6)
    for name in ("add", "sub", "rsub"):
        f = getattr(aten, name).Tensor
        row(name, lambda x, y, f=f: f(x, y, alpha=0.5), special(), other)
    row(
        "add_int",
        lambda x, y: aten.add.Tensor(x, y, alpha=3),
        ints(-9, 9, 6),
        ints(-9, 9, 6, dtype=torch.int32),
    )
    row("add_bool", aten.add.Tensor, ints(0, 2, 6).bool(), ints(0, 2, 6).bool())
    row("add_wrapped", lambda x: aten.add.Tensor(x, 0.1), moderate(torch.bfloat16))
    row("mul", aten.mul.Tensor, special(), other)
    row("mul_scalar_bf16", lambda x: aten.mul.Scalar(x, 0.1), moderate(torch.bfloat16))
    row("mul_int_float", lambda x: aten.mul.Tensor(x, 0.5), ints(-9, 9, 6))
    row("mul_bool", aten.mul.Tensor, ints(0, 2, 6).bool(), ints(0, 2, 6).bool())
    row("mul_0d", aten.mul.Tensor, rand(4), torch.tensor(2.5, dtype=torch.float64))
    row("div", aten.div.Tensor, special(), other)
    row("div_int", aten.div.Tensor, ints(-9, 9, 6), ints(1, 9, 6))
    for mode in ("floor", "trunc"):
        row(f"div_{mode}", lambda x, y, m=mode: aten.div.Tensor_mode(x, y, rounding_mode=m), special(), other)
        row(f"div_{mode}_int", lambda x, m=mode: aten.div.Scalar_mode(x, -3, rounding_mode=m), ints(-9, 9, 8))
    row("floor_divide", lambda x: aten.floor_divide.default(x, 4), ints(-9, 9, 8))
    row("remainder", aten.remainder.Tensor, special(), other)
    row("remainder_int", lambda x: aten.remainder.Scalar(x, -4), ints(-9, 9, 8))
    row("fmod", aten.fmod.Tensor, special(), other)
    row("fmod_int", lambda x: aten.fmod.Scalar(x, 4), ints(-9, 9, 8))
    for name in "eq ne lt le gt ge".split():
        row(name, getattr(aten, name).Tensor, special(), other)
        row(f"{name}_scalar", lambda x, n=name: getattr(aten, n).Scalar(x, 1), special())
    row("lt_bf16", lambda x: aten.lt.Scalar(x, 0.1), torch.tensor([0.1, 0.2, 0.0]).bfloat16())
    row("lt_int_float", lambda x: aten.lt.Scalar(x, 1.5), ints(-3, 3, 8))
    row("eq_mixed", aten.eq.Tensor, ints(0, 3, 8, dtype=torch.int32), ints(0, 3, 8).float())
    row("gt_bool", lambda x: aten.gt.Scalar(x, False), ints(0, 2, 8).bool())
    for name in "logical_and logical_or logical_xor".split():
        row(name, getattr(aten, name).default, special(), other)
    for name in "bitwise_and bitwise_or bitwise_xor".split():
        row(name, getattr(aten, name).Tensor, ints(-9, 9, 8), ints(-9, 9, 8))
    row("bitwise_not", aten.bitwise_not.default, ints(-9, 9, 8))
    row("bitwise_not_bool", aten.bitwise_not.default, ints(0, 2, 8).bool())
    row("shift_left", aten.bitwise_left_shift.Tensor, ints(-9, 9, 8), ints(0, 6, 8))
    row("shift_right", aten.bitwise_right_shift.Tensor, ints(-99, 99, 8), ints(0, 6, 8))
    row("addcmul", lambda x, y, z: aten.addcmul.default(x, y, z, value=0.5), rand(6), rand(6), rand(6))
    row("addcdiv", lambda x, y, z: aten.addcdiv.default(x, y, z, value=0.5), rand(6), rand(6), rand(6))
    row("lerp", lambda x, y: aten.lerp.Scalar(x, y, 0.75), rand(6), rand(6))
    row("lerp_tensor", aten.lerp.Tensor, rand(6), rand(6), rand(6))
    row("where", aten.where.self, ints(0, 2, 6).bool(), rand(6), rand(6, dtype=torch.float64))
    row("where_scalar", lambda c, x: aten.where.ScalarOther(c, x, 2.5), ints(0, 2, 6).bool(), rand(6))
    row("masked_fill", lambda x, m: aten.masked_fill.Scalar(x, m, -inf), rand(6), ints(0, 2, 6).bool())
    row(
        "masked_fill_bf16",
        lambda x, m: aten.masked_fill.Scalar(x, m, 0.1),
        moderate(torch.bfloat16)[:6],
        ints(0, 2, 6).bool(),
    )
    row("to_int", lambda x: aten._to_copy.default(x, dtype=torch.int64), moderate())
    row("to_bf16", lambda x: aten._to_copy.default(x, dtype=torch.bfloat16), rand(8))
    row(
        "to_f16_from_f64",
        lambda x: aten._to_copy.default(x, dtype=torch.float16),
        rand(8, dtype=torch.float64),
    )
    row("to_bool", lambda x: aten._to_copy.default(x, dtype=torch.bool), special())
    row("to_f32", lambda x: aten._to_copy.default(x, dtype=torch.float32), ints(-9, 9, 8))
    row("copy", aten.copy.default, rand(2, 3), ints(0, 5, 3))
    row("sigmoid_int", aten.sigmoid.default, ints(-3, 3, 6))
    row("prelu", aten._prelu_kernel.default, rand(2, 3), rand(1, 3))
    row("view_dtype", lambda x: aten.view.dtype(x, torch.int32), rand(6))
    grad = torch.linspace(-2, 3, 14)
    for name in "hardsigmoid hardswish gelu silu mish".split():
        row(f"{name}_backward", getattr(aten, f"{name}_backward").default, grad[:10], moderate())
    row(
        "gelu_tanh_backward",
        lambda g, x: aten.gelu_backward.default(g, x, approximate="tanh"),
        grad[:10],
        moderate(),
        tolerance=4e-6,
    )
    row("sigmoid_backward", aten.sigmoid_backward.default, grad, special().sigmoid())
    row("tanh_backward", aten.tanh_backward.default, grad, special().tanh())
    row("threshold_backward", lambda g, x: aten.threshold_backward.default(g, x, 0), grad, special())
    row(
        "leaky_relu_backward",
        lambda g, x: aten.leaky_relu_backward.default(g, x, 0.2, False),
        grad,
        special(),
    )
    row("hardtanh_backward", lambda g, x: aten.hardtanh_backward.default(g, x, -1.0, 2.5), grad, special())
    row(
        "softplus_backward", lambda g, x: aten.softplus_backward.default(g, x, 1.5, 20), grad[:10], moderate()
    )
    for is_result in (False, True):
        row(
            f"elu_backward_{is_result}",
            lambda g, x, r=is_result: aten.elu_backward.default(g, 1.5, 1.25, 0.5, r, x),
            grad[:10],
            moderate().clamp(-1),
        )
    row(
        "log_sigmoid_backward",
        lambda g, x: aten.log_sigmoid_backward.default(g, x, torch.exp(-x.abs())),
        grad[:10],
        moderate(),
    )
    row(
        "dropout_backward",
        lambda g, m: aten.native_dropout_backward.default(g, m, 1.25),
        grad[:6],
        ints(0, 2, 6).bool(),
    )
    return out


def broadcast() -> list[Case]:
    x = rand(2, 3, 4)
    return [
        Case("rows", aten.add.Tensor, [x, rand(4)]),
        Case("columns", aten.mul.Tensor, [x, rand(3, 1)]),
        Case("outer", aten.sub.Tensor, [rand(2, 3, 1), rand(1, 5)]),
        Case("transposed", lambda a: aten.relu(a.transpose(0, 2)), [x]),
        Case("mixed_strides", lambda a, b: a.permute(1, 2, 0) + b, [x, rand(3, 4, 2)]),
        Case(
            "channels_last",
            lambda a: torch.relu(a) * 2,
            [rand(2, 3, 4, 5).to(memory_format=torch.channels_last)],
        ),
        Case(
            "bf16", lambda a, b: torch.sigmoid(a * b + 1), [rand(2, 6).bfloat16(), rand(6).bfloat16()], 8e-3
        ),
        Case("f16_f32", aten.add.Tensor, [rand(2, 6).half(), rand(2, 6)]),
        Case("f64", lambda a: torch.exp(a) * 0.1, [rand(2, 6).double()], 1e-12),
        Case("expanded", lambda a: a.expand(3, -1) + 1, [rand(4)]),
        Case("size_arith", lambda a: a * a.shape[0] / a.shape[1], [rand(3, 5)]),
    ]


def views() -> list[Case]:
    x = rand(4, 6)
    return [
        Case("slice", lambda a: a[1:3, 2:] + 1, [x]),
        Case("slice_step", lambda a: a[:, 1::2] * 2, [x]),
        Case("slice_negative", lambda a: a[-3:, :-1] * 2, [x]),
        Case("select", lambda a: a[2] + a[-1], [x]),
        Case("view", lambda a: a.view(2, 12).t() * 2, [x]),
        Case("split", lambda a: sum(torch.split(a, [1, 2, 3], 1)[k].sum() for k in range(3)), [x]),
        Case("chunk", lambda a: torch.chunk(a, 3, 1)[2] * 2, [x]),
        Case("unbind", lambda a: a.unbind(1)[3] * 2, [x]),
        Case("diagonal", lambda a: a.diagonal(1) * 2, [x]),
        Case("diagonal_below", lambda a: a.diagonal(-2, 1, 0) * 2, [x]),
        Case("unfold", lambda a: a.unfold(1, 3, 2) * 2, [x]),
        Case("unsqueeze", lambda a: a.unsqueeze(1).squeeze(1) * 2, [x]),
        Case("returned_view", lambda a: (a * 2).t(), [x]),
        Case("view_of_input", lambda a: a.t(), [x]),
        Case("as_strided", lambda a: (a * 2).as_strided((2, 3), (6, 2), 1) * 2, [x], symbolic=False),
        Case(
            "clone_transposed", lambda a: a.t().clone(memory_format=torch.contiguous_format).view(-1) * 2, [x]
        ),
        Case("two_outputs", lambda a: (a + 1, a.t(), (a + 1) * 2), [x]),
        Case("returned_input", lambda a: (a, a * 2), [x]),
    ]


def folds() -> list[Case]:
    x = rand(3, 4, 5)
    out = [
        Case("sum", aten.sum.default, [x]),
        Case("sum_dim", lambda a: aten.sum.dim_IntList(a, [1]), [x]),
        Case("sum_dims_keep", lambda a: aten.sum.dim_IntList(a, [0, -1], True), [x]),
        Case("sum_transposed", lambda a: a.permute(2, 0, 1).sum(1), [x]),
        Case("sum_int", lambda a: a.sum(0), [ints(-9, 9, 3, 4, dtype=torch.int32)]),
        Case("sum_bool", lambda a: a.sum(), [ints(0, 2, 3, 4).bool()]),
        Case("sum_bf16", lambda a: a.sum(1), [x.bfloat16()], 8e-3),
        Case("sum_bf16_to_f32", lambda a: a.sum(1, dtype=torch.float32), [x.bfloat16()]),
        Case("sum_0d", lambda a: a.sum(), [torch.tensor(2.5)]),
        Case("mean", lambda a: a.mean((1, 2)), [x]),
        Case("mean_all", lambda a: a.mean(), [x]),
        Case("count_nonzero", lambda a: aten.count_nonzero.dim_IntList(a, [1]), [ints(0, 2, 4, 3)]),
        Case("prod", lambda a: a.prod(1), [x]),
        Case("amax", lambda a: a.amax((0, 2)), [x]),
        Case("amax_nan", lambda a: a.amax(0), [special()]),
        Case("amin", lambda a: a.amin(1, True), [x]),
        Case("max", lambda a: a.max(), [x]),
        Case("max_int", lambda a: a.max(), [ints(-9, 9, 7)]),
        Case("max_dim", lambda a: tuple(a.max(1)), [x]),
        Case("min_dim_keep", lambda a: tuple(a.min(2, True)), [x]),
        Case("max_dim_ties", lambda a: tuple(a.max(0)), [torch.tensor([1.0, 3.0, 3.0, 2.0])]),
        Case("max_dim_nan", lambda a: tuple(a.max(0)), [torch.tensor([1.0, nan, 3.0, nan])]),
        Case("max_dim_bool", lambda a: tuple(a.max(0)), [ints(0, 2, 4, 3).bool()]),
        Case("argmax", lambda a: a.argmax(), [x]),
        Case("argmax_dim", lambda a: a.argmax(1), [x]),
        Case("argmin_keep", lambda a: a.argmin(-1, True), [x]),
        Case("aminmax", lambda a: tuple(aten.aminmax.default(a, dim=1)), [x]),
        Case("any", lambda a: a.any(), [ints(0, 2, 5)]),
        Case("any_dim", lambda a: a.any(1), [ints(0, 2, 4, 3)]),
        Case("all_dim", lambda a: a.all(0), [ints(0, 2, 4, 3).bool()]),
        Case("all_u8", lambda a: a.all(), [ints(0, 2, 4, 3).to(torch.uint8)]),
        Case("logsumexp", lambda a: a.logsumexp((1, 2)), [x]),
        Case(
            "logsumexp_inf", lambda a: a.logsumexp(1), [torch.tensor([[inf, 1.0], [-inf, -inf], [-inf, 2.0]])]
        ),
        Case("var", lambda a: a.var(1), [x]),
        Case("var_all", lambda a: a.var(correction=0), [x]),
        Case("std", lambda a: a.std((0, 2), correction=2, keepdim=True), [x]),
        Case("var_mean", lambda a: torch.var_mean(a, 2), [x]),
        Case("norm_2", lambda a: torch.linalg.vector_norm(a, 2, 1), [x]),
        Case("norm_1", lambda a: torch.linalg.vector_norm(a, 1), [x]),
        Case("norm_inf", lambda a: torch.linalg.vector_norm(a, inf, (0, 1)), [x]),
        Case("cumsum", lambda a: a.cumsum(1), [x]),
        Case("cumsum_int", lambda a: a.cumsum(0), [ints(-9, 9, 5, 2, dtype=torch.int32)]),
        Case("cumprod", lambda a: a.cumprod(-1), [x]),
        Case("cumsum_bf16", lambda a: a.cumsum(0), [rand(6).bfloat16()], 8e-3),
    ]
    return out


def softmaxes() -> list[Case]:
    x = rand(2, 3, 5)
    masked = torch.tensor([[1.0, -inf, 2.0], [-inf, -inf, -inf]])
    return [
        Case("softmax", lambda a: aten._softmax.default(a, -1, False), [x]),
        Case("softmax_middle", lambda a: aten._softmax.default(a, 1, False), [x]),
        Case("softmax_bf16", lambda a: aten._softmax.default(a, -1, False), [x.bfloat16()], 8e-3),
        Case("log_softmax", lambda a: aten._log_softmax.default(a, -1, False), [x]),
        Case("safe_softmax", lambda a: aten._safe_softmax.default(a, -1), [masked]),
        Case("softmax_masked", lambda a: aten._softmax.default(a, -1, False), [masked]),
        Case(
            "softmax_backward",
            lambda g, y: aten._softmax_backward_data.default(g, y, -1, torch.float32),
            [rand(2, 3, 5), x.softmax(-1)],
        ),
        Case(
            "log_softmax_backward",
            lambda g, y: aten._log_softmax_backward_data.default(g, y, 1, torch.float32),
            [rand(2, 3, 5), x.log_softmax(1)],
        ),
    ]


def norms() -> list[Case]:
    x, w, b = rand(2, 3, 6), rand(6), rand(6)
    image, gamma, beta = rand(2, 4, 3, 3), rand(4), rand(4)
    mean, var = rand(4), rand(4).abs() + 0.5
    tolerance = 5e-6

    def layer(a: torch.Tensor, *rest: torch.Tensor) -> Any:
        return aten.native_layer_norm.default(a, [6], *(rest or (None, None)), 1e-5)

    def layer_backward(g: torch.Tensor, a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> Any:
        _, m, r = layer(a, weight, bias)
        return aten.native_layer_norm_backward.default(g, a, [6], m, r, weight, bias, [True, True, True])

    def batch(training: bool) -> Callable[..., Any]:
        def run(a: torch.Tensor, *rest: torch.Tensor) -> Any:
            return aten._native_batch_norm_legit_functional.default(a, *rest, training, 0.1, 1e-5)[
                :: 3 if not training else 1
            ]

        return run

    def batch_backward(training: bool) -> Callable[..., Any]:
        def run(
            g: torch.Tensor, a: torch.Tensor, weight: torch.Tensor, m: torch.Tensor, v: torch.Tensor
        ) -> Any:
            batch_mean = a.mean((0, 2, 3))
            invstd = (a.var((0, 2, 3), correction=0) + 1e-5).rsqrt()
            return aten.native_batch_norm_backward.default(
                g, a, weight, m, v, batch_mean, invstd, training, 1e-5, [True, True, True]
            )

        return run

    def rms(a: torch.Tensor, weight: torch.Tensor) -> Any:
        rstd = (a.square().mean(-1, True) + 1e-5).rsqrt()
        return a * rstd * weight, rstd

    def rms_backward(g: torch.Tensor, a: torch.Tensor, rstd: torch.Tensor, weight: torch.Tensor) -> Any:
        with torch.enable_grad():
            leaves = [a.clone().requires_grad_(), weight.clone().requires_grad_()]
            return torch.autograd.grad(rms(*leaves)[0], leaves, g)

    def group(a: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> Any:
        return aten.native_group_norm.default(a, weight, bias, a.shape[0], 4, 9, 2, 1e-5)

    def group_backward(g: torch.Tensor, a: torch.Tensor, weight: torch.Tensor) -> Any:
        _, m, r = aten.native_group_norm.default(a, weight, None, a.shape[0], 4, 9, 2, 1e-5)
        return aten.native_group_norm_backward.default(
            g, a, m, r, weight, a.shape[0], 4, 9, 2, [True, True, True]
        )

    return [
        Case("layer_norm", layer, [x, w, b], tolerance),
        Case("layer_norm_plain", lambda a: layer(a), [x], tolerance),
        Case("layer_norm_bf16", lambda *a: layer(*a)[0], [x.bfloat16(), w.bfloat16(), b.bfloat16()], 2e-2),
        Case("layer_norm_backward", layer_backward, [rand(2, 3, 6), x, w, b], 2e-5),
        Case(
            "batch_norm_eval",
            lambda *a: aten._native_batch_norm_legit_no_training.default(*a, 0.1, 1e-5)[0],
            [image, gamma, beta, mean, var],
            tolerance,
        ),
        Case("batch_norm_train", batch(True), [image, gamma, beta, mean, var], tolerance),
        Case("batch_norm_functional_eval", batch(False), [image, gamma, beta, mean, var], tolerance),
        Case("batch_norm_backward", batch_backward(True), [rand(2, 4, 3, 3), image, gamma, mean, var], 2e-5),
        Case(
            "batch_norm_backward_eval",
            batch_backward(False),
            [rand(2, 4, 3, 3), image, gamma, mean, var],
            2e-5,
        ),
        Case("group_norm", group, [image, gamma, beta], tolerance),
        Case(
            "rms_norm",
            rms,
            [x, w],
            2e-5,
            False,
            aten._fused_rms_norm.default,
            lambda a, weight: [a, [6], weight, 1e-5],
        ),
        Case(
            "rms_norm_backward",
            rms_backward,
            [rand(2, 3, 6), x, rms(x, w)[1], w],
            2e-5,
            False,
            aten._fused_rms_norm_backward.default,
            lambda g, a, r, weight: [g, a, [6], r, weight, [True, True]],
        ),
        Case(
            "batch_norm_update",
            lambda *a: aten._batch_norm_with_update_functional.default(*a, 0.1, 1e-5)[0],
            [image, gamma, beta, mean, var],
            tolerance,
        ),
        Case("group_norm_backward", group_backward, [rand(2, 4, 3, 3), image, gamma], 2e-5),
    ]


def moves() -> list[Case]:
    x = rand(3, 4)
    image = rand(1, 2, 4, 5)
    return [
        Case("cat", lambda a, b: torch.cat([a, b], 0), [x, rand(2, 4)]),
        Case("cat_last", lambda a, b, c: torch.cat([a, b, c], -1), [x, rand(3, 1), rand(3, 2)]),
        Case("cat_empty", lambda a, b: torch.cat([a, b], 0), [torch.empty(0), x], symbolic=False),
        Case("cat_types", lambda a, b: torch.cat([a, b], 0), [x, ints(0, 5, 2, 4)]),
        Case("stack", lambda a, b: torch.stack([a, b], 1), [x, rand(3, 4)]),
        Case("flip", lambda a: a.flip(0, -1), [x]),
        Case("roll", lambda a: a.roll((1, -2), (0, 1)), [x]),
        Case("roll_flat", lambda a: a.roll(2), [rand(5)]),
        Case("repeat", lambda a: a.repeat(2, 1, 3), [x]),
        Case("repeat_interleave", lambda a: aten.repeat_interleave.self_int(a, 3, 1), [x], symbolic=False),
        Case("tril", lambda a: a.tril(), [rand(2, 4, 4)]),
        Case("triu", lambda a: a.triu(1), [rand(4, 5)]),
        Case("tril_bf16", lambda a: a.tril(-1), [rand(4, 4).bfloat16()]),
        Case("pad", lambda a: F.pad(a, (1, 2, 0, 1), value=-1.5), [x]),
        Case("pad_negative", lambda a: F.pad(a, (-1, 2)), [x]),
        Case("reflect", lambda a: aten.reflection_pad2d.default(a, [1, 2, 3, 1]), [image]),
        Case("replicate", lambda a: aten.replication_pad2d.default(a, [1, 2, 3, 1]), [image]),
        Case("pixel_shuffle", lambda a: aten.pixel_shuffle.default(a, 2), [rand(1, 8, 2, 3)], symbolic=False),
        Case(
            "pixel_unshuffle",
            lambda a: aten.pixel_unshuffle.default(a, 2),
            [rand(1, 2, 4, 6)],
            symbolic=False,
        ),
        Case(
            "slice_scatter",
            lambda a, b: aten.slice_scatter.default(a, b, 1, 1, 4, 2),
            [rand(3, 6), rand(3, 2)],
        ),
        Case("select_scatter", lambda a, b: aten.select_scatter.default(a, b, 0, -1), [x, rand(4)]),
        Case(
            "as_strided_scatter",
            lambda a, b: aten.as_strided_scatter.default(a * 2, b, [2, 3], [3, 1], 4),
            [x, rand(2, 3)],
            symbolic=False,
        ),
        Case("slice_backward", lambda g: aten.slice_backward.default(g, [3, 9], 1, 2, 7, 2), [rand(3, 3)]),
        Case("select_backward", lambda g: aten.select_backward.default(g, [3, 4, 5], 1, 2), [rand(3, 5)]),
        Case("arange", lambda a: torch.arange(a.shape[0]) * 2, [x]),
        Case("arange_float", lambda a: torch.arange(0.5, 4.0, 0.75) + a[0, 0], [x]),
        Case("arange_step", lambda a: torch.arange(10, 1, -3), [x]),
        Case("linspace", lambda a: torch.linspace(-1, 2, 7) + a[0, 0], [x]),
        Case("full", lambda a: torch.full((2, 3), 0.1, dtype=torch.bfloat16), [x]),
        Case("full_like", lambda a: torch.full_like(a, 7), [ints(0, 3, 4)]),
        Case("zeros_ones", lambda a: torch.zeros_like(a) + torch.ones(a.shape[1]), [x]),
        Case("eye", lambda a: torch.eye(4, 3) * 2, [x]),
        Case("scalar_tensor", lambda a: a * torch.scalar_tensor(2.5), [x]),
    ]


def indexing() -> list[Case]:
    x = rand(5, 4)
    ids = ints(0, 5, 2, 3)
    return [
        Case("embedding", lambda w, i: aten.embedding.default(w, i), [x, ids]),
        Case(
            "embedding_backward",
            lambda g, i: aten.embedding_dense_backward.default(g, i, 5, 2, False),
            [rand(2, 3, 4), ids],
        ),
        Case("gather", lambda a, i: a.gather(1, i), [x, ints(0, 4, 3, 2)]),
        Case("index_select", lambda a, i: a.index_select(1, i), [x, ints(0, 4, 6)]),
        Case("index", lambda a, i: a[i], [x, ints(-5, 5, 2, 3)]),
        Case("index_two", lambda a, i, j: a[i, j], [x, ints(-5, 5, 3, 1), ints(-4, 4, 2)]),
        Case("index_last", lambda a, i: a[:, i], [x, ints(0, 4, 3)]),
        Case("index_apart", lambda a, i, j: a[i, :, j], [rand(3, 2, 4), ints(0, 3, 5), ints(0, 4, 5)]),
        Case("index_side", lambda a, i, j: a[:, i, j], [rand(3, 2, 4), ints(0, 2, 5), ints(0, 4, 5)]),
        Case("index_i32", lambda a, i: a[i], [x, ints(0, 5, 3, dtype=torch.int32)]),
        Case("index_put", lambda a, i, v: aten.index_put.default(a, [i], v, True), [x, ids, rand(2, 3, 4)]),
        Case(
            "index_put_last",
            lambda a, i, v: aten.index_put.default(a, [None, i], v, True),
            [x, ints(0, 4, 3), rand(3)],
        ),
        Case("scatter_add", lambda a, i, v: a.scatter_add(1, i, v), [x, ints(0, 4, 3, 2), rand(5, 4)]),
        Case(
            "scatter_reduce",
            lambda a, i, v: a.scatter_reduce(1, i, v, "sum"),
            [x, ints(0, 4, 3, 2), rand(3, 2)],
        ),
        Case("index_add", lambda a, i, v: a.index_add(0, i, v, alpha=0.5), [x, ints(0, 5, 3), rand(3, 4)]),
        Case(
            "scatter_add_bf16",
            lambda a, i, v: a.scatter_add(0, i, v),
            [rand(3).bfloat16(), ints(0, 3, 6), rand(6).bfloat16()],
            8e-3,
        ),
        Case("scatter", lambda a, i, v: a.scatter(1, i, v), [x, ints(0, 4, 3, 4), rand(5, 4)]),
        Case("scatter_twice", lambda a, i, v: a.scatter(0, i, v), [rand(3), torch.tensor([2, 0, 2, 2]), rand(4)]),
        Case("scatter_value", lambda a, i: a.scatter(0, i, 2.5), [x, ints(0, 5, 2, 3)]),
        Case("scatter_none", lambda a, i, v: a.scatter(0, i, v), [x, ints(0, 5, 0, 4), rand(0, 4)], symbolic=False),
        Case("scatter_multiply", lambda a, i: a.scatter(0, i, 2.0, reduce="multiply"), [x, ints(0, 5, 4, 4)]),
        *(
            Case(
                f"scatter_reduce_{fold}_{'with' if with_self else 'without'}",
                lambda a, i, v, fold=fold, with_self=with_self: a.scatter_reduce(
                    0, i, v, fold, include_self=with_self
                ),
                [rand(4, 3), ints(0, 3, 6, 3), rand(6, 3)],
            )
            for fold in ("sum", "prod", "mean", "amax", "amin")
            for with_self in (True, False)
        ),
        Case(
            "scatter_reduce_nan",
            lambda a, i, v: a.scatter_reduce(0, i, v, "amax"),
            [rand(3), ints(0, 3, 6), torch.tensor([nan, 1.0, -inf, inf, 0.0, 2.0])],
        ),
        Case(
            "scatter_mean_u8",
            lambda a, i, v: a.scatter_reduce(0, i, v, "mean", include_self=False),
            [ints(0, 255, 3, dtype=torch.uint8), ints(0, 2, 6), ints(0, 40, 6, dtype=torch.uint8)],
        ),
        Case(
            "index_reduce",
            lambda a, i, v: aten.index_reduce.default(a, 1, i, v, "prod", include_self=False),
            [x, ints(0, 3, 6), rand(5, 6)],
        ),
        Case("index_copy", lambda a, i, v: a.index_copy(1, i, v), [x, ints(0, 4, 6), rand(5, 6)]),
        Case("index_fill", lambda a, i: a.index_fill(0, i, -1.5), [x, ints(-5, 5, 3)]),
        Case("index_fill_tensor", lambda a, i, v: a.index_fill(1, i, v), [x, ints(0, 4, 2), rand()]),
        Case("take", lambda a, i: a.take(i), [x, ints(-20, 20, 3, 2)]),
        Case("put", lambda a, i, v: a.put(i, v), [x, ints(-20, 20, 9), rand(9)]),
        Case("put_sum", lambda a, i, v: a.put(i, v, True), [x, ints(-20, 20, 9), rand(3, 3)]),
        Case("index_put_set", lambda a, i, v: aten.index_put.default(a, [i], v), [x, ids, rand(2, 3, 4)]),
        Case(
            "index_put_set_two",
            lambda a, i, j, v: aten.index_put.default(a, [i, None, j], v),
            [rand(3, 2, 4), ints(-3, 3, 5, 1), ints(0, 4, 2), rand(5, 2, 2)],
        ),
        Case(
            "index_put_cache",
            lambda a, i, v: aten.index_put.default(a, [None, None, i], v),
            [rand(2, 3, 6, 4), torch.tensor([4, 1]), rand(2, 3, 2, 4)],
        ),
        Case("index_put_none", lambda a, i: aten.index_put.default(a, [i], a[:0]), [x, ints(0, 5, 0)], symbolic=False),
        Case(
            "index_put_mask",
            lambda a, m, v: aten.index_put.default(a, [None, m], v),
            [rand(2, 3, 4), rand(3, 4) > 0, rand()],
        ),
        Case(
            "index_put_mask_sum",
            lambda a, m, v: aten.index_put.default(a, [m], v, True),
            [rand(3, 4), rand(3) > 0, rand(1, 4)],
        ),
    ]


def volumes() -> list[Case]:
    x, flat = rand(1, 2, 5, 4, 6), rand(2, 5, 7)
    ties = torch.tensor([[[[1.0, 1.0, nan, 0.0], [2.0, 2.0, -inf, nan]]]])

    def max_backward(a: torch.Tensor) -> Any:
        y, where = aten.max_pool3d_with_indices.default(a, [3, 2, 3], [2, 1, 2], [1, 0, 1])
        return aten.max_pool3d_with_indices_backward.default(
            y, a, [3, 2, 3], [2, 1, 2], [1, 0, 1], [1, 1, 1], False, where
        )

    def avg_backward(a: torch.Tensor) -> Any:
        y = aten.avg_pool3d.default(a, [3, 2, 2], [2, 2, 1], [1, 1, 0], True, False)
        return aten.avg_pool3d_backward.default(y, a, [3, 2, 2], [2, 2, 1], [1, 1, 0], True, False, None)

    def adaptive_max_backward(a: torch.Tensor) -> Any:
        y, where = aten.adaptive_max_pool2d.default(a, [4, 3])
        return aten.adaptive_max_pool2d_backward.default(y, a, where)

    def unpool(a: torch.Tensor) -> Any:
        y, where = aten.max_pool2d_with_indices.default(a, [2, 2])
        return aten.max_unpool2d.default(y, where, [5, 7])

    return [
        Case("max_pool3d", lambda a: aten.max_pool3d_with_indices.default(a, [3], [2], [1]), [x]),
        Case(
            "max_pool3d_dilated",
            lambda a: aten.max_pool3d_with_indices.default(a, [2, 1, 2], [1, 2, 1], [0, 0, 1], [2, 1, 3], True),
            [x],
        ),
        Case("max_pool3d_backward", max_backward, [x]),
        Case("avg_pool3d", lambda a: aten.avg_pool3d.default(a, [3, 2, 2], [2, 2, 1], [1, 1, 0], True), [x]),
        Case("avg_pool3d_backward", avg_backward, [x]),
        Case("adaptive3d", lambda a: aten._adaptive_avg_pool3d.default(a, [2, 4, 5]), [x]),
        Case(
            "adaptive3d_backward",
            lambda a: aten._adaptive_avg_pool3d_backward.default(aten._adaptive_avg_pool3d.default(a, [2, 4, 5]), a),
            [x],
        ),
        Case("adaptive_max", lambda a: aten.adaptive_max_pool2d.default(a, [4, 3]), [flat]),
        Case("adaptive_max_ties", lambda a: aten.adaptive_max_pool2d.default(a, [1, 3]), [ties], symbolic=False),
        Case("adaptive_max3d", lambda a: aten.adaptive_max_pool3d.default(a, [2, 2, 4]), [x]),
        Case("adaptive_max_backward", adaptive_max_backward, [flat]),
        Case("unpool", unpool, [flat], symbolic=False),
    ]


def patches() -> list[Case]:
    x = rand(2, 3, 6, 5)
    return [
        Case("im2col", lambda a: aten.im2col.default(a, [3, 2], [1, 2], [1, 0], [2, 1]), [x]),
        Case(
            "col2im",
            lambda a: aten.col2im.default(
                aten.im2col.default(a, [3, 2], [1, 2], [1, 0], [2, 1]), [6, 5], [3, 2], [1, 2], [1, 0], [2, 1]
            ),
            [x],
            symbolic=False,
        ),
        Case(
            "unfold_backward",
            lambda a: aten.unfold_backward.default(a.unfold(1, 3, 2), [4, 8], 1, 3, 2),
            [rand(4, 8)],
            symbolic=False,
        ),
        Case(
            "unfold_backward_gaps",
            lambda a: aten.unfold_backward.default(a.unfold(0, 2, 3), [9], 0, 2, 3),
            [rand(9)],
            symbolic=False,
        ),
    ]


def grids() -> list[Case]:
    """Positions inside, on pixels, far outside at both ends, and none."""
    x = rand(2, 3, 4, 5)
    grid = torch.rand(2, 6, 3, 2) * 3 - 1.5
    grid[0, 0] = torch.tensor([[-1.0, 1.0], [0.0, 0.0], [nan, 0.5]])
    grid[1, 1] = torch.tensor([[-7.3, 9.1], [1.0, -1.0], [0.5, -inf]])
    volume, places = rand(1, 2, 3, 4, 5), torch.rand(1, 2, 3, 2, 3) * 3 - 1.5
    padding = ("zeros", "border", "reflection")
    return [
        *(
            Case(
                f"grid_{('linear', 'nearest', 'cubic')[mode]}_{padding[pad]}{'_aligned' if aligned else ''}",
                lambda a, g, mode=mode, pad=pad, aligned=aligned: aten.grid_sampler_2d.default(a, g, mode, pad, aligned),
                # An infinite position is mirrored to nowhere.
                [x, grid.nan_to_num(0.25, posinf=2.0, neginf=-2.0) if pad == 2 or mode == 2 else grid],
                2e-5,
            )
            for mode in range(3)
            for pad in range(3)
            for aligned in (False, True)
        ),
        Case("grid3d", lambda a, g: aten.grid_sampler_3d.default(a, g, 0, 1, False), [volume, places], 1e-5),
    ]


def distances() -> list[Case]:
    a, b = rand(2, 4, 3), rand(2, 5, 3)
    b[0, 0] = a[0, 1]

    def backward(p: float) -> Callable[..., Any]:
        def run(a: torch.Tensor, b: torch.Tensor) -> Any:
            distance = aten._cdist_forward.default(a, b, p, 2)
            return aten._cdist_backward.default(torch.ones_like(distance), a, b, p, distance)

        return run

    return [
        *(
            Case(f"cdist_{p}", lambda a, b, p=p: aten._cdist_forward.default(a, b, p, 2), [a, b], 1e-5)
            for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf)
        ),
        *(Case(f"cdist_backward_{p}", backward(p), [a, b], 1e-4) for p in (0.5, 1.0, 1.5, 2.0, 3.0, inf)),
        Case("cdist_broadcast", lambda a, b: aten._cdist_forward.default(a, b, 2.0, 2), [a, b[:1]], 1e-5),
    ]


def pools() -> list[Case]:
    x = rand(1, 2, 6, 7)

    def max_backward(a: torch.Tensor) -> Any:
        y, where = aten.max_pool2d_with_indices.default(a, [3, 3], [2, 2], [1, 1])
        return aten.max_pool2d_with_indices_backward.default(
            y, a, [3, 3], [2, 2], [1, 1], [1, 1], False, where
        )

    def avg_backward(count_pads: bool) -> Callable[..., Any]:
        def run(a: torch.Tensor) -> Any:
            y = aten.avg_pool2d.default(a, [3, 2], [2, 2], [1, 1], True, count_pads)
            return aten.avg_pool2d_backward.default(y, a, [3, 2], [2, 2], [1, 1], True, count_pads, None)

        return run

    return [
        Case("max_pool", lambda a: aten.max_pool2d_with_indices.default(a, [3, 3], [2, 2], [1, 1]), [x]),
        Case("max_pool_plain", lambda a: aten.max_pool2d_with_indices.default(a, [2, 2]), [x]),
        Case(
            "max_pool_dilated",
            lambda a: aten.max_pool2d_with_indices.default(a, [2, 2], [1, 2], [0, 1], [2, 2], True),
            [x],
        ),
        Case(
            "max_pool_inf",
            lambda a: aten.max_pool2d_with_indices.default(a, [2, 2], [1, 1], [1, 1]),
            [torch.full((1, 1, 2, 2), -inf)],
            symbolic=False,
        ),
        Case(
            "max_pool_nan",
            lambda a: aten.max_pool2d_with_indices.default(a, [2, 2], [1, 1], [1, 1]),
            [torch.tensor([[[[nan, 1.0, 1.0], [nan, 1.0, nan]]]])],
            symbolic=False,
        ),
        Case("max_pool_backward", max_backward, [x]),
        Case("avg_pool", lambda a: aten.avg_pool2d.default(a, [2, 3]), [x]),
        Case("avg_pool_pads", lambda a: aten.avg_pool2d.default(a, [3, 3], [2, 2], [1, 1], True, True), [x]),
        Case(
            "avg_pool_no_pads",
            lambda a: aten.avg_pool2d.default(a, [3, 3], [2, 2], [1, 1], False, False),
            [x],
        ),
        Case("avg_pool_divisor", lambda a: aten.avg_pool2d.default(a, [2, 2], divisor_override=3), [x]),
        Case("avg_pool_backward", avg_backward(True), [x]),
        Case("avg_pool_backward_no_pads", avg_backward(False), [x]),
        Case("adaptive", lambda a: aten._adaptive_avg_pool2d.default(a, [3, 4]), [x]),
        Case("adaptive_exact", lambda a: aten._adaptive_avg_pool2d.default(a, [3, 1]), [x]),
        Case(
            "adaptive_backward",
            lambda a: aten._adaptive_avg_pool2d_backward.default(
                aten._adaptive_avg_pool2d.default(a, [4, 3]), a
            ),
            [x],
        ),
        *volumes(),
        *patches(),
        *grids(),
        *distances(),
        Case("nearest", lambda a: aten.upsample_nearest2d.default(a, [12, 14]), [x]),
        Case("nearest_odd", lambda a: aten.upsample_nearest2d.default(a, [9, 5]), [x]),
        Case("bilinear", lambda a: aten.upsample_bilinear2d.default(a, [9, 12], False), [x], 5e-6),
        Case("bilinear_aligned", lambda a: aten.upsample_bilinear2d.default(a, [9, 4], True), [x], 5e-6),
        Case(
            "bilinear_scales",
            lambda a: aten.upsample_bilinear2d.default(a, [12, 14], False, 2.0, 2.0),
            [x],
            5e-6,
        ),
    ]


def losses() -> list[Case]:
    x, y = rand(4, 3), rand(4, 3)
    p, t = torch.rand(4, 3), torch.rand(4, 3)
    logits, classes, w = rand(5, 4), torch.tensor([0, 3, -100, 1, 2]), torch.rand(4)
    image, pixels = rand(2, 3, 2, 2), ints(0, 3, 2, 2, 2)
    out = []
    for reduction in (0, 1, 2):

        def loss(name: str, f: Callable[..., Any], *xs: torch.Tensor) -> None:
            out.append(Case(f"{name}_{reduction}", f, list(xs), 4e-6))

        g = rand(4, 3) if reduction == 0 else rand()
        loss("mse", lambda a, b, r=reduction: aten.mse_loss.default(a, b, r), x, y)
        loss("mse_backward", lambda g, a, b, r=reduction: aten.mse_loss_backward.default(g, a, b, r), g, x, y)
        loss("smooth_l1", lambda a, b, r=reduction: aten.smooth_l1_loss.default(a, b, r, 0.5), x, y)
        loss(
            "smooth_l1_backward",
            lambda g, a, b, r=reduction: aten.smooth_l1_loss_backward.default(g, a, b, r, 0.5),
            g,
            x,
            y,
        )
        loss("huber", lambda a, b, r=reduction: aten.huber_loss.default(a, b, r, 0.5), x, y)
        loss(
            "huber_backward",
            lambda g, a, b, r=reduction: aten.huber_loss_backward.default(g, a, b, r, 0.5),
            g,
            x,
            y,
        )
        loss("bce", lambda a, b, r=reduction: aten.binary_cross_entropy.default(a, b, None, r), p, t)
        loss(
            "bce_backward",
            lambda g, a, b, r=reduction: aten.binary_cross_entropy_backward.default(g, a, b, None, r),
            g,
            p,
            t,
        )
        loss(
            "bce_logits",
            lambda a, b, c, r=reduction: aten.binary_cross_entropy_with_logits.default(a, b, None, c, r),
            x,
            t,
            w[:3],
        )
        loss(
            "nll",
            lambda a, c, r=reduction: aten.nll_loss_forward.default(a, c, None, r, -100),
            logits,
            classes,
        )
        loss(
            "nll_weighted",
            lambda a, c, v, r=reduction: aten.nll_loss_forward.default(a, c, v, r, 1),
            logits,
            classes.clamp(0),
            w,
        )
        gl = rand(5) if reduction == 0 else rand()
        loss(
            "nll_backward",
            lambda g, a, c, v, n, r=reduction: aten.nll_loss_backward.default(g, a, c, v, r, -100, n),
            gl,
            logits,
            classes,
            w,
            torch.tensor(2.5),
        )
        loss("soft_margin", lambda a, b, r=reduction: aten.soft_margin_loss.default(a, b, r), x, y.sign())
        loss(
            "soft_margin_backward",
            lambda g, a, b, r=reduction: aten.soft_margin_loss_backward.default(g, a, b, r),
            g,
            x,
            y.sign(),
        )
        gi = rand(2, 2, 2) if reduction == 0 else rand()
        loss(
            "nll2d_backward",
            lambda g, a, c, n, r=reduction: aten.nll_loss2d_backward.default(g, a, c, None, r, -100, n),
            gi,
            image,
            pixels,
            torch.tensor(8.0),
        )
        loss(
            "nll2d",
            lambda a, c, r=reduction: aten.nll_loss2d_forward.default(a, c, None, r, -100),
            image,
            pixels,
        )
    return out


def functions() -> list[Case]:
    """Special functions, bits of floats, and gradients of activations."""
    out: list[Case] = []

    def row(name: str, f: Callable[..., Any], *xs: torch.Tensor, tolerance: float = 2e-6) -> None:
        out.append(Case(name, f, list(xs), tolerance, symbolic=False))

    other = special().roll(5)
    positive = torch.tensor([0.25, 0.5, 1.0, 1.5, 2.0, 3.5, 10.0])
    for name in "heaviside logaddexp2".split():
        row(name, getattr(aten, name).default, special(), other, tolerance=4e-6)
    row("heaviside_bool", aten.heaviside.default, ints(0, 2, 6).bool(), ints(0, 2, 6).bool())
    row("heaviside_int", aten.heaviside.default, ints(-2, 3, 8), ints(-9, 9, 8))
    row("angle", aten.angle.default, special())
    row("angle_int", aten.angle.default, ints(-3, 3, 6))
    row("sinc", aten.sinc.default, special())
    row("sinc_f16", aten.sinc.default, special(torch.float16), tolerance=1e-3)
    row("xlogy_self", lambda x: aten.xlogy.Scalar_Self(2.0, x), special())
    row("xlog1py", aten.special_xlog1py.default, special(), other)
    row("entr", aten.special_entr.default, special())
    row("special_ints", lambda x: aten.special_i0e.default(x) + aten.special_entr.default(x), ints(-3, 3, 6))
    row("log_ndtr", aten.special_log_ndtr.default, special(), tolerance=4e-6)
    row("erfcx", aten.special_erfcx.default, wide(), tolerance=4e-6)
    row("erfcx_f64", aten.special_erfcx.default, wide(torch.float64), tolerance=1e-13)
    row("ndtri", aten.special_ndtri.default, probabilities(), tolerance=4e-6)
    row("ndtri_f64", aten.special_ndtri.default, probabilities().double(), tolerance=1e-14)
    bessel = """i0 special_i0e special_i1 special_i1e special_bessel_j0 special_bessel_j1 special_bessel_y0
        special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0
        special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1
        special_spherical_bessel_j0 special_airy_ai"""
    for name in bessel.split():
        f = getattr(aten, name).default
        row(name, f, wide(), tolerance=1e-5)
        row(f"{name}_f64", f, wide(torch.float64), tolerance=1e-13)
    row("i0_f16", aten.i0.default, wide(torch.float16), tolerance=1e-3)
    row("polygamma_0", lambda x: aten.polygamma.default(0, x), positive, tolerance=1e-5)
    row("polygamma_1", lambda x: aten.polygamma.default(1, x), moderate() + 0.25, tolerance=1e-5)
    row("mvlgamma", lambda x: aten.mvlgamma.default(x, 3), positive + 1.0, tolerance=1e-5)
    row("ldexp", aten.ldexp.Tensor, special(), ints(-9, 9, 14))
    row("ldexp_float", aten.ldexp.Tensor, special(), other)
    for decimals in (-1, 0, 1, 3):
        row(f"round_{decimals}", lambda x, d=decimals: aten.round.decimals(x, decimals=d), 9 * special())
    row("round_f16", lambda x: aten.round.decimals(x, decimals=2), special(torch.float16), tolerance=1e-3)
    subnormal = torch.tensor([1e-40, -1e-45, 1.1754944e-38])
    row("frexp", lambda x: tuple(aten.frexp.Tensor(x)), torch.cat([special(), subnormal]))
    row("frexp_f64", lambda x: tuple(aten.frexp.Tensor(x)), torch.tensor([5e-324, -3.0, 0.0], dtype=torch.float64))
    row("frexp_f16", lambda x: tuple(aten.frexp.Tensor(x)), special(torch.float16))
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        name = f"nextafter_{str(dtype)[6:]}"
        row(name, aten.nextafter.default, special(dtype), special(dtype).roll(5), tolerance=0.0)
    row("addr", lambda x, y, z: aten.addr.default(x, y, z, beta=0.5, alpha=2), rand(3, 4), rand(3), rand(4))
    row("addr_no_self", lambda x, y, z: aten.addr.default(x, y, z, beta=0), rand(4) * nan, rand(3), rand(4))
    row("addr_int", lambda x, y, z: aten.addr.default(x, y, z, beta=3), *(ints(-5, 5, n) for n in (3, 2, 3)))
    row(
        "soft_margin_f16",
        lambda x, y: aten.soft_margin_loss.default(x, y, 0),
        torch.tensor([-12.0, 12.0, 0.5], dtype=torch.float16),
        torch.tensor([1.0, 1.0, -1.0], dtype=torch.float16),
        tolerance=2e-3,
    )
    row("addr_bool", aten.addr.default, *(ints(0, 2, *n).bool() for n in ((3, 4), (3,), (4,))))
    row("cross", lambda x, y: aten.linalg_cross.default(x, y, dim=1), rand(2, 3, 2), rand(1, 3, 2))
    row("logit_backward", lambda g, x: aten.logit_backward.default(g, x), rand(8), torch.linspace(-0.5, 1.5, 8))
    row("logit_backward_eps", lambda g, x: aten.logit_backward.default(g, x, 0.1), rand(8), torch.linspace(0, 1, 8))
    row("glu_backward", lambda g, x: aten.glu_backward.default(g, x, 1), rand(2, 3), rand(2, 6))
    row(
        "prelu_backward",
        lambda g, x, w: tuple(aten._prelu_kernel_backward.default(g, x, w)),
        rand(2, 3),
        rand(2, 3),
        rand(1, 3),
    )
    return out


def view_copies() -> list[Case]:
    x = rand(4, 6)
    return [
        Case("squeeze_copy", lambda a: aten.squeeze_copy.default(a[:, None, :1]), [x], symbolic=False),
        Case("squeeze_copy_dim", lambda a: aten.squeeze_copy.dim(a[:, None], 1), [x], symbolic=False),
        Case("unsqueeze_copy", lambda a: aten.unsqueeze_copy.default(a.t(), 1), [x], symbolic=False),
        Case("permute_copy", lambda a: aten.permute_copy.default(a[None], [-1, 0, 1]), [x]),
        Case("t_copy", lambda a: aten.t_copy.default(a), [x]),
        Case("t_copy_1d", lambda a: aten.t_copy.default(a[0]), [x]),
        Case("transpose_copy", lambda a: aten.transpose_copy.int(a[None], 0, -1), [x]),
        Case("expand_copy", lambda a: aten.expand_copy.default(a[:, None], [-1, 3, -1]), [x]),
        Case("alias_copy", lambda a: aten.alias_copy.default(a.t()), [x]),
        Case("unbind_copy", lambda a: tuple(aten.unbind_copy.int(a, 1)), [x], symbolic=False),
        Case("split_copy", lambda a: tuple(aten.split_copy.Tensor(a, 4, 1)), [x], symbolic=False),
        Case("split_sizes_copy", lambda a: tuple(aten.split_with_sizes_copy.default(a, [1, 5], 1)), [x]),
        Case("unfold_copy", lambda a: aten.unfold_copy.default(a.t(), 0, 3, 2), [x]),
        Case("narrow_copy", lambda a: aten.narrow_copy.default(a, 1, -4, 3), [x], symbolic=False),
        Case("slice_copy", lambda a: aten.slice_copy.Tensor(a, 1, -5, 6, 2), [x], symbolic=False),
        Case("select_copy", lambda a: aten.select_copy.int(a, 1, -2), [x], symbolic=False),
        Case("diagonal_copy", lambda a: aten.diagonal_copy.default(a, -1), [x]),
        Case("diagonal_copy_inner", lambda a: aten.diagonal_copy.default(a.view(2, 2, 6), 1, 2, 0), [x]),
        Case("as_strided_copy", lambda a: aten.as_strided_copy.default(a * 2, [3, 2], [1, 6], 4), [x], symbolic=False),
        Case("resize_as", lambda a, b: aten.resize_as.default(a, b), [x, rand(4, 6)], symbolic=False),
        Case("diagonal_scatter", lambda a, b: aten.diagonal_scatter.default(a, b, 1), [rand(3, 4), rand(3)]),
        Case("diagonal_scatter_below", lambda a, b: aten.diagonal_scatter.default(a, b, -1, 1, 0), [rand(3, 4), rand(3)]),
        Case(
            "diagonal_backward",
            lambda g: aten.diagonal_backward.default(g, [3, 2, 4], -1, 0, 2),
            [rand(2, 2)],
            symbolic=False,
        ),
        Case("diag_embed", lambda a: aten.diag_embed.default(a, 1, 0, -1), [rand(2, 3)]),
        Case("diag_embed_below", lambda a: aten.diag_embed.default(a, -2), [ints(-5, 5, 2, 3)]),
        Case(
            "block_diag",
            lambda a, b, c: aten.block_diag.default([a, b, c]),
            [x, rand(2), torch.tensor(7)],
            symbolic=False,
        ),
        Case("channel_shuffle", lambda a: aten.channel_shuffle.default(a, 3), [rand(2, 6, 2)], symbolic=False),
        *(
            Case(f"rot90_{k}", lambda a, k=k: aten.rot90.default(a, k, [0, -1]), [x], symbolic=False)
            for k in (-1, 0, 1, 2, 3)
        ),
        Case(
            "chunk_cat",
            lambda a, b: aten._chunk_cat.default([a, b], 1, 2),
            [rand(2, 3, 2), rand(2, 4)],
            symbolic=False,
        ),
        Case("zero", lambda a: aten.zero.default(a), [x]),
        Case("linspace_tensors", lambda a, b: aten.linspace.Tensor_Tensor(a, b, 7), [rand(), rand()], symbolic=False),
        Case("logspace", lambda a: aten.logspace.default(-1, 2, 7, 2.5) + a[0, 0], [x]),
        Case("logspace_tensor", lambda a: aten.logspace.Tensor_Scalar(a, 2, 4), [rand()], symbolic=False),
    ]


def searches() -> list[Case]:
    """Norms, running extremes, and searches."""
    x = rand(3, 4, 5)
    return [
        Case("norm_0", lambda a: torch.linalg.vector_norm(a, 0), [special()]),
        Case("norm_3", lambda a: torch.linalg.vector_norm(a, 3, 1), [x], 4e-6),
        Case("norm_minus_half", lambda a: torch.linalg.vector_norm(a, -0.5, 1, True), [x], 1e-5),
        Case("norm_minus_inf", lambda a: torch.linalg.vector_norm(a, -inf, 1), [x]),
        Case("norm_old", lambda a: aten.norm.ScalarOpt_dim(a, None, [1], True), [x]),
        Case("norm_old_all", lambda a: aten.norm.Scalar(a, 1), [x], 4e-6),
        Case("norm_bf16", lambda a: aten.norm.ScalarOpt_dim(a, 3, [0]), [x.bfloat16()], 8e-3),
        Case("dist", lambda a, b: aten.dist.default(a, b, 1.5), [x, rand(4, 1)], 4e-6),
        Case("renorm", lambda a: aten.renorm.default(a, 2, 1, 2.5), [x]),
        Case("nansum", lambda a: aten.nansum.default(a), [torch.tensor([1.0, nan, -2.5, 4.0])]),
        Case("nansum_dim", lambda a: aten.nansum.default(a, [1], True), [x.where(x > 0, nan)]),
        Case("nansum_int", lambda a: aten.nansum.default(a, [0]), [ints(-9, 9, 4, 3)]),
        Case("trace", lambda a: aten.trace.default(a), [rand(3, 5)], symbolic=False),
        Case("trace_int", lambda a: aten.trace.default(a), [ints(-9, 9, 4, 2, dtype=torch.int32)], symbolic=False),
        Case("isin", lambda a, b: aten.isin.Tensor_Tensor(a, b), [ints(0, 9, 3, 4), ints(0, 9, 5)], symbolic=False),
        Case(
            "isin_not",
            lambda a, b: aten.isin.Tensor_Tensor(a, b, invert=True),
            [special(), torch.tensor([0.5, nan, inf], dtype=torch.float64)],
            symbolic=False,
        ),
        Case("cummax", lambda a: tuple(aten.cummax.default(a, 1)), [ints(-3, 3, 2, 9).float()]),
        Case("cummax_special", lambda a: tuple(aten.cummax.default(a, 0)), [special()]),
        Case("cummax_bool", lambda a: tuple(aten.cummax.default(a, 0)), [ints(0, 2, 8).bool()]),
        Case("cummin_nan", lambda a: tuple(aten.cummin.default(a, 0)), [torch.tensor([2.0, nan, 1.0, nan, -5.0])]),
        Case("cummin_int", lambda a: tuple(aten.cummin.default(a, 1)), [ints(-3, 3, 3, 7)]),
        Case("cummin_0d", lambda a: tuple(aten.cummin.default(a, 0)), [torch.tensor(2.5)]),
        *(
            Case(
                f"bucketize_{right}",
                lambda a, b, r=right: aten.bucketize.Tensor(a, b, right=r),
                [special(), torch.tensor([-1.0, 0.0, 0.5, 0.5, 2.5, inf, nan])],
                symbolic=False,
            )
            for right in (False, True)
        ),
        Case("bucketize_i32", lambda a, b: aten.bucketize.Tensor(a, b, out_int32=True), [x, rand(1)], symbolic=False),
        Case(
            "searchsorted",
            lambda s, a: aten.searchsorted.Tensor(s, a, side="right"),
            [ints(0, 9, 2, 6).sort().values, ints(0, 9, 2, 4)],
            symbolic=False,
        ),
        Case(
            "searchsorted_order",
            lambda s, a, o: aten.searchsorted.Tensor(s, a, sorter=o),
            [torch.tensor([3.0, 1.0, 2.0]), rand(4) * 3, torch.tensor([1, 2, 0])],
            symbolic=False,
        ),
    ]


def upsampling() -> list[Case]:
    x = rand(1, 2, 6, 7)
    return [
        Case("nearest_f64", lambda a: aten.upsample_nearest1d.default(a, [74]), [rand(1, 1, 6).double()], 0.0, symbolic=False),
        Case("nearest_exact", lambda a: aten._upsample_nearest_exact2d.default(a, [41, 14]), [x], 0.0, symbolic=False),
        Case("nearest_exact_1d", lambda a: aten._upsample_nearest_exact1d.default(a, [41]), [rand(1, 1, 2)], 0.0, symbolic=False),
        Case("nearest_exact_f64", lambda a: aten._upsample_nearest_exact1d.default(a, [41]), [rand(1, 1, 2).double()], 0.0, symbolic=False),
        *(
            Case(
                f"{kind}_backward_{size}",
                lambda g, f=f, size=size, scale=scale: f.default(g, [size, 9], [1, 2, 3, 4], scale),
                [rand(1, 2, size, 9)],
                5e-6,
                symbolic=False,
            )
            for kind, f in (
                ("nearest", aten.upsample_nearest2d_backward),
                ("nearest_exact", aten._upsample_nearest_exact2d_backward),
            )
            for size, scale in ((12, None), (7, None), (6, 2.25), (5, 1.75))
        ),
        Case(
            "nearest_backward_window",
            lambda g: aten.upsample_nearest2d_backward.default(g, [6, 8], [1, 2, 3, 4]),
            [rand(1, 2, 6, 8).bfloat16()],
            8e-3,
            symbolic=False,
        ),
        Case("linear", lambda a: aten.upsample_linear1d.default(a, [9], False), [rand(2, 2, 4)], 5e-6),
        Case("trilinear", lambda a: aten.upsample_trilinear3d.default(a, [3, 5, 4], False), [rand(1, 1, 2, 3, 4)], 5e-6),
        Case("bicubic", lambda a: aten.upsample_bicubic2d.default(a, [9, 12], False), [x], 1e-5),
        Case("bicubic_aligned", lambda a: aten.upsample_bicubic2d.default(a, [9, 1], True), [x], 1e-5),
        *(
            Case(
                f"bilinear_backward_{aligned}",
                lambda g, aligned=aligned: aten.upsample_bilinear2d_backward.default(g, [5, 9], [1, 2, 3, 4], aligned),
                [rand(1, 2, 5, 9)],
                1e-5,
                symbolic=False,
            )
            for aligned in (False, True)
        ),
        Case(
            "linear_backward_f16",
            lambda g: aten.upsample_linear1d_backward.default(g, [7], [2, 2, 3], False),
            [rand(2, 2, 7).half()],
            2e-3,
            symbolic=False,
        ),
    ]


FAMILIES = [
    pointwise,
    broadcast,
    views,
    folds,
    softmaxes,
    norms,
    moves,
    indexing,
    pools,
    losses,
    functions,
    view_copies,
    searches,
    upsampling,
]


def value_text(x: torch.Tensor) -> str:
    flat = x.detach().reshape(-1)
    if x.dtype == torch.bool:
        return " ".join("1" if v else "0" for v in flat.tolist())
    if not x.dtype.is_floating_point:
        return " ".join(str(v) for v in flat.tolist())
    digits = ".17g" if x.dtype == torch.float64 else ".9g"
    return " ".join(format(v, digits) for v in flat.double().tolist())


def tensor_line(kind: str, index: int, x: torch.Tensor) -> str:
    sizes = ", ".join(str(s) for s in x.shape)
    strides = ", ".join(str(s) for s in x.stride())
    return f"={kind} {index} [{sizes}] {{{strides}}}: {value_text(x)}\n"


def results_of(case: Case, *inputs: torch.Tensor) -> list[torch.Tensor]:
    results = case.function(*inputs)
    return list(results) if isinstance(results, (tuple, list)) else [results]


def one_operator(case: Case, mode: FakeTensorMode) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    nodes = []
    for index, x in enumerate(case.inputs):
        nodes.append(graph.placeholder(f"x{index}"))
        nodes[-1].meta["val"] = mode.from_tensor(x)
    call = graph.call_function(case.operator, tuple(case.arguments(*nodes)))
    values = tuple(mode.from_tensor(x) for x in case.function(*case.inputs))
    call.meta["val"] = values
    results = []
    for index, value in enumerate(values):
        results.append(graph.call_function(operator.getitem, (call, index)))
        results[-1].meta["val"] = value
    graph.output(results)
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def case_text(case: Case, mode: str) -> str:
    # A wrapper, because tracing counts the parameters of the function, defaults included.
    if case.operator is not None:
        gm = one_operator(case, FakeTensorMode())
    else:
        gm = make_fx(lambda *xs: results_of(case, *xs), tracing_mode=mode)(*case.inputs)
    captured = graph_text(gm, case.inputs, origins=False)
    suffix = "_symbolic" if mode == "symbolic" else ""
    text = f"=case {case.name}{suffix} {case.tolerance}\n{captured.text}"
    for index, x in enumerate(case.inputs):
        text += tensor_line("input", index, x)
    for index, x in enumerate(results_of(case, *case.inputs)):
        text += tensor_line("expect", index, x)
    return text


def main() -> None:
    wanted = sys.argv[1:]
    for family in FAMILIES:
        if wanted and family.__name__ not in wanted:
            continue
        torch.manual_seed(0)
        texts = []
        for case in family():
            for mode in ("fake", "symbolic") if case.symbolic else ("fake",):
                try:
                    texts.append(case_text(case, mode))
                except Exception as error:
                    print(
                        f"{family.__name__}.{case.name} ({mode}): {type(error).__name__}: {error}",
                        file=sys.stderr,
                    )
        (FOLDER / f"{family.__name__}.cases").write_text("".join(texts))


if __name__ == "__main__":
    main()
