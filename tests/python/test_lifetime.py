"""What many compilations leave behind, and compilers that run at once."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch
from comparing import in_threads

native = pytest.importorskip("jumar._native", reason="the extension is not built")

NO_CACHE = {"cache": False, "compile_threads": 1}


def graph(number: int) -> str:
    """A graph of two kernels and a call; each number gives other machine code."""
    return f"""graph @main {{
  schema aten.add.Scalar(Tensor self, Scalar other, Scalar alpha) -> (Tensor)
  schema aten.mm.default(Tensor self, Tensor mat2) -> (Tensor)
  schema aten.sum.dim_IntList(Tensor self, int[] dim, bool keepdim, ScalarType? dtype) -> (Tensor)
  %x: f32[8, 8] = input 0
  %a: f32[8, 8] = aten.add.Scalar(%x, {number}, 1)
  %b: f32[8, 8] = aten.mm.default(%a, %x)
  %c: f32[8] = aten.sum.dim_IntList(%b, [1], false, none)
  return %c
}}
"""


def run(number: int) -> None:
    x = torch.randn(8, 8)
    (found,) = native.compile(graph(number), NO_CACHE, [], [])([x])
    torch.testing.assert_close(found, ((x + number) @ x).sum(1), rtol=1e-4, atol=1e-2)


def code_bytes() -> int:
    """Memory that may be executed and is no file's."""
    total = 0
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, flags, _, _, inode = line.split()[:5]
        if "x" in flags and inode == "0":
            begin, end = (int(word, 16) for word in span.split("-"))
            total += end - begin
    return total


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_code_goes_with_its_program():
    run(0)
    gc.collect()
    before = code_bytes()
    programs = [native.compile(graph(k), NO_CACHE, [], []) for k in range(1, 9)]
    assert code_bytes() >= before + len(programs) * 4096
    del programs
    gc.collect()
    assert code_bytes() == before


def test_a_thousand_compilations_leave_nothing():
    for k in range(200):
        run(k)
    gc.collect()
    before = resident_bytes()
    for k in range(200, 1200):
        run(k)
    gc.collect()
    # A leak of one page in each would be 4 MB, of a module of LLVM far more.
    assert resident_bytes() - before < 3 << 20


def test_threads_compile_at_once():
    failures = []

    def work(seed: int) -> None:
        try:
            for k in range(20):
                run(seed * 1000 + k % 10)  # some of them at the same time as another thread
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    in_threads(work, 4)
    assert not failures, failures[0]
