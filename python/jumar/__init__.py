"""Jumar: a graph compiler for PyTorch.

    compiled = torch.compile(model, backend="jumar")        # needs no `import jumar`
    print(jumar.explain(model, *inputs))                    # kernels, called operators, refusals and why
    jumar.aot_compile(torch.export.export(model, inputs), "model.jumar.pt2")     # a package, see docs/packages.md

Exceptions: Error, and its kinds CompileError (a graph, an option or a file is at fault), InputError (an
argument is not what the function was compiled for), BoundsError (an index read from a tensor is out of bounds;
an IndexError too) and InternalError (a bug in Jumar; the message names a file that reproduces it).
"""

from __future__ import annotations

from typing import Any

__all__ = ["BoundsError", "CompileError", "Error", "InputError", "InternalError", "aot_compile", "explain", "load"]

_EXCEPTIONS = ("BoundsError", "CompileError", "Error", "InputError", "InternalError")


def __getattr__(name: str) -> Any:
    # The extension is loaded when it is first needed: graphs can be captured without it.
    if name in _EXCEPTIONS:
        from . import _native

        return getattr(_native, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("jumar")
    raise AttributeError(f"module 'jumar' has no attribute {name!r}")


def explain(
    model: Any, *inputs: Any, dynamic: bool | None = None, options: dict[str, Any] | None = None
) -> Any:
    """Compiles and runs `model(*inputs)` and tells what became of each graph: an `Explanation` to print or
    read. With grad enabled the backward graph is compiled as well."""
    from .explanation import explain as run

    return run(model, *inputs, dynamic=dynamic, options=options)


def aot_compile(
    exported_program: Any,
    path: Any,
    *,
    options: dict[str, Any] | None = None,
    progress: Any = None,
) -> str:
    """Compiles an exported program to a package that torch._inductor.aoti_load_package, torch's C++ loader and
    Jumar's own (include/jumar/package.h) run; gives the package's path.

    `exported_program`: a torch.export.ExportedProgram, or the path of an archive that torch.export.save wrote.
    `path`: of the package; by torch's custom it ends with ".pt2". `options`: by name, see `jumar options`; `cpu`
    and `provider` matter most here, and `target`, which makes a package for an NPU (docs/ascend.md). `progress`: called with the name of each stage before it begins; by default
    they are shown on a terminal. Raises CompileError where the program, an option or a file is at fault;
    nothing is left at `path` then."""
    from .packages import aot_compile as run

    return run(exported_program, path, options=options, progress=progress)


def load(path: Any, *, sim: bool = False, options: dict[str, Any] | None = None) -> Any:
    """Loads a package that `jumar compile` or `aot_compile` made; what it gives is called like the exported
    module. A package for an NPU needs `sim=True`: the simulator runs its kernels, on CPU tensors, and `options`
    are those of the run, such as {"device_limit": (14, 28)}. Other packages are loaded by
    torch._inductor.aoti_load_package. Raises Error where a package cannot be run here."""
    from .packages import load as run

    return run(path, sim=sim, options=options)
