"""Packages in torch's own, unmodified loader: values, dynamic sizes, constants, errors, threads."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
import zipfile

import pytest
import torch
from compiling import compile_archive, package_of
from exporting import save
from torch._inductor import aoti_load_package
from torch._inductor.package import load_package
from torch.export import Dim


class Affine(torch.nn.Module):
    """relu(x * w + b) with a dynamic batch."""

    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(1.0, 9.0))
        self.register_buffer("b", torch.full((8,), -4.0))

    def forward(self, x):
        return torch.relu(x * self.w + self.b)


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4))

    def forward(self, x):
        return torch.softmax(self.layers(x), dim=-1)


def same(found, expected):
    """A product and a sum may be rounded once."""
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)


def affine(x, w, b):
    return torch.relu(x * w + b)


@pytest.fixture(scope="module")
def affine_package(tmp_path_factory):
    return package_of(Affine(), (torch.randn(3, 8),), tmp_path_factory.mktemp("affine"),
                      dynamic_shapes=({0: Dim("batch", min=1, max=1000)},))


@pytest.fixture
def loaded(affine_package):
    return aoti_load_package(str(affine_package))


def test_dynamic_batch_and_strides(loaded):
    model = Affine()
    for batch in (1, 4, 1000):
        x = torch.randn(batch, 8)
        same(loaded(x), model(x))
    with pytest.raises(RuntimeError, match=r"x.* is f32\[6, 8\]\{1, 6\}; the plan was compiled for f32\[6, 8\]"):
        loaded(torch.randn(8, 6).t())
    assert not loaded(torch.randn(4, 8, requires_grad=True)).requires_grad


def test_metadata(loaded):
    metadata = loaded.get_metadata()
    assert metadata["AOTI_DEVICE_KEY"] == "cpu"
    assert metadata["JUMAR_VERSION"]
    (size,) = re.findall(r"x: f32\[(s\d+), 8\]", metadata["JUMAR_INPUTS"])
    assert metadata["JUMAR_RESULTS"] == f"f32[{size}, 8]"
    assert metadata["JUMAR_SIZES"] == f"{size} in [1, 1000]"
    assert sorted(loaded.get_constant_fqns()) == ["b", "w"]


@pytest.mark.parametrize(("bad", "message"), [
    (torch.zeros(4, 7), r"x.*f32\[4, 7\]"),
    (torch.zeros(4, 8, dtype=torch.float64), r"x.*f64\[4, 8\]"),
    (torch.zeros(8), "x.*1 dimensions; the plan was compiled for 2"),
    (torch.zeros(1001, 8), "1001"),
])
def test_wrong_inputs(loaded, bad, message):
    with pytest.raises(RuntimeError, match=message):
        loaded(bad)
    x = torch.ones(2, 8)
    same(loaded(x), Affine()(x))


def test_wrong_number_of_inputs(loaded):
    with pytest.raises(RuntimeError, match="2 tensors given, the program takes 1"):
        loaded.loader.boxed_run([torch.ones(2, 8), torch.ones(2, 8)])


def test_constants_are_copied_or_aliased(loaded):
    x = torch.randn(5, 8)
    w, b = torch.randn(8), torch.randn(8)
    loaded.load_constants({"w": w, "b": b}, check_full_update=True)
    same(loaded(x), affine(x, w, b))
    kept = w.clone()
    w.zero_()
    same(loaded(x), affine(x, kept, b))
    loaded.load_constants({"w": w, "b": b}, check_full_update=True, user_managed=True)
    w.fill_(3.0)
    same(loaded(x), affine(x, w, b))


def test_wrong_constants(loaded):
    x = torch.ones(2, 8)
    with pytest.raises(RuntimeError, match="'b' is missing"):
        loaded.load_constants({"w": torch.zeros(8)}, check_full_update=True)
    with pytest.raises(RuntimeError, match=r"'w' is f32\[8\].*f32\[9\]"):
        loaded.load_constants({"w": torch.zeros(9)}, check_full_update=False)
    # With other strides than those that were compiled for, the tensor is copied.
    strided = torch.zeros(16)[::2]
    loaded.load_constants({"w": strided}, check_full_update=False, user_managed=True)
    same(loaded(x), affine(x, torch.zeros(8), torch.full((8,), -4.0)))
    loaded.load_constants({"w": Affine().w.detach()}, check_full_update=False)
    same(loaded(x), Affine()(x))
    loaded.load_constants({"w": torch.ones(16)[::2]}, check_full_update=False)
    same(loaded(x), affine(x, torch.ones(8), torch.full((8,), -4.0)))


def test_swap(affine_package, tmp_path):
    with zipfile.ZipFile(affine_package) as archive:
        archive.extractall(tmp_path)
        library = str(tmp_path / next(n for n in archive.namelist() if n.endswith(".so")))
    runner = torch._C._aoti.AOTIModelContainerRunnerCpu(library, 1)
    x, w = torch.randn(5, 8), torch.randn(8)
    names = {fqn: name for name, fqn in runner.get_constant_names_to_original_fqns().items()}
    with pytest.raises(RuntimeError, match="no other constants"):
        runner.swap_constant_buffer()
    runner.update_constant_buffer({names["w"]: w}, True, False)
    same(runner.run([x])[0], Affine()(x))
    runner.swap_constant_buffer()
    same(runner.run([x])[0], affine(x, w, torch.full((8,), -4.0)))
    same(runner.extract_constants_map(False)["w"], w)
    same(runner.extract_constants_map(True)["w"], Affine().w.detach())
    runner.swap_constant_buffer()
    same(runner.run([x])[0], Affine()(x))
    runner.free_inactive_constant_buffer()
    with pytest.raises(RuntimeError, match="no other constants"):
        runner.swap_constant_buffer()


@pytest.mark.parametrize("arguments", [{"run_single_threaded": True}, {"num_runners": 3}])
def test_runners_and_threads(affine_package, arguments):
    model = load_package(str(affine_package), **arguments)
    failures = []

    def work(seed: int):
        torch.set_grad_enabled(False)  # one per thread
        x = torch.randn(seed + 1, 8)
        for _ in range(50):
            if not torch.allclose(model(x), Affine()(x), atol=1e-6):
                failures.append(seed)

    # A runner without locks serves one thread.
    count = 1 if "run_single_threaded" in arguments else 4
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


class Counter(torch.nn.Module):
    """Writes to a buffer and to an argument."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x):
        self.total.add_(x)
        x.mul_(2)
        return self.total + 1


