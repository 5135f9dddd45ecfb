"""The example that serves packages, built against an installed copy of the package library; for tests and benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent


def built_serve(build: Path, folder: Path) -> Path:
    """Installs the library from the build tree `build` below `folder` and builds the program there; its path."""
    # The environment's own, which the build used; Debian's need not be installed.
    cmake = Path(sys.executable).parent / "cmake"
    for command in (
        [cmake, "--install", build, "--component", "package", "--prefix", folder / "installed"],
        [cmake, "-S", _ROOT / "examples/serve", "-B", folder / "build", "-DCMAKE_BUILD_TYPE=Release",
         f"-DCMAKE_PREFIX_PATH={folder / 'installed'}"],
        [cmake, "--build", folder / "build"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "build" / "serve"
