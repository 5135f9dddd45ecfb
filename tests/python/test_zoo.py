"""Some of the models of tests/zoo.py next to eager PyTorch; bench/zoo.py runs all."""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import pytest
import torch

sys.path.append(str(Path(__file__).resolve().parent.parent))

pytest.importorskip("jumar._native", reason="the extension is not built")

from zoo import ZOO  # noqa: E402

from jumar.backend import compile_dynamo_graph  # noqa: E402

NAMES = ["tcn", "diffusion_unet", "graph_attention", "recommender", "pointnet", "t5"]


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def compiled(module, reports):
    return torch.compile(module, backend=lambda gm, inputs: compile_dynamo_graph(gm, inputs, {}, reports.append))


@pytest.mark.parametrize("name", NAMES)
def test_inference(name):
    module, inputs = ZOO[name]()
    reports = []
    with torch.no_grad():
        result, expected = compiled(module, reports)(*inputs), module(*inputs)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
    assert len(reports) == 1 and "eager" not in reports[0]


@pytest.mark.parametrize("name", NAMES)
def test_training(name):
    module, inputs = ZOO[name]()
    other = copy.deepcopy(module)
    reports = []
    for model, function in ((module, compiled(module, reports)), (other, other)):
        model.train()
        torch.manual_seed(3)
        function(*inputs).square().mean().backward()
    # A forward and a backward graph.
    assert len(reports) == 2 and not any("eager" in report for report in reports)
    largest = max(p.grad.abs().max().item() for p in other.parameters())
    for (key, found), expected in zip(module.named_parameters(), other.parameters(), strict=True):
        error = (found.grad - expected.grad).abs().max().item()
        assert error <= 1e-4 * max(expected.grad.abs().max().item(), largest / 100), key
