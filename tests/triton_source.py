"""Compares the two text forms of kernels for a device: TTIR, and Triton source as Ascend's triton understands it.

    python tests/triton_source.py --toolchain DIR [--target Ascend910B1] [--jumar build/tools/jumar] [FILE.loop...]
    python tests/triton_source.py --toolchain DIR --models all

DIR holds the unpacked wheels triton-ascend and ascendnpu-ir. Every kernel of the files (the golden files of
src/emit/triton without any), or of models of tests/models.py, each that differs from the others, is written in both
forms; the source goes through scripts/triton_to_ttir.py. Both must lower and compile for the device, give the same
values when simulated, and move the same blocks between global memory and the cores: the calls that do so are listed
from the compiled kernels and compared with the shapes of what they move. Prints a line per kernel; fails if any
differ.
"""
import argparse
import ctypes
import os
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
SIZE = 96  # of every symbol
TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32,
         "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool}


class Differ(Exception):
    pass


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Differ(f"{Path(str(command[0])).name}: {(done.stderr or done.stdout).strip()[:400]}")
    return done.stdout


class Tools:
    def __init__(self, arguments):
        self.jumar = arguments.jumar
        self.target = arguments.target
        self.description = run(self.jumar, "targets", arguments.target)
        self.folder = arguments.toolchain
        self.adapter = self.program("triton-adapter-opt")
        self.compiler = self.program(re.search(r'^\s*compiler "(.*)"', self.description, re.M).group(1))
        self.wheel = next(self.folder.glob("**/triton/__init__.py")).parent.parent
        self.vector_cores = int(re.search(r"vector_cores (\d+)", self.description).group(1))
        self.sim = ctypes.CDLL(str(arguments.sim))
        self.sim.jumar_sim_compile.restype = ctypes.c_int32
        self.sim.jumar_sim_function.restype = ctypes.c_void_p

    def program(self, name):
        found = [path for path in self.folder.glob(f"**/{name}") if path.is_file()]
        if not found:
            raise SystemExit(f"there is no {name} in {self.folder}")
        return found[0]

    def flags(self, name):
        block = re.search(rf"^\s*{name} \[\n(.*?)\n\s*\]", self.description, re.M | re.S).group(1)
        return re.findall(r'"(.*)"', block)


def kernels_of(text, mark):
    """What follows each line `<mark> kernel @name`, by name."""
    parts = re.split(rf"^{mark} kernel @(\w+)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def moved(hivm):
    """The calls that touch global memory, with the types of what they move, in order of their text."""
    calls = re.findall(r"call @(\w+)\(.*?\) : (\(.*#hivm.address_space<gm>.*\)) ->", hivm)
    return sorted(name + re.sub(r"strided<[^>]*>", "", types) for name, types in calls)


def compiled(tools, ttir, folder):
    """Linalg and HIVM of a kernel."""
    folder.mkdir(parents=True)
    source = folder / "k.ttir.mlir"
    source.write_text(ttir)
    linalg = folder / "k.linalg.mlir"
    run(tools.adapter, source, *tools.flags("adapter_flags"), "-o", linalg)
    text = re.sub(r',?\s*mix_mode\s*=\s*"[^"]*"', "", linalg.read_text())
    if "a5" in tools.compiler.name:  # this compiler wants an attribute that the adapter does not print
        text = re.sub(r'(tie_break_left = "(?:true|false)")\}', r'\1, unsigned_src = "false"}', text)
    linalg.write_text(text)
    hivm = folder / "module.hivm.opt.mlir"
    target = re.search(r'compiler_target "(.*)"', tools.description).group(1)
    # Without CANN's linker the compiler writes the file and fails.
    done = subprocess.run([tools.compiler, linalg, f"--target={target}", *tools.flags("compiler_flags"),
                           f"--save-temps={folder}", "-o", folder / "k.o"], capture_output=True, text=True, check=False)
    if not hivm.exists():
        raise Differ(f"{tools.compiler.name}: {done.stderr.strip()[:400]}")
    return text, hivm.read_text()


class Launch:
    """Arguments of a kernel, from the comment at the head of its Triton source."""

    def __init__(self, source, vector_cores):
        names = {"vector_cores": vector_cores, "max": max, "min": min}
        names |= {f"{kind}{k}": SIZE for kind in "su" for k in range(10)}
        self.pointers = []
        for dtype, sizes in re.findall(r"^# \w+_ptr\w*: (\w+)\[(.*)\]$", source, re.M):
            shape = [int(eval(size, names)) for size in sizes.split(", ") if size]
            self.pointers.append((TYPES[dtype], shape))
        self.ints = [int(eval(value, names)) for value in re.findall(r"^# \w+ = (.*)$", source, re.M)]
        self.grid = int(eval(re.search(r"^# programs: (.*)$", source, re.M).group(1), names))
        self.floats = [0.75] * len(re.findall(r'^    "\w+": "fp32"', source, re.M))

    def tensors(self):
        torch.manual_seed(1)
        # Any integer may be the number of a row of any table.
        rows = min([60] + [shape[0] for dtype, shape in self.pointers if dtype.is_floating_point and len(shape) > 1])
        made = []
        for dtype, shape in self.pointers:
            if dtype.is_floating_point:
                made.append((2 * torch.randn(shape)).to(dtype))
            else:
                made.append(torch.randint(0, 2 if dtype == torch.bool else rows, shape).to(dtype))
        return made


def values(tools, linalg, launch):
    kernel, error = ctypes.c_void_p(), ctypes.c_char_p()
    text = linalg.encode()
    if tools.sim.jumar_sim_compile(text, ctypes.c_size_t(len(text)), None, ctypes.byref(kernel), ctypes.byref(error)):
        raise Differ(f"sim: {error.value.decode()[:400]}")
    tensors = launch.tensors()
    fault = (ctypes.c_int64 * 7)()
    words = [tensor.data_ptr() for tensor in tensors] + [ctypes.addressof(fault)] + launch.ints
    words += [struct.unpack("q", struct.pack("d", value))[0] for value in launch.floats]
    words += [launch.grid, 1, 1] + [tensor.numel() for tensor in tensors]
    array = (ctypes.c_int64 * len(words))(*words)
    address = tools.sim.jumar_sim_function(kernel)
    ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)(address)(
        0, launch.grid, ctypes.addressof(array))
    if fault[0]:
        raise Differ(f"sim: a fault of kind {fault[4]} at argument {fault[3]}, element {fault[1]} of {fault[2]}")
    tools.sim.jumar_sim_destroy(kernel)
    return tensors


