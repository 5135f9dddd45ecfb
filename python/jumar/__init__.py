"""Jumar: a graph compiler for PyTorch.

    compiled = torch.compile(model, backend="jumar")        # needs no `import jumar`
    print(jumar.explain(model, *inputs))                    # kernels, called operators, refusals and why
"""

from __future__ import annotations

from typing import Any

from .errors import CompileError, InputError, InternalError

__all__ = ["CompileError", "InputError", "InternalError", "explain"]


def explain(model: Any, *inputs: Any, dynamic: bool | None = None) -> Any:
    """Compiles and runs `model(*inputs)` and tells what became of each graph: an `Explanation` to print or read."""
    from .explanation import explain as run

    return run(model, *inputs, dynamic=dynamic)
