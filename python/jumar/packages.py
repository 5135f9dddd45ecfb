"""Packages from Python: the counterpart of torch._inductor.aoti_compile_and_package."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
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


def _entry(path: str, ending: str) -> Any:
    """The JSON of the first entry of a package whose name ends so; None where the file has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(ending):
                    return json.loads(archive.read(name))
    except (zipfile.BadZipFile, ValueError):
        pass
    return None


def _device_key(path: str) -> str:
    """What torch's loaders choose a runner by; "" where the file is no package."""
    return str((_entry(path, "_metadata.json") or {}).get("AOTI_DEVICE_KEY", ""))


class SimulatedPackage:
    """A package for an NPU, called like the exported module; the simulator runs its kernels."""

    def __init__(self, program: Any, launches: dict[str, Any]) -> None:
        from torch.utils import _pytree as pytree

        self._program = program
        self._launches = launches
        signature = json.loads(program.signature())
        self._in_spec = pytree.treespec_loads(signature["in_spec"])
        self._out_spec = pytree.treespec_loads(signature["out_spec"])
        self._fixed = [argument["fixed"] for argument in signature["arguments"]]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from torch.export._tree_utils import reorder_kwargs
        from torch.utils import _pytree as pytree

        from . import _native

        leaves, spec = pytree.tree_flatten((args, reorder_kwargs(kwargs, self._in_spec)))
        if spec != self._in_spec:
            found, wanted = (" ".join(str(each).split()) for each in (spec, self._in_spec))
            raise _native.InputError(f"the arguments have the structure {found}; the package takes {wanted}")
        inputs = [leaf for leaf, is_fixed in zip(leaves, self._fixed, strict=True) if not is_fixed]
        return pytree.tree_unflatten(list(self._program.run(inputs)), self._out_spec)

    def report(self) -> dict[str, Any]:
        """Kernels and called operators with their reasons, as the package tells them; "launches" and "at_load" are
        those of its kernels.json (docs/ascend.md), with what each costs for the sizes of the example."""
        told = {key: self._launches[key] for key in ("launches", "at_load") if key in self._launches}
        return {**json.loads(self._program.report()), **told}


def load(path: str | os.PathLike[str], *, sim: bool = False, options: dict[str, Any] | None = None) -> Any:
    from . import _native

    name = os.fspath(path)
    key = _device_key(name)
    if key == "cpu":
        if sim or options:
            raise _native.Error(f"'{name}' is compiled for the processor: sim and options are for packages of an NPU")
        import torch

        return torch._inductor.aoti_load_package(name)
    if key and not sim:
        raise _native.Error(
            f"'{name}' is compiled for an NPU, and Jumar launches kernels on none yet: "
            "jumar.load(path, sim=True) runs them in the simulator"
        )
    return SimulatedPackage(_native.simulate_package(name, options), _entry(name, "/kernels.json") or {})
