"""Packages for a device: `jumar compile --target -o x.pt2`, `jumar inspect`, `jumar run --sim`, and Python."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from ascend import A2, A5, CORES, needs_toolchain
from compiling import compile_archive, package_of
from exporting import command, exported_model, save
from torch import nn
from torch.export import Dim

pytestmark = needs_toolchain


def jumar(*arguments: str, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run([*command(), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def simulated(package: Path, inputs: tuple, folder: Path, *arguments: str,
              environment: dict[str, str] | None = None) -> tuple[list[np.ndarray], str]:
    """Results, and what the command says about them."""
    folder.mkdir(exist_ok=True)
    line = [*command(), "run", "--sim", str(package), f"--output={folder}/out_{{}}.npy", *arguments]
    for k, value in enumerate(inputs):
        np.save(folder / f"in_{k}.npy", value.numpy() if isinstance(value, torch.Tensor) else np.array(value))
        line.append(f"--input={folder}/in_{k}.npy")
    done = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [np.load(each.split(": ")[0]) for each in done.stdout.splitlines()], done.stderr


class Block(nn.Module):
    """A gather, a normalization, a product, what follows it, and weights to fold."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.norm = nn.LayerNorm(32)
        self.out = nn.Linear(32, 24)
        self.scale = nn.Parameter(torch.randn(24))

    def forward(self, ids):
        return F.gelu(self.out(self.norm(self.words(ids)))) * torch.exp(self.scale * 0.5)


def block() -> nn.Module:
    torch.manual_seed(0)
    return Block().eval()


IDS = torch.randint(0, 50, (8, 40), generator=torch.Generator().manual_seed(1))
DYNAMIC = ({0: Dim("batch", max=64), 1: Dim("length", max=256)},)


