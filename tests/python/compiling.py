"""Packages made by the `jumar compile` command, for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import torch
from exporting import command, save


def compile_archive(archive: str | Path, *arguments: str, environment: dict[str, str] | None = None) -> str:
    """Runs `jumar compile ARCHIVE ...`; what it prints, or RuntimeError with its message."""
    result = subprocess.run([*command(), "compile", str(archive), *arguments], capture_output=True, text=True,
                            check=False, env={**os.environ, **(environment or {})})
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    return result.stdout


def package_of(model: torch.nn.Module, args: tuple, folder: Path, *arguments: str, **export) -> Path:
    """Exports a module and compiles it; the package's path."""
    archive = save(model, args, path=folder / "model.pt2", **export)
    output = folder / "model.jumar.pt2"
    compile_archive(archive, "-o", str(output), *arguments)
    return output
