"""Exported programs through the importer: archive, graph text, compiled program, called like the module."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from models import MODELS
from torch.export import Dim
from torch.utils import _pytree as pytree

_ROOT = Path(__file__).resolve().parents[2]
_WEIGHT = re.compile(r'= parameter \d+ "([^"]*)"')
_MUTATION = re.compile(r"^# result (\d+) is the new value of input (\d+) ", re.MULTILINE)
_CONSTANT = re.compile(r"^# argument (\d+) '[^']*' is always ", re.MULTILINE)


def command() -> list[str]:
    """The built tool where there is one: it starts without Python."""
    built = sorted(str(path) for path in _ROOT.glob("build*/tools/jumar"))
    return built[:1] or [sys.executable, "-m", "jumar"]


def import_text(path: str | Path, *arguments: str) -> str:
    """What `jumar opt` prints for an archive."""
    words = [*command(), "opt", str(path), "--from=pt2", *arguments]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr)
    return result.stdout


class ImportedModule:
    """A compiled archive, called with the arguments of the exported module. Owns the weights, which it updates."""

    def __init__(self, path: str | Path, options: dict | None = None):
        from jumar import _native

        self.text = import_text(path)
        exported = torch.export.load(str(path))
        self.weights = {**exported.state_dict, **exported.constants}
        self.names = _WEIGHT.findall(self.text)
        self.mutations = [(int(a), int(b)) for a, b in _MUTATION.findall(self.text)]
        self.constants = {int(k) for k in _CONSTANT.findall(self.text)}
        self.program = _native.compile(self.text, options or {}, [], [self._weight(name) for name in self.names])
        self._spec = exported.call_spec

    def _weight(self, name: str) -> torch.Tensor:
        return self.weights[name].detach()

    def __call__(self, *args, **kwargs):
        leaves, spec = pytree.tree_flatten((args, kwargs))
        assert spec == self._spec.in_spec
        inputs = [leaf for k, leaf in enumerate(leaves) if k not in self.constants]
        results = list(self.program.run(list(inputs)))
        places = [*inputs, *(self._weight(name) for name in self.names)]
        with torch.no_grad():
            for result, place in self.mutations:
                places[place].copy_(results[result])
        mutated = {result for result, _ in self.mutations}
        outputs = [value for k, value in enumerate(results) if k not in mutated]
        return pytree.tree_unflatten(outputs, self._spec.out_spec)


def save(module, inputs, kwargs=None, dynamic_shapes=None, path=None) -> str:
    with torch.no_grad():
        exported = torch.export.export(
            module, tuple(inputs), kwargs or {}, dynamic_shapes=dynamic_shapes, strict=False
        )
    path = path or tempfile.mkstemp(suffix=".pt2")[1]
    torch.export.save(exported, path)
    return path


def other_size(x: torch.Tensor) -> torch.Tensor:
    if x.ndim == 2:  # tokens
        return x.repeat(2, 1)[:3, :77].contiguous()
    return torch.randn(3, *x.shape[1:], generator=torch.Generator().manual_seed(2))


def dynamic_dims(x: torch.Tensor) -> tuple:
    """All sizes of tokens, the batch of anything else."""
    return ({k: Dim.AUTO for k in ((0, 1) if x.ndim == 2 else (0,))},)


def exported_model(name: str, sizes: str, folder: Path) -> tuple[torch.nn.Module, str, list[torch.Tensor]]:
    """One of the nine models, its archive in `folder` and the inputs to try: with "dynamic" sizes two."""
    model, (x,) = MODELS[name]()
    dims = dynamic_dims(x) if sizes == "dynamic" else None
    path = save(model, (x,), dynamic_shapes=dims, path=folder / f"{name}.pt2")
    return model, path, [x] if sizes == "fixed" else [x, other_size(x)]


def imported(module, inputs, kwargs=None, dynamic_shapes=None) -> ImportedModule:
    path = save(module, inputs, kwargs, dynamic_shapes)
    try:
        return ImportedModule(path)
    finally:
        Path(path).unlink()
