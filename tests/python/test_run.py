"""`jumar run`: exported programs and packages without Python, compared with eager PyTorch."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
from compiling import package_of
from exporting import command, dynamic_dims, exported_model, other_size, save
from models import MODELS
from test_import_models import assert_near
from torch import nn
from torch.export import Dim


def jumar_run(path, inputs, folder, *arguments: str) -> list[np.ndarray]:
    """Results of the program at `path`, in the order of its results."""
    folder.mkdir(exist_ok=True)
    line = [*command(), "run", str(path), f"--output={folder}/out_{{}}.npy", *arguments]
    for k, value in enumerate(inputs):
        array = value if isinstance(value, np.ndarray) else value.numpy()
        np.save(folder / f"in_{k}.npy", array)
        line.append(f"--input={folder}/in_{k}.npy")
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [np.load(line.split(": ")[0]) for line in done.stdout.splitlines()]


def test_the_command_has_no_libtorch():
    libraries = subprocess.run(["ldd", command()[0]], capture_output=True, text=True, check=True).stdout
    assert "libjumar" in libraries
    assert "torch" not in libraries
    assert "libpython" not in libraries


@pytest.mark.parametrize("sizes", ["fixed", "dynamic"])
@pytest.mark.parametrize("name", MODELS)
def test_models(name, sizes, tmp_path):
    model, path, inputs = exported_model(name, sizes, tmp_path)
    for arguments in inputs:
        (found,) = jumar_run(path, [arguments], tmp_path / "run")
        with torch.no_grad():
            assert_near(torch.from_numpy(found), model(arguments))


class Attentions(nn.Module):
    """Every form of attention that exported programs have."""

    def forward(self, q, k, v, added, allowed):
        attend = nn.functional.scaled_dot_product_attention
        return (
            attend(q, k, v),
            attend(q, k, v, attn_mask=added, scale=0.3),
            attend(q, k, v, attn_mask=allowed),
            attend(q, k, v, is_causal=True),
            attend(q[0], k[0], v[0]),  # three dimensions
            attend(q, k[:, :2], v[:, :2], enable_gqa=True),
        )


def test_attention(tmp_path):
    random = torch.Generator().manual_seed(3)
    q = torch.randn(2, 4, 6, 8, generator=random)
    k, v = (torch.randn(2, 4, 10, 8, generator=random) for _ in range(2))
    added = torch.randn(2, 1, 6, 10, generator=random)
    allowed = torch.rand(6, 10, generator=random) > 0.4
    allowed[2] = False  # a row without anything to attend to
    inputs = (q, k, v, added, allowed)
    path = save(Attentions(), inputs, path=tmp_path / "attentions.pt2")
    found = jumar_run(path, inputs, tmp_path / "run")
    expected = Attentions()(*inputs)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b.numpy(), atol=1e-5, rtol=1e-4)


class Calls(nn.Module):
    """Products and convolutions of all forms."""

    def __init__(self):
        super().__init__()
        self.signal = nn.Conv1d(4, 6, 3, stride=2, padding=2, groups=2)
        self.image = nn.Conv2d(3, 8, 3, dilation=2, padding="same", bias=False)
        self.volume = nn.Conv3d(2, 3, 2)
        self.weight = nn.Parameter(torch.randn(5, 7))

    def forward(self, signal, image, volume, a, b, c):
        return (
            self.signal(signal),
            self.image(image),
            self.volume(volume),
            torch.addmm(a, b, c, beta=0.5, alpha=2),
            torch.bmm(signal, signal.transpose(1, 2)),
            torch.baddbmm(signal[:, :, :4], signal, signal.transpose(1, 2), alpha=3),
            b @ self.weight,
            b.t() @ b,
            torch.mv(b, b[0]),
            b[1] @ b[0],
        )


def test_calls(tmp_path):
    random = torch.Generator().manual_seed(4)
    shapes = ((2, 4, 20), (2, 3, 9, 9), (1, 2, 4, 5, 6), (9,), (6, 5), (5, 9))
    inputs = tuple(torch.randn(*shape, generator=random) for shape in shapes)
    model = Calls().eval()
    path = save(model, inputs, path=tmp_path / "calls.pt2")
    found = jumar_run(path, inputs, tmp_path / "run")
    with torch.no_grad():
        expected = model(*inputs)
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b.numpy(), atol=1e-5, rtol=1e-4)


class Kinds(nn.Module):
    def forward(self, a, b, c, d):
        return a + 1, b.logical_not(), c.to(torch.bfloat16), d * 2, a


def test_element_types_and_layouts(tmp_path):
    inputs = (
        torch.arange(6, dtype=torch.int16).reshape(2, 3),
        torch.tensor([True, False]),
        torch.randn(4, dtype=torch.float64),
        torch.randn(3, 5).half(),
    )
    path = save(Kinds(), inputs, path=tmp_path / "kinds.pt2")
    arrays = [np.asfortranarray(value.numpy()) for value in inputs]
    found = jumar_run(path, arrays, tmp_path / "run")
    expected = Kinds()(*inputs)
    assert [array.dtype.str for array in found] == ["<i2", "|b1", "|V2", "<f2", "<i2"]
    for a, b in zip(found, expected):
        if b.dtype == torch.bfloat16:
            a, b = a.view(np.int16), b.view(torch.int16)
        np.testing.assert_array_equal(a, b.numpy())


class Sorted(nn.Module):
    def forward(self, x):
        return torch.sort(x @ x)[0], torch.linalg.inv(x)


def test_what_needs_libtorch_is_named(tmp_path):
    x = torch.randn(4, 4)
    path = save(Sorted(), (x,), path=tmp_path / "sorted.pt2")
    with pytest.raises(RuntimeError) as raised:
        jumar_run(path, [x], tmp_path / "run")
    message = str(raised.value)
    assert "aten.sort.default: no provider has this operator" in message
    assert "aten.linalg_inv.default: no provider has this operator" in message
    assert "aten.mm" not in message


def test_inputs_are_listed(tmp_path):
    model, (x,) = MODELS["bert"]()
    path = save(model, (x,), dynamic_shapes=({0: Dim("batch", max=64), 1: Dim("length", min=2, max=512)},),
                path=tmp_path / "bert.pt2")
    line = [*command(), "run", str(path)]
    listed = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"tokens: i64\[(\w+), (\w+)\]\n\w+ in \[\d+, 64\]\n\w+ in \[2, 512\]\n", listed), listed


@pytest.mark.parametrize("bad", ["type", "rank", "size", "missing", "count"])
def test_wrong_inputs_are_errors(bad, tmp_path):
    model = nn.Linear(4, 3)
    path = save(model, (torch.randn(2, 4),), path=tmp_path / "linear.pt2")
    good = np.zeros((2, 4), np.float32)
    inputs = {"type": [good.astype(np.float64)], "rank": [good[0]], "size": [good[:1]], "missing": [good],
              "count": [good, good]}[bad]
    arguments = ["--input=/nowhere.npy"] if bad == "missing" else []
    with pytest.raises(RuntimeError, match="input|cannot read"):
        jumar_run(path, [] if bad == "missing" else inputs, tmp_path / "run", *arguments)


# ---- Packages ----

_LIBTORCH = f"--torch={Path(torch.__file__).parent / 'lib' / 'libtorch_cpu.so'}"


@pytest.mark.parametrize("provider", ["torch", "onednn"])
@pytest.mark.parametrize("name", ["bert", "resnet18"])
def test_packages(name, provider, tmp_path):
    model, (x,) = MODELS[name]()
    package = package_of(model, (x,), tmp_path, f"--provider={provider}", dynamic_shapes=dynamic_dims(x))
    arguments = [_LIBTORCH] if provider == "torch" else []
    for value in (x, other_size(x)):
        (found,) = jumar_run(package, [value], tmp_path / "run", *arguments)
        with torch.no_grad():
            assert_near(torch.from_numpy(found), model(value))


def test_packages_are_known_by_what_is_in_them(tmp_path):
    inputs = (torch.arange(6, dtype=torch.int16).reshape(2, 3), torch.tensor([True, False]),
              torch.randn(4, dtype=torch.float64), torch.randn(3, 5).half())
    package = package_of(Kinds(), inputs, tmp_path, "--provider=onednn")
    renamed = shutil.move(package, tmp_path / "anything.zip")
    arrays = [np.asfortranarray(value.numpy()) for value in inputs]
    found = jumar_run(renamed, arrays, tmp_path / "run")
    same = jumar_run(tmp_path / "model.pt2", arrays, tmp_path / "run_archive")
    assert [array.dtype.str for array in found] == ["<i2", "|b1", "|V2", "<f2", "<i2"]
    for a, b in zip(found, same):
        np.testing.assert_array_equal(a, b)


def test_inputs_of_packages_are_listed_and_nothing_is_loaded(tmp_path):
    class Options(nn.Module):
        def forward(self, x, *, flag, y):
            return (x + y if flag else x - y), x.shape[0]

    x, y = torch.ones(3, 4), torch.ones(4)
    package = package_of(Options(), (x,), tmp_path, kwargs={"flag": True, "y": y},
                         dynamic_shapes={"x": {0: Dim("rows", max=64)}, "flag": None, "y": None})
    listed = subprocess.run([*command(), "run", str(package)], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"x: f32\[(\w+), 4\]\ny: f32\[4\]\n\1 in \[\d+, 64\]\n", listed), listed
    total, rows = jumar_run(package, [x, y], tmp_path / "run", "--threads=2", "--repeat=2")
    np.testing.assert_array_equal(total, np.full((3, 4), 2, np.float32))
    assert rows.dtype == np.int64
    assert rows == 3
    with pytest.raises(RuntimeError, match="the program has 2 inputs, 1 are given"):
        jumar_run(package, [x], tmp_path / "run")
    with pytest.raises(RuntimeError, match=r"f64\[3, 4\]"):
        jumar_run(package, [x.double(), y], tmp_path / "run")
    with pytest.raises(RuntimeError, match="65"):
        jumar_run(package, [torch.ones(65, 4), y], tmp_path / "run")
    with pytest.raises(RuntimeError, match="is compiled already"):
        jumar_run(package, [x, y], tmp_path / "run", "-O", "max_fusions=1")


def test_a_package_that_needs_libtorch_says_so(tmp_path):
    x = torch.randn(4, 4)
    package = package_of(Sorted(), (x,), tmp_path)
    with pytest.raises(RuntimeError, match=r"aten\.sort\.default[\s\S]*--torch="):
        jumar_run(package, [x], tmp_path / "run")
    with pytest.raises(RuntimeError, match="cannot be loaded"):
        jumar_run(package, [x], tmp_path / "run", "--torch=/nowhere/libtorch_cpu.so")
    found = jumar_run(package, [x], tmp_path / "run", _LIBTORCH)
    for a, b in zip(found, Sorted()(x)):
        np.testing.assert_allclose(a, b.numpy(), atol=1e-4, rtol=1e-4)
    # The exported program as well.
    with pytest.raises(RuntimeError, match=r"aten\.sort\.default"):
        jumar_run(tmp_path / "model.pt2", [x], tmp_path / "run")
    for a, b in zip(jumar_run(tmp_path / "model.pt2", [x], tmp_path / "run", _LIBTORCH), Sorted()(x)):
        np.testing.assert_allclose(a, b.numpy(), atol=1e-4, rtol=1e-4)
