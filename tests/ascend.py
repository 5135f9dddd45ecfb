"""What tests of Ascend devices share: targets, compiling for them, the report of what was compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest
import torch

A2 = "Ascend910B1"
A5 = "Ascend950PR_9589"
# Cube and vector cores, as targets/*.target have them.
CORES = {A2: (24, 48), A5: (32, 64)}

_ROOT = Path(__file__).resolve().parents[1]


def _command() -> str | None:
    built = [str(path) for path in _ROOT.glob("build*/tools/jumar") if os.access(path, os.X_OK)]
    return next(iter(built), None) or shutil.which("jumar")


def has_toolchain() -> bool:
    """Whether `jumar toolchain status` finds all that compiles kernels."""
    command = _command()
    if command is None:
        return False
    said = subprocess.run([command, "toolchain", "status"], capture_output=True, text=True, check=False).stdout
    lines = {line.split()[0]: line for line in said.splitlines() if line and not line.startswith(" ")}
    names = ("triton-adapter-opt", "bishengir-compile", "bishengir-compile-a5")
    return all(name in lines and "not found" not in lines[name] for name in names)


_REQUIRED = os.environ.get("JUMAR_REQUIRE_TOOLCHAIN", "0") not in ("", "0")
needs_toolchain = pytest.mark.skipif(
    not _REQUIRED and not has_toolchain(),
    reason="the Ascend toolchain is not there: run `jumar toolchain install`, or set JUMAR_REQUIRE_TOOLCHAIN=1")

class Compiled:
    """A function compiled for a device; `reports` has what became of each of its graphs."""

    def __init__(self, function: Callable, target: str, dynamic: bool | None, options: dict):
        from jumar.backend import compile_dynamo_graph

        self.reports: list[dict] = []
        self._run = torch.compile(
            function, dynamic=dynamic, backend=lambda graph, inputs: compile_dynamo_graph(
                graph, inputs, {"target": target, **options}, self.reports.append))

    def __call__(self, *inputs):
        return self._run(*inputs)


def compiled(function: Callable, target: str, dynamic: bool | None = False, **options) -> Compiled:
    return Compiled(function, target, dynamic, options)


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess:
    """A program in a process of its own, with these variables set."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
