"""`jumar compile --emit=cpp`: projects that are built by CMake without torch's headers and loaded with ctypes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from cpp_programs import Program
from exporting import command, save
from models import MODELS
from torch import nn
from torch.export import Dim

pytest.importorskip("jumar._native", reason="the extension is not built")

COMPILER = next((path for path in map(shutil.which, ("c++", "g++", "clang++")) if path), None)
pytestmark = pytest.mark.skipif(
    not shutil.which("cmake") or not COMPILER, reason="there is no CMake, or no C++ compiler"
)

def run_command(*arguments, **kwargs):
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, **kwargs)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def write_project(path: Path, directory: Path, *arguments: str) -> Path:
    run_command(*command(), "compile", str(path), "--emit=cpp", "-o", str(directory), *arguments)
    return directory


def build(directory: Path) -> Path:
    """With all warnings as errors, and nothing of torch to be found. Returns the library."""
    environment = {k: v for k, v in os.environ.items() if k not in ("CPATH", "CPLUS_INCLUDE_PATH", "LD_LIBRARY_PATH")}
    environment["CXXFLAGS"] = "-Wall -Wextra -Werror"
    run_command("cmake", "-S", str(directory), "-B", str(directory / "b"), env=environment)
    run_command("cmake", "--build", str(directory / "b"), env=environment)
    (library,) = (directory / "b").glob("lib*.so")
    return library


class Mixed(nn.Module):
    """Tied weights, a weight that is a view, one that is not contiguous, a constant, a bf16 buffer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.second = nn.Linear(16, 16, bias=False)
        self.second.weight = self.first.weight
        base = torch.randn(8, 32)
        self.register_buffer("turned", base.t()[:16])
        self.register_buffer("scale", torch.randn(8).bfloat16())

    def forward(self, x):
        y = torch.nn.functional.gelu(self.second(self.first(x))) @ self.turned
        return y * self.scale + torch.arange(8)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(3))

    def forward(self, x):
        self.calls.add_(1)
        return x * self.calls


def test_a_small_model(tmp_path):
    torch.manual_seed(0)
    model, x = Mixed().eval(), torch.randn(4, 16)
    path = save(model, (x,), dynamic_shapes=({0: Dim("rows", min=2, max=64)},), path=tmp_path / "small.pt2")
    directory = write_project(path, tmp_path / "source")
    source = (directory / "model.cpp").read_text()
    assert "const Tensor first_bias = weight(1, F32({16}));" in source
    # Tied weights are stored once.
    assert (directory / "weights.bin").stat().st_size < 16 * 16 * 4 * 2 + 8 * 32 * 4 + 512
    program = Program(build(directory))
    with torch.no_grad():
        for rows in (4, 2, 64, 4):
            inputs = torch.randn(rows, 16)
            torch.testing.assert_close(program(inputs), model(inputs))
    with pytest.raises(RuntimeError, match=r"input 0 \(%x\), size 0: s\d+ = 65 is outside the range"):
        program(torch.randn(65, 16))
    with pytest.raises(RuntimeError, match=r"input 0 \(%x\) is f64\[4, 16\]; the plan was compiled for f32\[4, 16\]"):
        program(torch.randn(4, 16).double())
    with pytest.raises(RuntimeError, match="takes 1 inputs, the call passes 2"):
        program(x, x)
    program.close()


def test_weights_are_looked_for_beside_the_library(tmp_path):
    model, x = nn.Linear(4, 4).eval(), torch.randn(2, 4)
    directory = write_project(save(model, (x,), path=tmp_path / "linear.pt2"), tmp_path / "source")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    library = shutil.copy(build(directory), moved)
    with pytest.raises(RuntimeError, match="cannot open .*elsewhere/weights.bin"):
        Program(Path(library))
    with torch.no_grad():
        torch.testing.assert_close(Program(Path(library), str(directory / "weights.bin"))(x), model(x))
    shutil.copy(directory / "weights.bin", moved)
    with torch.no_grad():
        torch.testing.assert_close(Program(Path(library))(x), model(x))
    (moved / "weights.bin").write_bytes(b"short")
    with pytest.raises(RuntimeError, match="its size differs"):
        Program(Path(library))


def test_buffers_are_updated(tmp_path):
    model, x = Counting(), torch.randn(2, 3)
    path = save(model, (x,), path=tmp_path / "counting.pt2")
    program = Program(build(write_project(path, tmp_path / "source")))
    for call in range(1, 4):
        torch.testing.assert_close(program(x), x * call)
    program.close()


