"""Packages of the models, made by Jumar and by AOTInductor in the same run: compile time, size, load time, speed.

    python bench/packages.py [--models bert resnet18] [--repeats 7] [--output table.md]

Both get the same archives of torch.export.save. Compile times are those of the whole job, from the archive to the
package: `jumar compile` is a process without Python; AOTInductor runs in a fresh Python that has imported torch, with
an empty cache. Peak memory of `jumar compile` is the process's largest resident set. Run times alternate between the
two packages in one process, both in torch's own loader; every number is a median.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import geometric_mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))

_EXPORT = """
import sys, torch
sys.path.append(sys.argv[3])
from models import MODELS
model, inputs = MODELS[sys.argv[1]]()
with torch.no_grad():
    torch.export.save(torch.export.export(model, inputs, strict=False), sys.argv[2])
"""

_INDUCTOR = """
import sys, time, torch
program = torch.export.load(sys.argv[1])
begin = time.perf_counter()
torch._inductor.aoti_compile_and_package(program, package_path=sys.argv[2])
print("seconds", time.perf_counter() - begin)
"""

_RUN = """
import json, sys, time, torch
from statistics import median
torch.set_num_threads(int(sys.argv[5]))
sys.path.append(sys.argv[4])
from models import MODELS
model, inputs = MODELS[sys.argv[1]]()
repeats = int(sys.argv[6])
paths = sys.argv[2:4]
loads = [[], []]
runs = [[], []]
torch._inductor.aoti_load_package(paths[0]), torch._inductor.aoti_load_package(paths[1])
loaded = [None, None]
for _ in range(repeats):
    for k in (0, 1):
        loaded[k] = None
        begin = time.perf_counter()
        loaded[k] = torch._inductor.aoti_load_package(paths[k])
        loads[k].append(time.perf_counter() - begin)
with torch.no_grad():
    expected = model(*inputs)
    worst = max(float((m(*inputs) - expected).abs().max() / expected.abs().max()) for m in loaded[:1])
    calls = [lambda m=m: m.loader.boxed_run(list(inputs)) for m in loaded]
    begin = time.perf_counter()
    for _ in range(3):
        for call in calls:
            call()
    count = max(1, min(1000, int(0.2 / ((time.perf_counter() - begin) / 6))))
    for _ in range(repeats):
        for k in (0, 1):
            begin = time.perf_counter()
            for _ in range(count):
                calls[k]()
            runs[k].append((time.perf_counter() - begin) / count)
print(json.dumps({"error": worst, "load": [median(x) for x in loads], "run": [median(x) for x in runs]}))
"""


def python(code: str, *arguments: str, environment: dict[str, str] | None = None) -> str:
    result = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
                            env={**os.environ, **(environment or {})})
    if result.returncode != 0:
        raise RuntimeError(result.stderr[-2000:])
    return result.stdout


def tool() -> list[str]:
    built = ROOT / "build" / "tools" / "jumar"
    return [str(built)] if built.exists() else [sys.executable, "-m", "jumar"]


# A process's peak counts what it was forked from, so the one that starts the compiler is small.
_MEASURE = """
import resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000)
"""


def compiled(archive: Path, package: Path, repeats: int) -> tuple[float, float]:
    """Median seconds of `jumar compile`, and its peak memory in MB."""
    seconds, peaks = [], []
    for _ in range(repeats):
        taken, peak = python(_MEASURE, *tool(), "compile", str(archive), "-o", str(package)).split()
        seconds.append(float(taken))
        peaks.append(float(peak))
    return median(seconds), max(peaks)


def weights_bytes(package: Path, archive: Path) -> int:
    import zipfile

    with zipfile.ZipFile(archive) as entries:
        sizes = [e.file_size for e in entries.infolist() if "/data/weights/weight_" in e.filename or
                 "/data/constants/tensor_" in e.filename]
    return sum(sizes)


def row(name: str, folder: Path, arguments: argparse.Namespace) -> dict:
    archive, ours, theirs = (folder / f"{name}.{ending}" for ending in ("pt2", "jumar.pt2", "aoti.pt2"))
    python(_EXPORT, name, str(archive), str(ROOT / "tests"))
    seconds, peak = compiled(archive, ours, arguments.repeats)
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    other = float(python(_INDUCTOR, str(archive), str(theirs), environment={"TORCHINDUCTOR_CACHE_DIR": str(cache)})
                  .rsplit(maxsplit=1)[-1])
    weights = weights_bytes(ours, archive)
    measured = json.loads(python(_RUN, name, str(ours), str(theirs), str(ROOT / "tests"), str(arguments.threads),
                                 str(arguments.repeats)).strip().splitlines()[-1])
    out = {
        "model": name,
        "error": measured["error"],
        "compile": (seconds, other),
        "load": measured["load"],
        "run": measured["run"],
        "bytes": (ours.stat().st_size - weights, theirs.stat().st_size - weights),
        "weights": weights,
        "peak": peak,
    }
    for path in (archive, ours, theirs):
        path.unlink()
    return out


def table(rows: list[dict]) -> str:
    lines = ["| model | compile s: jumar / AOTInductor | load ms | run ms | inductor / jumar | kB without weights | "
             "weights MB | peak MB of jumar compile | error |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(
            f"| {r['model']} | {r['compile'][0]:.2f} / {r['compile'][1]:.1f} "
            f"| {r['load'][0] * 1e3:.1f} / {r['load'][1] * 1e3:.1f} "
            f"| {r['run'][0] * 1e3:.2f} / {r['run'][1] * 1e3:.2f} | {r['run'][1] / r['run'][0]:.2f} "
            f"| {r['bytes'][0] / 1e3:.0f} / {r['bytes'][1] / 1e3:.0f} | {r['weights'] / 1e6:.1f} | {r['peak']:.0f} "
            f"| {r['error']:.0e} |")
    ratio = geometric_mean(r["run"][1] / r["run"][0] for r in rows)
    lines.append(f"\nRun time, AOTInductor / jumar, geometric mean: {ratio:.2f}. "
                 f"Load averages: {' '.join(f'{x:.1f}' for x in os.getloadavg())}.")
    return "\n".join(lines)


def main() -> None:
    from models import MODELS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="jumar-bench-") as folder:
        for name in arguments.models:
            rows.append(row(name, Path(folder), arguments))
            print(table(rows[-1:]).splitlines()[2], file=sys.stderr, flush=True)
    text = table(rows)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
