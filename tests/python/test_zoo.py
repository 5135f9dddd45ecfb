"""A sample of the models in tests/zoo.py by the measurements of bench/zoo.py, which runs all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("jumar._native", reason="the extension is not built")

import jumar.backend  # noqa: E402

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))  # last, since tests/ has a zoo.py as well
import run  # noqa: E402
import train  # noqa: E402

MEASUREMENTS = {"inference": run.child_first_call, "training": train.child_first_call}
PRODUCTS = ("mm", "convolution", "dropout", "bernoulli", "new_empty", "scaled_dot_product", "mkldnn_rnn_layer")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    # The measurements put a clock around this function.
    monkeypatch.setattr(jumar.backend, "compile_graph", jumar.backend.compile_graph)


@pytest.mark.parametrize("mode", MEASUREMENTS)
@pytest.mark.parametrize("model", ["unet", "lstm", "qwen3", "message_passing", "selective_scan"])
def test_a_model_is_right(model, mode):
    row = MEASUREMENTS[mode](model, "jumar", torch.get_num_threads())
    assert row["error"] < 1e-4
    assert row.get("value_error", 0.0) < 1e-4
    assert row["called"], "nothing was compiled"
    assert row["eager_graphs"] == 0 and row["graph_breaks"] == 0
    others = [name for name in row["called"] if not any(word in name for word in PRODUCTS)]
    assert not others, others