@pytest.fixture(scope="module", params=[A2, A5])
def packed(request, tmp_path_factory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp(request.param)
    return request.param, package_of(block(), (IDS,), folder, f"--target={request.param}", dynamic_shapes=DYNAMIC)


def entries(package: Path) -> dict[str, bytes]:
    """By the name after the folder of the model."""
    with zipfile.ZipFile(package) as archive:
        return {name.split("/data/aotinductor/model/", 1)[-1]: archive.read(name) for name in archive.namelist()}


def test_what_is_in_a_package(packed) -> None:
    target, package = packed
    found = entries(package)
    kernels = json.loads(found["device.json"])
    assert (kernels["format"], kernels["target"]) == ("jumar device package 1", target)
    for row in kernels["kernels"]:
        assert f"func.func @{row['function']}(" in found[row["linalg"]].decode()
        assert row["binary"] is None or found[row["binary"]]
    costs = json.loads(found["kernels.json"])
    launches, at_load = costs["launches"], costs["at_load"]
    names = [row["kernel"] for row in kernels["kernels"]]
    assert [row["kernel"] for row in launches + at_load] == names
    assert at_load and all(row["kernel"].startswith("fold_") for row in at_load)
    for row in launches + at_load:
        assert row["gm_bytes"] >= row["least_written_bytes"] and row["ub_unshared_bytes"] >= row["ub_modelled_bytes"]
    assert found["device.target"].decode().startswith(f'target "{target}"')
    metadata = json.loads(found["model.wrapper_metadata.json"])
    assert metadata["AOTI_DEVICE_KEY"] == "npu" and metadata["JUMAR_TARGET"] == target
    assert all(isinstance(value, str) for value in metadata.values())
    assert found["host/x86_64.o"][18:20] == b"\x3e\x00" and found["host/aarch64.o"][18:20] == b"\xb7\x00"
    assert {"model.plan", "model.folding", "model.manifest", "model.weights", "model.wrapper.so"} <= set(found)


def test_equal_inputs_give_equal_packages(packed, tmp_path: Path) -> None:
    target, package = packed
    again = tmp_path / package.name
    compile_archive(package.parent / "model.pt2", f"--target={target}", "-o", str(again))
    assert again.read_bytes() == package.read_bytes()


@pytest.mark.parametrize("limit", [None, (1, 2), (3, 7)])
def test_run_with_the_simulator(packed, limit: tuple | None, tmp_path: Path) -> None:
    target, package = packed
    cores = limit[1] if limit else CORES[target][1]
    said_of = []
    for ids in (IDS, torch.randint(0, 50, (3, 77))):
        for words, variables in ([f"--device-limit={limit[0]},{limit[1]}"] if limit else [], {}), \
                ([], {"NPU_DEVICE_LIMIT": f"{limit[0]},{limit[1]}"} if limit else {}):
            (found,), said = simulated(package, (ids,), tmp_path / "run", *words, environment=variables)
            with torch.no_grad():
                np.testing.assert_allclose(found, block()(ids).numpy(), atol=1e-5, rtol=1e-5)
            assert f"simulated for {target}, on at most {cores} vector cores: " in said
            assert re.search(r"when the package was loaded: [1-9]\d* launches\n  fold_", said)
            grids = [(int(a), int(b)) for a, b in re.findall(r": grid (\d+), (\d+) cores", said)]
            assert len(grids) == len(json.loads(entries(package)["device.json"])["kernels"])
            assert all(used == grid <= cores for grid, used in grids)
            assert "  1x aten.addmm.default: a matrix product" in said
            said_of.append(said[said.index("simulated for"):])  # after a warning about the limit's ratio
    assert said_of[0] == said_of[1]


def test_listing_and_inspecting(packed) -> None:
    target, package = packed
    listed = jumar("run", "--sim", package)
    assert re.fullmatch(r"ids: i64\[(s\d+), (s\d+)\]\n\1 in \[0, 64\]\n\2 in \[0, 256\]\n", listed)
    text = jumar("inspect", package)
    told = json.loads(jumar("inspect", package, "--json"))
    launches = told["device"]["project"]["launches"]
    assert f"compiled for: {target}" in text and f"target: {target}, at most " in text
    for row in launches + told["device"]["project"]["at_load"]:
        assert re.search(rf"^{re.escape(row['kernel'])} +{row['grid'][0]} ", text, re.MULTILINE)
    assert "1x aten.addmm.default: a matrix product" in text
    assert [row["op"] for row in told["calls"]] == ["aten.addmm.default"]
    assert told["device"]["code"] == json.loads(entries(package)["device.json"])["kernels"]
    assert told["runs_without_libtorch"]["answer"]
    assert "launch @" in jumar("inspect", package, "--plan")
    assert "launch @" in jumar("inspect", package, "--plan", "--at-load")


@pytest.mark.parametrize("words", [[], [f"--target={A2}"], ["--device-limit=4,8"]])
def test_a_package_for_a_device_needs_the_simulator(packed, words: list[str], tmp_path: Path) -> None:
    _, package = packed
    np.save(tmp_path / "x.npy", IDS.numpy())
    with pytest.raises(RuntimeError, match="--target is for exported programs" if "--target" in str(words)
                       else "launched on none yet: --sim runs them in the simulator"):
        jumar("run", package, f"--input={tmp_path}/x.npy", *words)


def test_sim_is_not_for_packages_of_the_processor(tmp_path: Path) -> None:
    package = package_of(block(), (IDS,), tmp_path)
    with pytest.raises(RuntimeError, match="--target, --device-limit and --sim are for exported programs"):
        simulated(package, (IDS,), tmp_path / "run")


def test_wrong_arguments(packed, tmp_path: Path) -> None:
    target, package = packed
    with pytest.raises(RuntimeError, match=r"outside the range that the plan was compiled for, \[0, 64\]"):
        simulated(package, (torch.zeros(65, 8, dtype=torch.int64),), tmp_path / "run")
    with pytest.raises(RuntimeError, match=r"is f32\[8, 8\]; the plan was compiled for i64\[8, 8\]"):
        simulated(package, (torch.zeros(8, 8),), tmp_path / "run")
    with pytest.raises(RuntimeError, match="the program has 1 inputs, 2 are given"):
        simulated(package, (IDS, IDS), tmp_path / "run")
    with pytest.raises(RuntimeError, match=f"NPU_DEVICE_LIMIT.*'1000,2000'.*{target}"):
        simulated(package, (IDS,), tmp_path / "run", environment={"NPU_DEVICE_LIMIT": "1000,2000"})
    place = "kernel layer_norm_2, block [0-9]+: reads elements 32000000 to 32000031 of argument"
    with pytest.raises(RuntimeError, match=place):
        simulated(package, (torch.full((8, 8), 10**6),), tmp_path / "run")


def rewritten(package: Path, out: Path, change) -> Path:
    """The package with `change(name, bytes)` for each entry; None leaves it out."""
    with zipfile.ZipFile(package) as archive, zipfile.ZipFile(out, "w") as copy:
        for name in archive.namelist():
            changed = change(name.split("/data/aotinductor/model/", 1)[-1], archive.read(name))
            if changed is not None:
                copy.writestr(name, changed)
    return out


def test_damaged_packages(packed, tmp_path: Path) -> None:
    target, package = packed
    found = entries(package)
    kernel = json.loads(found["device.json"])["kernels"][0]["linalg"]
    other = json.loads(found["device.json"])["kernels"][-1]
    cases = {
        "model.plan": (None, "it has no entry '.*model.plan'"),
        kernel: (None, f"it has no entry '.*{re.escape(kernel)}'"),
        "device.target": (b"target", "device.target.*error|error.*device.target"),
        "device.json": (b'{"format": "jumar device package 9"}', "this Jumar reads 'jumar device package 1'"),
        "model.weights": (None, "its weights are missing"),
        "model.manifest": (b"broken", "manifest"),
    }
    for entry, (content, message) in cases.items():
        broken = rewritten(package, tmp_path / "broken.pt2", lambda name, data: content if name == entry else data)
        with pytest.raises(RuntimeError, match=message):
            simulated(broken, (IDS,), tmp_path / "run")
    # Code that is another kernel's takes other arguments than the plan passes.
    broken = rewritten(package, tmp_path / "broken.pt2",
                       lambda name, data: found[other["linalg"]] if name == kernel else data)
    with pytest.raises(RuntimeError, match="does not pass to kernel .* what its code takes"):
        simulated(broken, (IDS,), tmp_path / "run")
    # Bytes that have changed, and a file that is cut short.
    data = bytearray(package.read_bytes())
    with zipfile.ZipFile(package) as archive:
        info = next(i for i in archive.infolist() if i.filename.endswith("model.plan"))
    data[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 0x55
    (tmp_path / "flipped.pt2").write_bytes(bytes(data))
    with pytest.raises(RuntimeError, match=r"model\.plan"):
        simulated(tmp_path / "flipped.pt2", (IDS,), tmp_path / "run")
    (tmp_path / "cut.pt2").write_bytes(package.read_bytes()[:-1000])
    with pytest.raises(RuntimeError, match="cut.pt2"):
        simulated(tmp_path / "cut.pt2", (IDS,), tmp_path / "run")


def test_the_output_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    archive = save(block(), (IDS,), path=tmp_path / "model.pt2")
    out = tmp_path / "model.jumar.pt2"
    out.write_bytes(b"what was there")
    nowhere = {"JUMAR_TOOLCHAIN_DIR": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "ASCEND_HOME_PATH": ""}
    (tmp_path / "bad.target").write_text('target "Bad" from "Ascend910B1" { vector_coes 3 }\n')
    for words, variables, message in [
            ([f"--target={A2}"], nowhere, "jumar toolchain install"),
            (["--target=Ascend1"], {}, "there is no target 'Ascend1'"),
            ([f"--target={tmp_path}/bad.target"], {}, "bad.target.*vector_coes"),
            ([f"--target={A2}", "--emit=cpp"], {}, "--emit=package,loop,ttir,triton,linalg,hivm"),
            ([f"--target={A2}", "--emit=package,ttir"], {}, "several things"),
            ([f"--target={A2}", "--device-limit=0,1"], {}, "option device_limit is '0,1'")]:
        with pytest.raises(RuntimeError, match=re.escape(message) if "*" not in message else message):
            compile_archive(archive, *words, "-o", str(out), environment=variables)
        assert out.read_bytes() == b"what was there"
    assert {path.name for path in tmp_path.iterdir()} == {"model.pt2", "model.jumar.pt2", "bad.target"}
    said = compile_archive(archive, f"--target={A2}", "-o", str(out))
    assert said.startswith(f"{out}: for {A2}, ") and " to be linked on the device)" in said
    (found,), _ = simulated(out, (IDS,), tmp_path / "run")
    np.testing.assert_allclose(found, block()(IDS).detach().numpy(), atol=1e-5, rtol=1e-5)


def test_names_of_outputs(tmp_path: Path) -> None:
    archive = save(block(), (IDS,), path=tmp_path / "model.pt2")
    compile_archive(archive, f"--target={A2}")
    assert zipfile.is_zipfile(tmp_path / "model.jumar.pt2")
    compile_archive(archive, f"--target={A2}", "-o", str(tmp_path / "folder"))
    assert (tmp_path / "folder" / "kernels.json").is_file()
    compile_archive(archive, f"--target={A2}", "--emit=package", "-o", str(tmp_path / "file"))
    assert zipfile.is_zipfile(tmp_path / "file")
    page = tmp_path / "page.html"
    compile_archive(archive, f"--target={A2}", "--report", str(page))
    assert A2 in page.read_text()
    with pytest.raises(RuntimeError, match="--report is for packages"):
        compile_archive(archive, f"--target={A2}", "--report", str(page), "-o", str(tmp_path / "folder"))


def test_a_target_of_ones_own_goes_along(tmp_path: Path) -> None:
    own = tmp_path / "mine.target"
    own.write_text('target "Mine" from "Ascend910B1" { cube_cores 5 vector_cores 10 }\n')
    package = package_of(block(), (IDS,), tmp_path, f"--target={own}")
    own.unlink()
    (found,), said = simulated(package, (IDS,), tmp_path / "run")
    np.testing.assert_allclose(found, block()(IDS).detach().numpy(), atol=1e-5, rtol=1e-5)
    assert "simulated for Mine, on at most 10 vector cores: " in said
    with pytest.raises(RuntimeError, match="'5,11'.*Mine"):
        simulated(package, (IDS,), tmp_path / "run", "--device-limit=5,11")


@pytest.mark.parametrize("sizes", ["fixed", "dynamic"])
@pytest.mark.parametrize("name", ["bert", "llama", "resnet18"])
def test_models(name: str, sizes: str, tmp_path: Path) -> None:
    import jumar

    model, archive, inputs = exported_model(name, sizes, tmp_path)
    package = tmp_path / "model.jumar.pt2"
    jumar.aot_compile(archive, package, options={"target": A2})
    loaded = jumar.load(package, sim=True, options={"device_limit": (7, 14)})
    assert not any("the toolchain refuses it" in row["reason"] for row in loaded.report()["calls"])
    for x in inputs:
        found = loaded(x)
        with torch.no_grad():
            torch.testing.assert_close(found, model(x), rtol=1e-4, atol=1e-4)


def test_python(packed) -> None:
    import jumar

    target, package = packed
    with pytest.raises(jumar.Error, match=r"launches kernels on none yet: jumar\.load\(path, sim=True\)"):
        jumar.load(package)
    loaded = jumar.load(package, sim=True, options={"device_limit": (2, 4)})
    report = loaded.report()
    assert [row["name"] for row in report["kernels"]] == ["layer_norm_2", "mul_1"]
    costs = json.loads(entries(package)["kernels.json"])
    assert (report["launches"], report["at_load"]) == (costs["launches"], costs["at_load"])
    for ids in (IDS, *(torch.randint(0, 50, sizes) for sizes in ((3, 77), (1, 1), (0, 5), (5, 0)))):
        torch.testing.assert_close(loaded(ids), block()(ids).detach(), rtol=1e-5, atol=1e-5)
    with pytest.raises(jumar.InputError, match="outside the range"):
        loaded(torch.zeros(65, 8, dtype=torch.int64))
    with pytest.raises(jumar.InputError, match="structure"):
        loaded(IDS, IDS)
    with pytest.raises(jumar.CompileError, match="device_limit"):
        jumar.load(package, sim=True, options={"device_limit": (1000, 2000)})


def test_python_compiles_an_exported_program(tmp_path: Path) -> None:
    import jumar

    with torch.no_grad():
        exported = torch.export.export(block(), (IDS,))
    path = tmp_path / "x.pt2"
    stages: list[str] = []
    assert jumar.aot_compile(exported, path, options={"target": A5}, progress=stages.append) == str(path)
    assert "writing" in stages and any(stage.startswith("kernel ") for stage in stages)
    torch.testing.assert_close(jumar.load(path, sim=True)(IDS), block()(IDS).detach(), rtol=1e-5, atol=1e-5)
    with pytest.raises(jumar.CompileError, match="there is no target 'Ascend1'"):
        jumar.aot_compile(exported, tmp_path / "y.pt2", options={"target": "Ascend1"})
    assert not (tmp_path / "y.pt2").exists()
    on_cpu = tmp_path / "cpu.pt2"
    jumar.aot_compile(exported, on_cpu)
    torch.testing.assert_close(jumar.load(on_cpu)(IDS), block()(IDS).detach(), rtol=1e-5, atol=1e-5)
    with pytest.raises(jumar.Error, match="compiled for the processor"):
        jumar.load(on_cpu, sim=True)


def test_loaders_without_the_simulator_say_why(packed) -> None:
    target, package = packed
    with pytest.raises(RuntimeError, match="Unsupported device key found: npu"):
        torch._inductor.aoti_load_package(str(package))
    # What a process with a runner for that key gets, and C++ programs: the library's own answer.
    with zipfile.ZipFile(package) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".wrapper.so"))
        library = package.parent / "model.so"
        library.write_bytes(archive.read(name))
    with pytest.raises(RuntimeError, match=f"its kernels are for {target}, .*launches kernels on no device yet"):
        torch._C._aoti.AOTIModelContainerRunnerCpu(str(library), 1)


