"""Packages in C++ programs: the example that serves a model, under valgrind too, and torch's own C++ loader."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from compiling import package_of
from models import MODELS
from serving import built_serve
from torch.export import Dim

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def serve(tmp_path_factory) -> Path:
    """The example, built against an installed copy of the package library."""
    built = sorted(path.parent for path in _ROOT.glob("build*/CMakeCache.txt"))
    if not built:
        pytest.skip("there is no build tree to install libjumar_package from")
    return built_serve(built[0], tmp_path_factory.mktemp("serve"))


def run(*command: str | Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_serves_bert_from_four_threads(serve, tmp_path):
    model, (tokens,) = MODELS["bert"]()
    package = package_of(model, (tokens,), tmp_path, "--provider=onednn",
                         dynamic_shapes=({0: Dim.AUTO, 1: Dim.AUTO},))
    shown = run(serve, package, "--threads", "4", "--requests", "5")
    assert re.search(r"input tokens: i64\[s\d+, s\d+\]", shown)
    assert "20 requests by 4 threads" in shown
    # Without libtorch in the process, and without being told where one is.
    assert "torch" not in run("ldd", serve)


def test_libtorch_is_loaded_when_named(serve, tmp_path):
    model, inputs = MODELS["bert"]()
    package = package_of(model, inputs, tmp_path)
    failed = subprocess.run([serve, package], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "aten.addmm.default" in failed.stderr
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    assert "4 requests by 2 threads" in run(serve, package, "--torch", library, "--threads", "2", "--requests", "2")


class NoCalls(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(33)

    def forward(self, x):
        return torch.softmax(self.norm(x), -1), x.sum(0)


def test_no_memory_is_lost(serve, tmp_path):
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    # Valgrind knows no AVX-512. oneDNN is left out, because its kernels read past their own buffers.
    package = package_of(NoCalls(), (torch.randn(7, 33),), tmp_path, "--cpu=x86-64-v3",
                         dynamic_shapes=({0: Dim.AUTO},))
    run("valgrind", "-q", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", "--error-exitcode=9",
        serve, package, "--threads", "2", "--requests", "3")


def test_a_processor_that_is_too_old_gets_a_message(serve, tmp_path):
    if shutil.which("qemu-x86_64") is None:
        pytest.skip("qemu-user, which has a processor without AVX-512, is not installed")
    package = package_of(NoCalls(), (torch.randn(7, 33),), tmp_path, "--cpu=x86-64-v4")
    old = subprocess.run(["qemu-x86_64", "-cpu", "max", serve, package], capture_output=True, text=True, check=False)
    assert old.returncode == 1
    assert "compiled for x86-64-v4 and this processor lacks avx512f" in old.stderr
    lower = package_of(NoCalls(), (torch.randn(7, 33),), tmp_path, "--cpu=x86-64-v3")
    assert "requests by" in run("qemu-x86_64", "-cpu", "max", serve, lower, "--threads", "1", "--requests", "1")


_LOADER = r"""
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <ATen/ATen.h>
#include <iostream>

int main(int, char** argv) {
  const c10::InferenceMode guard;
  torch::inductor::AOTIModelPackageLoader loader(argv[1]);
  const at::Tensor x = at::arange(32, at::kFloat).reshape({2, 16}) / 32;
  const std::vector<at::Tensor> y = loader.run({x});
  const std::vector<std::string> names = loader.get_constant_fqns();
  const auto metadata = loader.get_metadata();
  std::cout << names.size() << ' ' << metadata.at("AOTI_DEVICE_KEY");
  const at::Tensor flat = y.at(0).contiguous();
  for (int64_t k = 0; k < flat.numel(); ++k) std::cout << ' ' << flat.data_ptr<float>()[k];
  std::cout << '\n';
}
"""


def test_torchs_cpp_loader(tmp_path):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.GELU(), torch.nn.Linear(8, 3))
    package = package_of(model, (torch.randn(2, 16),), tmp_path)
    home = Path(torch.__file__).parent
    source = tmp_path / "loader.cpp"
    source.write_text(_LOADER)
    program = tmp_path / "loader"
    subprocess.run(["g++", "-std=c++17", "-O0", f"-I{home}/include", f"-I{home}/include/torch/csrc/api/include",
                    source, "-o", program, f"-L{home}/lib", f"-Wl,-rpath,{home}/lib", "-Wl,--no-as-needed", "-ltorch_cpu",
                    "-lc10", "-ltorch"], check=True)
    words = run(program, package).split()
    assert words[:2] == ["4", "cpu"]
    x = torch.arange(32.0).reshape(2, 16) / 32
    torch.testing.assert_close(torch.tensor([float(w) for w in words[2:]]).reshape(2, 3), model(x).detach(),
                               rtol=1e-4, atol=1e-5)