def test_mutation(tmp_path):
    package = aoti_load_package(str(package_of(Counter(), (torch.ones(4),), tmp_path)))
    model = Counter()
    for k in range(3):
        x = torch.full((4,), float(k + 1))
        y = x.clone()
        same(package(x), model(y))
        same(x, y)


class Tree(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((3,), 2.0))

    def forward(self, pair, *, extra, flag=True):
        a, rows = pair
        return {"sum": a + rows["b"] * extra, "same": a, "row": a[1], "scale": self.scale}, [rows["b"].sum()]


def test_nested_arguments_and_aliases(tmp_path):
    a, b, extra = torch.randn(3, 3), torch.randn(3, 3), torch.randn(3)
    package = aoti_load_package(str(package_of(Tree(), ((a, {"b": b}),), tmp_path, kwargs={"extra": extra})))
    found, expected = package((a, {"b": b}), extra=extra), Tree()((a, {"b": b}), extra=extra)
    assert found[0].keys() == expected[0].keys()
    same(found[0]["sum"], expected[0]["sum"])
    same(found[1][0], expected[1][0])
    same(found[0]["scale"], torch.full((3,), 2.0))
    assert found[0]["same"].data_ptr() == a.data_ptr()
    assert found[0]["row"].data_ptr() == a[1].data_ptr()


