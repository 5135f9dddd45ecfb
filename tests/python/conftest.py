"""Makes the package and the shared models importable from the source tree, and finds the text checker."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
from typing import Callable

import pytest

_ROOT = pathlib.Path(__file__).resolve().parents[2]
# The installed package, which has the extension, goes first where there is one.
sys.path.append(str(_ROOT / "python"))
sys.path.append(str(_ROOT / "tests"))


def _checker() -> str | None:
    named = os.environ.get("JUMAR_GRAPH_CHECK")
    if named:
        return named
    built = sorted(str(path) for path in _ROOT.glob("build*/**/jumar_graph_check"))
    return shutil.which("jumar_graph_check") or next(iter(built), None)


@pytest.fixture(scope="session")
def checked() -> Callable[[str], str]:
    """Takes a graph text through the C++ reader, verifier, passes and writer; returns what was written."""
    checker = _checker()
    if checker is None:
        pytest.skip("jumar_graph_check is not built, and JUMAR_GRAPH_CHECK does not name it")

    def check(text: str) -> str:
        result = subprocess.run([checker], input=text, capture_output=True, text=True, check=False)
        assert result.returncode == 0, f"{result.stderr}\n{text}"
        return result.stdout

    return check