def compare(tools, ttir, dsl_ttir, source, folder):
    launch = Launch(source, tools.vector_cores)
    forms = [compiled(tools, text, folder / name) for name, text in (("ttir", ttir), ("triton", dsl_ttir))]
    calls = [moved(hivm) for _, hivm in forms]
    if calls[0] != calls[1]:
        raise Differ(f"global memory: {set(calls[0]) ^ set(calls[1]) or 'other counts of calls'}")
    results = [values(tools, linalg, launch) for linalg, _ in forms]
    for k, (a, b) in enumerate(zip(*results)):
        if not torch.allclose(a.double(), b.double(), rtol=1e-5, atol=1e-5, equal_nan=True):
            raise Differ(f"argument {k} by up to {(a.double() - b.double()).abs().max()}")
    return len(calls[0])


def compare_file(tools, path, folder):
    folder.mkdir(parents=True)
    program = folder / "program.loop"
    program.write_text(path.read_text().split("\n# EXPECT\n")[0] + "\n")
    options = ["opt", "--from=fused", "-O", f"target={tools.target}"]
    ttirs = kernels_of(run(tools.jumar, *options, "--to=ttir", program), "//")
    sources = kernels_of(run(tools.jumar, *options, "--to=triton", program), "#")
    for name, source in sources.items():
        (folder / f"{name}.triton.py").write_text(source)
    run(sys.executable, ROOT / "scripts" / "triton_to_ttir.py", "--wheel", tools.wheel, "--target", tools.target,
        "-o", f"{folder}/", *folder.glob("*.triton.py"))
    bad = 0
    for name, source in sources.items():
        try:
            calls = compare(tools, ttirs[name], (folder / f"{name}.ttir.mlir").read_text(), source, folder / name)
            print(f"{path.stem}/{name}: agree, {calls} calls move memory")
        except Differ as difference:
            bad += 1
            print(f"{path.stem}/{name}: {difference}")
    return bad


def model_kernels(tools, names, folder):
    """Files of the models' kernels; of kernels that differ in names only, the first."""
    sys.path.append(str(ROOT / "tests"))
    import models

    found = {}
    for name in models.MODELS if names == "all" else names.split(","):
        model, inputs = models.MODELS[name]()
        package = folder / f"{name}.pt2"
        torch.export.save(torch.export.export(model, inputs), package)
        run(tools.jumar, "compile", package, f"--target={tools.target}", "--emit=loop", "-o", folder / name)
        for path in sorted((folder / name).glob("*.loop")):
            numbers = {}
            text = re.sub(r"[%@]\w+", lambda match: str(numbers.setdefault(match[0], len(numbers))), path.read_text())
            found.setdefault(re.sub(r' origin ".*?"', "", text), path)
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--models", help="names, or all")
    parser.add_argument("--toolchain", type=Path, default=os.environ.get("JUMAR_TOOLCHAIN_DIR"))
    parser.add_argument("--target", default="Ascend910B1")
    parser.add_argument("--jumar", type=Path, default=ROOT / "build" / "tools" / "jumar")
    parser.add_argument("--sim", type=Path, default=ROOT / "build" / "python" / "jumar" / "libjumar_sim.so")
    arguments = parser.parse_args()
    if arguments.toolchain is None:
        parser.error("name the toolchain, or set JUMAR_TOOLCHAIN_DIR")
    tools = Tools(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.models:
            files = model_kernels(tools, arguments.models, Path(folder))
        else:
            files = arguments.files or sorted((ROOT / "src" / "emit" / "triton" / "test").glob("*.loop"))
        bad = 0
        for number, path in enumerate(files):
            try:
                bad += compare_file(tools, path, Path(folder) / f"{number}.{path.stem}")
            except Differ as refusal:
                bad += 1
                print(f"{path.stem}: {refusal}")
        print(f"{len(files)} files; {bad} kernels differ")
        return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