class Weights(torch.nn.Module):
    """Tied, bfloat16, strided, scalar and lifted weights."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 8, bias=False)
        self.second = torch.nn.Linear(8, 8, bias=False)
        self.second.weight = self.first.weight
        self.narrow = torch.nn.Parameter(torch.randn(8, dtype=torch.bfloat16))
        self.turned = torch.nn.Parameter(torch.randn(8, 8).t())
        self.register_buffer("one", torch.tensor(1.5))
        self.register_buffer("kept_out", torch.randn(8), persistent=False)

    def forward(self, x):
        y = self.second(torch.tanh(self.first(x))) * self.narrow.float() @ self.turned
        return y * self.one + self.kept_out + torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])


def test_kinds_of_weights(tmp_path):
    model = Weights()
    path = package_of(model, (torch.randn(2, 8),), tmp_path)
    package = aoti_load_package(str(path))
    x = torch.randn(2, 8)
    torch.testing.assert_close(package(x), model(x))
    # One copy of the tied weight: two matrices, and less than a third's worth of everything else.
    with zipfile.ZipFile(path) as archive:
        weights = archive.read(next(n for n in archive.namelist() if n.endswith(".weights")))
    assert weights.count(model.first.weight.detach().numpy().tobytes()) == 1


def test_no_weights_and_empty_tensors(tmp_path):
    class Plain(torch.nn.Module):
        def forward(self, x):
            return x.sum(0) * 2, x[:0]

    package = aoti_load_package(str(package_of(Plain(), (torch.randn(3, 4),), tmp_path)))
    x = torch.randn(3, 4)
    found = package(x)
    torch.testing.assert_close(found[0], x.sum(0) * 2)
    assert found[1].shape == (0, 4)


_FRESH = """
import sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
x = torch.load(sys.argv[2])
torch.save(model(x), sys.argv[3])
assert "jumar" not in sys.modules
"""


def test_fresh_process_after_a_move(tmp_path):
    model = Mlp()
    package = package_of(model, (torch.randn(2, 16),), tmp_path, "--cpu=x86-64-v3")
    moved = tmp_path / "elsewhere" / "renamed.pt2"
    moved.parent.mkdir()
    shutil.move(package, moved)
    x = torch.randn(2, 16)
    torch.save(x, tmp_path / "x.pt")
    subprocess.run([sys.executable, "-c", _FRESH, moved, tmp_path / "x.pt", tmp_path / "y.pt"], check=True)
    torch.testing.assert_close(torch.load(tmp_path / "y.pt"), model(x))


def test_compiles_without_any_tools(tmp_path):
    archive = save(Mlp(), (torch.randn(2, 16),), path=tmp_path / "model.pt2")
    empty = tmp_path / "bin"
    empty.mkdir()
    compile_archive(archive, environment={"PATH": str(empty)})
    x = torch.randn(2, 16)
    torch.manual_seed(0)
    assert aoti_load_package(str(tmp_path / "model.jumar.pt2"))(x).shape == (2, 4)


def test_equal_inputs_give_equal_packages(tmp_path):
    archive = save(Mlp(), (torch.randn(2, 16),), path=tmp_path / "model.pt2")
    for name in ("a", "b"):
        compile_archive(archive, "-o", str(tmp_path / name / "m.jumar.pt2") if (tmp_path / name).mkdir() is None else "")
    assert (tmp_path / "a/m.jumar.pt2").read_bytes() == (tmp_path / "b/m.jumar.pt2").read_bytes()


def test_wrong_arguments(tmp_path):
    archive = save(Mlp(), (torch.randn(2, 16),), path=tmp_path / "model.pt2")
    with pytest.raises(RuntimeError, match="unknown CPU target 'z80': allowed are host, x86-64-v3"):
        compile_archive(archive, "--cpu=z80")
    with pytest.raises(RuntimeError, match="no/such/folder"):
        compile_archive(archive, "-o", str(tmp_path / "no/such/folder/x.pt2"))
    with pytest.raises(RuntimeError, match="missing.pt2"):
        compile_archive(tmp_path / "missing.pt2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.pt2"]


@pytest.mark.parametrize("kept", [None, -100])
def test_lost_weights(tmp_path, kept):
    package = package_of(Mlp(), (torch.randn(2, 16),), tmp_path)
    stripped = tmp_path / "stripped.pt2"
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(stripped, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if not name.endswith(".weights"):
                new.writestr(name, data)
            elif kept is not None:
                new.writestr(name, data[:kept])
    with pytest.raises(RuntimeError, match="model.weights"):
        aoti_load_package(str(stripped))


class WeightNorm(torch.nn.Module):
    """Computes a weight of its parameters, which a package does at load and after updates."""

    def __init__(self):
        super().__init__()
        self.v = torch.nn.Parameter(torch.randn(8, 16))
        self.g = torch.nn.Parameter(torch.rand(8, 1))
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps.add_(1)
        weight = self.g * self.v / self.v.norm(dim=1, keepdim=True)
        return x @ weight.t() + self.steps, weight


def test_computed_weights(tmp_path):
    model = WeightNorm().eval()
    package = aoti_load_package(str(package_of(model, (torch.randn(2, 16),), tmp_path)))
    x = torch.randn(2, 16)
    for new in (None, {"v": torch.randn(8, 16)}, {"g": torch.rand(8, 1)}):
        if new is not None:
            package.load_constants(new, check_full_update=False)
            model.load_state_dict(new, strict=False)
        with torch.no_grad():
            for found, expected in zip(package(x), model(x)):
                torch.testing.assert_close(found, expected)


def test_from_python(tmp_path):
    import jumar

    model, x = Mlp(), torch.randn(2, 16)
    exported = torch.export.export(model, (x,))
    stages = []
    path = jumar.aot_compile(exported, tmp_path / "mlp.pt2", options={"cpu": "x86-64-v3"}, progress=stages.append)
    assert path == str(tmp_path / "mlp.pt2")
    assert stages == ["exporting", "reading", "compiling", "linking", "writing"]
    torch.testing.assert_close(aoti_load_package(path)(x), model(x))
    with pytest.raises(jumar.CompileError, match="z80"):
        jumar.aot_compile(exported, tmp_path / "no.pt2", options={"cpu": "z80"})
    with pytest.raises(ZeroDivisionError):
        jumar.aot_compile(exported, tmp_path / "late.pt2", progress=lambda stage: 1 // 0)
    assert not (tmp_path / "no.pt2").exists()


_OUTLIVES = """
import gc, sys, torch
model = torch._inductor.aoti_load_package(sys.argv[1])
x = torch.ones(1024, 1024)
results = [model(x) for _ in range(3)]
del model
gc.collect()
libraries = [line for line in open("/proc/self/maps") if "wrapper.so" in line]
print(float(sum(y.sum() for y in results)))
del results
gc.collect()
model = torch._inductor.aoti_load_package(sys.argv[1])
model(x)
del model
gc.collect()
print(len([line for line in open("/proc/self/maps") if "wrapper.so" in line]) <= len(libraries))
"""


def test_large_results_outlive_the_package(tmp_path):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    package = package_of(Double(), (torch.ones(1024, 1024),), tmp_path)
    result = subprocess.run([sys.executable, "-c", _OUTLIVES, package], check=True, capture_output=True, text=True)
    assert result.stdout.split() == [str(3 * 2.0 * 1024 * 1024), "True"]


def test_weights_in_another_layout(tmp_path):
    """Convolutions want their weights channels-last; callers never see it."""
    model = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 8, 3)).eval()
    package = aoti_load_package(str(package_of(model, (torch.randn(2, 16, 12, 12),), tmp_path)))
    x = torch.randn(2, 16, 12, 12)
    with torch.no_grad():
        torch.testing.assert_close(package(x), model(x))
        for user_managed in (False, True):
            new = {name: torch.randn_like(value) for name, value in model.state_dict().items()}
            model.load_state_dict(new)
            package.load_constants(new, check_full_update=True, user_managed=user_managed)
            torch.testing.assert_close(package(x), model(x), rtol=1e-4, atol=1e-3)


def test_checks_of_arguments_can_be_left_out(tmp_path):
    x = torch.randn(3, 8)
    package = aoti_load_package(str(package_of(Affine(), (x,), tmp_path, "-O", "input_checks=false")))
    same(package(x), Affine()(x))
    # The same bits under another name: only a check would notice.
    same(package(x.view(torch.int32)), Affine()(x))
    checked = tmp_path / "checked"
    checked.mkdir()
    with pytest.raises(RuntimeError, match=r"x.* is i32\[3, 8\]"):
        aoti_load_package(str(package_of(Affine(), (x,), checked)))(x.view(torch.int32))


SCATTERS = "aten.scatter.value,aten.scatter.value_reduce"


def test_calls_by_the_proxy_executor(tmp_path, monkeypatch):
    """Operators with plain numbers, which libtorch's C functions do not carry."""
    monkeypatch.setenv("JUMAR_CALL_OPS", SCATTERS)

    class Scatter(torch.nn.Module):
        def forward(self, x, index):
            a = torch.scatter(x, 1, index, 0.5)
            b = torch.scatter(x * 2, 0, index, -3)
            return a, b.cumsum(0), torch.scatter(a, 1, index + 1, 2.0, reduce="multiply")

    x, index = torch.randn(3, 4), torch.tensor([[0, 1, 2], [2, 1, 0]])
    model = Scatter()
    for sizes in (None, ({0: Dim("rows", min=3, max=9)}, None)):
        path = package_of(model, (x, index), tmp_path, dynamic_shapes=sizes)
        package = aoti_load_package(str(path))
        given = x if sizes is None else torch.randn(7, 4)
        for found, expected in zip(package(given, index), model(given, index)):
            same(found, expected)
    with pytest.raises(RuntimeError, match=r"with provider onednn\n.*aten\.scatter\.value"):
        compile_archive(tmp_path / "model.pt2", "--provider=onednn", "-o", str(tmp_path / "other.pt2"))
    assert not (tmp_path / "other.pt2").exists()


