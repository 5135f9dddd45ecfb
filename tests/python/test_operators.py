"""What becomes of the operators of the Core ATen set: the tables of the lowering, and docs/operators.md."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch
from exporting import command

_ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(_ROOT / "scripts"))

import operators_page  # noqa: E402

# The core operators that are called. All others are lowered, or taken apart before the compiler sees them: no operator
# that is pointwise, a fold, a view, a gather or scatter, a scan, a padding or a pooling may stand here but the two whose
# places are counted along a mask or a triangle.
CALLED = {
    "aten._embedding_bag.default",
    "aten._fft_c2r.default",
    "aten._fft_r2c.default",
    "aten._local_scalar_dense.default",
    "aten._pdist_forward.default",
    "aten.addmm.default",
    "aten.bmm.default",
    "aten.convolution.default",
    "aten.convolution_backward.default",
    "aten.empty.memory_format",
    "aten.empty_strided.default",
    "aten.masked_scatter.default",
    "aten.mm.default",
    "aten.native_dropout.default",
    "aten.nonzero.default",
    "aten.rand.default",
    "aten.randn.default",
    "aten.randperm.default",
    "aten.sort.default",
    "aten.topk.default",
}


def _rows(*patterns: str) -> dict[str, str]:
    done = subprocess.run([*command(), "ops", *patterns], capture_output=True, text=True, check=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_what_is_called_of_the_core_set():
    operators = operators_page.core_operators()
    assert len(operators) > 150
    fates = _rows(*operators)
    called = {name for name, is_taken_apart in operators.items() if fates[name] != "lowered" and not is_taken_apart}
    assert called == CALLED
    for name in CALLED:
        assert fates[name].startswith("called: ")
        assert fates[name] != "called: there is no lowering", name


def test_the_page_says_what_the_tables_say():
    assert operators_page.PAGE.read_text() == operators_page.page_text(command())


def test_every_row_is_an_operator():
    """A row with a misspelt name would never be found."""
    for name, fate in _rows().items():
        if fate == "lowered":
            _, packet, overload = name.split(".", 2)
            assert hasattr(getattr(torch.ops.aten, packet), overload), name


def test_names_and_beginnings():
    assert _rows("aten.add.Tensor", "aten.mm.default") == {
        "aten.add.Tensor": "lowered",
        "aten.mm.default": "called: a matrix product",
    }
    assert _rows("mine.own.default") == {"mine.own.default": "called: there is no lowering"}
    bits = _rows("aten.bitwise_*")
    assert bits["aten.bitwise_and.Tensor"] == "lowered"
    assert all(name.startswith("aten.bitwise_") for name in bits)
