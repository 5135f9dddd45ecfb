"""Kernels for a device from the command line: `jumar compile --target`, `jumar inspect` of what it wrote, and
`jumar run --sim`."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from ascend import A2, A5, CORES, needs_toolchain
from compiling import compile_archive
from exporting import command, save
from torch import nn
from torch.export import Dim

pytestmark = needs_toolchain

STAGES = {"loop": "loop", "ttir": "ttir.mlir", "triton": "triton.py", "linalg": "linalg.mlir", "hivm": "hivm.mlir"}


class Block(nn.Module):
    """A gather, a normalization, a product, and what follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.norm = nn.LayerNorm(32)
        self.out = nn.Linear(32, 24)

    def forward(self, ids):
        return F.gelu(self.out(self.norm(self.words(ids))))


def jumar(*arguments: str) -> str:
    done = subprocess.run([*command(), *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def project(model: nn.Module, inputs: tuple, folder: Path, target: str = A2, *arguments: str, **export) -> tuple[Path, dict]:
    archive = save(model.eval(), inputs, path=folder / "model.pt2", **export)
    out = folder / "project"
    said = compile_archive(archive, f"--target={target}", "-o", str(out), *arguments)
    told = json.loads((out / "kernels.json").read_text())
    assert said.startswith(f"{out}: {len(told['launches'])} kernels for {target}, ")
    return out, told


def block_project(folder: Path, target: str = A2, *arguments: str) -> tuple[Path, dict]:
    torch.manual_seed(0)
    return project(Block(), (torch.randint(0, 50, (8, 40)),), folder, target, *arguments)


@pytest.mark.parametrize("target", [A2, A5])
def test_every_stage_of_every_kernel(target: str, tmp_path: Path) -> None:
    out, told = block_project(tmp_path, target)
    assert told["format"] == "jumar device project 1"
    assert told["target"]["name"] == target
    assert (told["core_limit"]["cube"], told["core_limit"]["vector"]) == CORES[target]
    assert all(row["version"] for row in told["toolchain"]) and len(told["toolchain"]) >= 2
    assert [(row["op"], row["count"]) for row in told["calls"]] == [("aten.addmm.default", 1)]
    expected = {"kernels.json", "plan.txt"}
    for row in told["launches"]:
        for stage, ending in STAGES.items():
            assert row["files"][stage] == f"{row['function']}.{ending}"
            expected.add(row["files"][stage])
        assert row["stage"] in ("checked, not linked", "linked")
        assert 1 <= row["cores_used"] <= row["grid"][0] <= CORES[target][1]
        assert row["grid"][1:] == [1, 1]
        assert len(row["scalars"]) == len(row["scalar_expressions"]) == len(row["scalar_types"])
        assert 0 < row["ub_bytes"] <= told["target"]["ub_usable_bytes"]
        assert row["modelled_ns"] > 0 and row["tile_modelled_ns"] > 0
        assert row["ops"] and row["tiling"] and row["retries"] == len(row["rejected"])
        assert bool(row["scalar_elements"]) == bool(row["scalar_reasons"])
    assert {path.name for path in out.iterdir()} == expected
    # The plan launches what is told, in this order.
    plan = (out / "plan.txt").read_text()
    assert re.findall(r"launch @([\w.]+)\(", plan) == [row["kernel"] for row in told["launches"]]
    gather = next(row for row in told["launches"] if "aten.embedding.default" in [op["op"] for op in row["ops"]])
    if target == A2:
        assert any(reason.startswith("gather from %") for reason in gather["scalar_reasons"])


def test_stages_are_those_of_the_other_commands(tmp_path: Path) -> None:
    out, told = block_project(tmp_path)
    for row in told["launches"]:
        files = {stage: out / name for stage, name in row["files"].items()}
        # The loops alone are a program that gives the same code.
        ttir = jumar("opt", files["loop"], "--from=loop", "--to=ttir", "-O", f"target={A2}")
        assert ttir.split("\n", 1)[1] == files["ttir"].read_text()
        jumar("toolchain", "compile", files["ttir"], f"--target={A2}", "-o", tmp_path / "again")
        for stage in ("linalg", "hivm"):
            assert (tmp_path / "again" / files[stage].name).read_text() == files[stage].read_text()
        scalars = [f"--args={','.join(map(str, row['scalars']))}"] if row["scalars"] else []
        traffic = json.loads(jumar("toolchain", "traffic", files["hivm"], f"--grid={','.join(map(str, row['grid']))}",
                                   f"--target={A2}", *scalars))
        assert traffic["modelled_ns"] == row["modelled_ns"]
        assert traffic["read_bytes"] == row["gm_read_bytes"] and traffic["written_bytes"] == row["gm_written_bytes"]
        assert {key: traffic[key] for key in row["traffic"]} == row["traffic"]


def test_only_what_is_asked_for(tmp_path: Path) -> None:
    out, told = block_project(tmp_path, A2, "--emit=ttir,loop")
    assert told["emitted"] == ["loop", "ttir"]
    assert {path.name.split(".", 1)[1] for path in out.iterdir()} == {"loop", "ttir.mlir", "json", "txt"}


class Moves(nn.Module):
    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    def forward(self, x, y):
        if self.way == "add":
            return x + y
        if self.way == "gelu":
            return F.gelu(x + y)
        if self.way == "cat":
            return torch.cat([x, y], 1).relu()
        if self.way == "row":
            return x * y[0]
        return torch.softmax(x, -1)


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("way", ["add", "cat", "row", "softmax"])
def test_bytes_are_what_has_to_move(way: str, target: str, tmp_path: Path) -> None:
    x, y = torch.randn(512, 256), torch.randn(512, 256)
    _, told = project(Moves(way), (x, y), tmp_path, target)
    (row,) = told["launches"]
    each = x.nbytes
    read = {"add": 2 * each, "cat": 2 * each, "row": each + 256 * 4, "softmax": each}[way]
    written = 2 * each if way == "cat" else each
    assert (row["least_read_bytes"], row["least_written_bytes"]) == (read, written)
    assert row["broadcast_bytes"] == (256 * 4 if way == "row" else 0)
    assert row["gm_bytes"] == row["gm_read_bytes"] + row["gm_written_bytes"] >= read + written
    assert row["ratio_to_least"] == pytest.approx(row["gm_bytes"] / (read + written), rel=1e-5)
    assert row["ratio_with_broadcast"] <= 1.05
    assert row["scalar_elements"] == 0


@pytest.mark.parametrize("target", [A2, A5])
def test_a_limit_changes_numbers_and_no_code(target: str, tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "some").mkdir()
    whole, told = block_project(tmp_path / "all", target)
    part, limited = block_project(tmp_path / "some", target, "--device-limit=3,6")
    assert (limited["core_limit"]["cube"], limited["core_limit"]["vector"]) == (3, 6)
    for a, b in zip(told["launches"], limited["launches"], strict=True):
        assert b["grid"][0] <= 6 and b["cores_used"] <= 6
        for name in a["files"].values():
            assert (whole / name).read_text() == (part / name).read_text()
    assert any(a["grid"] != b["grid"] for a, b in zip(told["launches"], limited["launches"]))
    archive = tmp_path / "all" / "model.pt2"
    with pytest.raises(RuntimeError, match=f"option device_limit is '1000,2000'.*on {target}"):
        compile_archive(archive, f"--target={target}", "--device-limit=1000,2000", "-o", str(tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_dynamic_sizes_are_told_at_their_examples(tmp_path: Path) -> None:
    x = torch.randn(100, 48)
    _, told = project(Moves("softmax"), (x, torch.zeros(1)), tmp_path,
                      dynamic_shapes={"x": {0: Dim("rows", max=5000), 1: Dim("columns", max=3000)}, "y": {}})
    assert sorted(told["sizes"].values()) == [48, 100]
    (row,) = told["launches"]
    assert row["least_bytes"] == 2 * x.nbytes
    values = {**told["sizes"], "vector_cores": CORES[A2][1]}
    for text, value in zip(row["scalar_expressions"], row["scalars"], strict=True):
        assert eval(text, {"min": min, "max": max}, values) == value
    assert "sizes: " in jumar("inspect", tmp_path / "project")


def test_choices_that_the_toolchain_refuses_are_told(tmp_path: Path) -> None:
    # A device that promises more memory than the toolchain has for it.
    (tmp_path / "big.target").write_text('target "Big" from "Ascend910B1" { ub_bytes 3000000 ub_usable_bytes 3000000 '
                                         'compiler_target "Ascend910B1" }\n')
    x = torch.randn(4096, 512)
    archive = save(Moves("gelu"), (x, x), path=tmp_path / "model.pt2")
    out = tmp_path / "project"
    compile_archive(archive, f"--target={tmp_path}/big.target", "-o", str(out))
    told = json.loads((out / "kernels.json").read_text())
    (row,) = told["launches"]
    assert row["retries"] == len(row["rejected"]) > 0
    assert all("ub overflow, requires" in text for text in row["rejected"])
    (found,), said = simulated(archive, (x, x), tmp_path / "run", f"--target={tmp_path}/big.target")
    np.testing.assert_allclose(found, F.gelu(x + x).numpy(), atol=1e-5, rtol=1e-5)
    assert f"{row['kernel']}: grid " in said


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    out, _ = block_project(tmp_path)
    archive = tmp_path / "model.pt2"
    compile_archive(archive, f"--target={A2}", "--emit=ttir", "-o", str(out))  # one of the same kind is replaced
    assert not list(out.glob("*.hivm.mlir"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine")
    with pytest.raises(RuntimeError, match=re.escape(f"'{other}'")):
        compile_archive(archive, f"--target={A2}", "-o", str(other))
    assert [path.name for path in other.iterdir()] == ["notes.txt"]
    assert {path.name for path in tmp_path.iterdir()} == {"model.pt2", "project", "other"}
    for arguments, message in [(["--emit=ttir"], "name one with --target"),
                               ([f"--target={A2}", "--emit=cpp"], "--emit=package,loop,ttir,triton,linalg,hivm"),
                               ([f"--target={A2}", "--emit=cpp,ttir"], "several things"),
                               (["--target=Ascend1"], "there is no target 'Ascend1'")]:
        with pytest.raises(RuntimeError, match=re.escape(message)):
            compile_archive(archive, *arguments, "-o", str(tmp_path / "x"))


def test_inspect_prints_a_table(tmp_path: Path) -> None:
    out, told = block_project(tmp_path)
    text = jumar("inspect", out)
    assert json.loads(jumar("inspect", out, "--json")) == told
    lines = text.splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("kernel "))
    rows = [line.split() for line in lines[head + 1:head + 1 + len(told["launches"])]]
    for cells, row in zip(rows, told["launches"], strict=True):
        assert cells[0] == row["kernel"] and int(cells[1]) == row["grid"][0] and int(cells[2]) == row["cores_used"]
        assert f"{row['gm_bytes'] / 1e6:.3f}" in cells and str(row["vector_calls"]) in cells
    total = sum(row["gm_bytes"] for row in told["launches"])
    assert f"{len(rows)} launches: GM {total / 1e6:.3f} MB, " in text
    assert "  1x aten.addmm.default: a matrix product" in text
    # The same without a folder.
    assert jumar("inspect", tmp_path / "model.pt2", f"--target={A2}") == text
    with pytest.raises(RuntimeError, match="it has no kernels.json"):
        jumar("inspect", tmp_path)


def simulated(archive: Path, inputs: tuple, folder: Path, *arguments: str) -> tuple[list[np.ndarray], str]:
    """Results, and what the command says about them."""
    folder.mkdir(exist_ok=True)
    line = [*command(), "run", "--sim", str(archive), f"--output={folder}/out_{{}}.npy", *arguments]
    for k, value in enumerate(inputs):
        np.save(folder / f"in_{k}.npy", value.numpy())
        line.append(f"--input={folder}/in_{k}.npy")
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [np.load(each.split(": ")[0]) for each in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize("target", [A2, A5])
@pytest.mark.parametrize("limit", [None, (1, 2), (3, 7)])
def test_run_with_the_simulator(target: str, limit: tuple | None, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Block().eval()
    inputs = (torch.randint(0, 50, (8, 40)),)
    archive = save(model, inputs, path=tmp_path / "model.pt2",
                   dynamic_shapes=({0: Dim("batch", max=64), 1: Dim("length", max=256)},))
    words = [f"--target={target}", *([f"--device-limit={limit[0]},{limit[1]}"] if limit else [])]
    cores = limit[1] if limit else CORES[target][1]
    for ids in (*inputs, torch.randint(0, 50, (3, 77))):
        (found,), said = simulated(archive, (ids,), tmp_path / "run", *words)
        with torch.no_grad():
            np.testing.assert_allclose(found, model(ids).numpy(), atol=1e-5, rtol=1e-5)
        assert f"simulated for {target}, on at most {cores} vector cores: " in said
        grids = [(int(a), int(b)) for a, b in re.findall(r": grid (\d+), (\d+) cores", said)]
        assert grids and all(used == grid <= cores for grid, used in grids)
        assert "  1x aten.addmm.default: a matrix product" in said
        assert "refused, called instead: none" in said


def test_run_with_libtorch(tmp_path: Path) -> None:
    class Sorted(nn.Module):
        def forward(self, x):
            return torch.sort(x * 2)[0] + 1

    x = torch.randn(5, 7)
    archive = save(Sorted(), (x,), path=tmp_path / "model.pt2")
    with pytest.raises(RuntimeError, match=r"aten\.sort\.default"):
        simulated(archive, (x,), tmp_path / "run", f"--target={A2}")
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    (found,), said = simulated(archive, (x,), tmp_path / "run", f"--target={A2}", f"--torch={library}")
    np.testing.assert_allclose(found, (torch.sort(x * 2)[0] + 1).numpy())
    assert "aten.sort.default" in said


def test_run_needs_both_a_device_and_the_simulator(tmp_path: Path) -> None:
    x = torch.randn(4, 4)
    archive = save(Moves("add"), (x, x), path=tmp_path / "model.pt2")
    with pytest.raises(RuntimeError, match="name one with --target"):
        simulated(archive, (x, x), tmp_path / "run")
    with pytest.raises(RuntimeError, match="with --sim"):
        jumar("run", archive, f"--target={A2}", "--input=x.npy")


def test_the_page_names_every_member(tmp_path: Path) -> None:
    _, told = block_project(tmp_path)
    page = (Path(__file__).resolve().parents[2] / "docs" / "ascend.md").read_text()
    named = {word for row in re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE) for word in re.findall(r"`(\w+)`", row)}
    assert set(told) <= named
    for row in told["launches"]:
        assert set(row) <= named
