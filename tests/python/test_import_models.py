"""The nine models as archives, with fixed and with dynamic sizes, imported and run, and compiled to packages and run
by torch's own loader; both compared with eager PyTorch."""

from __future__ import annotations

import pytest
import torch
from exporting import ImportedModule, save
from models import MODELS
from compiling import compile_archive
from torch.export import Dim

pytest.importorskip("jumar._native", reason="the extension is not built")


def other_size(x: torch.Tensor) -> torch.Tensor:
    if x.ndim == 2:  # tokens
        return x.repeat(2, 1)[:3, :77].contiguous()
    return torch.randn(3, *x.shape[1:], generator=torch.Generator().manual_seed(2))


def assert_near(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.shape == expected.shape
    scale = expected.abs().max()
    assert scale > 0
    assert (found - expected).abs().max() <= 1e-4 * min(float(scale), 1.0)


@pytest.mark.parametrize("sizes", ["fixed", "dynamic"])
@pytest.mark.parametrize("name", MODELS)
def test_models(name, sizes, tmp_path):
    model, (x,) = MODELS[name]()
    dims = None
    if sizes == "dynamic":
        dims = ({k: Dim.AUTO for k in ((0, 1) if x.ndim == 2 else (0,))},)
    path = save(model, (x,), dynamic_shapes=dims, path=tmp_path / f"{name}.pt2")
    run = ImportedModule(path)
    assert not run.mutations
    compile_archive(path, "-o", str(tmp_path / "package.pt2"))
    package = torch._inductor.aoti_load_package(str(tmp_path / "package.pt2"))
    for arguments in [x] if sizes == "fixed" else [x, other_size(x)]:
        with torch.no_grad():
            expected = model(arguments)
            assert_near(run(arguments), expected)
            assert_near(package(arguments), expected)
