"""Control flow, regions and functions of functions: torch's higher-order operators, through the compiler."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from comparing import check, check_gradients, leaf

pytest.importorskip("jumar._native", reason="the extension is not built")

from torch._higher_order_ops.associative_scan import associative_scan  # noqa: E402
from torch._higher_order_ops.map import map as map_rows  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402
from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import jumar  # noqa: E402


@torch.library.custom_op("jumar_regions::add_one", mutates_args=("x",))
def add_one(x: torch.Tensor) -> None:
    x.add_(1)


@torch.library.custom_op("jumar_regions::add_and_double", mutates_args=("x", "y"))
def add_and_double(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    y.mul_(2)
    return x + y


@add_and_double.register_fake
def _(x, y):
    return torch.empty_like(x)


class DoubledExp(torch.autograd.Function):
    """A gradient that is not the derivative, so that it shows whether it is the one that runs."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * grad * x.exp()


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def branch(x):
    return torch.cond(x.sum() > 0, lambda x: (x.sin() + 1) * 2, lambda x: x.cos() - x, (x,))


def test_both_branches():
    x = torch.randn(4, 5).abs()
    check(branch, x)
    check(branch, -x)


def test_gradients_of_both_branches():
    x = torch.randn(4, 5).abs()
    check_gradients(branch, x.clone().requires_grad_())
    check_gradients(branch, (-x).requires_grad_())


def test_a_loop_as_long_as_data_say():
    def function(x, limit):
        return while_loop(lambda i, x: i < limit, lambda i, x: (i + 1, x * 1.5 - i), (torch.tensor(0), x))

    for limit in (0, 1, 7):
        check(function, torch.randn(3, 4), torch.tensor(limit), calls=1)


def test_scans():
    x = torch.randn(6, 5)
    check(lambda x: scan(lambda carry, y: (carry * 0.5 + y, carry - y), x[0].clone(), x), x, atol=1e-5, rtol=1e-5)
    check(lambda x: associative_scan(lambda a, b: a + b * 0.5, x, 0, combine_mode="generic"), x)


def test_a_map_over_rows():
    check(lambda x, y: map_rows(lambda row, y: row.softmax(-1) * y, x, y), torch.randn(4, 3, 5), torch.randn(5))


@pytest.mark.parametrize("causal", (False, True))
def test_flex_attention(causal):
    mask = create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 16, 16, device="cpu") if causal else None
    score = lambda s, b, h, i, j: s + 0.1 * (i - j)  # noqa: E731
    q, k, v = (torch.randn(2, 2, 16, 8) for _ in range(3))
    check(lambda q, k, v: flex_attention(q, k, v, score_mod=score, block_mask=mask), q, k, v, strides=False,
          atol=1e-5, rtol=1e-5)


def test_checkpointed_regions_are_computed_again_in_the_backward():
    def block(x, w):
        return F.gelu(x @ w) * x.sigmoid()

    def function(x, w):
        return checkpoint(block, checkpoint(block, x, w, use_reentrant=False), w, use_reentrant=False)

    check_gradients(function, leaf(4, 5), leaf(5, 5), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("function", (
    lambda x: (add_one(y := x * 2), y.sin())[1],
    lambda x: (add_and_double(y := x * 2, z := x + 1), y.sin(), z),
    lambda x: (add_one((y := x.clone())[1:3]), y * 2)[1],
    lambda x: (add_one(x), x * 2),
), ids=("one", "two", "view", "input"))
def test_custom_operators_that_write_to_their_arguments(function):
    check(function, torch.randn(4, 5))


def test_autocast():
    def function(x, w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = F.linear(x, w)
            with torch.autocast("cpu", enabled=False):
                z = F.linear(x, w)
        return y, y.float().relu() + z

    check(function, torch.randn(4, 5), torch.randn(3, 5))
    check_gradients(function, leaf(4, 5), leaf(3, 5), atol=2e-2, rtol=2e-2)


def test_a_region_compiled_once():
    region = torch.compiler.nested_compile_region(lambda x: x.sin() * 2)
    check(lambda x: region(region(x)) + 1, torch.randn(4, 5))
    torch._dynamo.reset()
    check_gradients(lambda x: region(region(x)) + 1, leaf(4, 5), atol=1e-5, rtol=1e-5)


def test_functions_of_functions():
    x = torch.randn(4, 5)
    check(lambda x: torch.vmap(lambda row: row.softmax(0))(x), x)
    check(lambda x: torch.func.grad(lambda y: (y**3).sum())(x), x)
    check(lambda x: torch.func.jvp(torch.sin, (x,), (torch.ones_like(x),)), x)
    check(lambda x: torch.func.hessian(lambda y: (y**3).sum())(x[0]), x, strides=False)


def test_a_gradient_of_the_user():
    check_gradients(DoubledExp.apply, leaf(4, 5))


def test_what_is_called_in_python():
    assert "cond" in str(jumar.explain(branch, torch.randn(4, 5)))
