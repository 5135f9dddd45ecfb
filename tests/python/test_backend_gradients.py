"""Gradients of compiled functions, and calls with and without grad mode, next to eager PyTorch's."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from comparing import assert_same, check_gradients, compiled, leaf

pytest.importorskip("jumar._native", reason="the extension is not built")


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


@pytest.mark.parametrize(
    "function,inputs",
    [
        (lambda x, y: (x * y).sin().sum(1), [leaf(3, 4), leaf(4)]),
        (lambda x: x.softmax(-1).log().mean(), [leaf(5, 7)]),
        (lambda x: F.layer_norm(x, (3, 4)), [leaf(5, 3, 4)]),
        (lambda x: x.max(1), [leaf(4, 9)]),
        (lambda x: (x.argmax(1), x.sort(1).values, x.topk(2)), [leaf(4, 9)]),
        (lambda x, i: x[i] * 2, [leaf(5, 3), torch.tensor([4, 0, 4])]),
        (lambda x: (x[1:].cumsum(0), x[:, None].expand(5, 2, 3)), [leaf(5, 3)]),
        (lambda x: F.max_pool2d(F.avg_pool2d(x, 2), 2, return_indices=True), [leaf(1, 2, 8, 8)]),
        (lambda x, t: F.cross_entropy(x, t), [leaf(6, 5), torch.tensor([0, 1, 4, 2, 2, 3])]),
        (lambda x, y: torch.cat([x, y], 1).pow(2).amax(0), [leaf(3, 2), leaf(3, 4)]),
        (lambda x, y: torch.where(x > 0, x * y, y.exp()), [leaf(3, 4), leaf(3, 4)]),
        (lambda x: F.gelu(F.pad(x, (1, 2))).var(1), [leaf(3, 4)]),
        (lambda x: (x, x.view(-1), x * 1), [leaf(3, 4)]),
        (lambda x: x.clone().mul_(2).add_(x).relu_(), [leaf(3, 4)]),
        (
            lambda q, k: F.scaled_dot_product_attention(q, k, k, is_causal=True),
            [leaf(1, 2, 6, 8), leaf(1, 2, 6, 8)],
        ),
        (lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), [leaf(1, 2, 4, 5)]),
        (lambda x: x.prod(1) + x.norm(dim=1) + x.logsumexp(1), [leaf(3, 5)]),
    ],
)
@pytest.mark.parametrize("dynamic", [None, True])
def test_gradients(function, inputs, dynamic):
    check_gradients(function, *inputs, dynamic=dynamic, rtol=1e-4, atol=1e-5)


def test_gradients_of_a_model_with_integer_results_and_dropout_in_eval():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Embedding(11, 8, padding_idx=0)
            self.norm = torch.nn.LayerNorm(8)
            self.drop = torch.nn.Dropout(0.5)
            self.out = torch.nn.Linear(8, 11)

        def forward(self, ids):
            y = self.out(self.drop(F.silu(self.norm(self.embed(ids)))))
            return y, y.argmax(-1), ids + 1

    model = Model().eval()
    ids = torch.tensor([[0, 1, 5, 5], [10, 2, 0, 1]])
    parameters = list(model.parameters())
    check_gradients(model, ids, parameters=parameters, rtol=1e-4, atol=1e-5)


def test_convolution_and_batch_norm_gradients_in_training():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 6, 3), torch.nn.BatchNorm2d(6), torch.nn.Hardswish(), torch.nn.AdaptiveAvgPool2d(1)
    )
    check_gradients(model, leaf(2, 3, 8, 8), parameters=list(model.parameters()), rtol=1e-3, atol=1e-4)


def test_gradients_accumulate_over_calls():
    weight, run = leaf(3, 3), compiled(lambda x, w: (x @ w).tanh())
    inputs = [torch.randn(2, 3) for _ in range(3)]
    results = [run(x, weight) for x in inputs]  # all forwards before the first backward
    for y in results:
        y.sum().backward()
    found, weight.grad = weight.grad, None
    for x in inputs:
        (x @ weight).tanh().sum().backward()
    torch.testing.assert_close(found, weight.grad)


def test_inputs_that_require_grad_under_no_grad():
    layer = torch.nn.Linear(4, 4)
    run = compiled(lambda x: (layer(x).relu(), x.view(-1)))
    x = leaf(2, 4)
    with torch.no_grad():
        found = run(x)
        assert not found[0].requires_grad
        assert_same(found[0], layer(x).relu())
    assert run(x)[0].requires_grad
    with torch.inference_mode():
        assert_same(run(torch.ones(2, 4))[0], layer(torch.ones(2, 4)).relu())
    assert_same(run(x)[0], layer(x).relu())


def test_dropout_in_training_keeps_about_the_right_share():
    x = torch.ones(200, 200)
    y = compiled(lambda x: F.dropout(x, 0.25))(x)
    assert set(y.unique().tolist()) <= {0.0, (x[0, 0] / 0.75).item()}
    assert 0.2 < (y == 0).float().mean() < 0.3
    z = compiled(lambda x: F.dropout(x, 0.25))(x)
    assert not torch.equal(y, z)