@pytest.mark.parametrize("name", ["bert", "resnet18"])
def test_models(name, tmp_path):
    model, (x,) = MODELS[name]()
    dims = ({k: Dim.AUTO for k in ((0, 1) if x.ndim == 2 else (0,))},)
    path = save(model, (x,), dynamic_shapes=dims, path=tmp_path / f"{name}.pt2")
    program = Program(build(write_project(path, tmp_path / "source", "--name", f"the {name}")))
    assert program.name == f"the_{name}"
    with torch.no_grad():
        for y in (x, x.flip(0).repeat(2, *[1] * (x.ndim - 1))[:3].contiguous(), x):
            expected = model(y)
            assert (program(y) - expected).abs().max() <= 1e-4 * expected.abs().max()


GRAPH = """graph @main symbols(s0 in [1, 8]) {
  schema aten.mul.Tensor(Tensor self, Tensor other) -> (Tensor)
  schema aten.permute.default(Tensor self, int[] dims) -> (Tensor)
  %n: int(s0) = input 0
  %x: f32[s0, 3] = input 1
  %f: float = input 2
  %y: f32[s0, 3] = aten.mul.Tensor(%x, %x)
  %t: f32[3, s0]{1, 3} = aten.permute.default(%x, [1, 0])
  return %y, %x, %t, s0 + 1, %f
}
"""


def test_graph_text_with_numbers_and_aliases(tmp_path):
    (tmp_path / "numbers.graph").write_text(GRAPH)
    program = Program(build(write_project(tmp_path / "numbers.graph", tmp_path / "source")))
    base = torch.randn(5, 3)
    x = base[1:]
    kinds = ["tensor", "tensor", "tensor", "integer", "number"]
    y, same, turned, integer, number = program.run([4, x, 2.5], kinds)
    torch.testing.assert_close(y, x * x)
    assert same.data_ptr() == x.data_ptr() and turned.data_ptr() == x.data_ptr()
    assert torch.equal(same, x) and torch.equal(turned, x.t()) and turned.stride() == (1, 3)
    assert (integer, number) == (5, 2.5)


def test_it_loads_in_a_process_without_jumar(tmp_path):
    model, x = nn.Sequential(nn.Linear(4, 8), nn.GELU()).eval(), torch.randn(2, 4)
    library = build(write_project(save(model, (x,), path=tmp_path / "tiny.pt2"), tmp_path / "source"))
    torch.save((x, model(x).detach()), tmp_path / "expected.pt")
    script = (
        "import sys, torch; from pathlib import Path; from cpp_programs import Program\n"
        f"x, y = torch.load({str(tmp_path / 'expected.pt')!r})\n"
        f"torch.testing.assert_close(Program(Path({str(library)!r}))(x), y)\n"
        "assert 'jumar' not in sys.modules\n"
    )
    run_command(sys.executable, "-c", script, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def test_what_only_python_can_call_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("JUMAR_CALL_OPS", "aten.scatter.value")

    class Scatter(nn.Module):
        def forward(self, x, i):
            return torch.scatter(x, 1, i, 7)

    x, i = torch.zeros(2, 3, dtype=torch.int64), torch.tensor([[0], [2]])
    path = save(Scatter(), (x, i), path=tmp_path / "scatter.pt2")
    result = subprocess.run(
        [*command(), "compile", str(path), "--emit=cpp", "-o", str(tmp_path / "source")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "error[wrapper]: the plan has no C++ form" in result.stderr and "aten.scatter.value" in result.stderr


GOLDEN = sorted((Path(__file__).resolve().parents[2] / "src/emit/host/test/cpp").glob("*"))


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_golden_sources_compile(standard, tmp_path):
    """Without a warning, by the standard that the wrapper is written in and by a newer one."""
    (tmp_path / "numbers.graph").write_text(GRAPH)
    write_project(tmp_path / "numbers.graph", tmp_path / "source")  # for its wrapper.h
    compiled = 0
    for path in GOLDEN:
        source = path.read_text().partition("# EXPECT\n")[2]
        if source.startswith("error["):
            continue
        (tmp_path / "program.cpp").write_text(source)
        flags = [f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path / 'source'}"]
        run_command(COMPILER, *flags, str(tmp_path / "program.cpp"))
        compiled += 1
    assert compiled >= 4