LINKER = """#!/bin/sh
if [ "$1" = --version ]; then echo hivmc 1.2.0; exit 0; fi
while [ "$1" != -o ]; do shift; done
echo device code > "$2"
"""


def test_device_binaries_where_the_linker_is(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "hivmc").write_text(LINKER)
    (programs / "hivmc").chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "JUMAR_CACHE_DIR": str(tmp_path / "cache")}
    archive = save(block(), (IDS,), path=tmp_path / "model.pt2")
    package = tmp_path / "model.jumar.pt2"
    said = compile_archive(archive, f"--target={A2}", environment=environment)
    found = entries(package)
    rows = json.loads(found["device.json"])["kernels"]
    assert f"({len(rows)} linked, 0 to be linked on the device)" in said
    assert all(found[row["binary"]] == b"device code\n" for row in rows)
    assert f"kernels of the device: {len(rows)}, of which {len(rows)} are linked" in jumar("inspect", package)
    for machine in ("x86_64", "aarch64"):
        assert all(row["binary"].encode() + b"\0" in found[f"host/{machine}.o"] for row in rows)
    (values,), _ = simulated(package, (IDS,), tmp_path / "run")
    np.testing.assert_allclose(values, block()(IDS).detach().numpy(), atol=1e-5, rtol=1e-5)


