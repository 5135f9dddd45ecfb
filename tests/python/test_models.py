"""The nine models through the whole compiler: values, gradients, dynamic sizes, bf16, and what is called."""

from __future__ import annotations

import json

import pytest
import torch
from models import MODELS

pytest.importorskip("jumar._native", reason="the extension is not built")

from jumar.backend import compile_dynamo_graph  # noqa: E402

# All else must be in kernels: falling back is no way to pass.
CALLED = ("mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", "scaled_dot_product", "dropout")


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()


def compiled(model, reports, **kwargs):
    backend = lambda gm, inputs: compile_dynamo_graph(gm, inputs, {}, reports.append)  # noqa: E731
    return torch.compile(model, backend=backend, **kwargs)


def check_reports(reports, kinds):
    assert [r["graph"] for r in reports] == kinds
    for report in reports:
        assert "eager" not in report, report.get("eager")
        assert not report["python_calls"], json.dumps(report["python_calls"])
        others = [c["op"] for c in report["calls"] if not any(word in c["op"] for word in CALLED)]
        assert not others, others


def relative_error(got, expected):
    return ((got - expected).abs().max() / expected.abs().max()).item()


@pytest.mark.parametrize("name", MODELS)
def test_inference(name):
    model, inputs = MODELS[name]()
    reports = []
    function = compiled(model, reports)
    with torch.no_grad():
        expected = model(*inputs)
        assert expected.abs().max() > 0
        for _ in range(2):  # the second call finds used buffers
            got = function(*inputs)
            assert got.stride() == expected.stride()
            assert relative_error(got, expected) < 1e-4
    check_reports(reports, ["inference"])


@pytest.mark.parametrize("name", ["bert", "llama", "resnet18", "convnext_atto"])
def test_gradients(name):
    model, inputs = MODELS[name]()
    weights = torch.randn(model(*inputs).shape, generator=torch.Generator().manual_seed(2))

    def gradients(function):
        model.zero_grad(set_to_none=True)
        (function(*inputs) * weights).sum().backward()
        return {k: p.grad.clone() for k, p in model.named_parameters() if p.grad is not None}

    reports = []
    expected = gradients(model)
    got = gradients(compiled(model, reports))
    assert got.keys() == expected.keys()
    largest = max(g.abs().max() for g in expected.values())
    for parameter, gradient in expected.items():
        # A gradient that cancels to nearly nothing is known only as well as the others are.
        allowed = 1e-4 * gradient.abs().max() + 1e-6 * largest
        assert (got[parameter] - gradient).abs().max() <= allowed, parameter
    check_reports(reports, ["forward", "backward"])


def resized(inputs, batch, length):
    def one(x):
        if x.ndim == 2:
            return x[:1, :length].repeat(batch, 1)
        return x[:1].repeat(batch, 1, 1, 1) * torch.linspace(0.5, 2, batch).view(-1, 1, 1, 1)

    return tuple(one(x) for x in inputs)


@pytest.mark.parametrize("name", ["bert", "llama", "resnet18"])
def test_dynamic_sizes(name):
    model, inputs = MODELS[name]()
    reports = []
    function = compiled(model, reports, dynamic=True)
    with torch.no_grad():
        for batch, length in ((2, 128), (3, 50), (5, 17)):
            sized = resized(inputs, batch, length)
            assert relative_error(function(*sized), model(*sized)) < 1e-4, (batch, length)
    check_reports(reports, ["inference"])


@pytest.mark.parametrize("name", ["bert", "llama", "resnet18"])
def test_bf16(name):
    model, inputs = MODELS[name]()
    with torch.no_grad():
        exact = model(*inputs)
        model = model.bfloat16()
        inputs = tuple(x.bfloat16() if x.is_floating_point() else x for x in inputs)
        reports = []
        got = compiled(model, reports)(*inputs).float()
        # As close to the exact result as eager in bf16, which rounds between operators.
        assert relative_error(got, exact) <= 1.5 * relative_error(model(*inputs).float(), exact) + 2e-3
    check_reports(reports, ["inference"])