def test_results_that_are_no_tensors(tmp_path):
    class Numbers(torch.nn.Module):
        def forward(self, x):
            return {"twice": x * 2, "nothing": None, "rows": x.shape[0], "three": 3}

    package = aoti_load_package(str(package_of(Numbers(), (torch.randn(3, 4),), tmp_path,
                                               dynamic_shapes=({0: Dim("rows", min=2, max=9)},))))
    found = package(torch.ones(5, 4))
    same(found["twice"], torch.full((5, 4), 2.0))
    assert found["nothing"] is None
    # Numbers are tensors without dimensions, as in packages of torch's own.
    assert found["rows"] == 5 and found["three"] == 3


def test_weights_that_only_a_call_computes(tmp_path, monkeypatch):
    """Nothing could make the call when the package is loaded, so that it is made in every call of the program."""
    monkeypatch.setenv("JUMAR_CALL_OPS", SCATTERS)

    class Scattered(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.randn(3, 4))
            self.register_buffer("index", torch.tensor([[0, 1], [2, 3], [1, 0]]))

        def forward(self, x):
            return x * torch.scatter(self.w, 1, self.index, 0.5)

    model, x = Scattered(), torch.randn(3, 4)
    package = aoti_load_package(str(package_of(model, (x,), tmp_path)))
    same(package(x), model(x).detach())


def test_results_that_are_views_of_another_type(tmp_path):
    class Bits(torch.nn.Module):
        def forward(self, x):
            return x[1:].view(torch.int32), x + 1

    x = torch.randn(3, 4)
    package = aoti_load_package(str(package_of(Bits(), (x,), tmp_path)))
    assert torch.equal(package(x)[0], x[1:].view(torch.int32))
