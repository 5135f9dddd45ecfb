"""What caches hold is right for every graph that finds it."""

from __future__ import annotations

import pytest
import torch

native = pytest.importorskip("jumar._native", reason="the extension is not built")


def gated(a: str, b: str, c: str, more: str) -> str:
    return f"""graph @inference symbols({a} in [2, inf], {b} in [2, inf], {c} in [2, inf]) {{
  schema aten.glu.default(Tensor self, int dim) -> (Tensor)
  %arg0_1: int({a}) = input 0
  %arg1_1: int({b}) = input 1
  %arg2_1: int({c}) = input 2
  %arg3_1: f32[{a}, {b}, {c}, {c}] = input 3
{more}  %glu: f32[{a}//2, {b}, {c}, {c}] = aten.glu.default(%arg3_1, 0)
  return %glu
}}
"""


def test_kernels_of_sizes_whose_names_are_ordered_otherwise(tmp_path):
    """Two graphs whose kernels have equal texts but for names: code takes sizes in the order of the names."""
    x = torch.randn(2, 3, 8, 8)
    cases = [(("s1", "s9", "s5"), ""), (("s9", "s5", "s1"), "  %arg4_1: int(0) = input 4\n")]
    for names, more in cases:
        program = native.compile(gated(*names, more), {"cache_dir": str(tmp_path)}, [], [])
        found = program([2, 3, 8, x] + ([0] if more else []))[0]
        torch.testing.assert_close(found, torch.nn.functional.glu(x, 0))