class Counter(nn.Module):
    """Writes to a buffer and to an argument; results that are an argument, a view of one, and a weight."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.scale = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x, pair, *, extra):
        self.total.add_(x)
        x.mul_(2)
        return {"sum": self.total + extra, "same": pair[0], "row": pair[0][1], "scale": self.scale}


def test_mutation_and_aliases(tmp_path: Path) -> None:
    import jumar

    pair = (torch.randn(3, 4),)
    package = package_of(Counter(), (torch.ones(4), pair), tmp_path, f"--target={A2}", kwargs={"extra": torch.ones(4)})
    loaded, model = jumar.load(package, sim=True), Counter()
    for k in range(3):
        x = torch.full((4,), float(k + 1))
        y, extra = x.clone(), torch.full((4,), 10.0 * k)
        with torch.no_grad():
            expected = model(y, pair, extra=extra)
        found = loaded(x, pair, extra=extra)
        assert found.keys() == expected.keys()
        torch.testing.assert_close(found, expected)
        torch.testing.assert_close(x, y)
        assert found["same"].data_ptr() == pair[0].data_ptr() and found["row"].data_ptr() == pair[0][1].data_ptr()


def test_calls_of_libtorch_and_numbers(tmp_path: Path) -> None:
    class Sorted(nn.Module):
        def forward(self, x, n: int):
            return torch.sort(x * 2)[0] + n, n * 3

    x = torch.randn(5, 7)
    package = package_of(Sorted(), (x, 3), tmp_path, f"--target={A2}", dynamic_shapes=({}, Dim.DYNAMIC))
    with pytest.raises(RuntimeError, match=r"aten\.sort\.default(.|\n)*--torch="):
        simulated(package, (x, 4), tmp_path / "run")
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    (found, product), said = simulated(package, (x, 4), tmp_path / "run", f"--torch={library}")
    np.testing.assert_allclose(found, (torch.sort(x * 2)[0] + 4).numpy())
    assert product == 12 and "aten.sort.default" in said


def test_no_kernels_and_no_weights(tmp_path: Path) -> None:
    class Plain(nn.Module):
        def forward(self, x, y):
            return x @ y

    x, y = torch.randn(3, 4), torch.randn(4, 5)
    package = package_of(Plain(), (x, y), tmp_path, f"--target={A2}")
    (found,), said = simulated(package, (x, y), tmp_path / "run", "--repeat=2")
    np.testing.assert_allclose(found, (x @ y).numpy(), rtol=1e-5, atol=1e-5)
    assert "vector cores: 0 launches" in said


PRINTER = r"""
#include <stdio.h>
#include <stdlib.h>
#include "jumar/device.h"
int main(int argc, char** argv) {
  const jumar_device_plan* plan = &jumar_device_program.main;
  int64_t sizes[16], words[64];
  if (argc - 1 != (int)plan->symbol_count) return 2;
  for (int k = 1; k < argc; ++k) sizes[k - 1] = atoll(argv[k]);
  for (size_t k = 0; k < plan->launch_count; ++k) {
    const jumar_device_launch* launch = &plan->launches[k];
    const jumar_device_kernel* kernel = &jumar_device_program.kernels[launch->kernel];
    printf("%s %s %d %d", kernel->name, kernel->linalg, kernel->integers, launch->words(sizes, words));
    for (uint32_t w = 0; w < launch->word_count; ++w) printf(" %lld", (long long)words[w]);
    printf("\n");
  }
  return 0;
}
"""


@pytest.mark.parametrize(("machine", "compiler", "runner"), [
    ("x86_64", "cc", []), ("aarch64", "aarch64-linux-gnu-gcc", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"])])
def test_host_objects_compute_launches(packed, machine: str, compiler: str, runner: list[str], tmp_path: Path) -> None:
    if not shutil.which(compiler) or (runner and not shutil.which(runner[0])):
        pytest.skip(f"{compiler} or {runner[:1]} is missing")
    _, package = packed
    found = entries(package)
    (tmp_path / "host.o").write_bytes(found[f"host/{machine}.o"])
    (tmp_path / "main.c").write_text(PRINTER)
    include = Path(__file__).resolve().parents[2] / "include"
    subprocess.run([compiler, "-I", str(include), str(tmp_path / "main.c"), str(tmp_path / "host.o"), "-o",
                    str(tmp_path / "main")], check=True)
    told = json.loads(found["kernels.json"])
    sizes = {**told["sizes"], "vector_cores": told["core_limit"]["vector"]}
    # The symbols are told by the library, in which the same object is.
    (tmp_path / "model.so").write_bytes(found["model.wrapper.so"])
    program = ctypes.CDLL(str(tmp_path / "model.so"))
    address = ctypes.addressof(ctypes.c_char.in_dll(program, "jumar_device_program"))
    words = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint64))
    assert words[0] == 1 and ctypes.string_at(words[1]) == found["device.target"]
    assert ctypes.string_at(words[2], words[3]) == found["model.plan"]
    names = ctypes.cast(words[4], ctypes.POINTER(ctypes.c_char_p))
    symbols = [names[k].decode() for k in range(words[5])]
    said = subprocess.run([*runner, str(tmp_path / "main"), *(str(sizes[name]) for name in symbols)],
                          capture_output=True, text=True, check=True).stdout.splitlines()
    rows = {row["kernel"]: row for row in json.loads(found["device.json"])["kernels"]}
    for line, row in zip(said, told["launches"], strict=True):
        name, linalg, count, failed, *values = line.split()
        assert (name, linalg, failed) == (row["kernel"], rows[row["kernel"]]["linalg"], "0")
        assert int(count) == len(row["scalars"])
        assert [int(v) for v in values[:int(count) + 3]] == [*row["scalars"], *row["grid"]]
        assert len(values) == int(count) + 3 + len(row["arguments"])


_FRESH = """
import sys, torch, jumar
x = torch.load(sys.argv[2])
torch.save(jumar.load(sys.argv[1], sim=True)(x), sys.argv[3])
"""


def test_fresh_process_after_a_move_and_without_the_toolchain(packed, tmp_path: Path) -> None:
    _, package = packed
    moved = tmp_path / "renamed.pt2"
    shutil.copy(package, moved)
    torch.save(IDS, tmp_path / "x.pt")
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "JUMAR_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", _FRESH, moved, tmp_path / "x.pt", tmp_path / "y.pt"], check=True,
                   env=environment)
    torch.testing.assert_close(torch.load(tmp_path / "y.pt"), block()(IDS).detach(), rtol=1e-5, atol=1e-5)
