"""The nine models' graphs are captured whole, and their text is accepted."""

from __future__ import annotations

import pytest
import torch
from capturing import capture
from models import MODELS


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])
def test_model_graphs(checked, name, training):
    model, inputs = MODELS[name]()
    model.train(training)
    with torch.set_grad_enabled(training):
        graphs = capture(model, *inputs)
    assert [g.kind for g in graphs] == (["forward", "backward"] if training else ["inference"])
    for graph in graphs:
        checked(graph.text)
        assert not graph.captured.python_calls


@pytest.mark.parametrize("name", ["llama", "resnet18"])
def test_model_graphs_with_dynamic_sizes(checked, name):
    model, inputs = MODELS[name]()
    with torch.no_grad():
        (graph,) = capture(model, *inputs, dynamic=True)
    text = checked(graph.text)
    assert " symbols(s" in text
    assert not graph.captured.python_calls
