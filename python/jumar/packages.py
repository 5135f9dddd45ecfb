"""Packages from Python: the counterpart of torch._inductor.aoti_compile_and_package."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any, Callable


class _Line:
    """The stages of a compilation, one after the other on one line of a terminal."""

    def __init__(self) -> None:
        self.is_shown = sys.stderr.isatty()

    def __call__(self, stage: str) -> None:
        if self.is_shown:
            print(f"\r\033[Kjumar: {stage} ...", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def aot_compile(
    exported_program: Any,
    path: str | os.PathLike[str],
    *,
    options: dict[str, Any] | None = None,
    progress: Callable[[str], object] | None = None,
) -> str:
    from . import _native

    line = _Line()
    tell = progress or line
    output = os.fspath(path)
    try:
        if isinstance(exported_program, (str, os.PathLike)):
            _native.compile_package(os.fspath(exported_program), output, options, tell)
            return output
        import torch

        with tempfile.TemporaryDirectory(prefix="jumar-") as folder:
            archive = os.path.join(folder, "model.pt2")
            tell("exporting")
            torch.export.save(exported_program, archive)
            _native.compile_package(archive, output, options, tell)
    finally:
        line.end()
    return output
