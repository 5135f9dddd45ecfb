"""`jumar inspect`: what it says about packages, compared with the packages themselves and with what runs."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile

import pytest
import torch
from compiling import package_of
from exporting import command, save
from models import MODELS
from torch.export import Dim


def inspect(path, *arguments: str) -> str:
    done = subprocess.run([*command(), "inspect", str(path), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        assert done.returncode == 1, done.stderr
        raise RuntimeError(done.stderr)
    return done.stdout


@pytest.mark.parametrize("provider", ["torch", "onednn"])
def test_bert(provider, tmp_path):
    model, (tokens,) = MODELS["bert"]()
    package = package_of(model, (tokens,), tmp_path, f"--provider={provider}", "--cpu=x86-64-v3",
                         dynamic_shapes=({0: Dim("batch", max=64), 1: Dim("length", min=2, max=256)},))
    told = json.loads(inspect(package, "--json"))
    assert [row["name"] for row in told["inputs"]] == ["tokens"]
    assert [(row["most"], row["hint"]) for row in told["symbols"]] == [(64, 2), (256, 128)]
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for row in told["constants"]:
        assert row["sizes"] == list(state[row["name"]].shape)
        assert row["bytes"] == state[row["name"]].nbytes
    with zipfile.ZipFile(package) as archive:
        sizes = {info.filename.rpartition(".")[2]: info.file_size for info in archive.infolist()}
    assert told["bytes"] == package.stat().st_size
    assert told["library_bytes"] == sizes["so"]
    # Weights have a trailer.
    assert 0 < sizes["weights"] - told["weights_bytes"] < 100
    assert told["runs_without_libtorch"]["answer"] == (provider == "onednn")
    # Every launch of the plan is a kernel that is told of, and the other way round.
    launches = told["plan"].count("\n  launch @")
    assert launches == sum(row["launches"] for row in told["kernels"])
    assert sum(row["count"] for row in told["calls"]) == told["plan"].count("\n  call ")
    text = inspect(package)
    assert f"kernels: {len(told['kernels'])}, launched {launches} times\n" in text
    assert f"refused fusions: {len(told['refusals'])}\n" in text
    assert len(inspect(package, "--refusals").splitlines()) == len(told["refusals"])
    assert inspect(package, "--plan") == told["plan"]


def test_the_loops_are_those_that_were_compiled(tmp_path):
    model, (x,) = MODELS["resnet18"]()
    package = package_of(model, (x,), tmp_path, "--cpu=x86-64-v3")
    tiled = subprocess.run([*command(), "opt", str(tmp_path / "model.pt2"), "--from=pt2", "--to=tiled", "-O",
                            "cpu=x86-64-v3"], capture_output=True, text=True, check=True).stdout
    # Lines of bodies: names and layouts of weights may differ, because packages lay weights out.
    bodies = [line for line in tiled.splitlines() if ": f32 = " in line and "load" not in line]
    loops = inspect(package, "--kernels").splitlines()
    shown = [line for line in loops if ": f32 = " in line and "load" not in line]
    assert shown
    assert {line.strip() for line in shown} <= {line.strip() for line in bodies}


def test_values_computed_at_load(tmp_path):
    class Normed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.v = torch.nn.Parameter(torch.randn(8, 16))

        def forward(self, x):
            return x * (self.v / self.v.norm(dim=1, keepdim=True))

    package = package_of(Normed(), (torch.randn(8, 16),), tmp_path)
    told = json.loads(inspect(package, "--json"))
    assert told["at_load"]["bytes"] >= 8
    assert told["at_load"]["kernels"]
    assert "computed at load: " in inspect(package)
    assert inspect(package, "--at-load", "--plan").startswith("plan @constants")
    assert inspect(package, "--at-load", "--kernels").count("kernel @") == len(told["at_load"]["kernels"])


def test_what_keeps_a_package_from_running_without_libtorch(tmp_path):
    class Sorted(torch.nn.Module):
        def forward(self, x):
            return torch.sort(x @ x)[0]

    package = package_of(Sorted(), (torch.randn(4, 4),), tmp_path)
    answer = json.loads(inspect(package, "--json"))["runs_without_libtorch"]
    assert not answer["answer"]
    assert [(row["op"], row["count"]) for row in answer["obstacles"]] == [("aten.sort.default", 1)]
    assert re.search(r"\nruns without libtorch: no, .*\n  1x aten\.sort\.default: ", inspect(package))


def test_what_only_torchs_loader_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMAR_CALL_OPS", "aten.scatter.value")

    class Scattered(torch.nn.Module):
        def forward(self, x, index):
            return torch.scatter(x, 1, index, 0.5)

    package = package_of(Scattered(), (torch.randn(3, 4), torch.tensor([[0, 1]])), tmp_path)
    assert json.loads(inspect(package, "--json"))["proxied_calls"][0]["op"] == "aten.scatter.value"
    assert "runs in torch's loader only:\n  1x aten.scatter.value" in inspect(package)


def test_exported_programs_and_other_packages(tmp_path):
    model, (x,) = MODELS["bert"]()
    told = json.loads(inspect(save(model, (x,), path=tmp_path / "bert.pt2"), "--json"))
    assert told["kind"] == "exported"
    assert sum(row["bytes"] for row in told["weights"]) == sum(
        t.nbytes for t in (*model.parameters(), *model.buffers()))
    assert {"op": "aten.gelu.default", "count": 4} in told["ops"]
    # As AOTInductor lays its packages out.
    foreign = tmp_path / "foreign.pt2"
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("foreign/archive_format", "pt2")
        archive.writestr("foreign/data/aotinductor/model/abc.wrapper.so", b"\x7fELF")
    with pytest.raises(RuntimeError, match="not of `jumar compile`: another compiler, such as AOTInductor"):
        inspect(foreign)
    with pytest.raises(RuntimeError, match="cannot"):
        inspect(tmp_path / "missing.pt2")
