#!/usr/bin/env python3
"""Turns Triton source that Jumar wrote into TTIR, with the front end of Ascend's triton.

    scripts/triton_to_ttir.py --wheel DIR [--target Ascend910B1] -o OUT kernel.triton.py...

DIR is where the triton-ascend wheel was unpacked (it holds triton/). Nothing else of it is needed: no device, no
CANN, no torch. The front end runs in a virtual environment of its own, made at --venv on first use, because the
wheel's package is called triton and needs pybind11. OUT is a file for one source, else a folder.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import venv
from pathlib import Path

IN_VENV = "JUMAR_TRITON_VENV"


def default_venv():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "jumar" / "triton-venv"


def python_of(folder):
    """The environment's interpreter; makes the environment where there is none."""
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pybind11"], check=True)
        (folder / "ready").touch()
    return python


def kernel_of(path):
    """The kernel of a source file with its signature."""
    spec = importlib.util.spec_from_file_location(path.stem.replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = list(module.SIGNATURE)
    kernels = [f for f in vars(module).values() if getattr(f, "arg_names", None) == names]
    if len(kernels) != 1:
        raise SystemExit(f"{path}: {len(kernels)} functions take the arguments of its SIGNATURE")
    return kernels[0], module.SIGNATURE


def ttir_of(path, target):
    from triton._C.libtriton import ir
    from triton.backends.ascend import compiler as ascend
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend

    kernel, signature = kernel_of(path)
    backend = make_backend(GPUTarget("npu", target, 0))
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(kernel, signature=signature, constants={})
    module = source.make_ir(options, backend.get_codegen_implementation(), backend.get_module_map(), context)
    # The hash only names folders of dumps.
    ascend.make_ttir(module, {"hash": "none"}, options)
    return str(module)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--wheel", required=True, type=Path, help="the unpacked triton-ascend wheel")
    parser.add_argument("--target", default="Ascend910B1")
    parser.add_argument("--venv", type=Path, default=default_venv())
    parser.add_argument("-o", "--output", required=True, type=Path)
    arguments = parser.parse_args()
    if not (arguments.wheel / "triton").is_dir():
        parser.error(f"there is no triton in {arguments.wheel}")
    if os.environ.get(IN_VENV) is None:
        environment = {**os.environ, IN_VENV: "1", "PYTHONPATH": str(arguments.wheel)}
        python = python_of(arguments.venv.resolve())
        return subprocess.run([python, __file__, *sys.argv[1:]], env=environment).returncode
    if len(arguments.sources) > 1:
        arguments.output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in arguments.sources:
        out = arguments.output
        if out.is_dir():
            out = out / (path.name.removesuffix(".py").removesuffix(".triton") + ".ttir.mlir")
        try:
            out.write_text(ttir_of(path, arguments.target))
        except Exception as error:  # of the front end, whose errors have no common type
            failed += 1
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
