"""The nine models as archives, with fixed and with dynamic sizes, imported and run, and compiled to packages and run
by torch's own loader; both compared with eager PyTorch."""

from __future__ import annotations

import pytest
import torch
from exporting import ImportedModule, exported_model
from models import MODELS
from compiling import compile_archive

pytest.importorskip("jumar._native", reason="the extension is not built")


def assert_near(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.shape == expected.shape
    scale = expected.abs().max()
    assert scale > 0
    assert (found - expected).abs().max() <= 1e-4 * min(float(scale), 1.0)


@pytest.mark.parametrize("sizes", ["fixed", "dynamic"])
@pytest.mark.parametrize("name", MODELS)
def test_models(name, sizes, tmp_path):
    model, path, inputs = exported_model(name, sizes, tmp_path)
    run = ImportedModule(path)
    assert not run.mutations
    compile_archive(path, "-o", str(tmp_path / "package.pt2"))
    package = torch._inductor.aoti_load_package(str(tmp_path / "package.pt2"))
    for arguments in inputs:
        with torch.no_grad():
            expected = model(arguments)
            assert_near(run(arguments), expected)
            assert_near(package(arguments), expected)
